/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * addr - IP addresses, and prefixes of some as a parameter
 *
 * Inline, so that only modules that have such a parameter need the network's
 * parsers.
 */
#ifndef TAP_ADDR_H
#define TAP_ADDR_H

#include <linux/errno.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#include "fmt.h"

/**
 * struct tap_addr - an IP address
 * @version: of IP, 4 or 6
 * @word: the address, network order; the first word alone for IPv4, and then
 *        the others are 0
 */
struct tap_addr {
	u32 version;
	__be32 word[4];
};

/**
 * struct tap_prefix - addresses that begin alike
 * @addr: how they begin; version 0: all addresses of both
 * @mask: the bits of @addr that count
 *
 * All zero is a prefix that contains every address.
 */
struct tap_prefix {
	struct tap_addr addr;
	__be32 mask[4];
};

/**
 * tap_prefix_parse() - read an address, or a prefix such as 10.0.0.0/8, fd00::/64
 * @prefix: what to fill in
 * @text: the address; NULL: all there are
 * @why: gets what is allowed, if it is refused
 *
 * Bits of the address behind the prefix's do not count.
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_prefix_parse(struct tap_prefix *prefix, const char *text,
				   struct tap_text *why)
{
	unsigned int bits, i;
	const char *end;

	memset(prefix, 0, sizeof(*prefix));
	if (!text)
		return 0;
	if (in4_pton(text, -1, (u8 *)prefix->addr.word, '/', &end))
		prefix->addr.version = 4;
	else if (in6_pton(text, -1, (u8 *)prefix->addr.word, '/', &end))
		prefix->addr.version = 6;
	else
		goto refuse;
	bits = prefix->addr.version == 4 ? 32 : 128;
	if (*end == '/') {
		/* digits alone: a sign or a newline is taken by kstrtouint() */
		if (end[1 + strspn(end + 1, "0123456789")] ||
		    kstrtouint(end + 1, 10, &i) || i > bits)
			goto refuse;
		bits = i;
	}
	for (i = 0; i < bits; i++)
		prefix->mask[i / 32] |= cpu_to_be32(0x80000000 >> i % 32);
	return 0;

refuse:
	tap_printf(why, "allowed is an IPv4 address, alone or with /0 to /32, ");
	tap_printf(why, "or an IPv6 address, alone or with /0 to /128");
	return -EINVAL;
}

/**
 * tap_prefix_check() - would tap_prefix_parse() take it? A parameter's @check
 * @text: the address or prefix
 * @why: gets what is allowed, if it is refused
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_prefix_check(const char *text, struct tap_text *why)
{
	struct tap_prefix prefix;

	return tap_prefix_parse(&prefix, text, why);
}

/**
 * tap_prefix_contains() - does an address begin like that?
 * @prefix: the prefix
 * @addr: the address
 *
 * Context: any.
 * Return: true if so. An address of the other version never does.
 */
static __always_inline bool tap_prefix_contains(const struct tap_prefix *prefix,
						const struct tap_addr *addr)
{
	__be32 diff = 0;
	unsigned int i;

	if (!prefix->addr.version)
		return true;
	for (i = 0; i < 4; i++)
		diff |= (addr->word[i] ^ prefix->addr.word[i]) & prefix->mask[i];
	return !diff && prefix->addr.version == addr->version;
}

#endif /* TAP_ADDR_H */
