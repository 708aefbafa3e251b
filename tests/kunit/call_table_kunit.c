// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/call_table.h */
#include "call_table.h"
#include "kunit.h"

static const u8 native[] = {
	[TAP_NR(futex)] = 1,
	[TAP_NR_FUTEX_WAITV] = 2,
};

static const u8 other[] = {
	TAP_CALLS_32([TAP_NR_32(futex)] = 3)
};

static u8 at(u32 nr, u32 compat)
{
	return tap_call_at(nr, compat, native, ARRAY_SIZE(native), other,
			   ARRAY_SIZE(other));
}

static void tap_call_table_test_native(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, at(TAP_NR(futex), 0), 1);
	KUNIT_EXPECT_EQ(test, at(TAP_NR_FUTEX_WAITV, 0), 2);
	KUNIT_EXPECT_EQ(test, at(TAP_NR(futex) + 1, 0), 0);
}

static void tap_call_table_test_beyond(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, at(TAP_NR_FUTEX_WAITV + 1, 0), 0);
	KUNIT_EXPECT_EQ(test, at(TAP_NR_FUTEX_WAITV + 1, 1), 0);
	/* a call that was cancelled */
	KUNIT_EXPECT_EQ(test, at(-1, 0), 0);
	KUNIT_EXPECT_EQ(test, at(-1, 1), 0);
	KUNIT_EXPECT_EQ(test, at(1 << 31, 0), 0);
}

/* x32's bit is none of the number; in 32-bit code there is no such bit. */
static void tap_call_table_test_other_abis(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, at(TAP_NR(futex) | TAP_X32_BIT, 0), 1);
#ifdef TAP_NR_32
	KUNIT_EXPECT_EQ(test, at(TAP_NR_32(futex), 1), 3);
	KUNIT_EXPECT_EQ(test, at(TAP_NR(futex), 1), 0);
	KUNIT_EXPECT_EQ(test, at(TAP_NR_32(futex), 0), 0);
	KUNIT_EXPECT_EQ(test, at(TAP_NR_32(futex) | TAP_X32_BIT, 1), 0);
#endif
}

static struct kunit_case tap_call_table_cases[] = {
	KUNIT_CASE(tap_call_table_test_native),
	KUNIT_CASE(tap_call_table_test_beyond),
	KUNIT_CASE(tap_call_table_test_other_abis),
	{}
};

static struct kunit_suite tap_call_table_suite = {
	.name = "tap_call_table",
	.test_cases = tap_call_table_cases,
};
TAP_KUNIT_SUITE(tap_call_table_suite);
