// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/table.c */
#include <linux/log2.h>

#include "kunit.h"
#include "nmi.h"
#include "table.h"

struct table_key {
	u64 a;
	u64 b;
};

#define WORDS (sizeof(struct table_key) / sizeof(u64))
#define WALK 64		/* slots that are looked at, as table.h promises */

static const struct tap_table_layout layout = {
	.key_size = sizeof(struct table_key),
	.attr_size = 16,
	.nr_sums = 2,
	.max_rows = 1000,
};

static struct tap_table *new_table(struct kunit *test, u32 max_rows)
{
	struct tap_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	struct tap_table_layout l = layout;

	l.max_rows = max_rows;
	KUNIT_ASSERT_NOT_NULL(test, table);
	KUNIT_ASSERT_EQ(test, tap_table_init(table, &l), 0);
	return table;
}

static u32 find(struct tap_table *table, u64 a, u64 b)
{
	struct table_key key = { a, b };
	u32 id;

	preempt_disable();
	id = tap_table_find(table, (u64 *)&key, WORDS);
	preempt_enable();
	return id;
}

/* Count @n in the row of a key, as a handler does. */
static u32 count(struct tap_table *table, u64 a, u64 b, u64 n)
{
	struct table_key key = { a, b };
	u32 id;

	preempt_disable();
	id = tap_table_find(table, (u64 *)&key, WORDS);
	local64_add(n, tap_table_sums(table, id));
	local64_add(2 * n, tap_table_sums(table, id) + 1);
	preempt_enable();
	return id;
}

/* All that was counted, in rows with a key and in those without. */
static u64 grand_total(struct tap_table *table)
{
	u32 ids = tap_table_used(table) + TAP_ROW_FIRST;
	u64 total = 0;
	u32 id;

	for (id = TAP_ROW_OTHER; id < ids; id++)
		total += tap_table_total(table, id, 0);
	return total;
}

static void tap_table_test_find_gives_a_row(struct kunit *test)
{
	struct tap_table *table = new_table(test, 100);
	static const u8 zero[16];
	struct table_key *key;
	u32 id, i;

	KUNIT_EXPECT_EQ(test, tap_table_used(table), 0U);
	for (i = 0; i < 100; i++) {
		id = find(table, i, ~(u64)i);
		KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
		KUNIT_EXPECT_EQ(test, memcmp(tap_table_attr(table, id), zero, 16), 0);
		KUNIT_EXPECT_EQ(test, tap_table_total(table, id, 0), 0ull);
		*(u64 *)tap_table_attr(table, id) = i;
	}
	KUNIT_EXPECT_EQ(test, tap_table_used(table), 100U);
	for (i = 0; i < 100; i++) {
		id = find(table, i, ~(u64)i);
		KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
		key = tap_table_key(table, id);
		KUNIT_EXPECT_EQ(test, key->a, i);
		KUNIT_EXPECT_EQ(test, key->b, ~(u64)i);
		KUNIT_EXPECT_EQ(test, *(u64 *)tap_table_attr(table, id), i);
	}
	tap_table_fini(table);
}

static void tap_table_test_find_tells_keys_apart(struct kunit *test)
{
	struct tap_table *table = new_table(test, 129);
	u32 bit;

	/* every key that differs from zero in one bit, and zero itself */
	find(table, 0, 0);
	for (bit = 0; bit < 64; bit++) {
		find(table, 1ull << bit, 0);
		find(table, 0, 1ull << bit);
	}
	KUNIT_EXPECT_EQ(test, tap_table_used(table), 129U);
	for (bit = 0; bit < 64; bit++)
		KUNIT_EXPECT_EQ(test, find(table, 0, 1ull << bit),
				TAP_ROW_FIRST + 2 * bit + 2);
	tap_table_fini(table);
}

