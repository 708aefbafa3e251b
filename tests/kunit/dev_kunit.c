// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/dev.h */
#include "kunit.h"
#include "dev.h"

static void tap_dev_test_parse(struct kunit *test)
{
	static const struct {
		const char *text;
		unsigned int major, minor;
	} cases[] = {
		{ "8:5", 8, 5 },
		{ "0x8:0x5", 8, 5 },
		{ "0x8:0x05", 8, 5 },
		{ "0xfd:10", 253, 10 },
		{ "253:0xA", 253, 10 },
		{ "08:010", 8, 10 },
		{ "0:1", 0, 1 },
		{ "1:0", 1, 0 },
		{ "4095:1048575", 4095, 1048575 },
		{ "0xfff:0xfffff", 4095, 1048575 },
		{ "0x000000000000008:5", 8, 5 },
		{ "0x805", 8, 5 },
		{ "0x1", 0, 1 },
		{ "0x8", 0, 8 },
		{ "0xfd00", 253, 0 },
		{ "0x100805", 8, 261 },
		{ "0xffffffff", 4095, 1048575 },
	};
	struct tap_text why = {};
	dev_t dev;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_dev_parse(&dev, cases[i].text, &why),
				    0, "%s", cases[i].text);
		KUNIT_EXPECT_EQ_MSG(test, MAJOR(dev), cases[i].major, "%s",
				    cases[i].text);
		KUNIT_EXPECT_EQ_MSG(test, MINOR(dev), cases[i].minor, "%s",
				    cases[i].text);
	}
	dev = MKDEV(8, 5);
	KUNIT_EXPECT_EQ(test, tap_dev_parse(&dev, NULL, &why), 0);
	KUNIT_EXPECT_EQ(test, dev, 0);
	KUNIT_EXPECT_EQ(test, why.len, 0);
}

#define ALLOWED								\
	"allowed is MAJOR:MINOR, 8:5 or 0x8:0x5, to 4095:1048575, "	\
	"or 0x and what stat -c %D prints, 0x805"

static void tap_dev_test_refused(struct kunit *test)
{
	static const char *const cases[] = {
		"", " ", "8", "805", "fd00", "x", "0x", "0x:", "0x:5", "8:", ":",
		":5", "8:0x", "8:99999999", "8:1048576", "4096:0", "0x1000:0",
		"8:0x100000", "4294967304:5", "8:4294967301",
		"18446744073709551624:5", "0x10000000000000008:5",
		"8:18446744073709551621", "0x100000805", "0x10000000000000805",
		"-8:5", "8:-5", "+8:5", "8:+5", " 8:5", "8:5 ", "8 :5", "8: 5",
		"8:5\n", "0x805\n", "0x805 ", "0x805:", "0x805x", "0X805", "8:5:1",
		"8:5,8:6", "8,5", "8:f", "a:5", "0xg", "sda", "/dev/sda", "0:0",
		"0x0", "0x0:0x0",
	};
	struct tap_text why = {};
	dev_t dev;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_dev_parse(&dev, cases[i], &why),
				    -EINVAL, "%s", cases[i]);
		TAP_EXPECT_TEXT(test, &why, ALLOWED);
	}
	tap_text_free(&why);
}

static void tap_dev_test_ino(struct kunit *test)
{
	static const struct {
		const char *text;
		u64 ino;
	} cases[] = {
		{ "1", 1 },
		{ "0012", 12 },
		{ "0x1f", 31 },
		{ "4294967296", 1ull << 32 },
		{ "18446744073709551615", U64_MAX },
		{ "0xffffffffffffffff", U64_MAX },
		{ NULL, 0 },
	};
	static const char *const refused[] = {
		"", "0", "0x0", "-1", "+1", " 1", "1 ", "1\n", "x", "0x", "1x", "1,2",
		"0xfg", "18446744073709551616", "0x10000000000000000",
		"99999999999999999999999999",
	};
	struct tap_text why = {};
	u64 ino;
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_ino_parse(&ino, cases[i].text, &why),
				    0, "%s", cases[i].text);
		KUNIT_EXPECT_EQ_MSG(test, ino, cases[i].ino, "%s", cases[i].text);
	}
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_ino_parse(&ino, refused[i], &why),
				    -EINVAL, "%s", refused[i]);
		TAP_EXPECT_TEXT(test, &why, "allowed is 1 to 18446744073709551615");
	}
	tap_text_free(&why);
}

static struct kunit_case tap_dev_cases[] = {
	KUNIT_CASE(tap_dev_test_parse),
	KUNIT_CASE(tap_dev_test_refused),
	KUNIT_CASE(tap_dev_test_ino),
	{}
};

static struct kunit_suite tap_dev_suite = {
	.name = "tap_dev",
	.test_cases = tap_dev_cases,
};
TAP_KUNIT_SUITE(tap_dev_suite);
