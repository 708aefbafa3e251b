// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/strings.c */
#include "kunit.h"
#include "strings.h"

/* A pool of 16 blocks for each KiB. */
static struct tap_strings *new_strings(struct kunit *test, u32 kb)
{
	struct tap_strings *strings = kunit_kzalloc(test, sizeof(*strings),
						    GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, strings);
	KUNIT_ASSERT_EQ(test, tap_strings_init(strings, kb), 0);
	return strings;
}

static char *new_text(struct kunit *test, size_t len, char begin)
{
	char *text = kunit_kzalloc(test, len + 1, GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 0; i < len; i++)
		text[i] = begin + i % 26;
	return text;
}

static void tap_strings_test_of_any_length(struct kunit *test)
{
	static const size_t lengths[] = { 0, 1, 59, 60, 61, 119, 120, 121, 900 };
	struct tap_strings *strings = new_strings(test, 4);
	char *text = new_text(test, 900, 'a');
	u32 ids[ARRAY_SIZE(lengths)];
	char buf[1000];
	int i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		ids[i] = tap_strings_put(strings, text, lengths[i]);
		KUNIT_EXPECT_NE(test, ids[i], (u32)TAP_STRING_NONE);
	}
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		memset(buf, 'X', sizeof(buf));
		KUNIT_EXPECT_EQ(test, tap_strings_take(strings, ids[i], buf,
						       sizeof(buf)), lengths[i]);
		KUNIT_EXPECT_EQ(test, strlen(buf), lengths[i]);
		KUNIT_EXPECT_EQ(test, memcmp(buf, text, lengths[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, tap_strings_used(strings), 0ul);
	KUNIT_EXPECT_EQ(test, tap_strings_lost(strings), 0ull);
	tap_strings_fini(strings);
}

static void tap_strings_test_as_much_as_fits(struct kunit *test)
{
	struct tap_strings *strings = new_strings(test, 1);
	char *text = new_text(test, 130, 'a');
	char buf[101] = {};
	u32 id;

	id = tap_strings_put(strings, text, 130);
	buf[100] = 'X';
	KUNIT_EXPECT_EQ(test, tap_strings_take(strings, id, buf, 100), 99ul);
	KUNIT_EXPECT_EQ(test, strlen(buf), 99ul);
	KUNIT_EXPECT_EQ(test, buf[100], 'X');
	id = tap_strings_put(strings, text, 130);
	KUNIT_EXPECT_EQ(test, tap_strings_take(strings, id, NULL, 0), 0ul);
	KUNIT_EXPECT_EQ(test, tap_strings_take(strings, TAP_STRING_NONE, buf, 100), 0ul);
	KUNIT_EXPECT_EQ(test, buf[0], '\0');
	KUNIT_EXPECT_EQ(test, tap_strings_used(strings), 0ul);
	tap_strings_fini(strings);
}

static void tap_strings_test_full(struct kunit *test)
{
	struct tap_strings *strings = new_strings(test, 1);
	char *text = new_text(test, 961, 'a');
	u32 ids[16], id;
	char buf[64];
	int i, round;

	/* all or nothing */
	KUNIT_EXPECT_EQ(test, tap_strings_put(strings, text, 961),
			(u32)TAP_STRING_NONE);
	id = tap_strings_put(strings, text, 960);
	KUNIT_EXPECT_NE(test, id, (u32)TAP_STRING_NONE);
	KUNIT_EXPECT_EQ(test, tap_strings_put(strings, text, 0),
			(u32)TAP_STRING_NONE);
	KUNIT_EXPECT_EQ(test, tap_strings_lost(strings), 2ull);
	tap_strings_take(strings, id, NULL, 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 16; i++) {
			ids[i] = tap_strings_put(strings, text + i, 10);
			KUNIT_EXPECT_NE(test, ids[i], (u32)TAP_STRING_NONE);
		}
		KUNIT_EXPECT_EQ(test, tap_strings_used(strings), 1024ul);
		/* given back in another order */
		for (i = 0; i < 16; i++) {
			tap_strings_take(strings, ids[i * 7 % 16], buf, sizeof(buf));
			KUNIT_EXPECT_EQ(test, memcmp(buf, text + i * 7 % 16, 10), 0);
		}
	}
	KUNIT_EXPECT_EQ(test, tap_strings_used(strings), 0ul);
	tap_strings_fini(strings);
}

struct strings_load {
	struct tap_strings *strings;
	char *text;
	atomic64_t wrong;
	atomic64_t lost;
};

static void load_round(struct strings_load *load, unsigned int at, size_t len)
{
	u32 id = tap_strings_put(load->strings, load->text + at, len);
	char buf[200];

	if (id == TAP_STRING_NONE)
		atomic64_inc(&load->lost);
	else if (tap_strings_take(load->strings, id, buf, sizeof(buf)) != len ||
		 memcmp(buf, load->text + at, len))
		atomic64_inc(&load->wrong);
}

static void load_thread(void *data, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		load_round(data, (cpu + i) % 26, i % 190);
		if (i % 1000 == 0)
			cond_resched_tasks_rcu_qs();
	}
}

static void load_timer(void *data, unsigned int cpu)
{
	load_round(data, cpu % 26, 150);
}

static void tap_strings_test_load(struct kunit *test)
{
	struct strings_load load = {
		.strings = new_strings(test, 1),
		.text = new_text(test, 300, 'a'),
	};
	struct tap_kunit_load on_cpus = {
		.thread = load_thread, .timer = load_timer, .data = &load,
	};

	tap_kunit_run(test, &on_cpus);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load.wrong), 0);
	KUNIT_EXPECT_EQ(test, tap_strings_lost(load.strings),
			(u64)atomic64_read(&load.lost));
	KUNIT_EXPECT_EQ(test, tap_strings_used(load.strings), 0ul);
	tap_strings_fini(load.strings);
}

static int attempt(struct kunit *test)
{
	struct tap_strings strings = {};
	int err = tap_strings_init(&strings, 1);

	if (!err)
		tap_strings_fini(&strings);
	return err;
}

static void tap_strings_test_init_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt);
}

static struct kunit_case tap_strings_cases[] = {
	KUNIT_CASE(tap_strings_test_of_any_length),
	KUNIT_CASE(tap_strings_test_as_much_as_fits),
	KUNIT_CASE(tap_strings_test_full),
	KUNIT_CASE(tap_strings_test_load),
	KUNIT_CASE(tap_strings_test_init_without_memory),
	{}
};

static struct kunit_suite tap_strings_suite = {
	.name = "tap_strings",
	.test_cases = tap_strings_cases,
};
TAP_KUNIT_SUITE(tap_strings_suite);