static void tap_table_test_sums_are_exact(struct kunit *test)
{
	struct tap_table *table = new_table(test, 10);
	u32 id;

	id = count(table, 1, 2, 5);
	count(table, 1, 2, U32_MAX);
	count(table, 3, 4, 1);
	KUNIT_EXPECT_EQ(test, tap_table_total(table, id, 0), 4294967300ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(table, id, 1), 8589934600ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(table, find(table, 3, 4), 0), 1ull);
	tap_table_fini(table);
}

static void tap_table_test_full_table_adds_up_the_others(struct kunit *test)
{
	struct tap_table *table = new_table(test, 100);
	u32 i;

	for (i = 0; i < 300; i++) {
		u32 id = count(table, i, 0, 1);

		if (i < 100)
			KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
		else
			KUNIT_EXPECT_EQ(test, id, (u32)TAP_ROW_OTHER);
	}
	KUNIT_EXPECT_EQ(test, tap_table_used(table), 100U);
	KUNIT_EXPECT_EQ(test, tap_table_total(table, TAP_ROW_OTHER, 0), 200ull);
	/* who has a row keeps it */
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_EQ(test, count(table, i, 0, 1), TAP_ROW_FIRST + i);
	KUNIT_EXPECT_EQ(test, tap_table_total(table, TAP_ROW_OTHER, 0), 200ull);
	KUNIT_EXPECT_EQ(test, grand_total(table), 400ull);
	tap_table_fini(table);
}

static void tap_table_test_clear_empties(struct kunit *test)
{
	struct tap_table *table = new_table(test, 100);
	static const u8 zero[16];
	u32 i, id, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 200; i++) {
			id = count(table, i + round, 7, 1);
			if (id != TAP_ROW_OTHER)
				*(u64 *)tap_table_attr(table, id) = i + 1;
		}
		tap_table_clear(table);
		KUNIT_EXPECT_EQ(test, tap_table_used(table), 0U);
		for (id = 0; id < TAP_ROW_FIRST + 100; id++) {
			KUNIT_EXPECT_EQ(test, tap_table_total(table, id, 0), 0ull);
			KUNIT_EXPECT_EQ(test, tap_table_total(table, id, 1), 0ull);
		}
		/* all rows can be had again, and are new ones */
		for (i = 0; i < 100; i++) {
			id = find(table, ~(u64)i, 9);
			KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
			KUNIT_EXPECT_EQ(test, memcmp(tap_table_attr(table, id),
						     zero, 16), 0);
		}
		tap_table_clear(table);
	}
	tap_table_fini(table);
}

/* Keys whose walk begins at the same slot, the last one of all. */
static void tap_table_test_collision_walks_64_slots(struct kunit *test)
{
	struct tap_table *table = new_table(test, 200);
	u32 last = roundup_pow_of_two(2 * (200 + TAP_ROW_FIRST)) - 1;
	struct table_key key = {};
	u32 id, i;

	preempt_disable();
	for (i = 0; i < WALK; i++) {
		key.a = i;
		id = tap_table_insert(table, (u64 *)&key, last);
		KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
	}
	for (; i < WALK + 10; i++) {
		key.a = i;
		id = tap_table_insert(table, (u64 *)&key, last);
		KUNIT_EXPECT_EQ(test, id, (u32)TAP_ROW_OTHER);
	}
	for (i = 0; i < WALK; i++) {
		key.a = i;
		id = tap_table_insert(table, (u64 *)&key, last);
		KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
	}
	/* those who found no slot took no row: all are there for other keys */
	for (; i < 200; i++) {
		key.a = i;
		id = tap_table_insert(table, (u64 *)&key, WALK + i);
		KUNIT_EXPECT_EQ(test, id, TAP_ROW_FIRST + i);
	}
	preempt_enable();
	tap_table_fini(table);
}

