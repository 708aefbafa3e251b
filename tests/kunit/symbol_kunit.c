// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/symbol.c */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "kunit.h"
#include "symbol.h"

static void expect(struct kunit *test, const void *address, const char *name,
		   const char *offset, const char *module)
{
	struct tap_symbol symbol = {};

	tap_symbol_set(&symbol, (unsigned long)address);
	KUNIT_EXPECT_STREQ(test, symbol.name, name);
	KUNIT_EXPECT_STREQ(test, symbol.offset, offset);
	KUNIT_EXPECT_STREQ(test, symbol.module, module);
}

static void tap_symbol_test_kernel(struct kunit *test)
{
	const void *function = kvfree;

	expect(test, function, "kvfree", "0x0", "");
	expect(test, function + 3, "kvfree", "0x3", "");
}

/* A name of 101 characters, of which 95 have room. */
#define TEN "0123456789"
#define NAME "tap_symbol_" TEN TEN TEN TEN TEN TEN TEN TEN TEN
static noinline __used void tap_symbol_long(void)
	__asm__(NAME);

static void tap_symbol_long(void)
{
	barrier();
}

static void tap_symbol_test_module(struct kunit *test)
{
	const void *function = tap_symbol_test_module;
	char cut[sizeof_field(struct tap_symbol, name)];

	expect(test, function, "tap_symbol_test_module", "0x0", "symbol_kunit");
	expect(test, function + 0x11, "tap_symbol_test_module", "0x11",
	       "symbol_kunit");
	strscpy(cut, NAME, sizeof(cut));
	expect(test, tap_symbol_long, cut, "0x0", "symbol_kunit");
}

static void tap_symbol_test_unknown(struct kunit *test)
{
	void *data = kunit_kzalloc(test, 100, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);
	expect(test, data, "(unknown)", "", "");
	expect(test, NULL, "(unknown)", "", "");
	expect(test, (void *)-1, "(unknown)", "", "");
}

/* What a second CPU writes over a symbol that is there changes no byte. */
static void tap_symbol_test_twice(struct kunit *test)
{
	struct tap_symbol first = {}, second;

	tap_symbol_set(&first, (unsigned long)tap_symbol_test_module);
	second = first;
	tap_symbol_set(&second, (unsigned long)tap_symbol_test_module);
	KUNIT_EXPECT_EQ(test, memcmp(&first, &second, sizeof(first)), 0);
}

static struct kunit_case tap_symbol_cases[] = {
	KUNIT_CASE(tap_symbol_test_kernel),
	KUNIT_CASE(tap_symbol_test_module),
	KUNIT_CASE(tap_symbol_test_unknown),
	KUNIT_CASE(tap_symbol_test_twice),
	{}
};

static struct kunit_suite tap_symbol_suite = {
	.name = "tap_symbol",
	.test_cases = tap_symbol_cases,
};
TAP_KUNIT_SUITE(tap_symbol_suite);
