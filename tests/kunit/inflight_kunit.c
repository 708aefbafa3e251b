// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/inflight.c */
#include "inflight.h"
#include "kunit.h"
#include "nmi.h"

struct data {
	u64 a;
	u64 b;
};

static struct tap_inflight *new_inflight(struct kunit *test, u32 nr)
{
	struct tap_inflight *inflight = kunit_kzalloc(test, sizeof(*inflight),
						      GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, inflight);
	KUNIT_ASSERT_EQ(test, tap_inflight_init(inflight, nr, sizeof(struct data)), 0);
	return inflight;
}

static bool put(struct tap_inflight *inflight, u64 key, u64 value)
{
	struct data data = { value, ~value };

	return tap_inflight_put(inflight, key, &data);
}

/* The value that was put, or 0. */
static u64 take(struct kunit *test, struct tap_inflight *inflight, u64 key)
{
	struct data data = { 0, 0 };

	if (!tap_inflight_take(inflight, key, &data)) {
		KUNIT_EXPECT_EQ(test, data.a, 0ull);
		KUNIT_EXPECT_EQ(test, data.b, 0ull);
		return 0;
	}
	KUNIT_EXPECT_EQ(test, data.b, ~data.a);
	return data.a;
}

static void tap_inflight_test_put_and_take(struct kunit *test)
{
	struct tap_inflight *inflight = new_inflight(test, 10);
	static const u64 keys[] = { 0, 1, U64_MAX, 1ull << 63, 0x123456789abcdefull };
	int i;

	KUNIT_EXPECT_EQ(test, take(test, inflight, 1), 0ull);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		KUNIT_EXPECT_TRUE(test, put(inflight, keys[i], i + 1));
	KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), (u32)ARRAY_SIZE(keys));
	KUNIT_EXPECT_EQ(test, take(test, inflight, 2), 0ull);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		KUNIT_EXPECT_EQ(test, take(test, inflight, keys[i]), i + 1ull);
		/* once only */
		KUNIT_EXPECT_EQ(test, take(test, inflight, keys[i]), 0ull);
	}
	KUNIT_EXPECT_TRUE(test, put(inflight, 1, 1));
	KUNIT_EXPECT_TRUE(test, tap_inflight_take(inflight, 1, NULL));
	KUNIT_EXPECT_FALSE(test, tap_inflight_take(inflight, 1, NULL));
	KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), 0U);
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(inflight), 0ull);
	tap_inflight_fini(inflight);
}

static void tap_inflight_test_put_replaces(struct kunit *test)
{
	struct tap_inflight *inflight = new_inflight(test, 10);

	KUNIT_EXPECT_TRUE(test, put(inflight, 7, 1));
	KUNIT_EXPECT_TRUE(test, put(inflight, 7, 2));
	KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), 1U);
	KUNIT_EXPECT_EQ(test, take(test, inflight, 7), 2ull);
	KUNIT_EXPECT_EQ(test, take(test, inflight, 7), 0ull);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), 0U);
	tap_inflight_fini(inflight);
}

/* From one CPU, whatever the other CPUs' shares are. */
static void tap_inflight_test_full_holds_all_that_have_room(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 3, 7, 64, 1000 };
	u32 i, n;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		struct tap_inflight *inflight = new_inflight(test, sizes[n]);

		for (i = 0; i < sizes[n]; i++)
			KUNIT_EXPECT_TRUE(test, put(inflight, i, i + 1));
		KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), sizes[n]);
		KUNIT_EXPECT_EQ(test, tap_inflight_lost(inflight), 0ull);
		for (i = 0; i < 5; i++)
			KUNIT_EXPECT_FALSE(test, put(inflight, sizes[n] + i, 1));
		KUNIT_EXPECT_EQ(test, tap_inflight_lost(inflight), 5ull);
		KUNIT_EXPECT_EQ(test, take(test, inflight, sizes[n]), 0ull);

		/* one out, one in */
		KUNIT_EXPECT_EQ(test, take(test, inflight, 0), 1ull);
		KUNIT_EXPECT_TRUE(test, put(inflight, sizes[n], 99));
		KUNIT_EXPECT_FALSE(test, put(inflight, sizes[n] + 1, 1));
		for (i = 1; i < sizes[n]; i++)
			KUNIT_EXPECT_EQ(test, take(test, inflight, i), i + 1ull);
		KUNIT_EXPECT_EQ(test, take(test, inflight, sizes[n]), 99ull);
		KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), 0U);
		tap_inflight_fini(inflight);
	}
}