static void tap_table_test_keys_of_one_word(struct kunit *test)
{
	static const struct tap_table_layout one_word = {
		.key_size = 8, .nr_sums = 1, .max_rows = 1000,
	};
	struct tap_table table = {};
	u64 key;
	u32 i, turn, id;

	KUNIT_ASSERT_EQ(test, tap_table_init(&table, &one_word), 0);
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 1100; i++) {
			preempt_disable();
			key = i * 4096ull;
			id = tap_table_find(&table, &key, 1);
			preempt_enable();
			KUNIT_EXPECT_EQ(test, id, i < 1000 ? TAP_ROW_FIRST + i :
					(u32)TAP_ROW_OTHER);
		}
	}
	for (i = 0; i < 1000; i++)
		KUNIT_EXPECT_EQ(test, *(u64 *)tap_table_key(&table, TAP_ROW_FIRST + i),
				i * 4096ull);
	tap_table_fini(&table);
}

/* --- many CPUs --------------------------------------------------------- */

struct race {
	struct tap_table *table;
	u32 nr_keys;
	u64 rounds;
	atomic64_t counted;	/* in threads, timers and NMIs */
	bool by_timer;
	atomic_t timers[NR_CPUS];
};

static void race_thread(void *data, unsigned int cpu)
{
	struct race *race = data;
	u64 round;
	u32 i;

	/* all CPUs meet each key first at about the same time */
	for (round = 0; round < race->rounds; round++) {
		for (i = 0; i < race->nr_keys; i++) {
			count(race->table, i, 1, 1);
			atomic64_inc(&race->counted);
		}
		cond_resched_tasks_rcu_qs();
	}
	/* on until interrupts had their share */
	while (race->by_timer && atomic_read(&race->timers[cpu]) < 200) {
		count(race->table, i++ % race->nr_keys, 1, 1);
		atomic64_inc(&race->counted);
		cond_resched_tasks_rcu_qs();
	}
}

/* The same keys from interrupts, from the last one down: new ones too. */
static void race_timer(void *data, unsigned int cpu)
{
	struct race *race = data;
	u32 n = atomic_inc_return(&race->timers[cpu]);
	u32 i;

	for (i = 1; i <= 10; i++) {
		count(race->table, (race->nr_keys * 2 - 10 * n - i) %
		      race->nr_keys, 1, 1);
		atomic64_inc(&race->counted);
	}
}

/* Each key has one row and only one; returns how many rows have a key. */
static u32 expect_no_key_twice(struct kunit *test, struct race *race)
{
	u32 ids = tap_table_used(race->table) + TAP_ROW_FIRST;
	u8 *seen = kunit_kzalloc(test, race->nr_keys, GFP_KERNEL);
	u32 id, rows = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (id = TAP_ROW_FIRST; id < ids; id++) {
		struct table_key *key = tap_table_key(race->table, id);

		/* an id that lost its race has a key, perhaps, and no sums */
		if (!tap_table_total(race->table, id, 0))
			continue;
		KUNIT_ASSERT_LT(test, key->a, race->nr_keys);
		KUNIT_EXPECT_EQ(test, seen[key->a], 0);
		seen[key->a] = 1;
		rows++;
	}
	return rows;
}

static void race_run(struct kunit *test, struct race *race, u32 spare_rows)
{
	struct tap_kunit_load load = {
		.thread = race_thread,
		.timer = race->by_timer ? race_timer : NULL,
		.data = race,
	};
	int turn, cpu;

	race->table = new_table(test, race->nr_keys + spare_rows);
	for (turn = 0; turn < 20; turn++) {
		u64 others;
		u32 rows;

		atomic64_set(&race->counted, 0);
		for_each_possible_cpu(cpu)
			atomic_set(&race->timers[cpu], 0);
		tap_kunit_run(test, &load);
		rows = expect_no_key_twice(test, race);
		KUNIT_EXPECT_EQ(test, grand_total(race->table),
				(u64)atomic64_read(&race->counted));
		others = tap_table_total(race->table, TAP_ROW_OTHER, 0);
		KUNIT_EXPECT_LE(test, tap_table_used(race->table),
				race->nr_keys + spare_rows);
		if (spare_rows) {
			KUNIT_EXPECT_EQ(test, rows, race->nr_keys);
			KUNIT_EXPECT_EQ(test, others, 0ull);
		}
		tap_table_clear(race->table);
	}
	tap_table_fini(race->table);
}

