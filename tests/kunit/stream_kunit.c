// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/stream.c */
#include <linux/delay.h>

#include "kunit.h"
#include "nmi.h"
#include "stream.h"

/* A hang, not a slow machine. */
#define TIMEOUT (120 * HZ)

struct example {
	struct tap_stream stream;
	u64 missed;
	struct tap_record record;
	u8 event[TAP_EVENT_MAX];
};

static u64 missed(void *data)
{
	struct example *e = data;

	return READ_ONCE(e->missed);
}

static struct example *new_stream(struct kunit *test, u32 buffer_kb)
{
	struct example *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->stream.missed = missed;
	e->stream.data = e;
	KUNIT_ASSERT_EQ(test, tap_stream_init(&e->stream, buffer_kb, "kunit"), 0);
	return e;
}

static void write_number(struct example *e, u64 number)
{
	tap_stream_write(&e->stream, &number, sizeof(number));
}

static bool read_one(struct example *e, struct tap_cursor *cursor)
{
	return tap_stream_read(&e->stream, cursor, tap_stream_end(&e->stream),
			       &e->record, e->event);
}

/* The next record is this number. */
static void expect_number(struct kunit *test, struct example *e,
			  struct tap_cursor *cursor, u64 number)
{
	KUNIT_ASSERT_TRUE(test, read_one(e, cursor));
	KUNIT_EXPECT_EQ(test, (u64)e->record.len, sizeof(number));
	KUNIT_EXPECT_EQ(test, *(u64 *)e->event, number);
}

/* The next record says that so many were lost. */
static void expect_lost(struct kunit *test, struct example *e,
			struct tap_cursor *cursor, u32 lost)
{
	KUNIT_ASSERT_TRUE(test, read_one(e, cursor));
	KUNIT_EXPECT_EQ(test, e->record.len, 0);
	KUNIT_EXPECT_EQ(test, e->record.lost, lost);
}

static void expect_end(struct kunit *test, struct example *e,
		       struct tap_cursor *cursor)
{
	KUNIT_EXPECT_FALSE(test, read_one(e, cursor));
}

static void expect_stats(struct kunit *test, struct example *e, u64 written,
			 u64 lost, u64 forgotten)
{
	struct tap_stream_stats stats;

	tap_stream_stats(&e->stream, &stats);
	KUNIT_EXPECT_EQ(test, stats.written, written);
	KUNIT_EXPECT_EQ(test, stats.lost, lost);
	KUNIT_EXPECT_EQ(test, stats.forgotten, forgotten);
}

/* --- one writer -------------------------------------------------------- */

static void tap_stream_test_events_in_order(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor cursor = {};
	u64 i, stamp = 0, before = ktime_get_mono_fast_ns();

	expect_end(test, e, &cursor);
	for (i = 0; i < 100; i++)
		write_number(e, i);
	tap_stream_drain(&e->stream);
	for (i = 0; i < 100; i++) {
		expect_number(test, e, &cursor, i);
		KUNIT_EXPECT_GE(test, e->record.stamp, stamp);
		stamp = e->record.stamp;
	}
	KUNIT_EXPECT_GE(test, stamp, before);
	KUNIT_EXPECT_LE(test, stamp, ktime_get_mono_fast_ns());
	expect_end(test, e, &cursor);
	/* a later read goes on with what is new */
	write_number(e, 100);
	tap_stream_drain(&e->stream);
	expect_number(test, e, &cursor, 100);
	expect_end(test, e, &cursor);
	expect_stats(test, e, 101, 0, 0);
	tap_stream_fini(&e->stream);
}

static void tap_stream_test_cursors_are_independent(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor a = {}, b = {}, c = {};
	u64 i;

	for (i = 0; i < 10; i++)
		write_number(e, i);
	tap_stream_drain(&e->stream);
	for (i = 0; i < 10; i++)
		expect_number(test, e, &a, i);
	for (i = 0; i < 5; i++)
		expect_number(test, e, &b, i);
	write_number(e, 10);
	tap_stream_drain(&e->stream);
	expect_number(test, e, &a, 10);
	for (i = 5; i < 11; i++)
		expect_number(test, e, &b, i);
	for (i = 0; i < 11; i++)
		expect_number(test, e, &c, i);
	tap_stream_fini(&e->stream);
}

