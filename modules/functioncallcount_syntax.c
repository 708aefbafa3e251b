// SPDX-License-Identifier: GPL-2.0-only
/* What functioncallcount's parameter `functions` may say. */
#include <linux/ctype.h>
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "functioncallcount.h"

/* Passes over all functions: some seconds. */
#define FUNCTIONCALLCOUNT_NAMES 64

const char functioncallcount_allowed[] =
	"allowed are names, with * ? [] as in a shell, or name@address, joined with commas";

static bool functioncallcount_is_name(const char *name, size_t len,
				      const char *also)
{
	size_t i;

	/* to the function tracer a number is none */
	if (!len || len >= KSYM_NAME_LEN || isdigit(*name))
		return false;
	for (i = 0; i < len; i++)
		if (!isalnum(name[i]) && name[i] != '_' && name[i] != '.' &&
		    (!name[i] || !strchr(also, name[i])))
			return false;
	return true;
}

/* An address in hexadecimal, or + and how much it is above the last one's. */
static bool functioncallcount_is_address(const char *text, size_t len)
{
	size_t i;

	if (len && *text == '+') {
		text++;
		len--;
	}
	for (i = 0; i < len; i++)
		if (!isxdigit(text[i]))
			return false;
	return len && len <= 16;
}

static int functioncallcount_check_item(const char *item, size_t len,
					struct tap_text *why)
{
	const char *at = memchr(item, '@', len);
	size_t name = at ? at - item : len;

	if (!at) {
		if (functioncallcount_is_name(item, len, "*?[]-"))
			return 0;
		tap_printf(why, "%s", functioncallcount_allowed);
		return -EINVAL;
	}
	if (functioncallcount_is_name(item, name, "") &&
	    functioncallcount_is_address(at + 1, len - name - 1))
		return 0;
	tap_printf(why,
		   "the functions of a source file are found by tapsym: insmod functioncallcount.ko \"$(tapsym functions 'PATTERN@FILE')\"");
	return -EINVAL;
}

int functioncallcount_check(const char *text, struct tap_text *why)
{
	unsigned int names = 0;

	for (;;) {
		size_t len = strcspn(text, ",");
		int err = functioncallcount_check_item(text, len, why);

		if (err)
			return err;
		names += !memchr(text, '@', len);
		if (!text[len])
			break;
		text += len + 1;
	}
	if (names <= FUNCTIONCALLCOUNT_NAMES)
		return 0;
	tap_printf(why,
		   "more than %u names take too long to find: tapsym finds them, with addresses",
		   FUNCTIONCALLCOUNT_NAMES);
	return -EINVAL;
}