static void tap_table_test_race_of_threads(struct kunit *test)
{
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->nr_keys = 1000;
	race->rounds = 2;
	/* each CPU may hold one row that it lost a race with */
	race_run(test, race, num_possible_cpus());
}

static void tap_table_test_race_in_a_full_table(struct kunit *test)
{
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->nr_keys = 1000;
	race->rounds = 2;
	race_run(test, race, 0);
}

static void tap_table_test_race_with_interrupts(struct kunit *test)
{
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->nr_keys = 1000;
	race->rounds = 2;
	race->by_timer = true;
	/* an interrupt may have its own lost row, and one was forgotten then */
	race_run(test, race, 1000);
}

static void race_nmi(void *data)
{
	struct race *race = data;
	u32 n = atomic_inc_return(&race->timers[smp_processor_id()]);
	u32 i;

	for (i = 1; i <= 10; i++) {
		count(race->table, (race->nr_keys * 2 - 10 * n - i) %
		      race->nr_keys, 1, 1);
		atomic64_inc(&race->counted);
	}
}

static void tap_table_test_race_with_nmis(struct kunit *test)
{
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	struct tap_kunit_load load = { .thread = race_thread, .data = race };
	int turn, cpu;

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->nr_keys = 1000;
	race->rounds = 5;
	race->by_timer = true;	/* NMIs count as such */
	race->table = new_table(test, 2 * race->nr_keys);
	for (turn = 0; turn < 5; turn++) {
		atomic64_set(&race->counted, 0);
		for_each_possible_cpu(cpu)
			atomic_set(&race->timers[cpu], 0);
		tap_nmi_start(test, race_nmi, race);
		tap_kunit_start(test, &load);
		tap_nmi_send_until_done(&load);
		tap_kunit_wait(&load);
		tap_nmi_stop();
		KUNIT_EXPECT_EQ(test, expect_no_key_twice(test, race), race->nr_keys);
		KUNIT_EXPECT_EQ(test, grand_total(race->table),
				(u64)atomic64_read(&race->counted));
		tap_table_clear(race->table);
	}
	tap_table_fini(race->table);
}

/* --- memory ------------------------------------------------------------ */

static void tap_table_test_rows_fit_the_memory_of_a_tool(struct kunit *test)
{
	u64 limit = (8 << 20) + (u64)num_possible_cpus() * (128 << 10);
	struct tap_table_layout l = {};

	for (l.key_size = 8; l.key_size <= 256; l.key_size += 8) {
		for (l.attr_size = 0; l.attr_size <= 128; l.attr_size += 64) {
			for (l.nr_sums = 1; l.nr_sums <= 32; l.nr_sums++) {
				l.max_rows = tap_table_rows(&l);
				KUNIT_EXPECT_LE(test, 2ull * tap_table_bytes(&l), limit);
				KUNIT_EXPECT_LE(test, l.max_rows, 65536U);
				KUNIT_EXPECT_GE(test, l.max_rows, 64U);
			}
		}
	}
}

static void tap_table_test_bytes_grow_with_all(struct kunit *test)
{
	struct tap_table_layout l = layout;
	size_t bytes = tap_table_bytes(&l);

	/* at least the keys, the attributes and each CPU's sums */
	KUNIT_EXPECT_GE(test, bytes, 1000 * (16 + 16 + 2 * 8 * num_possible_cpus()));
	l.max_rows *= 2;
	KUNIT_EXPECT_GT(test, tap_table_bytes(&l), bytes * 3 / 2);
}

