// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/gate.c */
#include <linux/err.h>
#include <linux/rcupdate.h>

#include "filter.h"
#include "gate.h"
#include "kunit.h"

static enum tap_verdict verdict(struct tap_gate *gate, struct task_struct *task)
{
	enum tap_verdict verdict;

	preempt_disable();
	verdict = tap_gate_is_open(gate) ? TAP_COUNT : tap_gate_test(gate, task);
	preempt_enable();
	return verdict;
}

static void set_filter(struct kunit *test, struct tap_gate *gate, const char *spec)
{
	struct tap_text why = {};
	struct tap_filter *filter = tap_filter_parse(spec, &why);

	KUNIT_ASSERT_FALSE(test, IS_ERR(filter));
	tap_gate_set_filter(gate, filter);
	KUNIT_EXPECT_PTR_EQ(test, tap_gate_filter(gate), filter);
	tap_text_free(&why);
}

static void tap_gate_test_open_without_filter_and_reader(struct kunit *test)
{
	struct tap_gate gate = {};

	KUNIT_EXPECT_TRUE(test, tap_gate_is_open(&gate));
	KUNIT_EXPECT_EQ(test, tap_gate_test(&gate, current), TAP_COUNT);
	KUNIT_EXPECT_EQ(test, tap_gate_test(&gate, NULL), TAP_COUNT);
	KUNIT_EXPECT_PTR_EQ(test, tap_gate_filter(&gate), NULL);
}

static void tap_gate_test_filter(struct kunit *test)
{
	struct tap_gate gate = {};
	u32 round = tap_gate_round(&gate);

	set_filter(test, &gate, "uid=0");
	KUNIT_EXPECT_NE(test, tap_gate_round(&gate), round);
	round = tap_gate_round(&gate);
	KUNIT_EXPECT_FALSE(test, tap_gate_is_open(&gate));
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_COUNT);
	KUNIT_EXPECT_EQ(test, verdict(&gate, NULL), TAP_FILTERED);
	/* another one takes its place */
	set_filter(test, &gate, "uid=12345");
	KUNIT_EXPECT_NE(test, tap_gate_round(&gate), round);
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_FILTERED);
	tap_gate_set_filter(&gate, NULL);
	KUNIT_EXPECT_TRUE(test, tap_gate_is_open(&gate));
	KUNIT_EXPECT_PTR_EQ(test, tap_gate_filter(&gate), NULL);
}

static void tap_gate_test_reader_is_left_out(struct kunit *test)
{
	struct tap_gate gate = {};
	int a, b;

	a = tap_gate_add_reader(&gate);
	KUNIT_EXPECT_GE(test, a, 0);
	KUNIT_EXPECT_FALSE(test, tap_gate_is_open(&gate));
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_SELF);
	KUNIT_EXPECT_EQ(test, verdict(&gate, &init_task), TAP_COUNT);
	KUNIT_EXPECT_EQ(test, verdict(&gate, NULL), TAP_COUNT);
	gate.count_readers = true;
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_COUNT);
	gate.count_readers = false;

	/* two open files, closed one by one */
	b = tap_gate_add_reader(&gate);
	KUNIT_EXPECT_GE(test, b, 0);
	tap_gate_remove_reader(&gate, a);
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_SELF);
	tap_gate_remove_reader(&gate, b);
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_COUNT);
	KUNIT_EXPECT_TRUE(test, tap_gate_is_open(&gate));
}

static void tap_gate_test_filter_goes_before_reader(struct kunit *test)
{
	struct tap_gate gate = {};
	int slot = tap_gate_add_reader(&gate);

	set_filter(test, &gate, "uid=12345");
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_FILTERED);
	set_filter(test, &gate, "uid=0");
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_SELF);
	/* each alone keeps the gate shut */
	tap_gate_set_filter(&gate, NULL);
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_SELF);
	set_filter(test, &gate, "uid=12345");
	tap_gate_remove_reader(&gate, slot);
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_FILTERED);
	tap_gate_set_filter(&gate, NULL);
	KUNIT_EXPECT_TRUE(test, tap_gate_is_open(&gate));
}

/* Another process that opens a file. */
struct reader {
	struct tap_gate *gate;
	struct completion opened;
	struct completion close;
	int slot;
	enum tap_verdict verdict;
};

