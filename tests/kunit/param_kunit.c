// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/param.c */
#include <linux/mm.h>

#include "kunit.h"
#include "param.h"

static unsigned int number;
static bool flag;
static char *words;

static const char *const choices[] = { "red", "green", NULL };

static int words_check(const char *text, struct tap_text *why)
{
	if (strcmp(text, "bad"))
		return 0;
	tap_printf(why, "not bad");
	return -EINVAL;
}

static const struct tap_param range = {
	.type = TAP_PARAM_UINT, .value = &number, .min = 100, .max = 3600000,
};

static const struct tap_param range_or_zero = {
	.type = TAP_PARAM_UINT, .value = &number, .zero = true, .min = 100,
	.max = 3600000,
};

static const struct tap_param from_zero = {
	.type = TAP_PARAM_UINT, .value = &number, .max = UINT_MAX,
};

static const struct tap_param boolean = {
	.type = TAP_PARAM_BOOL, .value = &flag,
};

static const struct tap_param choice = {
	.type = TAP_PARAM_CHOICE, .value = &number, .choices = choices,
};

static const struct tap_param text = {
	.type = TAP_PARAM_TEXT, .value = &words, .check = words_check,
};

static int tap_param_init(struct kunit *test)
{
	number = 0;
	flag = false;
	return 0;
}

static void tap_param_exit(struct kunit *test)
{
	kvfree(words);
	words = NULL;
}

static void tap_param_test_set_what_is_allowed(struct kunit *test)
{
	static const struct {
		const struct tap_param *param;
		const char *val;
		const char *get;
	} cases[] = {
		{ &range, "100", "100" },
		{ &range, "3600000", "3600000" },
		{ &range, "0x80", "128" },
		{ &range_or_zero, "0", "0" },
		{ &range_or_zero, "100", "100" },
		{ &from_zero, "0", "0" },
		{ &from_zero, "4294967295", "4294967295" },
		{ &boolean, "1", "1" },
		{ &boolean, "0", "0" },
		{ &choice, "green", "green" },
		{ &choice, "red", "red" },
		{ &text, "good", "good" },
		{ &text, "other, \"text\"", "other, \"text\"" },
		{ &text, "", "" },
	};
	struct tap_text why = {};
	struct tap_text got = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_param_set(cases[i].param, "p",
							cases[i].val, &why),
				    0, "case %d", i);
		KUNIT_EXPECT_EQ(test, why.len, 0);
		tap_param_get(cases[i].param, &got);
		TAP_EXPECT_TEXT(test, &got, cases[i].get);
	}
	KUNIT_EXPECT_PTR_EQ(test, words, NULL);
	tap_text_free(&why);
	tap_text_free(&got);
}

static void tap_param_test_set_what_is_refused(struct kunit *test)
{
	static const struct {
		const struct tap_param *param;
		const char *val;
		const char *why;
	} cases[] = {
		{ &range, "99", "p=99: allowed is 100 to 3600000" },
		{ &range, "3600001", "p=3600001: allowed is 100 to 3600000" },
		{ &range, "0", "p=0: allowed is 100 to 3600000" },
		{ &range, "-100", "p=-100: allowed is 100 to 3600000" },
		{ &range, "", "p=: allowed is 100 to 3600000" },
		{ &range, "200ms", "p=200ms: allowed is 100 to 3600000" },
		{ &range, "4294967496", "p=4294967496: allowed is 100 to 3600000" },
		{ &range, "99999999999999999999999",
		  "p=99999999999999999999999: allowed is 100 to 3600000" },
		{ &range_or_zero, "1", "p=1: allowed is 0 or 100 to 3600000" },
		{ &from_zero, "no", "p=no: allowed is 0 to 4294967295" },
		{ &boolean, "2", "p=2: allowed is 0 or 1" },
		{ &boolean, "Y", "p=Y: allowed is 0 or 1" },
		{ &boolean, "11", "p=11: allowed is 0 or 1" },
		{ &boolean, "", "p=: allowed is 0 or 1" },
		{ &choice, "blue", "p=blue: allowed is red or green" },
		{ &choice, "", "p=: allowed is red or green" },
		{ &choice, "gree", "p=gree: allowed is red or green" },
		{ &text, "bad", "p=bad: not bad" },
	};
	struct tap_text why = {};
	int i;

	KUNIT_ASSERT_EQ(test, tap_param_set(&text, "p", "kept", &why), 0);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		number = 1;
		flag = true;
		KUNIT_EXPECT_EQ_MSG(test, tap_param_set(cases[i].param, "p",
							cases[i].val, &why),
				    -EINVAL, "case %d", i);
		TAP_EXPECT_TEXT(test, &why, cases[i].why);
		KUNIT_EXPECT_EQ(test, number, 1U);
		KUNIT_EXPECT_TRUE(test, flag);
		KUNIT_EXPECT_STREQ(test, words, "kept");
	}
	tap_text_free(&why);
}