static int tap_table_attempt(struct kunit *test)
{
	struct tap_table table = {};
	struct tap_table_layout l = layout;
	int err;

	l.max_rows = 16;
	err = tap_table_init(&table, &l);
	/* after an error nothing is held, and fini may be called all the same */
	tap_table_fini(&table);
	return err;
}

static void tap_table_test_init_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, tap_table_attempt);
}

static void tap_table_test_fini_of_nothing(struct kunit *test)
{
	struct tap_table table = {};

	tap_table_fini(&table);
	KUNIT_EXPECT_EQ(test, tap_table_init(&table, &layout), 0);
	tap_table_fini(&table);
	tap_table_fini(&table);
}

/* --- merge ------------------------------------------------------------- */

static void tap_table_test_merge_changes_no_total(struct kunit *test)
{
	struct tap_table *from = new_table(test, 100);
	struct tap_table *to = new_table(test, 100);
	u32 i;

	for (i = 0; i < 60; i++)
		count(from, i, 0, i + 1);
	for (i = 30; i < 90; i++)
		count(to, i, 0, 1000);
	count(from, 200, 0, 0);		/* a row that counted nothing is none */
	tap_table_merge(to, from, NULL);
	KUNIT_EXPECT_EQ(test, tap_table_used(to), 90U);
	for (i = 0; i < 90; i++) {
		u64 sum = (i < 60 ? i + 1 : 0) + (i >= 30 ? 1000 : 0);

		KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, i, 0), 0), sum);
		KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, i, 0), 1), 2 * sum);
	}
	KUNIT_EXPECT_EQ(test, tap_table_total(to, TAP_ROW_OTHER, 0), 0ull);
	tap_table_fini(to);
	tap_table_fini(from);
}

static void tap_table_test_merge_into_a_full_table(struct kunit *test)
{
	struct tap_table *from = new_table(test, 100);
	struct tap_table *to = new_table(test, 100);
	u32 i;

	/* 100 keys and 50 others each; 20 keys in both */
	for (i = 0; i < 150; i++)
		count(from, i, 0, 1);
	for (i = 80; i < 230; i++)
		count(to, i, 0, 1);
	preempt_disable();
	local64_add(7, tap_table_sums(from, TAP_ROW_SELF));
	local64_add(5, tap_table_sums(from, TAP_ROW_EXITED));
	local64_add(5, tap_table_sums(to, TAP_ROW_EXITED));
	preempt_enable();
	tap_table_merge(to, from, NULL);
	for (i = 80; i < 180; i++)
		KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, i, 0), 0),
				i < 100 ? 2ull : 1ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, TAP_ROW_OTHER, 0), 180ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, TAP_ROW_SELF, 0), 7ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, TAP_ROW_EXITED, 0), 10ull);
	tap_table_fini(to);
	tap_table_fini(from);
}

static bool is_odd(const void *key)
{
	const struct table_key *k = key;

	return k->a % 2;
}

static void tap_table_test_merge_adds_up_what_is_gone(struct kunit *test)
{
	struct tap_table *from = new_table(test, 100);
	struct tap_table *to = new_table(test, 100);
	u32 i;

	for (i = 0; i < 100; i++)
		count(from, i, 0, 1);
	/* (exited) does not make one that is there go away */
	count(to, 1, 0, 1);
	tap_table_merge(to, from, is_odd);
	KUNIT_EXPECT_EQ(test, tap_table_used(to), 51U);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, TAP_ROW_EXITED, 0), 50ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, TAP_ROW_EXITED, 1), 100ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, 1, 0), 0), 1ull);
	KUNIT_EXPECT_EQ(test, grand_total(to), 101ull);
	tap_table_fini(to);
	tap_table_fini(from);
}

