// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_times - where the CPUs spend their time, by thread
 *
 * A timer on each online CPU looks, hz times a second, which thread it
 * interrupted, and whether in user space or in the kernel. A line is one
 * thread, with its share of all ticks of all CPUs: one busy CPU of two is 50%.
 * An idle CPU is its swapper thread. Softirqs count for the thread they
 * interrupted, or with irq=1 as (irq). A timer cannot see hard interrupts and
 * code that runs with interrupts off: their time goes to what they delayed.
 */
#include <linux/ptrace.h>
#include <linux/string.h>

#include "tap.h"

struct thread_times_key {
	u64 start;		/* of the thread, ns since boot */
	pid_t tid;
	int idle_cpu;		/* the idle threads all have tid 0; else -1 */
};

enum thread_times_sum {
	THREAD_TIMES_USER,
	THREAD_TIMES_KERNEL,
	THREAD_TIMES_NR_SUMS,
};

static unsigned int thread_times_hz = 1000;
static bool thread_times_irq;

/* Context: hardirq, of a timer on each CPU. */
static void thread_times_tick(struct tap_tool *tool, struct pt_regs *regs,
			      u64 periods)
{
	bool irq = READ_ONCE(thread_times_irq) && in_serving_softirq();
	struct task_struct *task = irq ? NULL : current;
	struct thread_times_key key = { .idle_cpu = -1 };
	struct tap_names *names;
	struct tap_sums row;

	if (!tap_begin(tool, task))
		return;
	if (task) {
		key.tid = task->pid;
		if (task->pid)
			key.start = task->start_time;
		else
			key.idle_cpu = smp_processor_id();
	}
	row = tap_row(tool, &key);
	names = row.attr;
	if (tap_names_stale(names, task) ||
	    (task && strncmp(names->thread, task->comm, TASK_COMM_LEN)))
		tap_names_set(names, task);
	tap_add(row, regs && user_mode(regs) ? THREAD_TIMES_USER :
					       THREAD_TIMES_KERNEL, periods);
	tap_end();
}

static struct tap_probe thread_times_probes[] = {
	{
		.type = TAP_TIMER,
		.name = { "timer" },
		.needs = "CONFIG_HIGH_RES_TIMERS",
		.timer = thread_times_tick,
		.hz = &thread_times_hz,
	},
};

static void thread_times_header(struct tap_text *text,
				const struct tap_snapshot *snapshot)
{
	tap_printf(text, "%16s %5s %7s %7s (of %llu ticks)\n", "comm", "tid",
		   "%user", "%kernel", snapshot->events);
}

static const struct tap_column thread_times_columns[] = {
	{ .head = "comm", .width = 16, .attr = 1, .name = 1,
	  TAP_AT(TAP_STR, struct tap_names, thread) },
	{ .head = "tid", .width = 5,
	  TAP_AT(TAP_INT, struct thread_times_key, tid) },
	{ .head = "%user", .type = TAP_PERCENT, .sums = BIT(THREAD_TIMES_USER) },
	{ .head = "%kernel", .type = TAP_PERCENT,
	  .sums = BIT(THREAD_TIMES_KERNEL) },
	TAP_COLUMN_SUM(NULL, "user_ticks", 0, BIT(THREAD_TIMES_USER)),
	TAP_COLUMN_SUM(NULL, "kernel_ticks", 0, BIT(THREAD_TIMES_KERNEL)),
	{ .json = "pid", .attr = 1, TAP_AT(TAP_INT, struct tap_names, pid) },
	TAP_JSON_NAMES(1),
};

static struct tap_tool thread_times = {
	TAP_DEFAULTS("thread_times"),
	TAP_PROBES(thread_times_probes),
	TAP_COLUMNS(thread_times_columns),
	.layout = TAP_LAYOUT(struct thread_times_key, struct tap_names,
			     THREAD_TIMES_NR_SUMS),
	.sort = BIT(THREAD_TIMES_USER) | BIT(THREAD_TIMES_KERNEL),
	.header = thread_times_header,
	.keep_readers = true,
	.interval_ms = 5000,
	.limit = 20,
};
TAP_PARAM(hz, "samples a second on each CPU, 1 to 10000",
	  .type = TAP_PARAM_UINT, .value = &thread_times_hz, .min = 1,
	  .max = 10000, .apply = tap_tool_apply_probes);
TAP_PARAM(irq, "time in softirqs is shown as (irq): 0 or 1",
	  .type = TAP_PARAM_BOOL, .value = &thread_times_irq);
module_tap_table(thread_times, "user and kernel time per thread, by sampling");
