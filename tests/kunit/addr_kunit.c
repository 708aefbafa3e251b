// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/addr.h */
#include "kunit.h"
#include "addr.h"

/* Is an address, text too, in a prefix? */
static bool contains(struct kunit *test, const char *text, const char *addr)
{
	struct tap_prefix prefix, one;
	struct tap_text why = {};

	KUNIT_EXPECT_EQ_MSG(test, tap_prefix_parse(&prefix, text, &why), 0, "%s",
			    text);
	KUNIT_EXPECT_EQ_MSG(test, tap_prefix_parse(&one, addr, &why), 0, "%s",
			    addr);
	KUNIT_EXPECT_EQ(test, why.len, 0);
	return tap_prefix_contains(&prefix, &one.addr);
}

static void tap_addr_test_prefix_contains(struct kunit *test)
{
	static const struct {
		const char *prefix, *in, *out;
	} cases[] = {
		{ "10.1.2.3", "10.1.2.3", "10.1.2.2" },
		{ "10.1.2.3", "10.1.2.3", "138.1.2.3" },
		{ "10.1.2.3/32", "10.1.2.3", "10.1.2.2" },
		{ "10.1.2.3/31", "10.1.2.2", "10.1.2.4" },
		{ "10.0.0.0/8", "10.255.255.255", "11.0.0.0" },
		{ "10.200.0.0/8", "10.0.0.0", "9.255.255.255" },
		{ "128.0.0.0/1", "255.255.255.255", "127.255.255.255" },
		{ "192.168.16.0/20", "192.168.31.255", "192.168.32.0" },
		{ "0.0.0.0/0", "1.2.3.4", "::" },
		{ "0.0.0.0", "0.0.0.0", "::" },
		{ "::", "::", "0.0.0.0" },
		{ "::/0", "ffff::1", "1.2.3.4" },
		{ "fd00::1", "fd00::1", "fd00::2" },
		{ "FD00::1/128", "fd00::1", "fd00::2" },
		{ "fd00::/64", "fd00::ffff:ffff:ffff:ffff", "fd00:0:0:1::" },
		{ "fd00::/63", "fd00:0:0:1::", "fd00:0:0:2::" },
		{ "2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::" },
		{ "2001:db8::/127", "2001:db8::1", "2001:db8::2" },
		{ "a00::/8", "aff::1", "10.0.0.0" },
		{ "::ffff:10.0.0.0/104", "::ffff:10.1.1.1", "10.1.1.1" },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_TRUE_MSG(test, contains(test, cases[i].prefix, cases[i].in),
				      "%s, %s", cases[i].prefix, cases[i].in);
		KUNIT_EXPECT_FALSE_MSG(test, contains(test, cases[i].prefix, cases[i].out),
				       "%s, %s", cases[i].prefix, cases[i].out);
	}
	KUNIT_EXPECT_TRUE(test, contains(test, NULL, "255.255.255.255"));
	KUNIT_EXPECT_TRUE(test, contains(test, NULL, "fd00::1"));
}

#define ALLOWED								\
	"allowed is an IPv4 address, alone or with /0 to /32, "		\
	"or an IPv6 address, alone or with /0 to /128"

static void tap_addr_test_prefix_refused(struct kunit *test)
{
	static const char *const cases[] = {
		"", " ", "/", "/8", "x", "1", "10", "10.1", "10.1.1", "10.1.1.1.1",
		"300.1.1.1", "256.1.1.1", "10.1.1.-1", "10.1.1.1/", "10.1.1.1/33",
		"10.1.1.1/-1", "10.1.1.1/+8", "10.1.1.1/8 ", "10.1.1.1/ 8",
		"10.1.1.1/8\n", "10.1.1.1\n", "10.1.1.1 ", " 10.1.1.1",
		"10.1.1.1/0x8", "10.1.1.1/4294967304", "10.1.1.1/8/8", "10.1.1.1,",
		"10.0.0.0/255.0.0.0", "localhost", ":", ":::", "1::2::3", "fd00",
		"fd00:", "fd00::/129", "fd00::/-1", "fd00::/", "fd00::/64 ",
		"fd00::%lo", "[fd00::1]", "fd00::12345", "1:2:3:4:5:6:7:8:9",
		"fd00::/18446744073709551680", "g::",
	};
	struct tap_prefix prefix;
	struct tap_text why = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_prefix_parse(&prefix, cases[i], &why),
				    -EINVAL, "%s", cases[i]);
		TAP_EXPECT_TEXT(test, &why, ALLOWED);
	}
	tap_text_free(&why);
}

static struct kunit_case tap_addr_cases[] = {
	KUNIT_CASE(tap_addr_test_prefix_contains),
	KUNIT_CASE(tap_addr_test_prefix_refused),
	{}
};

static struct kunit_suite tap_addr_suite = {
	.name = "tap_addr",
	.test_cases = tap_addr_cases,
};
TAP_KUNIT_SUITE(tap_addr_suite);
