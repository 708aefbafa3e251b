// SPDX-License-Identifier: GPL-2.0-only
/*
 * tap_numbers - a stream tool that writes its own events
 *
 * While `writers` is 1, a thread on each CPU and a timer in that CPU's hard
 * interrupt write events as fast as they may, each with the next number of its
 * CPU and context. So a reader can tell what is missing, out of order or there
 * twice. When the writers have stopped, `written` says how many there were.
 * For tests/stress/stream.sh.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "tap.h"

#define TIMER_US 50	/* 20 kHz */

enum tap_numbers_context {
	THREAD,
	TIMER,
	NR_CONTEXTS,
};

struct tap_numbers_event {
	u32 cpu;
	u32 context;
	u64 number;
};

struct tap_numbers_writer {
	struct task_struct *task;
	struct hrtimer timer;
	u64 numbers[NR_CONTEXTS];	/* each written by its context alone */
};

static DEFINE_PER_CPU(struct tap_numbers_writer, tap_numbers_writers);
static bool running;
static unsigned long written;
module_param(written, ulong, 0400);
MODULE_PARM_DESC(written, "events written until the writers stopped last");
static unsigned int pause_us = 1000;
module_param(pause_us, uint, 0400);
MODULE_PARM_DESC(pause_us, "how long a thread rests after 100 events");

static struct tap_tool tap_numbers;

static void tap_numbers_write(struct tap_numbers_writer *writer,
			      enum tap_numbers_context context)
{
	struct tap_numbers_event event = { .context = context };

	if (!tap_begin(&tap_numbers, tap_current()))
		return;
	event.cpu = smp_processor_id();
	event.number = ++writer->numbers[context];
	tap_event(&tap_numbers, &event);
	tap_end();
}

static enum hrtimer_restart tap_numbers_fire(struct hrtimer *timer)
{
	tap_numbers_write(container_of(timer, struct tap_numbers_writer, timer),
			  TIMER);
	/* from now on, not on time: a slow machine must get on as well */
	hrtimer_set_expires(timer, ktime_add_us(ktime_get(), TIMER_US));
	return HRTIMER_RESTART;
}

static int tap_numbers_thread(void *data)
{
	struct tap_numbers_writer *writer = data;
	int i;

	hrtimer_start(&writer->timer, ktime_get(), HRTIMER_MODE_ABS_PINNED_HARD);
	while (!kthread_should_stop()) {
		for (i = 0; i < 100; i++)
			tap_numbers_write(writer, THREAD);
		cond_resched_tasks_rcu_qs();
		if (pause_us)
			usleep_range(pause_us, pause_us);
	}
	hrtimer_cancel(&writer->timer);
	return 0;
}

static void tap_numbers_stop(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tap_numbers_writer *writer = &per_cpu(tap_numbers_writers, cpu);

		if (writer->task)
			kthread_stop(writer->task);
		writer->task = NULL;
		written += writer->numbers[THREAD] + writer->numbers[TIMER];
	}
}

static int tap_numbers_start(void)
{
	int cpu;

	written = 0;
	for_each_online_cpu(cpu) {
		struct tap_numbers_writer *writer = &per_cpu(tap_numbers_writers, cpu);
		struct task_struct *task;

		hrtimer_setup(&writer->timer, tap_numbers_fire, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
		task = kthread_create(tap_numbers_thread, writer, "tap_numbers/%d", cpu);
		if (IS_ERR(task)) {
			tap_numbers_stop();
			return PTR_ERR(task);
		}
		kthread_bind(task, cpu);
		writer->task = task;
		wake_up_process(task);
	}
	return 0;
}

static int tap_numbers_apply(struct tap_tool *tool, struct tap_text *why)
{
	if (running)
		return tap_numbers_start();
	tap_numbers_stop();
	return 0;
}

#define AT(type, member) TAP_AT(type, struct tap_numbers_event, member)

static const struct tap_column tap_numbers_columns[] = {
	{ .head = "CPU", .json = "cpu", .width = 4, AT(TAP_UINT, cpu) },
	{ .head = "CONTEXT", .json = "context", .width = 7, AT(TAP_UINT, context) },
	{ .head = "NUMBER", .json = "number", .width = 10, AT(TAP_U64, number) },
	{ .head = "STAMP", .width = 15, .attr = 1,
	  TAP_AT(TAP_U64, struct tap_record, stamp) },
};

static struct tap_tool tap_numbers = {
	TAP_DEFAULTS("tap_numbers"),
	TAP_COLUMNS(tap_numbers_columns),
	.event_size = sizeof(struct tap_numbers_event),
	.keep_readers = true,
};
TAP_PARAM(writers, "writers are at work: 0 or 1",
	  .type = TAP_PARAM_BOOL, .value = &running, .apply = tap_numbers_apply);
module_tap_stream(tap_numbers, "events of its own, to test streams");