static void tap_inflight_test_peek(struct kunit *test)
{
	struct tap_inflight *inflight = new_inflight(test, 10);
	struct data data = {};

	KUNIT_EXPECT_FALSE(test, tap_inflight_peek(inflight, 7, &data));
	put(inflight, 7, 1);
	put(inflight, 7, 2);
	KUNIT_EXPECT_TRUE(test, tap_inflight_peek(inflight, 7, &data));
	KUNIT_EXPECT_EQ(test, data.a, 2ull);
	KUNIT_EXPECT_EQ(test, data.b, ~2ull);
	KUNIT_EXPECT_FALSE(test, tap_inflight_peek(inflight, 8, &data));
	/* it stays there */
	KUNIT_EXPECT_EQ(test, take(test, inflight, 7), 2ull);
	KUNIT_EXPECT_FALSE(test, tap_inflight_peek(inflight, 7, &data));
	tap_inflight_fini(inflight);
}

/*
 * A thread whose end was not seen begins anew while the pool is full. Its old
 * beginning must not be joined with the new end.
 */
static void tap_inflight_test_put_replaces_when_full(struct kunit *test)
{
	struct tap_inflight *inflight = new_inflight(test, 10);
	int i;

	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, put(inflight, i, 1));
	KUNIT_EXPECT_TRUE(test, put(inflight, 3, 2));
	KUNIT_EXPECT_EQ(test, take(test, inflight, 3), 2ull);
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(inflight), 0ull);
	tap_inflight_fini(inflight);
}

/* --- many CPUs --------------------------------------------------------- */

struct load {
	struct kunit *test;
	struct tap_inflight *inflight;
	u64 per_cpu;		/* keys of each CPU's thread at a time */
	bool go_on_for_timer;
	atomic_t timers[NR_CPUS];
	atomic64_t put;
	atomic64_t full;
	atomic64_t taken;
	atomic64_t wrong;
};

static void load_put(struct load *load, u64 key)
{
	if (put(load->inflight, key, key + 1))
		atomic64_inc(&load->put);
	else
		atomic64_inc(&load->full);
}

static void load_take(struct load *load, u64 key)
{
	struct data data;

	if (!tap_inflight_take(load->inflight, key, &data))
		return;
	atomic64_inc(&load->taken);
	if (data.a != key + 1 || data.b != ~data.a)
		atomic64_inc(&load->wrong);
}

/* Puts keys of its own and takes those of the CPU before, which may come and go. */
static void load_thread(void *data, unsigned int cpu)
{
	struct load *load = data;
	u64 mine = (u64)cpu << 32;
	u64 theirs = (u64)((cpu + nr_cpu_ids - 1) % nr_cpu_ids) << 32;
	u64 round, i;

	struct data seen;

	for (round = 0; round < 200 ||
	     (load->go_on_for_timer && atomic_read(&load->timers[cpu]) < 200); round++) {
		for (i = 0; i < load->per_cpu; i++)
			load_put(load, mine + i + round * load->per_cpu);
		/* what is seen is something that was put, and one thing */
		for (i = 0; i < load->per_cpu; i++)
			if (tap_inflight_peek(load->inflight,
					      theirs + i + round * load->per_cpu,
					      &seen) && seen.b != ~seen.a)
				atomic64_inc(&load->wrong);
		for (i = 0; i < load->per_cpu; i++)
			load_take(load, theirs + i + round * load->per_cpu);
		for (i = 0; i < load->per_cpu; i++)
			load_take(load, mine + i + round * load->per_cpu);
		cond_resched_tasks_rcu_qs();
	}
}

static void load_timer(void *data, unsigned int cpu)
{
	struct load *load = data;
	u64 key = (1ull << 63) + ((u64)cpu << 32) +
		  atomic_inc_return(&load->timers[cpu]);

	load_put(load, key);
	load_take(load, key);
}

static void load_nmi(void *data)
{
	load_timer(data, smp_processor_id());
}

