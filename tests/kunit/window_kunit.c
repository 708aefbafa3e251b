// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/window.c */
#include <linux/delay.h>

#include "kunit.h"
#include "who.h"
#include "window.h"

/* A hang, not a slow machine. */
#define TIMEOUT (120 * HZ)

struct window_key {
	struct tap_who who;
	u64 n;
};

#define WORDS (sizeof(struct window_key) / sizeof(u64))

static const struct tap_column columns[] = {
	{ .head = "PID", .name = 1, TAP_AT(TAP_INT, struct window_key, who.pid) },
};

static const struct tap_table_layout layout = {
	.key_size = sizeof(struct window_key),
	.nr_sums = 1,
	.max_rows = 1024,
};

struct example {
	struct tap_window window;
	u64 lost;
	/* of the load */
	bool flipping;		/* as long as that it goes on */
	atomic64_t counted;
	atomic_t timers[NR_CPUS];
};

static u64 lost(void *data)
{
	struct example *e = data;

	return READ_ONCE(e->lost);
}

static int tap_window_init_test(struct kunit *test)
{
	struct example *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	if (!e)
		return -ENOMEM;
	test->priv = e;
	e->window.view = (struct tap_view){
		.columns = { .column = columns, .nr = ARRAY_SIZE(columns) },
		.sort = BIT(0),
		.events = BIT(0),
	};
	e->window.gone = tap_who_gone;
	e->window.lost = lost;
	e->window.data = e;
	return tap_window_init(&e->window, &layout, "kunit");
}

static void tap_window_exit_test(struct kunit *test)
{
	struct example *e = test->priv;

	tap_window_fini(&e->window);
}

/* As a handler does. */
static void count_key(struct example *e, const struct window_key *key, u64 n)
{
	struct tap_table *table;
	u32 id;

	preempt_disable();
	table = READ_ONCE(e->window.active);
	id = tap_table_find(table, (const u64 *)key, WORDS);
	local64_add(n, tap_table_sums(table, id));
	preempt_enable();
}

static void count(struct example *e, u64 n, u64 times)
{
	const struct window_key key = { .n = n };

	count_key(e, &key, times);
}

/* What a reader gets must be this. */
static void expect(struct kunit *test, const char *state, u32 rows, u64 events)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot = tap_window_get(&e->window);

	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_STREQ(test, snapshot->state, state);
	KUNIT_EXPECT_EQ(test, snapshot->nr_rows, rows);
	KUNIT_EXPECT_EQ(test, snapshot->events, events);
	tap_snapshot_put(snapshot);
}

static void tap_window_test_partial_then_complete(struct kunit *test)
{
	struct example *e = test->priv;

	tap_window_set(&e->window, 3600000, 1000);
	expect(test, "partial", 0, 0);
	count(e, 1, 10);
	count(e, 2, 20);
	expect(test, "partial", 2, 30);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	expect(test, "complete", 2, 30);
	/* what is counted from now on is for the next window */
	count(e, 3, 5);
	expect(test, "complete", 2, 30);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	expect(test, "complete", 1, 5);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	expect(test, "complete", 0, 0);
	KUNIT_EXPECT_EQ(test, tap_window_events(&e->window), 35ull);
}

/* Like the above, with one table, whose rows stay. */
static void staying(struct kunit *test, void (*run)(struct kunit *test))
{
	struct example *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	struct tap_table_layout one_table = layout;
	struct example *usual = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, e);
	one_table.stays = true;
	e->window.view = usual->window.view;
	KUNIT_ASSERT_EQ(test, tap_window_init(&e->window, &one_table, "kunit"), 0);
	test->priv = e;
	run(test);
	test->priv = usual;
	tap_window_fini(&e->window);
}

static void tap_window_test_partial_then_complete_with_one_table(struct kunit *test)
{
	staying(test, tap_window_test_partial_then_complete);
}