static void tap_table_test_merge_keeps_newer_attributes(struct kunit *test)
{
	struct tap_table *from = new_table(test, 100);
	struct tap_table *to = new_table(test, 100);

	strcpy(tap_table_attr(from, count(from, 1, 0, 1)), "old");
	strcpy(tap_table_attr(from, count(from, 2, 0, 1)), "old");
	strcpy(tap_table_attr(to, count(to, 2, 0, 1)), "new");
	tap_table_merge(to, from, NULL);
	KUNIT_EXPECT_STREQ(test, (char *)tap_table_attr(to, find(to, 1, 0)), "old");
	KUNIT_EXPECT_STREQ(test, (char *)tap_table_attr(to, find(to, 2, 0)), "new");
	tap_table_fini(to);
	tap_table_fini(from);
}

/* The last sum is a maximum. */
static void tap_table_test_maxima(struct kunit *test)
{
	static const u64 values[] = { 0, 1, 5, 3, 1ull << 63, U64_MAX - 1, 7 };
	struct tap_table *from = new_table(test, 100);
	struct tap_table *to = new_table(test, 100);
	u64 sum = 0, max = 0;
	u32 i, id = find(from, 1, 0);

	from->layout.nr_maxima = 1;
	to->layout.nr_maxima = 1;
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		local64_t *sums = per_cpu_ptr(from->sums, i % nr_cpu_ids)[0];

		sums += (size_t)id * layout.nr_sums;
		local64_add(values[i], sums);
		tap_table_raise(sums + 1, values[i]);
		sum += values[i];
		max = max(max, values[i]);
		KUNIT_EXPECT_EQ(test, tap_table_total(from, id, 0), sum);
		KUNIT_EXPECT_EQ(test, tap_table_total(from, id, 1), max);
	}
	for (i = 0; i < 2; i++) {
		tap_table_merge(to, from, NULL);
		KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, 1, 0), 0),
				sum * (i + 1));
		KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, 1, 0), 1), max);
	}
	tap_table_fini(to);
	tap_table_fini(from);
}

static void tap_table_test_merge_under_writers(struct kunit *test)
{
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	struct tap_table *from = new_table(test, 2000);
	struct tap_kunit_load load = {
		.thread = race_thread,
		.timer = race_timer,
		.data = race,
	};
	u64 merged = 0;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->nr_keys = 1000;
	race->rounds = 20;
	race->by_timer = true;
	race->table = new_table(test, 4000);
	tap_kunit_start(test, &load);
	while (!completion_done(&load.done)) {
		for (i = 0; i < 200; i++)
			count(from, (merged + i) % 1000, 1, 1);
		merged += 200;
		tap_table_merge(race->table, from, NULL);
		tap_table_clear(from);
	}
	tap_kunit_wait(&load);
	KUNIT_EXPECT_EQ(test, grand_total(race->table),
			merged + atomic64_read(&race->counted));
	KUNIT_EXPECT_EQ(test, tap_table_total(race->table, TAP_ROW_OTHER, 0), 0ull);
	KUNIT_EXPECT_EQ(test, expect_no_key_twice(test, race), race->nr_keys);
	tap_table_fini(race->table);
	tap_table_fini(from);
}

/* A row is found again where it was, in the table with the same rows too. */
static void tap_table_test_found_again(struct kunit *test)
{
	struct tap_table *table = new_table(test, 100);
	u32 slots[100], id, slot;
	u64 i;

	preempt_disable();
	for (i = 0; i < 100; i++) {
		struct table_key key = { i, 7 };

		id = find(table, i, 7);
		slot = tap_table_slot(table, (u64 *)&key, WORDS);
		slots[i] = tap_table_found(table, id, slot);
		KUNIT_EXPECT_EQ(test, tap_table_look(table, (u64 *)&key, WORDS,
						     slots[i]), id);
	}
	for (i = 0; i < 100; i++) {
		struct table_key key = { i, 7 };

		/* not where another one is */
		KUNIT_EXPECT_EQ(test, tap_table_look(table, (u64 *)&key, WORDS,
						     slots[(i + 1) % 100]),
				(u32)TAP_ROW_NONE);
	}
	preempt_enable();
	/* what has no row is nowhere */
	KUNIT_EXPECT_EQ(test, tap_table_found(table, 5000, 3), 3U);
	tap_table_clear(table);
	for (i = 0; i < 100; i++) {
		struct table_key key = { i, 7 };

		KUNIT_EXPECT_EQ(test, tap_table_look(table, (u64 *)&key, WORDS,
						     slots[i]),
				(u32)TAP_ROW_NONE);
	}
	tap_table_fini(table);
}