static struct load *new_load(struct kunit *test, u32 nr, u32 per_cpu)
{
	struct load *load = kunit_kzalloc(test, sizeof(*load), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, load);
	load->test = test;
	load->inflight = new_inflight(test, nr);
	load->per_cpu = per_cpu;
	load->go_on_for_timer = true;
	return load;
}

static void tap_inflight_test_load_with_room(struct kunit *test)
{
	/* what threads and their interrupts can hold, and an entry on its way */
	struct load *load = new_load(test, 52 * num_possible_cpus(), 50);
	struct tap_kunit_load on_cpus = {
		.thread = load_thread, .timer = load_timer, .data = load,
	};

	tap_kunit_run(test, &on_cpus);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->wrong), 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->full), 0);
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(load->inflight), 0ull);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->put), atomic64_read(&load->taken));
	KUNIT_EXPECT_EQ(test, tap_inflight_used(load->inflight), 0U);
	tap_inflight_fini(load->inflight);
}

static void tap_inflight_test_load_without_room(struct kunit *test)
{
	struct load *load = new_load(test, 30, 50);
	struct tap_kunit_load on_cpus = {
		.thread = load_thread, .timer = load_timer, .data = load,
	};
	int i;

	tap_kunit_run(test, &on_cpus);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->wrong), 0);
	KUNIT_EXPECT_GT(test, atomic64_read(&load->full), 0);
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(load->inflight),
			(u64)atomic64_read(&load->full));
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->put), atomic64_read(&load->taken));
	KUNIT_EXPECT_EQ(test, tap_inflight_used(load->inflight), 0U);
	/* no entry went astray */
	for (i = 0; i < 30; i++)
		KUNIT_EXPECT_TRUE(test, put(load->inflight, i, 1));
	tap_inflight_fini(load->inflight);
}

/* All keys in one bucket, so that an NMI finds it locked now and then. */
static void tap_inflight_test_load_with_nmis(struct kunit *test)
{
	struct load *load = new_load(test, 1, 1);
	struct tap_kunit_load on_cpus = { .thread = load_thread, .data = load };

	tap_nmi_start(test, load_nmi, load);
	tap_kunit_start(test, &on_cpus);
	tap_nmi_send_until_done(&on_cpus);
	tap_kunit_wait(&on_cpus);
	tap_nmi_stop();
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->wrong), 0);
	/* what was put and could not be taken for a lock is there, or lost */
	KUNIT_EXPECT_LE(test, (u64)(atomic64_read(&load->put) -
				    atomic64_read(&load->taken)),
			tap_inflight_lost(load->inflight));
	KUNIT_EXPECT_GE(test, tap_inflight_lost(load->inflight),
			(u64)atomic64_read(&load->full));
	tap_inflight_fini(load->inflight);
}

/* --- memory ------------------------------------------------------------ */

static int attempt(struct kunit *test)
{
	struct tap_inflight inflight = {};
	int err = tap_inflight_init(&inflight, 16, 8);

	tap_inflight_fini(&inflight);
	return err;
}

static void tap_inflight_test_init_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt);
}

static void tap_inflight_test_fini_of_nothing(struct kunit *test)
{
	struct tap_inflight inflight = {};

	tap_inflight_fini(&inflight);
	KUNIT_EXPECT_EQ(test, attempt(test), 0);
}

static bool change(void *data, void *arg)
{
	struct data *at = data;
	u64 by = *(const u64 *)arg;

	at->a += by;
	at->b = ~at->a;
	return by;
}

static void tap_inflight_test_update(struct kunit *test)
{
	struct tap_inflight *inflight = new_inflight(test, 3);
	u64 by = 10, nothing = 0;

	KUNIT_EXPECT_FALSE(test, tap_inflight_update(inflight, 5, change, &by));
	KUNIT_EXPECT_TRUE(test, put(inflight, 5, 1));
	KUNIT_EXPECT_TRUE(test, put(inflight, 6, 1));
	KUNIT_EXPECT_TRUE(test, tap_inflight_update(inflight, 5, change, &by));
	/* found, but what changes it does not want it */
	KUNIT_EXPECT_FALSE(test, tap_inflight_update(inflight, 6, change, &nothing));
	KUNIT_EXPECT_EQ(test, take(test, inflight, 5), 11ull);
	KUNIT_EXPECT_FALSE(test, tap_inflight_update(inflight, 5, change, &by));
	KUNIT_EXPECT_EQ(test, take(test, inflight, 6), 1ull);
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(inflight), 0ull);
	tap_inflight_fini(inflight);
}