static void reset_with_one_table(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_table *table = e->window.active;

	tap_window_set(&e->window, 0, 3600000);
	count(e, 1, 10);
	count(e, 2, 20);
	expect(test, "running", 2, 30);
	tap_window_reset(&e->window);
	expect(test, "running", 0, 0);
	/* the rows are there, and count from 0 on */
	KUNIT_EXPECT_PTR_EQ(test, e->window.active, table);
	KUNIT_EXPECT_EQ(test, tap_table_used(table), 2u);
	count(e, 2, 5);
	expect(test, "running", 1, 5);
}

static void tap_window_test_reset_with_one_table(struct kunit *test)
{
	staying(test, reset_with_one_table);
}

static void tap_window_test_running_without_windows(struct kunit *test)
{
	struct example *e = test->priv;

	tap_window_set(&e->window, 0, 3600000);
	count(e, 1, 10);
	expect(test, "running", 1, 10);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	count(e, 1, 10);
	expect(test, "running", 1, 20);
	KUNIT_EXPECT_EQ(test, tap_window_events(&e->window), 20ull);
}

static void tap_window_test_snapshots_are_numbered(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *a, *b;

	tap_window_set(&e->window, 3600000, 1000);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	a = tap_window_get(&e->window);
	b = tap_window_get(&e->window);
	KUNIT_ASSERT_NOT_NULL(test, a);
	/* readers of one window share it */
	KUNIT_EXPECT_PTR_EQ(test, a, b);
	tap_snapshot_put(b);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	b = tap_window_get(&e->window);
	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_EXPECT_EQ(test, b->seq, a->seq + 1);
	tap_snapshot_put(a);
	tap_snapshot_put(b);
}

static void tap_window_test_lost_since_the_window_began(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;
	static const u64 lost_then[] = { 7, 7, 10, 9 };
	static const u64 shown[] = { 7, 0, 3, 0 };
	int i;

	tap_window_set(&e->window, 3600000, 1000);
	for (i = 0; i < ARRAY_SIZE(shown); i++) {
		/* the last one lags behind, as while probes are detached */
		e->lost = lost_then[i];
		KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
		snapshot = tap_window_get(&e->window);
		KUNIT_ASSERT_NOT_NULL(test, snapshot);
		KUNIT_EXPECT_EQ(test, snapshot->lost, shown[i]);
		tap_snapshot_put(snapshot);
	}
}

static void tap_window_test_length_is_that_of_the_window(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;
	u64 before, after;

	before = ktime_get_ns();
	tap_window_set(&e->window, 3600000, 1000);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	after = ktime_get_ns();
	msleep(50);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	snapshot = tap_window_get(&e->window);
	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_GE(test, snapshot->window_ms, 50ull);
	KUNIT_EXPECT_LE(test, snapshot->window_ms,
			div_u64(ktime_get_ns() - before, NSEC_PER_MSEC));
	KUNIT_EXPECT_GE(test, after, before);
	tap_snapshot_put(snapshot);
}

static void tap_window_test_reset_forgets(struct kunit *test)
{
	struct example *e = test->priv;

	tap_window_set(&e->window, 3600000, 1000);
	count(e, 1, 10);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	count(e, 1, 10);
	e->lost = 5;
	tap_window_reset(&e->window);
	expect(test, "partial", 0, 0);
	count(e, 2, 1);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	expect(test, "complete", 1, 1);
	tap_window_set(&e->window, 0, 1000);
	count(e, 1, 10);
	tap_window_reset(&e->window);
	expect(test, "running", 0, 0);
}

static void tap_window_test_set_forgets_if_the_interval_changes(struct kunit *test)
{
	struct example *e = test->priv;

	tap_window_set(&e->window, 3600000, 1000);
	count(e, 1, 10);
	tap_window_set(&e->window, 3600000, 500);
	expect(test, "partial", 1, 10);
	tap_window_set(&e->window, 3000000, 500);
	expect(test, "partial", 0, 0);
	count(e, 1, 10);
	tap_window_set(&e->window, 0, 500);
	expect(test, "running", 0, 0);
}

