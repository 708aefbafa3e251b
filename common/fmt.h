/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_FMT_H
#define TAP_FMT_H

#include <linux/types.h>

/**
 * struct tap_text - a piece of text that grows as it is written
 * @buf: the text, not terminated; freed by tap_text_free()
 * @len: bytes written
 * @size: bytes allocated
 * @failed: an allocation failed; everything written since is missing
 *
 * A text that is all zero is empty and ready for use. One writer at a time.
 */
struct tap_text {
	char *buf;
	size_t len;
	size_t size;
	bool failed;
};

/**
 * tap_printf() - append formatted text
 * @text: the text to append to
 * @fmt: a printf format
 *
 * Nothing is cut: the text grows. When it cannot, @text->failed is set.
 *
 * Context: process context, may sleep.
 */
__printf(2, 3) void tap_printf(struct tap_text *text, const char *fmt, ...);

/**
 * tap_putc() - append one character
 * @text: the text to append to
 * @c: the character
 *
 * Context: process context, may sleep.
 */
void tap_putc(struct tap_text *text, char c);

/**
 * tap_text_clear() - forget the text and keep its memory
 * @text: the text to empty
 */
static inline void tap_text_clear(struct tap_text *text)
{
	text->len = 0;
	text->failed = false;
}

/**
 * tap_text_free() - free the memory of a text, which is empty afterwards
 * @text: the text to free
 *
 * Context: process context, may sleep.
 */
void tap_text_free(struct tap_text *text);

/* Longest result of tap_escape() for a name of @n bytes, terminator included. */
#define TAP_ESCAPED(n) (4 * (n) + 1)

/**
 * tap_errno() - the name of an error
 * @buf: gets it, terminated: ENOENT; a number where the kernel knows no name (it
 *       knows them with CONFIG_SYMBOLIC_ERRNAME); nothing for what is none
 * @size: bytes, 16 are enough
 * @error: the error, below 0, or anything else
 */
void tap_errno(char *buf, size_t size, int error);

/**
 * tap_escape() - write a name so that it stays one word of printable ASCII
 * @dst: result, terminated
 * @size: bytes at @dst, terminator included
 * @src: the name, ends at a NUL byte or after @len bytes
 * @len: longest length of @src
 *
 * A blank, a backslash, a control character and a byte above 0x7e become a
 * backslash and three octal digits, as in /proc/mounts. An escape is never cut
 * in two: what does not fit whole is left out.
 *
 * Return: length of the result.
 */
size_t tap_escape(char *dst, size_t size, const char *src, size_t len);

/**
 * tap_json_string() - append a JSON string, quotes included
 * @text: the text to append to
 * @src: the string, ends at a NUL byte or after @len bytes
 * @len: longest length of @src
 *
 * Well-formed UTF-8 is kept; a byte that is not part of it is shown as the
 * character of that number, so that the result is valid JSON for any bytes.
 *
 * Context: process context, may sleep.
 */
void tap_json_string(struct tap_text *text, const char *src, size_t len);

#endif /* TAP_FMT_H */
