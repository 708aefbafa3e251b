// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: fmt - text that grows, names that stay one word, valid JSON
 *
 * A command name may hold any byte but NUL (prctl(2), PR_SET_NAME), and a path
 * likewise. In a table a blank would start a new column and an escape sequence
 * would reach the reader's terminal, so both are written as octal escapes.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "fmt.h"

/* Room for at least @more bytes after the text. */
static bool tap_text_grow(struct tap_text *text, size_t more)
{
	size_t size = max_t(size_t, text->size * 2, 1024);
	char *buf;

	if (text->failed)
		return false;
	if (text->size - text->len >= more)
		return true;
	while (size - text->len < more)
		size *= 2;
	buf = kvmalloc(size, GFP_KERNEL);
	if (!buf) {
		text->failed = true;
		return false;
	}
	if (text->len)
		memcpy(buf, text->buf, text->len);
	kvfree(text->buf);
	text->buf = buf;
	text->size = size;
	return true;
}

void tap_printf(struct tap_text *text, const char *fmt, ...)
{
	size_t room = text->size - text->len;
	va_list args;
	size_t len;

	va_start(args, fmt);
	len = vsnprintf(text->buf + text->len, room, fmt, args);
	va_end(args);
	if (len >= room) {
		/* vsnprintf() wants room for its terminator */
		if (!tap_text_grow(text, len + 1))
			return;
		va_start(args, fmt);
		vsnprintf(text->buf + text->len, len + 1, fmt, args);
		va_end(args);
	}
	if (!text->failed)
		text->len += len;
}

void tap_putc(struct tap_text *text, char c)
{
	if (tap_text_grow(text, 1))
		text->buf[text->len++] = c;
}

void tap_text_free(struct tap_text *text)
{
	kvfree(text->buf);
	*text = (struct tap_text){};
}

void tap_errno(char *buf, size_t size, int error)
{
	char name[32];

	scnprintf(name, sizeof(name), "%pe", ERR_PTR(error));
	/* -ENOENT */
	strscpy(buf, error >= 0 ? "" : isalpha(name[1]) ? name + 1 : name, size);
}

size_t tap_escape(char *dst, size_t size, const char *src, size_t len)
{
	size_t out = 0;
	size_t i;

	for (i = 0; i < len && src[i]; i++) {
		unsigned char c = src[i];
		bool plain = c > ' ' && c < 0x7f && c != '\\';

		if (size - out <= (plain ? 1 : 4))
			break;
		if (plain) {
			dst[out++] = c;
			continue;
		}
		dst[out++] = '\\';
		dst[out++] = '0' + (c >> 6);
		dst[out++] = '0' + (c >> 3 & 7);
		dst[out++] = '0' + (c & 7);
	}
	dst[out] = '\0';
	return out;
}

/* Length of the well-formed UTF-8 sequence at @s (RFC 3629), 0 if there is none. */
static unsigned int tap_utf8_len(const unsigned char *s, size_t len)
{
	unsigned int n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
			 s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
			 s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	unsigned int i;

	if (n > len)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, and what is above U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void tap_json_string(struct tap_text *text, const char *src, size_t len)
{
	const unsigned char *s = (const unsigned char *)src;
	unsigned int n;
	size_t i;

	len = strnlen(src, len);
	tap_putc(text, '"');
	for (i = 0; i < len; i += n) {
		n = tap_utf8_len(s + i, len - i);
		if (!n || s[i] < ' ' || s[i] == 0x7f) {
			tap_printf(text, "\\u%04x", s[i]);
			n = 1;
		} else {
			if (s[i] == '"' || s[i] == '\\')
				tap_putc(text, '\\');
			tap_printf(text, "%.*s", n, src + i);
		}
	}
	tap_putc(text, '"');
}