/* --- the worker -------------------------------------------------------- */

static void tap_window_test_worker_ends_windows(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;
	long left;

	tap_window_set(&e->window, 100, 1000);
	left = wait_event_interruptible_timeout(e->window.wait,
						READ_ONCE(e->window.seq) >= 3,
						TIMEOUT);
	KUNIT_EXPECT_GT(test, left, 0L);
	snapshot = tap_window_get(&e->window);
	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_STREQ(test, snapshot->state, "complete");
	tap_snapshot_put(snapshot);
}

/* The worker's turn comes while somebody is at the window, who puts it off. */
static void tap_window_test_worker_is_put_off(struct kunit *test)
{
	struct example *e = test->priv;
	struct delayed_work *work = &e->window.work;

	tap_window_set(&e->window, 3600000, 1000);
	count(e, 1, 10);
	mutex_lock(&e->window.lock);
	mod_delayed_work(e->window.queue, work, 0);
	while (delayed_work_pending(work) ||
	       !(work_busy(&work->work) & WORK_BUSY_RUNNING))
		schedule_timeout_uninterruptible(1);
	mod_delayed_work(e->window.queue, work, 3600 * HZ);
	mutex_unlock(&e->window.lock);
	while (work_busy(&work->work) & WORK_BUSY_RUNNING)
		schedule_timeout_uninterruptible(1);
	expect(test, "partial", 1, 10);
}

static void tap_window_test_worker_wakes_without_windows(struct kunit *test)
{
	struct example *e = test->priv;
	DEFINE_WAIT(wait);
	int i;

	tap_window_set(&e->window, 0, 100);
	for (i = 0; i < 3; i++) {
		prepare_to_wait(&e->window.wait, &wait, TASK_INTERRUPTIBLE);
		KUNIT_EXPECT_GT(test, schedule_timeout(TIMEOUT), 0L);
	}
	finish_wait(&e->window.wait, &wait);
}

struct sleeper {
	wait_queue_entry_t entry;
	int woken;
};

static int sleeper_wake(wait_queue_entry_t *entry, unsigned int mode, int flags,
			void *key)
{
	container_of(entry, struct sleeper, entry)->woken++;
	return 1;
}

static void tap_window_test_flip_wakes(struct kunit *test)
{
	struct example *e = test->priv;
	struct sleeper sleeper = {};

	tap_window_set(&e->window, 3600000, 1000);
	init_waitqueue_func_entry(&sleeper.entry, sleeper_wake);
	add_wait_queue(&e->window.wait, &sleeper.entry);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	KUNIT_EXPECT_EQ(test, sleeper.woken, 1);
	tap_window_reset(&e->window);
	tap_window_set(&e->window, 0, 3600000);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	KUNIT_EXPECT_EQ(test, sleeper.woken, 2);
	remove_wait_queue(&e->window.wait, &sleeper.entry);
}

/* --- load -------------------------------------------------------------- */

static void load_thread(void *data, unsigned int cpu)
{
	struct example *e = data;
	u64 i;

	for (i = 0; i < 20000 || atomic_read(&e->timers[cpu]) < 200 ||
	     READ_ONCE(e->flipping); i++) {
		count(e, i % 500, 1);
		atomic64_inc(&e->counted);
		if (i % 64 == 0)
			cond_resched_tasks_rcu_qs();
	}
}

static void load_timer(void *data, unsigned int cpu)
{
	struct example *e = data;
	int n = atomic_inc_return(&e->timers[cpu]);

	count(e, n % 700, 1);
	atomic64_inc(&e->counted);
}

static u64 take_events(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot = tap_window_get(&e->window);
	u64 events;

	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_STREQ(test, snapshot->state, "complete");
	events = snapshot->events;
	tap_snapshot_put(snapshot);
	return events;
}

