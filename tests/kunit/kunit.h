/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites share. Each is a module of its own that runs when it is
 * loaded: kunit_run_tests() is the same on all kernels, which the ways to have
 * suites found are not.
 */
#ifndef TAP_KUNIT_H
#define TAP_KUNIT_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "compat.h"
#include "fmt.h"

#define TAP_KUNIT_SUITE(suite)						\
	static int __init tap_kunit_init(void)					\
	{									\
		return kunit_run_tests(&(suite));				\
	}									\
	module_init(tap_kunit_init);						\
	static void __exit tap_kunit_exit(void)					\
	{									\
	}									\
	module_exit(tap_kunit_exit);						\
	MODULE_DESCRIPTION("tap: KUnit suite");					\
	MODULE_LICENSE("GPL")

/* A text is exactly this string; forgotten afterwards. */
#define TAP_EXPECT_TEXT(test, text, string)				\
do {									\
	struct tap_text *t = (text);						\
										\
	tap_putc(t, '\0');							\
	KUNIT_EXPECT_FALSE(test, t->failed);					\
	KUNIT_EXPECT_STREQ(test, t->buf, (string));				\
	tap_text_clear(t);							\
} while (0)

/* Work on all CPUs at the same time. */
struct tap_kunit_load {
	/*
	 * in a thread bound to @cpu, until it returns; what takes long calls
	 * cond_resched_tasks_rcu_qs(), which detaching of probes waits for
	 */
	void (*thread)(void *data, unsigned int cpu);
	/* meanwhile in a hard interrupt on @cpu every 50 us; NULL: no timer */
	void (*timer)(void *data, unsigned int cpu);
	void *data;
	/* private: */
	atomic_t left;
	struct completion start;
	struct completion done;
};

struct tap_kunit_cpu {
	struct tap_kunit_load *load;
	unsigned int cpu;
	struct hrtimer timer;
};

static inline enum hrtimer_restart tap_kunit_fire(struct hrtimer *timer)
{
	struct tap_kunit_cpu *at = container_of(timer, struct tap_kunit_cpu, timer);

	at->load->timer(at->load->data, at->cpu);
	/* from now on, not on time: a slow machine must get on as well */
	hrtimer_set_expires(timer, ktime_add_us(ktime_get(), 50));
	return HRTIMER_RESTART;
}

static inline int tap_kunit_thread(void *data)
{
	struct tap_kunit_cpu *at = data;
	struct tap_kunit_load *load = at->load;

	wait_for_completion(&load->start);
	if (load->timer)
		hrtimer_start(&at->timer, ktime_get(), HRTIMER_MODE_ABS_PINNED_HARD);
	load->thread(load->data, at->cpu);
	if (load->timer)
		hrtimer_cancel(&at->timer);
	if (atomic_dec_and_test(&load->left))
		complete(&load->done);
	return 0;
}

/* Start it; to be ended by tap_kunit_wait(), even when an expectation fails. */
static inline void tap_kunit_start(struct kunit *test, struct tap_kunit_load *load)
{
	unsigned int cpu;

	init_completion(&load->start);
	init_completion(&load->done);
	atomic_set(&load->left, num_online_cpus());
	for_each_online_cpu(cpu) {
		struct tap_kunit_cpu *at = kunit_kzalloc(test, sizeof(*at), GFP_KERNEL);
		struct task_struct *task;

		KUNIT_ASSERT_NOT_NULL(test, at);
		at->load = load;
		at->cpu = cpu;
		hrtimer_setup(&at->timer, tap_kunit_fire, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
		task = kthread_create(tap_kunit_thread, at, "tap_kunit/%u", cpu);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	complete_all(&load->start);
}

static inline void tap_kunit_wait(struct tap_kunit_load *load)
{
	wait_for_completion(&load->done);
}

static inline void tap_kunit_run(struct kunit *test, struct tap_kunit_load *load)
{
	tap_kunit_start(test, load);
	tap_kunit_wait(load);
}

/* Skip the test, before it holds anything, on a kernel that never lacks memory. */
static inline void tap_kunit_needs_failures(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_FAILSLAB))
		kunit_skip(test, "a kernel in which allocations cannot be made to fail");
}

/*
 * Call @attempt with the first allocation failing, then the second, and so on,
 * until it needs no more. It returns 0 or an error and leaves nothing behind.
 */
static inline void tap_kunit_fail_each(struct kunit *test,
				       int (*attempt)(struct kunit *test))
{
#ifdef CONFIG_FAILSLAB
	unsigned int n, failures = 0, left = 0;
	int err;

	for (n = 1; n < 10000 && !left; n++) {
		current->fail_nth = n;
		err = attempt(test);
		left = current->fail_nth;
		current->fail_nth = 0;
		if (err) {
			KUNIT_EXPECT_EQ(test, err, -ENOMEM);
			KUNIT_EXPECT_EQ(test, left, 0U);
			failures++;
		}
	}
	/* at last there was no nth allocation */
	KUNIT_EXPECT_GT(test, left, 0U);
	KUNIT_EXPECT_GT(test, failures, 0U);
#endif
	tap_kunit_needs_failures(test);
}

#endif /* TAP_KUNIT_H */
