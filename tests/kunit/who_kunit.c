// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/who.c */
#include <linux/interrupt.h>

#include "kunit.h"
#include "nmi.h"
#include "who.h"

static void tap_who_test_current_in_process_context(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, tap_current(), current);
	/* as in a plain sendto(): nothing is being served */
	local_bh_disable();
	KUNIT_EXPECT_PTR_EQ(test, tap_current(), current);
	local_bh_enable();
	preempt_disable();
	KUNIT_EXPECT_PTR_EQ(test, tap_current(), current);
	preempt_enable();
}

static struct task_struct *seen;

struct interrupt {
	struct hrtimer timer;
	struct completion done;
};

static enum hrtimer_restart interrupt_fire(struct hrtimer *timer)
{
	seen = tap_current();
	complete(&container_of(timer, struct interrupt, timer)->done);
	return HRTIMER_NORESTART;
}

static void see_in(struct kunit *test, enum hrtimer_mode mode)
{
	struct interrupt *interrupt = kunit_kzalloc(test, sizeof(*interrupt),
						    GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, interrupt);
	init_completion(&interrupt->done);
	seen = current;
	hrtimer_setup(&interrupt->timer, interrupt_fire, CLOCK_MONOTONIC, mode);
	hrtimer_start(&interrupt->timer, 0, mode);
	wait_for_completion(&interrupt->done);
	hrtimer_cancel(&interrupt->timer);
	KUNIT_EXPECT_PTR_EQ(test, seen, NULL);
}

static void tap_who_test_current_in_an_interrupt(struct kunit *test)
{
	see_in(test, HRTIMER_MODE_REL_HARD);
}

static void tap_who_test_current_in_a_softirq(struct kunit *test)
{
	see_in(test, HRTIMER_MODE_REL_SOFT);
}

static void see_in_nmi(void *data)
{
	seen = tap_current();
}

static void tap_who_test_current_in_an_nmi(struct kunit *test)
{
	seen = current;
	tap_nmi_start(test, see_in_nmi, NULL);
	migrate_disable();
	tap_nmi_send(smp_processor_id());
	migrate_enable();
	tap_nmi_stop();
	KUNIT_EXPECT_PTR_EQ(test, seen, NULL);
}

static void tap_who_test_set(struct kunit *test)
{
	static const struct tap_who zero;
	struct tap_who who = {};

	tap_who_set(&who, NULL, true);
	KUNIT_EXPECT_EQ(test, memcmp(&who, &zero, sizeof(who)), 0);

	tap_who_set(&who, current, false);
	KUNIT_EXPECT_EQ(test, who.pid, current->tgid);
	KUNIT_EXPECT_EQ(test, who.uid, 0U);
	KUNIT_EXPECT_EQ(test, who.start, current->start_time);
	KUNIT_EXPECT_EQ(test, memcmp(who.thread, zero.thread, sizeof(who.thread)), 0);

	tap_who_set(&who, current, true);
	KUNIT_EXPECT_EQ(test, strncmp(who.thread, current->comm, TASK_COMM_LEN), 0);

	/* what started earlier, and is alive */
	memset(&who, 0, sizeof(who));
	tap_who_set(&who, &init_task, false);
	KUNIT_EXPECT_EQ(test, who.pid, 0);
	KUNIT_EXPECT_EQ(test, who.start, 0ull);
}

static void tap_who_test_names(struct kunit *test)
{
	struct tap_names names = {};

	KUNIT_EXPECT_TRUE(test, tap_names_stale(&names, current));
	tap_names_set(&names, current);
	KUNIT_EXPECT_FALSE(test, tap_names_stale(&names, current));
	KUNIT_EXPECT_EQ(test, strncmp(names.comm, current->comm, TASK_COMM_LEN), 0);
	KUNIT_EXPECT_EQ(test, strncmp(names.thread, current->comm, TASK_COMM_LEN), 0);
	KUNIT_EXPECT_EQ(test, names.pid, current->tgid);
	KUNIT_EXPECT_EQ(test, names.tid, current->pid);
	KUNIT_EXPECT_EQ(test, names.ns_pid, current->tgid);

	/* the first and the last byte of a name both count */
	current->comm[0] ^= 1;
	KUNIT_EXPECT_TRUE(test, tap_names_stale(&names, current));
	current->comm[0] ^= 1;
	current->comm[TASK_COMM_LEN - 2] ^= 1;
	KUNIT_EXPECT_TRUE(test, tap_names_stale(&names, current));
	current->comm[TASK_COMM_LEN - 2] ^= 1;
	KUNIT_EXPECT_FALSE(test, tap_names_stale(&names, current));
}

static void tap_who_test_names_of_an_interrupt(struct kunit *test)
{
	struct tap_names names = {};

	KUNIT_EXPECT_TRUE(test, tap_names_stale(&names, NULL));
	tap_names_set(&names, NULL);
	KUNIT_EXPECT_FALSE(test, tap_names_stale(&names, NULL));
	KUNIT_EXPECT_STREQ(test, names.comm, "(irq)");
	KUNIT_EXPECT_STREQ(test, names.thread, "(irq)");
	KUNIT_EXPECT_EQ(test, names.pid, 0);
	KUNIT_EXPECT_EQ(test, names.tid, 0);
}

static struct kunit_case tap_who_cases[] = {
	KUNIT_CASE(tap_who_test_current_in_process_context),
	KUNIT_CASE(tap_who_test_current_in_an_interrupt),
	KUNIT_CASE(tap_who_test_current_in_a_softirq),
	KUNIT_CASE(tap_who_test_current_in_an_nmi),
	KUNIT_CASE(tap_who_test_set),
	KUNIT_CASE(tap_who_test_names),
	KUNIT_CASE(tap_who_test_names_of_an_interrupt),
	{}
};

static struct kunit_suite tap_who_suite = {
	.name = "tap_who",
	.test_cases = tap_who_cases,
};
TAP_KUNIT_SUITE(tap_who_suite);