static void tap_window_test_flips_under_load_lose_nothing(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_kunit_load load = {
		.thread = load_thread, .timer = load_timer, .data = e,
	};
	u64 events = 0;
	int i;

	tap_window_set(&e->window, 3600000, 1000);
	e->flipping = true;
	tap_kunit_start(test, &load);
	for (i = 0; i < 30; i++) {
		KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
		events += take_events(test);
	}
	WRITE_ONCE(e->flipping, false);
	tap_kunit_wait(&load);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&e->window), 0);
	events += take_events(test);
	KUNIT_EXPECT_EQ(test, events, (u64)atomic64_read(&e->counted));
	KUNIT_EXPECT_EQ(test, tap_window_events(&e->window), events);
}

/* --- processes that have ended ----------------------------------------- */

static struct window_key key_of(pid_t pid, u64 start)
{
	return (struct window_key){ .who = { .pid = pid, .start = start } };
}

/* Rows that have a key, and what is in (exited). */
static void count_rows(struct kunit *test, u32 *rows, u64 *exited, u64 *events)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot = tap_window_get(&e->window);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	*rows = 0;
	*exited = 0;
	for (i = 0; i < snapshot->nr_rows; i++) {
		if (snapshot->rows[i].id >= TAP_ROW_FIRST)
			(*rows)++;
		else if (snapshot->rows[i].id == TAP_ROW_EXITED)
			*exited = snapshot->rows[i].sums[0];
	}
	*events = snapshot->events;
	tap_snapshot_put(snapshot);
}

static void tap_window_test_compaction_keeps_totals(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_kunit_load load = {
		.thread = load_thread, .timer = load_timer, .data = e,
	};
	struct window_key key;
	u64 exited, events;
	unsigned long end;
	u32 rows, i;

	tap_window_set(&e->window, 0, 100);
	/* this one lives; the second user of its number does not */
	key = key_of(current->tgid, current->start_time);
	count_key(e, &key, 3);
	key = key_of(current->tgid, current->start_time - 1);
	count_key(e, &key, 5);
	/* no process has these numbers */
	for (i = 0; i < 800; i++) {
		key = key_of(PID_MAX_LIMIT + i, 1);
		count_key(e, &key, 1);
	}
	end = jiffies + TIMEOUT;
	do {
		msleep(20);
		count_rows(test, &rows, &exited, &events);
	} while (!exited && time_before(jiffies, end));
	KUNIT_EXPECT_EQ(test, exited, 805ull);
	KUNIT_EXPECT_EQ(test, rows, 1U);
	KUNIT_EXPECT_EQ(test, events, 808ull);

	/* interrupts have no process, so they do not end: rows with pid 0 stay */
	tap_kunit_run(test, &load);
	count_rows(test, &rows, &exited, &events);
	KUNIT_EXPECT_EQ(test, events, 808ull + atomic64_read(&e->counted));
	for (i = 0; i < 400; i++) {
		key = key_of(PID_MAX_LIMIT + i, 2);
		count_key(e, &key, 1);
	}
	end = jiffies + TIMEOUT;
	do {
		msleep(20);
		count_rows(test, &rows, &exited, &events);
	} while (exited == 805 && time_before(jiffies, end));
	KUNIT_EXPECT_GT(test, exited, 805ull);
	KUNIT_EXPECT_EQ(test, events, 1208ull + atomic64_read(&e->counted));
	KUNIT_EXPECT_EQ(test, tap_window_events(&e->window), events);
}

