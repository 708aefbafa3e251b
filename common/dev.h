/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dev - a device number as a parameter
 *
 * Inline, so that only modules that have such a parameter hold it.
 */
#ifndef TAP_DEV_H
#define TAP_DEV_H

#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kdev_t.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#include "fmt.h"

/**
 * tap_dev_number() - read one number: digits, or 0x and hexadecimal digits
 * @text: where it begins; moved to what follows
 * @number: gets it
 *
 * Stricter than kstrtouint(), which takes a sign, and a newline at the end.
 *
 * Return: false if there is none, or it is too large.
 */
static inline bool tap_dev_number(const char **text, u32 *number)
{
	bool hex = !strncmp(*text, "0x", 2);
	const char *first;
	u64 n = 0;

	if (hex)
		*text += 2;
	for (first = *text; hex ? isxdigit(**text) : isdigit(**text); (*text)++) {
		if (isdigit(**text))
			n = n * (hex ? 16 : 10) + **text - '0';
		else
			n = n * 16 + tolower(**text) - 'a' + 10;
		if (n > U32_MAX)
			return false;
	}
	*number = n;
	return *text != first;
}

/**
 * tap_dev_parse() - read the number of a device
 * @dev: gets it; 0 for all devices
 * @text: MAJOR:MINOR, each decimal or 0x and hexadecimal; or 0x and what
 *        stat -c %D prints; NULL: all devices
 * @why: gets what is allowed, if it is refused
 *
 * A number alone is refused: 805 might be meant in decimal, as ls prints a
 * minor, or in hexadecimal. So is 0:0, which no device has.
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_dev_parse(dev_t *dev, const char *text,
				struct tap_text *why)
{
	const char *at = text;
	u32 major, minor;

	*dev = 0;
	if (!text)
		return 0;
	if (!tap_dev_number(&at, &major))
		goto refuse;
	if (*at == ':') {
		at++;
		if (!tap_dev_number(&at, &minor) || major >> (32 - MINORBITS) ||
		    minor > MINORMASK)
			goto refuse;
		*dev = MKDEV(major, minor);
	} else if (!strncmp(text, "0x", 2)) {
		*dev = new_decode_dev(major);
	}
	if (*dev && !*at)
		return 0;

refuse:
	tap_printf(why, "allowed is MAJOR:MINOR, 8:5 or 0x8:0x5, to 4095:1048575, ");
	tap_printf(why, "or 0x and what stat -c %%D prints, 0x805");
	return -EINVAL;
}

/**
 * tap_dev_check() - would tap_dev_parse() take it? A parameter's @check
 * @text: the device number
 * @why: gets what is allowed, if it is refused
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_dev_check(const char *text, struct tap_text *why)
{
	dev_t dev;

	return tap_dev_parse(&dev, text, why);
}

#endif /* TAP_DEV_H */
