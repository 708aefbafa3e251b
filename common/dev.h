/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dev - device and inode numbers as parameters
 *
 * Inline, so that only modules that have such a parameter hold it.
 */
#ifndef TAP_DEV_H
#define TAP_DEV_H

#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kdev_t.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

#include "fmt.h"

/**
 * tap_dev_number() - read one number: digits, or 0x and hexadecimal digits
 * @text: where it begins; moved to what follows
 * @max: the largest there may be
 * @number: gets it
 *
 * Stricter than kstrtouint(), which takes a sign, and a newline at the end.
 *
 * Return: false if there is none, or it is too large.
 */
static inline bool tap_dev_number(const char **text, u64 max, u64 *number)
{
	bool hex = !strncmp(*text, "0x", 2);
	unsigned int base = hex ? 16 : 10;
	const char *first;

	if (hex)
		*text += 2;
	*number = 0;
	for (first = *text; hex ? isxdigit(**text) : isdigit(**text); (*text)++) {
		unsigned int digit = isdigit(**text) ? **text - '0' :
				     tolower(**text) - 'a' + 10;

		if (*number > div_u64(max - digit, base))
			return false;
		*number = *number * base + digit;
	}
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
	u64 major, minor;

	*dev = 0;
	if (!text)
		return 0;
	if (!tap_dev_number(&at, U32_MAX, &major))
		goto refuse;
	if (*at == ':') {
		at++;
		if (!tap_dev_number(&at, MINORMASK, &minor) ||
		    major >> (32 - MINORBITS))
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

/**
 * tap_ino_parse() - read the number of an inode
 * @ino: gets it; 0 for all inodes
 * @text: the number, decimal or 0x and hexadecimal; NULL: all inodes
 * @why: gets what is allowed, if it is refused
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_ino_parse(u64 *ino, const char *text, struct tap_text *why)
{
	const char *at = text;

	*ino = 0;
	if (!text || (tap_dev_number(&at, U64_MAX, ino) && *ino && !*at))
		return 0;
	tap_printf(why, "allowed is 1 to %llu", U64_MAX);
	return -EINVAL;
}

/**
 * tap_ino_check() - would tap_ino_parse() take it? A parameter's @check
 * @text: the number
 * @why: gets what is allowed, if it is refused
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_ino_check(const char *text, struct tap_text *why)
{
	u64 ino;

	return tap_ino_parse(&ino, text, why);
}

#endif /* TAP_DEV_H */