static void tap_window_test_compaction_under_load(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_kunit_load load = {
		.thread = load_thread, .timer = load_timer, .data = e,
	};
	u64 exited, events, dead = 0;
	unsigned long end = jiffies + TIMEOUT;
	struct window_key key;
	int compactions = 0;
	u64 before = 0;
	u32 rows, i;

	tap_window_set(&e->window, 0, 100);
	while (compactions < 2 && time_before(jiffies, end)) {
		tap_kunit_start(test, &load);
		for (i = 0; i < 900; i++) {
			key = key_of(PID_MAX_LIMIT + i, 1);
			count_key(e, &key, 1);
			dead++;
		}
		tap_kunit_wait(&load);
		count_rows(test, &rows, &exited, &events);
		KUNIT_EXPECT_EQ(test, events, dead + atomic64_read(&e->counted));
		if (exited != before)
			compactions++;
		before = exited;
	}
	KUNIT_EXPECT_EQ(test, compactions, 2);
}

/* --- memory ------------------------------------------------------------ */

static int attempt_flip(struct kunit *test)
{
	struct example *e = test->priv;
	u64 events;
	int err;

	count(e, 1, 10);
	count(e, 2, 20);
	err = tap_window_flip(&e->window);
	if (!err) {
		events = take_events(test);
		KUNIT_EXPECT_EQ(test, events % 30, 0ull);
		KUNIT_EXPECT_GE(test, events, 30ull);
	}
	e->lost += 30;	/* here: how much was counted */
	return err;
}

static void tap_window_test_flip_without_memory(struct kunit *test)
{
	struct example *e = test->priv;

	tap_window_set(&e->window, 3600000, 1000);
	tap_kunit_fail_each(test, attempt_flip);
	/* a window that could not end went on */
	KUNIT_EXPECT_EQ(test, tap_window_events(&e->window), e->lost);
}

static int attempt_init(struct kunit *test)
{
	static const struct tap_table_layout small = {
		.key_size = 8, .nr_sums = 1, .max_rows = 16,
	};
	struct tap_window *window = kunit_kzalloc(test, sizeof(*window),
						  GFP_KERNEL | __GFP_NOFAIL);
	int err;

	if (!window)
		return -ENOMEM;
	err = tap_window_init(window, &small, "kunit");
	tap_window_fini(window);
	kunit_kfree(test, window);
	return err;
}

static void tap_window_test_init_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt_init);
}

static void tap_window_test_fini_of_nothing(struct kunit *test)
{
	struct tap_window *window = kunit_kzalloc(test, sizeof(*window), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, window);
	tap_window_fini(window);
}

static struct kunit_case tap_window_cases[] = {
	KUNIT_CASE(tap_window_test_partial_then_complete),
	KUNIT_CASE(tap_window_test_partial_then_complete_with_one_table),
	KUNIT_CASE(tap_window_test_reset_with_one_table),
	KUNIT_CASE(tap_window_test_running_without_windows),
	KUNIT_CASE(tap_window_test_snapshots_are_numbered),
	KUNIT_CASE(tap_window_test_lost_since_the_window_began),
	KUNIT_CASE(tap_window_test_length_is_that_of_the_window),
	KUNIT_CASE(tap_window_test_reset_forgets),
	KUNIT_CASE(tap_window_test_set_forgets_if_the_interval_changes),
	KUNIT_CASE(tap_window_test_worker_ends_windows),
	KUNIT_CASE(tap_window_test_worker_is_put_off),
	KUNIT_CASE(tap_window_test_worker_wakes_without_windows),
	KUNIT_CASE(tap_window_test_flip_wakes),
	KUNIT_CASE(tap_window_test_flips_under_load_lose_nothing),
	KUNIT_CASE(tap_window_test_compaction_keeps_totals),
	KUNIT_CASE(tap_window_test_compaction_under_load),
	KUNIT_CASE(tap_window_test_flip_without_memory),
	KUNIT_CASE(tap_window_test_init_without_memory),
	KUNIT_CASE(tap_window_test_fini_of_nothing),
	{}
};

static struct kunit_suite tap_window_suite = {
	.name = "tap_window",
	.init = tap_window_init_test,
	.exit = tap_window_exit_test,
	.test_cases = tap_window_cases,
};
TAP_KUNIT_SUITE(tap_window_suite);