/* Sums below 0 go to the next table, nothing else does, and no total changes. */
static void tap_table_test_carry(struct kunit *test)
{
	struct tap_table *from = new_table(test, 100);
	struct tap_table *to = new_table(test, 100);
	u32 id;

	count(from, 1, 1, 5);
	id = count(from, 2, 2, -3);
	memset(tap_table_attr(from, id), 0x55, layout.attr_size);
	count(to, 1, 1, 4);
	tap_table_carry(to, from);
	KUNIT_EXPECT_EQ(test, tap_table_total(from, find(from, 1, 1), 0), 5ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(from, find(from, 2, 2), 0), 0ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(from, find(from, 2, 2), 1), 0ull);
	KUNIT_EXPECT_EQ(test, tap_table_total(to, find(to, 1, 1), 0), 4ull);
	id = find(to, 2, 2);
	KUNIT_EXPECT_EQ(test, (s64)tap_table_total(to, id, 0), -3ll);
	KUNIT_EXPECT_EQ(test, (s64)tap_table_total(to, id, 1), -6ll);
	KUNIT_EXPECT_EQ(test, *(u8 *)tap_table_attr(to, id), 0x55);
	/* once more: 0 is not below 0 */
	tap_table_carry(to, from);
	KUNIT_EXPECT_EQ(test, (s64)tap_table_total(to, id, 0), -3ll);
	tap_table_fini(from);
	tap_table_fini(to);
}

static struct kunit_case tap_table_cases[] = {
	KUNIT_CASE(tap_table_test_find_gives_a_row),
	KUNIT_CASE(tap_table_test_find_tells_keys_apart),
	KUNIT_CASE(tap_table_test_sums_are_exact),
	KUNIT_CASE(tap_table_test_full_table_adds_up_the_others),
	KUNIT_CASE(tap_table_test_clear_empties),
	KUNIT_CASE(tap_table_test_collision_walks_64_slots),
	KUNIT_CASE(tap_table_test_keys_of_one_word),
	KUNIT_CASE(tap_table_test_race_of_threads),
	KUNIT_CASE(tap_table_test_race_in_a_full_table),
	KUNIT_CASE(tap_table_test_race_with_interrupts),
	KUNIT_CASE(tap_table_test_race_with_nmis),
	KUNIT_CASE(tap_table_test_rows_fit_the_memory_of_a_tool),
	KUNIT_CASE(tap_table_test_bytes_grow_with_all),
	KUNIT_CASE(tap_table_test_init_without_memory),
	KUNIT_CASE(tap_table_test_fini_of_nothing),
	KUNIT_CASE(tap_table_test_merge_changes_no_total),
	KUNIT_CASE(tap_table_test_merge_into_a_full_table),
	KUNIT_CASE(tap_table_test_merge_adds_up_what_is_gone),
	KUNIT_CASE(tap_table_test_merge_keeps_newer_attributes),
	KUNIT_CASE(tap_table_test_maxima),
	KUNIT_CASE(tap_table_test_merge_under_writers),
	KUNIT_CASE(tap_table_test_found_again),
	KUNIT_CASE(tap_table_test_carry),
	{}
};

static struct kunit_suite tap_table_suite = {
	.name = "tap_table",
	.test_cases = tap_table_cases,
};
TAP_KUNIT_SUITE(tap_table_suite);