/* One entry that all CPUs and their interrupts add to. */
static void load_update_thread(void *data, unsigned int cpu)
{
	struct load *load = data;
	u64 one = 1;
	int i;

	for (i = 0; i < 10000; i++)
		if (tap_inflight_update(load->inflight, 7, change, &one))
			atomic64_inc(&load->put);
}

static void load_update_timer(void *data, unsigned int cpu)
{
	struct load *load = data;
	u64 one = 1;

	if (tap_inflight_update(load->inflight, 7, change, &one))
		atomic64_inc(&load->put);
}

static void tap_inflight_test_load_update(struct kunit *test)
{
	struct load *load = new_load(test, 3, 0);
	struct tap_kunit_load on_cpus = {
		.thread = load_update_thread, .timer = load_update_timer,
		.data = load,
	};

	KUNIT_EXPECT_TRUE(test, put(load->inflight, 7, 0));
	tap_kunit_run(test, &on_cpus);
	KUNIT_EXPECT_EQ(test, take(test, load->inflight, 7),
			(u64)atomic64_read(&load->put));
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(load->inflight), 0ull);
	tap_inflight_fini(load->inflight);
}

static void tap_inflight_test_own(struct kunit *test)
{
	struct tap_inflight *inflight = new_inflight(test, 3);
	struct data *data, *other;
	struct data found;

	KUNIT_EXPECT_NULL(test, tap_inflight_find(inflight, 5));
	data = tap_inflight_own(inflight, 5);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_EXPECT_PTR_EQ(test, tap_inflight_find(inflight, 5), data);
	KUNIT_EXPECT_NULL(test, tap_inflight_find(inflight, 6));
	KUNIT_EXPECT_EQ(test, data->a | data->b, 0ull);
	*data = (struct data){ 1, 2 };
	other = tap_inflight_own(inflight, 6);
	KUNIT_ASSERT_NOT_NULL(test, other);
	*other = (struct data){ 3, 4 };
	KUNIT_EXPECT_PTR_EQ(test, tap_inflight_own(inflight, 5), data);
	KUNIT_EXPECT_EQ(test, data->b, 2ull);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), 2U);
	/* what was put can be owned, and is what it was */
	KUNIT_EXPECT_TRUE(test, put(inflight, 7, 8));
	KUNIT_EXPECT_EQ(test, ((struct data *)tap_inflight_own(inflight, 7))->a, 8ull);
	/* no room */
	KUNIT_EXPECT_NULL(test, tap_inflight_own(inflight, 9));
	KUNIT_EXPECT_EQ(test, tap_inflight_lost(inflight), 1ull);
	/* and back, to be all zero for the next */
	KUNIT_EXPECT_TRUE(test, tap_inflight_take(inflight, 5, &found));
	KUNIT_EXPECT_EQ(test, found.a, 1ull);
	data = tap_inflight_own(inflight, 9);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_EXPECT_EQ(test, data->a | data->b, 0ull);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(inflight), 3U);
	tap_inflight_fini(inflight);
}

static struct kunit_case tap_inflight_cases[] = {
	KUNIT_CASE(tap_inflight_test_put_and_take),
	KUNIT_CASE(tap_inflight_test_own),
	KUNIT_CASE(tap_inflight_test_update),
	KUNIT_CASE(tap_inflight_test_load_update),
	KUNIT_CASE(tap_inflight_test_put_replaces),
	KUNIT_CASE(tap_inflight_test_peek),
	KUNIT_CASE(tap_inflight_test_full_holds_all_that_have_room),
	KUNIT_CASE(tap_inflight_test_put_replaces_when_full),
	KUNIT_CASE(tap_inflight_test_load_with_room),
	KUNIT_CASE(tap_inflight_test_load_without_room),
	KUNIT_CASE(tap_inflight_test_load_with_nmis),
	KUNIT_CASE(tap_inflight_test_init_without_memory),
	KUNIT_CASE(tap_inflight_test_fini_of_nothing),
	{}
};

static struct kunit_suite tap_inflight_suite = {
	.name = "tap_inflight",
	.test_cases = tap_inflight_cases,
};
TAP_KUNIT_SUITE(tap_inflight_suite);