static void tap_param_test_set_long_value(struct kunit *test)
{
	char *val = kvzalloc(TAP_PARAM_MAX + 2, GFP_KERNEL);
	struct tap_text why = {};

	KUNIT_ASSERT_NOT_NULL(test, val);
	memset(val, 'x', TAP_PARAM_MAX);
	KUNIT_EXPECT_EQ(test, tap_param_set(&text, "p", val, &why), 0);
	KUNIT_EXPECT_EQ(test, strlen(words), TAP_PARAM_MAX);

	/* one byte more is refused, and the message stays a line */
	val[TAP_PARAM_MAX] = 'x';
	KUNIT_EXPECT_EQ(test, tap_param_set(&text, "p", val, &why), -EINVAL);
	KUNIT_EXPECT_EQ(test, strlen(words), TAP_PARAM_MAX);
	KUNIT_EXPECT_LT(test, why.len, 200);
	KUNIT_EXPECT_PTR_EQ(test, memchr(why.buf, '\n', why.len), NULL);
	tap_putc(&why, '\0');
	KUNIT_EXPECT_NOT_NULL(test, strstr(why.buf, "131072"));
	tap_text_free(&why);
	kvfree(val);
}

static void tap_param_test_ops_of_a_module(struct kunit *test)
{
	struct kernel_param kp = {
		.name = "p",
		.mod = THIS_MODULE,
		.ops = &tap_param_ops,
		.arg = (void *)&range,
	};
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, tap_param_ops.set("200", &kp), 0);
	KUNIT_EXPECT_EQ(test, number, 200U);
	KUNIT_EXPECT_EQ(test, tap_param_ops.set("7", &kp), -EINVAL);
	KUNIT_EXPECT_EQ(test, number, 200U);
	KUNIT_EXPECT_EQ(test, tap_param_ops.get(page, &kp), 4);
	KUNIT_EXPECT_STREQ(test, page, "200\n");

	/* a text longer than the page that sysfs has is cut there */
	kp.arg = (void *)&text;
	words = kvzalloc(2 * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, words);
	memset(words, 'x', 2 * PAGE_SIZE - 1);
	KUNIT_EXPECT_LT(test, tap_param_ops.get(page, &kp), (int)PAGE_SIZE);
	tap_param_ops.free(kp.arg);
	KUNIT_EXPECT_PTR_EQ(test, words, NULL);
	tap_param_ops.free((void *)&range);
	KUNIT_EXPECT_EQ(test, number, 200U);
}

static int tap_param_attempt(struct kunit *test)
{
	struct tap_text why = {};
	int err = tap_param_set(&text, "p", "good", &why);

	KUNIT_EXPECT_STREQ(test, words, err ? "kept" : "good");
	tap_text_free(&why);
	kvfree(words);
	words = kstrdup("kept", GFP_KERNEL | __GFP_NOFAIL);
	return err;
}

static void tap_param_test_set_without_memory(struct kunit *test)
{
	words = kstrdup("kept", GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, words);
	tap_kunit_fail_each(test, tap_param_attempt);
}

static struct kunit_case tap_param_cases[] = {
	KUNIT_CASE(tap_param_test_set_what_is_allowed),
	KUNIT_CASE(tap_param_test_set_what_is_refused),
	KUNIT_CASE(tap_param_test_set_long_value),
	KUNIT_CASE(tap_param_test_ops_of_a_module),
	KUNIT_CASE(tap_param_test_set_without_memory),
	{}
};

static struct kunit_suite tap_param_suite = {
	.name = "tap_param",
	.init = tap_param_init,
	.exit = tap_param_exit,
	.test_cases = tap_param_cases,
};
TAP_KUNIT_SUITE(tap_param_suite);
