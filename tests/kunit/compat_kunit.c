// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/compat.h: what it makes of the kernel's drop reasons */
#include "kunit.h"

static void expect_name(struct kunit *test, u32 reason, const char *name)
{
	char buf[40] = "";

	tap_drop_reason_name(reason, buf, sizeof(buf));
	KUNIT_EXPECT_STREQ(test, buf, name);
}

static void tap_compat_test_drop_reasons(struct kunit *test)
{
#if defined(TAP_HAVE_DROP_REASONS) || defined(TAP_HAVE_DROP_REASONS_BY_SUBSYS)
	expect_name(test, SKB_DROP_REASON_NO_SOCKET, "NO_SOCKET");
	expect_name(test, SKB_DROP_REASON_PKT_TOO_BIG, "PKT_TOO_BIG");
#else
	kunit_skip(test, "a kernel without names of drop reasons");
#endif
	expect_name(test, 0xffff, "");
	expect_name(test, U32_MAX, "");
}

/* Those of modules come and go. */
static void tap_compat_test_drop_reasons_of_a_subsystem(struct kunit *test)
{
#ifdef TAP_HAVE_DROP_REASONS_BY_SUBSYS
	static const char *const names[] = { "FIRST", NULL, "THIRD" };
	static const struct drop_reason_list list = {
		.reasons = names, .n_reasons = ARRAY_SIZE(names),
	};
	const u32 first = SKB_DROP_REASON_SUBSYS_OPENVSWITCH <<
			  SKB_DROP_REASON_SUBSYS_SHIFT;

	expect_name(test, first, "");
	drop_reasons_register_subsys(SKB_DROP_REASON_SUBSYS_OPENVSWITCH, &list);
	expect_name(test, first, "FIRST");
	expect_name(test, first + 1, "");
	expect_name(test, first + 2, "THIRD");
	expect_name(test, first + 3, "");
	drop_reasons_unregister_subsys(SKB_DROP_REASON_SUBSYS_OPENVSWITCH);
	expect_name(test, first, "");
#else
	kunit_skip(test, "a kernel without subsystems that drop packets");
#endif
}

static void tap_compat_test_consumed(struct kunit *test)
{
#ifdef TAP_HAVE_DROP_REASONS_BY_SUBSYS
	KUNIT_EXPECT_TRUE(test, tap_drop_is_consumed(SKB_CONSUMED));
	KUNIT_EXPECT_FALSE(test, tap_drop_is_consumed(SKB_DROP_REASON_NO_SOCKET));
#endif
	KUNIT_EXPECT_FALSE(test, tap_drop_is_consumed(U32_MAX));
}

static struct kunit_case tap_compat_cases[] = {
	KUNIT_CASE(tap_compat_test_drop_reasons),
	KUNIT_CASE(tap_compat_test_drop_reasons_of_a_subsystem),
	KUNIT_CASE(tap_compat_test_consumed),
	{}
};

static struct kunit_suite tap_compat_suite = {
	.name = "tap_compat",
	.test_cases = tap_compat_cases,
};
TAP_KUNIT_SUITE(tap_compat_suite);