static void tap_stream_test_pass_ends_where_it_should(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor cursor = {};
	u64 i, end;

	for (i = 0; i < 3; i++)
		write_number(e, i);
	tap_stream_drain(&e->stream);
	end = tap_stream_end(&e->stream);
	for (; i < 6; i++)
		write_number(e, i);
	tap_stream_drain(&e->stream);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, tap_stream_read(&e->stream, &cursor, end,
							&e->record, e->event));
	KUNIT_EXPECT_FALSE(test, tap_stream_read(&e->stream, &cursor, end,
						 &e->record, e->event));
	expect_number(test, e, &cursor, 3);
	tap_stream_fini(&e->stream);
}

static u8 pattern(u32 len, u32 i)
{
	return len + 7 * i;
}

/* Rings and the history are wrapped around many times, at every offset. */
static void tap_stream_test_events_of_every_size(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor cursor = {};
	u32 len, next = 1, i, wrong = 0;
	u8 *event = kunit_kzalloc(test, TAP_EVENT_MAX, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	for (len = 1; len <= TAP_EVENT_MAX; len++) {
		for (i = 0; i < len; i++)
			event[i] = pattern(len, i);
		tap_stream_write(&e->stream, event, len);
		if (len % 7 && len != TAP_EVENT_MAX)
			continue;
		tap_stream_drain(&e->stream);
		for (; next <= len; next++) {
			memset(e->event, 0, TAP_EVENT_MAX);
			KUNIT_ASSERT_TRUE(test, read_one(e, &cursor));
			KUNIT_ASSERT_EQ(test, (u32)e->record.len, next);
			for (i = 0; i < next; i++)
				wrong += e->event[i] != pattern(next, i);
		}
		expect_end(test, e, &cursor);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	/* who begins now is told of those that are forgotten */
	cursor = (struct tap_cursor){};
	KUNIT_ASSERT_TRUE(test, read_one(e, &cursor));
	KUNIT_EXPECT_EQ(test, e->record.len, 0);
	next = e->record.lost;
	KUNIT_ASSERT_TRUE(test, read_one(e, &cursor));
	KUNIT_EXPECT_EQ(test, (u32)e->record.len, next + 1);
	expect_stats(test, e, TAP_EVENT_MAX, 0, next);
	tap_stream_fini(&e->stream);
}

/* --- what is lost ------------------------------------------------------ */

/* Write until the ring is full and @more; nobody drains meanwhile. */
static u64 overrun(struct example *e, u64 first, u64 more)
{
	struct tap_ring *ring;
	unsigned long flags;
	u64 number = first;
	long lost;

	local_irq_save(flags);
	ring = this_cpu_ptr(e->stream.rings);
	lost = local_read(&ring->lost);
	while (local_read(&ring->lost) == lost)
		write_number(e, number++);
	for (; more > 1; more--)
		write_number(e, number++);
	local_irq_restore(flags);
	return number;
}

static void tap_stream_test_overrun_is_told_in_place(struct kunit *test)
{
	struct example *e = new_stream(test, 8192);
	struct tap_cursor cursor = {};
	u64 number, fit, i;

	migrate_disable();
	number = overrun(e, 0, 100);
	fit = number - 100;
	tap_stream_drain(&e->stream);
	/* the ring takes as much as it should, 24 bytes each */
	KUNIT_EXPECT_GE(test, fit, e->stream.ring_size / 24 - 2);
	for (i = 0; i < 5; i++)
		write_number(e, number + i);
	migrate_enable();
	tap_stream_drain(&e->stream);
	for (i = 0; i < fit; i++)
		expect_number(test, e, &cursor, i);
	expect_lost(test, e, &cursor, 100);
	for (i = 0; i < 5; i++)
		expect_number(test, e, &cursor, number + i);
	expect_end(test, e, &cursor);
	expect_stats(test, e, fit + 5, 100, 0);
	tap_stream_fini(&e->stream);
}

/* Lost between two records of a ring that are drained together. */
static void tap_stream_test_lose_is_told_in_place(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor cursor = {};
	int i;

	preempt_disable();
	write_number(e, 1);
	for (i = 0; i < 7; i++)
		tap_stream_lose(&e->stream);
	write_number(e, 2);
	tap_stream_lose(&e->stream);
	preempt_enable();
	tap_stream_drain(&e->stream);
	expect_number(test, e, &cursor, 1);
	expect_lost(test, e, &cursor, 7);
	expect_number(test, e, &cursor, 2);
	expect_lost(test, e, &cursor, 1);
	expect_end(test, e, &cursor);
	expect_stats(test, e, 2, 8, 0);
	tap_stream_fini(&e->stream);
}

static void tap_stream_test_missed_by_probes_is_told_once(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor cursor = {};

	write_number(e, 1);
	e->missed = 3;
	tap_stream_drain(&e->stream);
	tap_stream_drain(&e->stream);
	e->missed = 2;		/* lags behind while probes are detached */
	tap_stream_drain(&e->stream);
	e->missed = 4;
	tap_stream_drain(&e->stream);
	expect_number(test, e, &cursor, 1);
	expect_lost(test, e, &cursor, 3);
	expect_lost(test, e, &cursor, 1);
	expect_end(test, e, &cursor);
	expect_stats(test, e, 1, 4, 0);
	tap_stream_fini(&e->stream);
}

static void tap_stream_test_self_is_counted_apart(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_stream_stats stats;
	struct tap_cursor cursor = {};

	preempt_disable();
	tap_stream_self(&e->stream);
	tap_stream_self(&e->stream);
	preempt_enable();
	tap_stream_stats(&e->stream, &stats);
	KUNIT_EXPECT_EQ(test, stats.self, 2ull);
	KUNIT_EXPECT_EQ(test, stats.written, 0ull);
	KUNIT_EXPECT_EQ(test, stats.lost, 0ull);
	KUNIT_EXPECT_GE(test, stats.bytes, 65536ull);
	expect_end(test, e, &cursor);
	tap_stream_fini(&e->stream);
}

static void nmi_write(void *data)
{
	write_number(data, 99);
}

static void tap_stream_test_nmi_is_lost(struct kunit *test)
{
	struct example *e = new_stream(test, 64);
	struct tap_cursor cursor = {};
	int i, cpu;

	write_number(e, 1);
	tap_nmi_start(test, nmi_write, e);
	migrate_disable();
	cpu = smp_processor_id();
	for (i = 0; i < 5; i++)
		tap_nmi_send(cpu);
	migrate_enable();
	tap_nmi_stop();
	write_number(e, 2);
	tap_stream_drain(&e->stream);
	expect_number(test, e, &cursor, 1);
	/* on this CPU or on the one before: all are told, in some place */
	KUNIT_ASSERT_TRUE(test, read_one(e, &cursor));
	if (e->record.len) {
		expect_lost(test, e, &cursor, 5);
	} else {
		KUNIT_EXPECT_EQ(test, e->record.lost, 5U);
		expect_number(test, e, &cursor, 2);
	}
	expect_end(test, e, &cursor);
	expect_stats(test, e, 2, 5, 0);
	tap_stream_fini(&e->stream);
}

/* --- the history ------------------------------------------------------- */

static void tap_stream_test_history_forgets_its_oldest(struct kunit *test)
{
	struct example *e = new_stream(test, 16);
	struct tap_cursor begin = {}, middle = {};
	u64 i, held, n = 0;

	for (i = 0; i < 10; i++)
		write_number(e, n++);
	tap_stream_drain(&e->stream);
	for (i = 0; i < 3; i++)
		expect_number(test, e, &middle, i);
	while (n < 5000) {
		for (i = 0; i < 10; i++)
			write_number(e, n++);
		tap_stream_drain(&e->stream);
	}
	held = (16 << 10) / 24;
	/* who begins is told how many there were, and gets what is held */
	KUNIT_ASSERT_TRUE(test, read_one(e, &begin));
	KUNIT_EXPECT_EQ(test, e->record.len, 0);
	KUNIT_EXPECT_GE(test, (u64)e->record.lost, 5000 - held);
	KUNIT_EXPECT_LE(test, (u64)e->record.lost, 5000 - held + 2);
	n = e->record.lost;
	for (i = n; i < 5000; i++)
		expect_number(test, e, &begin, i);
	expect_end(test, e, &begin);
	/* who was in the middle, how many since then */
	expect_lost(test, e, &middle, n - 3);
	for (i = n; i < 5000; i++)
		expect_number(test, e, &middle, i);
	expect_end(test, e, &middle);
	expect_stats(test, e, 5000, 0, n);
	tap_stream_fini(&e->stream);
}

/* A record of lost events that is forgotten stands for as many as it says. */
static void tap_stream_test_history_forgets_what_was_lost(struct kunit *test)
{
	struct example *e = new_stream(test, 16);
	struct tap_cursor cursor = {};
	u64 total = 0, told = 0;
	int i, j;

	for (i = 0; i < 3000; i++) {
		preempt_disable();
		write_number(e, i);
		for (j = 0; j < i % 4; j++)
			tap_stream_lose(&e->stream);
		preempt_enable();
		total += 1 + i % 4;
		tap_stream_drain(&e->stream);
	}
	while (read_one(e, &cursor))
		told += e->record.len ? 1 : e->record.lost;
	KUNIT_EXPECT_EQ(test, told, total);
	tap_stream_fini(&e->stream);
}

static void tap_stream_test_reset_forgets_without_a_word(struct kunit *test)
{
	struct example *e = new_stream(test, 16);
	struct tap_cursor begin = {}, middle = {}, atend = {};
	u64 i;

	for (i = 0; i < 10; i++)
		write_number(e, i);
	tap_stream_drain(&e->stream);
	for (i = 0; i < 3; i++)
		expect_number(test, e, &middle, i);
	for (i = 0; i < 10; i++)
		expect_number(test, e, &atend, i);
	write_number(e, 10);	/* in a ring still */
	tap_stream_reset(&e->stream);
	expect_end(test, e, &begin);
	expect_end(test, e, &middle);
	expect_end(test, e, &atend);
	write_number(e, 11);
	tap_stream_drain(&e->stream);
	expect_number(test, e, &begin, 11);
	expect_number(test, e, &middle, 11);
	expect_number(test, e, &atend, 11);
	expect_end(test, e, &begin);
	expect_stats(test, e, 12, 0, 0);

	/* what the history forgets after a reset is told as ever */
	begin = (struct tap_cursor){};
	for (i = 12; i < 2000; i++) {
		write_number(e, i);
		tap_stream_drain(&e->stream);
	}
	KUNIT_ASSERT_TRUE(test, read_one(e, &begin));
	KUNIT_EXPECT_EQ(test, e->record.len, 0);
	expect_number(test, e, &begin, 11 + e->record.lost);
	tap_stream_fini(&e->stream);
}

/* --- waking ------------------------------------------------------------ */

/* Nobody reads, and yet each event wakes who sleeps. */
static void tap_stream_test_events_wake_sleepers(struct kunit *test)
{
	struct example *e = new_stream(test, 16);
	struct tap_cursor cursor = {};
	u64 end, i;
	long left;

	for (i = 0; i < 20; i++) {
		end = tap_stream_end(&e->stream);
		write_number(e, i);
		left = wait_event_interruptible_timeout(e->stream.wait,
							tap_stream_end(&e->stream) != end,
							TIMEOUT);
		KUNIT_ASSERT_GT(test, left, 0L);
		expect_number(test, e, &cursor, i);
		/* a drain of one's own, with and without an event, spoils nothing */
		if (i % 3 == 0)
			tap_stream_drain(&e->stream);
	}
	tap_stream_fini(&e->stream);
}

/* --- many writers ------------------------------------------------------ */

enum context {
	THREAD,
	TIMER,
	NR_CONTEXTS,
};

struct stress_event {
	u32 cpu;
	u32 context;
	u64 number;
	u8 more[104];	/* so much of it that the length differs */
};

struct stress {
	struct kunit *test;
	struct example *e;
	atomic64_t written[NR_CPUS][NR_CONTEXTS];
	u64 limit;
};

static void stress_write(struct stress *stress, unsigned int cpu,
			 enum context context)
{
	/* the only one of its CPU and context, so numbers stay in order */
	u64 number = atomic64_inc_return(&stress->written[cpu][context]);
	struct stress_event event = {
		.cpu = cpu,
		.context = context,
		.number = number,
	};
	size_t more = number % sizeof(event.more);

	memset(event.more, number, more);
	tap_stream_write(&stress->e->stream, &event,
			 offsetof(struct stress_event, more) + more);
}

static void stress_thread(void *data, unsigned int cpu)
{
	struct stress *stress = data;
	u64 i;

	for (i = 0; i < stress->limit ||
	     atomic64_read(&stress->written[cpu][TIMER]) < 500; i++) {
		stress_write(stress, cpu, THREAD);
		if (i % 64 == 0)
			cond_resched_tasks_rcu_qs();
	}
}

static void stress_timer(void *data, unsigned int cpu)
{
	stress_write(data, cpu, TIMER);
}

struct stress_reader {
	struct stress *stress;
	struct tap_cursor cursor;
	u64 last[NR_CPUS][NR_CONTEXTS];
	u64 shown;
	u64 lost;
	u64 wrong;
	unsigned int sleep_ms;		/* between passes */
	struct tap_record record;
	u8 event[TAP_EVENT_MAX];
	struct completion done;
};

static void stress_check(struct stress_reader *reader)
{
	const struct stress_event *event = (struct stress_event *)reader->event;
	u64 *last = &reader->last[event->cpu][event->context];
	size_t more = event->number % sizeof(event->more);

	reader->shown++;
	if (event->number <= *last ||
	    reader->record.len != offsetof(struct stress_event, more) + more ||
	    memchr_inv(event->more, event->number, more))
		reader->wrong++;
	*last = event->number;
}

static void stress_pass(struct stress_reader *reader)
{
	struct tap_stream *stream = &reader->stress->e->stream;
	u64 stamp = 0, end;

	tap_stream_drain(stream);
	end = tap_stream_end(stream);
	while (tap_stream_read(stream, &reader->cursor, end, &reader->record,
			       reader->event)) {
		if (!reader->record.len) {
			reader->lost += reader->record.lost;
			continue;
		}
		if (reader->record.stamp < stamp)
			reader->wrong++;
		stamp = reader->record.stamp;
		stress_check(reader);
		cond_resched_tasks_rcu_qs();
	}
}

static int stress_read(void *data)
{
	struct stress_reader *reader = data;

	while (!kthread_should_stop()) {
		stress_pass(reader);
		if (reader->sleep_ms)
			msleep(reader->sleep_ms);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void stress_run(struct kunit *test, u32 buffer_kb, u64 limit)
{
	static const unsigned int sleep_ms[] = { 0, 10, 200 };
	struct stress *stress = kunit_kzalloc(test, sizeof(*stress), GFP_KERNEL);
	struct tap_kunit_load load = {
		.thread = stress_thread, .timer = stress_timer, .data = stress,
	};
	struct task_struct *task[ARRAY_SIZE(sleep_ms)];
	struct stress_reader *reader[ARRAY_SIZE(sleep_ms)];
	u64 written = 0;
	int i, cpu;

	KUNIT_ASSERT_NOT_NULL(test, stress);
	stress->test = test;
	stress->e = new_stream(test, buffer_kb);
	stress->limit = limit;
	for (i = 0; i < ARRAY_SIZE(sleep_ms); i++) {
		reader[i] = kunit_kzalloc(test, sizeof(*reader[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, reader[i]);
		reader[i]->stress = stress;
		reader[i]->sleep_ms = sleep_ms[i];
		task[i] = kthread_run(stress_read, reader[i], "tap_kunit_read");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	tap_kunit_run(test, &load);
	for_each_possible_cpu(cpu)
		for (i = 0; i < NR_CONTEXTS; i++)
			written += atomic64_read(&stress->written[cpu][i]);
	for (i = 0; i < ARRAY_SIZE(sleep_ms); i++) {
		kthread_stop(task[i]);
		stress_pass(reader[i]);
		KUNIT_EXPECT_EQ(test, reader[i]->shown + reader[i]->lost, written);
		KUNIT_EXPECT_EQ(test, reader[i]->wrong, 0ull);
		KUNIT_EXPECT_GT(test, reader[i]->shown, 0ull);
	}
	tap_stream_fini(&stress->e->stream);
}

static void tap_stream_test_stress_with_a_long_history(struct kunit *test)
{
	stress_run(test, 4096, 50000);
}

static void tap_stream_test_stress_with_a_short_history(struct kunit *test)
{
	stress_run(test, 16, 50000);
}

/* --- memory ------------------------------------------------------------ */

static int attempt(struct kunit *test)
{
	struct tap_stream *stream = kunit_kzalloc(test, sizeof(*stream),
						  GFP_KERNEL | __GFP_NOFAIL);
	int err;

	if (!stream)
		return -ENOMEM;
	err = tap_stream_init(stream, 16, "kunit");
	tap_stream_fini(stream);
	tap_stream_fini(stream);
	kunit_kfree(test, stream);
	return err;
}

static void tap_stream_test_init_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt);
}

static void tap_stream_test_fini_of_nothing(struct kunit *test)
{
	struct tap_stream *stream = kunit_kzalloc(test, sizeof(*stream), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, stream);
	tap_stream_fini(stream);
	KUNIT_EXPECT_EQ(test, attempt(test), 0);
}

static struct kunit_case tap_stream_cases[] = {
	KUNIT_CASE(tap_stream_test_events_in_order),
	KUNIT_CASE(tap_stream_test_cursors_are_independent),
	KUNIT_CASE(tap_stream_test_pass_ends_where_it_should),
	KUNIT_CASE(tap_stream_test_events_of_every_size),
	KUNIT_CASE(tap_stream_test_overrun_is_told_in_place),
	KUNIT_CASE(tap_stream_test_lose_is_told_in_place),
	KUNIT_CASE(tap_stream_test_missed_by_probes_is_told_once),
	KUNIT_CASE(tap_stream_test_self_is_counted_apart),
	KUNIT_CASE(tap_stream_test_nmi_is_lost),
	KUNIT_CASE(tap_stream_test_history_forgets_its_oldest),
	KUNIT_CASE(tap_stream_test_history_forgets_what_was_lost),
	KUNIT_CASE(tap_stream_test_reset_forgets_without_a_word),
	KUNIT_CASE(tap_stream_test_events_wake_sleepers),
	KUNIT_CASE(tap_stream_test_stress_with_a_long_history),
	KUNIT_CASE(tap_stream_test_stress_with_a_short_history),
	KUNIT_CASE(tap_stream_test_init_without_memory),
	KUNIT_CASE(tap_stream_test_fini_of_nothing),
	{}
};

static struct kunit_suite tap_stream_suite = {
	.name = "tap_stream",
	.test_cases = tap_stream_cases,
};
TAP_KUNIT_SUITE(tap_stream_suite);
