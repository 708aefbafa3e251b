// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/fmt.c */
#include "kunit.h"

static void tap_fmt_test_printf_grows(struct kunit *test)
{
	struct tap_text text = {};
	char *all;
	int i;

	tap_printf(&text, "%s", "");
	KUNIT_EXPECT_EQ(test, text.len, 0);
	all = kunit_kzalloc(test, 10001, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (i = 0; i < 1000; i++) {
		tap_printf(&text, "%07d,%c", i, 'a' + i % 26);
		tap_putc(&text, '\n');
		sprintf(all + 10 * i, "%07d,%c\n", i, 'a' + i % 26);
	}
	KUNIT_EXPECT_EQ(test, text.len, 10000);
	TAP_EXPECT_TEXT(test, &text, all);

	/* one piece longer than what it doubles to */
	memset(all, 'x', 10000);
	tap_text_free(&text);
	tap_printf(&text, "ab");
	tap_printf(&text, "%s", all);
	KUNIT_EXPECT_EQ(test, text.len, 10002);
	KUNIT_EXPECT_EQ(test, memcmp(text.buf, "abxxx", 5), 0);
	KUNIT_EXPECT_EQ(test, text.buf[10001], 'x');
	tap_text_free(&text);
}

static void tap_fmt_test_text_cleared_and_freed(struct kunit *test)
{
	struct tap_text text = {};
	char *buf;

	tap_printf(&text, "first");
	buf = text.buf;
	tap_text_clear(&text);
	tap_printf(&text, "second");
	KUNIT_EXPECT_PTR_EQ(test, text.buf, buf);
	TAP_EXPECT_TEXT(test, &text, "second");

	text.failed = true;
	tap_printf(&text, "more");
	tap_putc(&text, 'c');
	KUNIT_EXPECT_EQ(test, text.len, 0);
	tap_text_clear(&text);
	KUNIT_EXPECT_FALSE(test, text.failed);

	tap_text_free(&text);
	KUNIT_EXPECT_PTR_EQ(test, text.buf, NULL);
	KUNIT_EXPECT_EQ(test, text.len, 0);
	KUNIT_EXPECT_EQ(test, text.size, 0);
	tap_text_free(&text);
	tap_putc(&text, 'c');
	TAP_EXPECT_TEXT(test, &text, "c");
	tap_text_free(&text);
}

static int tap_fmt_attempt(struct kunit *test)
{
	struct tap_text text = {};
	int err;

	tap_printf(&text, "%2000d", 1);
	tap_printf(&text, "%2000d", 2);
	err = text.failed ? -ENOMEM : 0;
	if (!err)
		KUNIT_EXPECT_EQ(test, text.len, 4000);
	tap_text_free(&text);
	return err;
}

static void tap_fmt_test_text_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, tap_fmt_attempt);
}

static void tap_fmt_test_escape_names(struct kunit *test)
{
	static const struct {
		const char *name;
		const char *escaped;
	} cases[] = {
		{ "", "" },
		{ "bash", "bash" },
		{ "a b", "a\\040b" },
		{ "\\", "\\134" },
		{ "\t\n\x1b[2J", "\\011\\012\\033[2J" },
		{ "\x7f\x80\xff", "\\177\\200\\377" },
		{ "\xc3\xa9", "\\303\\251" },
		{ "!~\"'#", "!~\"'#" },
	};
	char buf[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = tap_escape(buf, sizeof(buf), cases[i].name, 16);

		KUNIT_EXPECT_STREQ(test, buf, cases[i].escaped);
		KUNIT_EXPECT_EQ(test, len, strlen(cases[i].escaped));
	}
	/* ends at @len, not at the NUL byte that is not there */
	KUNIT_EXPECT_EQ(test, tap_escape(buf, sizeof(buf), "abcdef", 3), 3);
	KUNIT_EXPECT_STREQ(test, buf, "abc");
}

static void tap_fmt_test_escape_each_byte(struct kunit *test)
{
	char src[2] = {};
	char buf[TAP_ESCAPED(1)];
	char octal[5];
	int c;

	for (c = 1; c < 256; c++) {
		src[0] = c;
		tap_escape(buf, sizeof(buf), src, 1);
		sprintf(octal, "\\%03o", c);
		KUNIT_EXPECT_STREQ(test, buf,
				   c > ' ' && c < 0x7f && c != '\\' ? src : octal);
	}
}