static int reader_thread(void *data)
{
	struct reader *reader = data;

	reader->slot = tap_gate_add_reader(reader->gate);
	reader->verdict = verdict(reader->gate, current);
	complete(&reader->opened);
	wait_for_completion(&reader->close);
	tap_gate_remove_reader(reader->gate, reader->slot);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void tap_gate_test_many_readers(struct kunit *test)
{
	struct tap_gate gate = {};
	struct reader *readers = kunit_kcalloc(test, TAP_READERS + 2,
					       sizeof(*readers), GFP_KERNEL);
	struct task_struct *task[TAP_READERS + 2];
	int i, j;

	KUNIT_ASSERT_NOT_NULL(test, readers);
	for (i = 0; i < TAP_READERS + 2; i++) {
		readers[i].gate = &gate;
		init_completion(&readers[i].opened);
		init_completion(&readers[i].close);
		task[i] = kthread_run(reader_thread, &readers[i], "tap_kunit_reader");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
		wait_for_completion(&readers[i].opened);
		if (i < TAP_READERS) {
			KUNIT_EXPECT_GE(test, readers[i].slot, 0);
			KUNIT_EXPECT_EQ(test, readers[i].verdict, TAP_SELF);
			for (j = 0; j < i; j++)
				KUNIT_EXPECT_NE(test, readers[i].slot, readers[j].slot);
		} else {
			/* counted like everybody */
			KUNIT_EXPECT_LT(test, readers[i].slot, 0);
			KUNIT_EXPECT_EQ(test, readers[i].verdict, TAP_COUNT);
		}
	}
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_COUNT);
	for (i = 0; i < TAP_READERS + 2; i++) {
		complete(&readers[i].close);
		kthread_stop(task[i]);
		if (!i) {
			/* a place is free again */
			KUNIT_EXPECT_GE(test, tap_gate_add_reader(&gate), 0);
			KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_SELF);
			tap_gate_remove_reader(&gate, readers[0].slot);
		}
	}
	KUNIT_EXPECT_TRUE(test, tap_gate_is_open(&gate));
}

/* A number that is in use again is somebody else's. */
static void tap_gate_test_reader_is_known_by_its_start(struct kunit *test)
{
	struct tap_gate gate = {};
	struct task_struct *group_leader = current->group_leader;
	int slot = tap_gate_add_reader(&gate);

	group_leader->start_time++;
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_COUNT);
	group_leader->start_time--;
	KUNIT_EXPECT_EQ(test, verdict(&gate, current), TAP_SELF);
	tap_gate_remove_reader(&gate, slot);
}

/* --- replaced while it is used ----------------------------------------- */

struct load {
	struct tap_gate gate;
	bool done;
	atomic64_t wrong;
};

static void load_test(void *data, unsigned int cpu)
{
	struct load *load = data;

	/* every filter matches root, and so this thread */
	if (verdict(&load->gate, &init_task) != TAP_COUNT)
		atomic64_inc(&load->wrong);
}

static void load_thread(void *data, unsigned int cpu)
{
	struct load *load = data;

	while (!READ_ONCE(load->done)) {
		load_test(data, cpu);
		cond_resched_tasks_rcu_qs();
	}
}

static void tap_gate_test_filter_replaced_in_use(struct kunit *test)
{
	struct load *load = kunit_kzalloc(test, sizeof(*load), GFP_KERNEL);
	struct tap_kunit_load on_cpus = {
		.thread = load_thread, .timer = load_test, .data = load,
	};
	int i, slot;

	KUNIT_ASSERT_NOT_NULL(test, load);
	tap_kunit_start(test, &on_cpus);
	for (i = 0; i < 50; i++) {
		set_filter(test, &load->gate, i % 2 ? "uid=0" : "comm=swapper/0");
		slot = tap_gate_add_reader(&load->gate);
		tap_gate_remove_reader(&load->gate, slot);
		if (i % 5 == 0)
			tap_gate_set_filter(&load->gate, NULL);
	}
	WRITE_ONCE(load->done, true);
	tap_kunit_wait(&on_cpus);
	tap_gate_set_filter(&load->gate, NULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->wrong), 0);
}

static struct kunit_case tap_gate_cases[] = {
	KUNIT_CASE(tap_gate_test_open_without_filter_and_reader),
	KUNIT_CASE(tap_gate_test_filter),
	KUNIT_CASE(tap_gate_test_reader_is_left_out),
	KUNIT_CASE(tap_gate_test_filter_goes_before_reader),
	KUNIT_CASE(tap_gate_test_many_readers),
	KUNIT_CASE(tap_gate_test_reader_is_known_by_its_start),
	KUNIT_CASE(tap_gate_test_filter_replaced_in_use),
	{}
};

static struct kunit_suite tap_gate_suite = {
	.name = "tap_gate",
	.test_cases = tap_gate_cases,
};
TAP_KUNIT_SUITE(tap_gate_suite);