static void tap_fmt_test_escape_short_of_room(struct kunit *test)
{
	/* where the result may end */
	static const char whole[] = "ab\\040\\377c\\134";
	static const int ends[] = { 0, 1, 2, 6, 10, 11, 15 };
	char buf[sizeof(whole) + 1];
	int size, i;

	for (size = 1; size <= sizeof(whole); size++) {
		size_t len, end = 0;

		for (i = 0; i < ARRAY_SIZE(ends); i++)
			if (ends[i] < size)
				end = ends[i];
		memset(buf, '#', sizeof(buf));
		len = tap_escape(buf, size, "ab \377c\\", 6);
		KUNIT_EXPECT_EQ(test, len, end);
		KUNIT_EXPECT_EQ(test, memcmp(buf, whole, end), 0);
		KUNIT_EXPECT_EQ(test, buf[end], '\0');
		KUNIT_EXPECT_EQ(test, buf[size], '#');
	}
}

static void tap_fmt_test_json_string(struct kunit *test)
{
	static const struct {
		const char *src;
		const char *json;
	} cases[] = {
		{ "", "\"\"" },
		{ "plain text/", "\"plain text/\"" },
		{ "\"\\", "\"\\\"\\\\\"" },
		{ "\n\x01\x1f\x7f", "\"\\u000a\\u0001\\u001f\\u007f\"" },
		{ "%s%n", "\"%s%n\"" },
		/* the first and the last of two, three and four bytes */
		{ "\xc2\x80\xdf\xbf", "\"\xc2\x80\xdf\xbf\"" },
		{ "\xe0\xa0\x80\xef\xbf\xbf", "\"\xe0\xa0\x80\xef\xbf\xbf\"" },
		{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
		  "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"" },
		/* not UTF-8: alone, cut short, too long, surrogate, too high */
		{ "\x80z", "\"\\u0080z\"" },
		{ "\xff", "\"\\u00ff\"" },
		{ "\xc3", "\"\\u00c3\"" },
		{ "\xe2\x82", "\"\\u00e2\\u0082\"" },
		{ "\xc0\xaf", "\"\\u00c0\\u00af\"" },
		{ "\xc1\xbf", "\"\\u00c1\\u00bf\"" },
		{ "\xe0\x9f\xbf", "\"\\u00e0\\u009f\\u00bf\"" },
		{ "\xf0\x8f\xbf\xbf", "\"\\u00f0\\u008f\\u00bf\\u00bf\"" },
		{ "\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"" },
		{ "\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"" },
		{ "\xf5\x80\x80\x80", "\"\\u00f5\\u0080\\u0080\\u0080\"" },
		{ "\xc3\xc3\xa9", "\"\\u00c3\xc3\xa9\"" },
	};
	struct tap_text text = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		tap_json_string(&text, cases[i].src, 100);
		TAP_EXPECT_TEXT(test, &text, cases[i].json);
	}
	/* a sequence must not be completed from behind @len */
	tap_json_string(&text, "a\xc3\xa9", 2);
	TAP_EXPECT_TEXT(test, &text, "\"a\\u00c3\"");
	tap_text_free(&text);
}

static void tap_fmt_test_errno(struct kunit *test)
{
	char name[16];

	tap_errno(name, sizeof(name), -EAGAIN);
	KUNIT_EXPECT_STREQ(test, name, "EAGAIN");
	tap_errno(name, sizeof(name), 4711);
	KUNIT_EXPECT_STREQ(test, name, "");
	tap_errno(name, sizeof(name), -4000);
	KUNIT_EXPECT_STREQ(test, name, "-4000");
	tap_errno(name, 4, -EAGAIN);
	KUNIT_EXPECT_STREQ(test, name, "EAG");
}

static struct kunit_case tap_fmt_cases[] = {
	KUNIT_CASE(tap_fmt_test_printf_grows),
	KUNIT_CASE(tap_fmt_test_text_cleared_and_freed),
	KUNIT_CASE(tap_fmt_test_text_without_memory),
	KUNIT_CASE(tap_fmt_test_escape_names),
	KUNIT_CASE(tap_fmt_test_escape_each_byte),
	KUNIT_CASE(tap_fmt_test_escape_short_of_room),
	KUNIT_CASE(tap_fmt_test_errno),
	KUNIT_CASE(tap_fmt_test_json_string),
	{}
};

static struct kunit_suite tap_fmt_suite = {
	.name = "tap_fmt",
	.test_cases = tap_fmt_cases,
};
TAP_KUNIT_SUITE(tap_fmt_suite);
