// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/probe.c */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/mm_types.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <trace/events/sched.h>

#include "kunit.h"
#include "probe.h"
#include "stream.h"
#include "who.h"

/* A hang, not a slow machine. */
#define TIMEOUT (120 * HZ)

/* Handlers get it as it is; nothing here looks into it. */
static struct tap_tool *const tool = (void *)0x1234;

static struct task_struct *caller;	/* whose calls are counted */
static bool wrong_tool;
static unsigned long args[6];
static atomic_t hits;

/* Is this hit one that the test made? */
static bool is_ours(struct tap_tool *given)
{
	if (given != tool)
		WRITE_ONCE(wrong_tool, true);
	return READ_ONCE(caller) == current;
}

static void on_function(struct tap_tool *given, const struct tap_args *a)
{
	int i;

	if (!is_ours(given))
		return;
	for (i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = tap_arg(a, i);
	atomic_inc(&hits);
}

static int tap_probe_init(struct kunit *test)
{
	caller = current;
	wrong_tool = false;
	memset(args, 0, sizeof(args));
	atomic_set(&hits, 0);
	return 0;
}

static void tap_probe_exit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, wrong_tool);
}

static int attach(struct kunit *test, struct tap_probe *probes, unsigned int nr)
{
	struct tap_text why = {};
	int err = tap_probes_attach(probes, nr, tool, "kunit", &why);

	KUNIT_EXPECT_EQ_MSG(test, err != 0, why.len != 0, "%d: %.*s", err,
			    (int)why.len, why.buf);
	tap_text_free(&why);
	return err;
}

static void expect_show(struct kunit *test, struct tap_probe *probes,
			unsigned int nr, const char *lines)
{
	struct tap_text text = {};

	tap_probes_show(probes, nr, &text);
	TAP_EXPECT_TEXT(test, &text, lines);
	tap_text_free(&text);
}

/* --- functions --------------------------------------------------------- */

/*
 * A function of the kernel with six arguments that the function tracer knows,
 * and makes a file that nobody opens...
 */
static void call_traced(struct kunit *test, unsigned long last)
{
	static const struct seq_operations ops;
	struct proc_dir_entry *entry;

	entry = proc_create_seq_private("tap_kunit", 0400, NULL, &ops, 17,
					(void *)last);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	proc_remove(entry);
}

/* ... and one in lib/, which is compiled without the tracer's calls. */
static unsigned long call_untraced(unsigned long last)
{
	static unsigned long map[2];

	return bitmap_find_next_zero_area_off(map, 128, 5, 3, 0, last);
}

static void function_by_ftrace(struct kunit *test, struct tap_probe *probe)
{
	int i;

	KUNIT_ASSERT_EQ(test, attach(test, probe, 1), 0);
	expect_show(test, probe, 1, "hook proc_create_seq_private: ftrace\n");
	for (i = 1; i <= 23; i++) {
		call_traced(test, i);
		KUNIT_EXPECT_EQ(test, atomic_read(&hits), i);
		KUNIT_EXPECT_STREQ(test, (char *)args[0], "tap_kunit");
		KUNIT_EXPECT_EQ(test, args[1] & 0xffff, 0400ul);
		KUNIT_EXPECT_EQ(test, args[2], 0ul);
		KUNIT_EXPECT_EQ(test, (u32)args[4], 17U);
		KUNIT_EXPECT_EQ(test, args[5], (unsigned long)i);
	}
	tap_probes_detach(probe, 1);
	call_traced(test, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 23);
	KUNIT_EXPECT_EQ(test, tap_probes_missed(probe, 1), 0ull);
	expect_show(test, probe, 1, "hook proc_create_seq_private: none\n");
}

static void tap_probe_test_function_by_ftrace(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_FUNCTION,
		.name = { "proc_create_seq_private" },
		.needs = "CONFIG_PROC_FS",
		.function = on_function,
	};

	function_by_ftrace(test, &probe);
}

TAP_BARE_HANDLER(tap_kunit_on_function);
TAP_BARE(tap_kunit_on_function, on_function);

/* Without guards, and with them again. */
static void tap_probe_test_function_bare(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_FUNCTION,
		.name = { "proc_create_seq_private" },
		.needs = "CONFIG_PROC_FS",
		.function = tap_kunit_on_function,
		.bare = tap_kunit_on_function_bare,
	};

	function_by_ftrace(test, &probe);
	atomic_set(&hits, 0);
	probe.bare = NULL;
	function_by_ftrace(test, &probe);
}

static void tap_probe_test_function_by_kprobe(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_FUNCTION,
		.name = { "bitmap_find_next_zero_area_off" },
		.needs = "CONFIG_KPROBES",
		.function = on_function,
	};
	int i;

	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	expect_show(test, &probe, 1, "hook bitmap_find_next_zero_area_off: kprobe\n");
	for (i = 1; i <= 23; i++) {
		KUNIT_EXPECT_EQ(test, call_untraced(i), 5ul);
		KUNIT_EXPECT_EQ(test, atomic_read(&hits), i);
		KUNIT_EXPECT_EQ(test, args[1], 128ul);
		KUNIT_EXPECT_EQ(test, args[2], 5ul);
		KUNIT_EXPECT_EQ(test, (u32)args[3], 3U);
		KUNIT_EXPECT_EQ(test, args[4], 0ul);
		KUNIT_EXPECT_EQ(test, args[5], (unsigned long)i);
	}
	tap_probes_detach(&probe, 1);
	call_untraced(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 23);
	KUNIT_EXPECT_EQ(test, tap_probes_missed(&probe, 1), 0ull);
}

/*
 * A breakpoint may be how a kprobe is hit, and then it looks like an NMI. It is
 * the task's own work all the same: it has a name, and what it tells is told.
 */
static struct tap_stream stream;
static struct task_struct *at_work;

static void on_own_work(struct tap_tool *given, const struct tap_args *a)
{
	unsigned long number = tap_arg(a, 5);

	if (!is_ours(given))
		return;
	at_work = tap_current();
	tap_stream_write(&stream, &number, sizeof(number));
}

static void tap_probe_test_kprobe_is_the_tasks_own_work(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_FUNCTION,
		.name = { "bitmap_find_next_zero_area_off" },
		.needs = "CONFIG_KPROBES",
		.function = on_own_work,
	};
	struct tap_stream_stats stats;
	int i;

	/* x86 enters a breakpoint as it enters an NMI; they are not told apart yet */
	kunit_skip(test, "a kprobe by breakpoint counts as an NMI");
	memset(&stream, 0, sizeof(stream));
	KUNIT_ASSERT_EQ(test, tap_stream_init(&stream, 16, "kunit"), 0);
	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	at_work = NULL;
	for (i = 1; i <= 23; i++)
		call_untraced(i);
	tap_probes_detach(&probe, 1);
	KUNIT_EXPECT_PTR_EQ(test, at_work, current);
	tap_stream_stats(&stream, &stats);
	KUNIT_EXPECT_EQ(test, stats.written, 23ull);
	KUNIT_EXPECT_EQ(test, stats.lost, 0ull);
	tap_stream_fini(&stream);
}

/* --- returns ----------------------------------------------------------- */

struct call {
	unsigned long first;
	unsigned long last;
};

static struct call returned;
static unsigned long value;

static bool on_entry(struct tap_tool *given, const struct tap_args *a, void *data)
{
	struct call *call = data;

	if (!is_ours(given))
		return false;
	call->first = tap_arg(a, 2);
	call->last = tap_arg(a, 5);
	/* calls with an odd number are of no interest */
	return call->last % 2 == 0;
}

static void on_return(struct tap_tool *given, void *data, unsigned long v)
{
	if (!is_ours(given))
		return;
	returned = *(struct call *)data;
	value = v;
	atomic_inc(&hits);
}

static void tap_probe_test_return_gets_what_entry_kept(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_RETURN,
		.name = { "bitmap_find_next_zero_area_off" },
		.needs = "CONFIG_KRETPROBES",
		.entry = on_entry,
		.ret = on_return,
		.data_size = sizeof(struct call),
		.maxactive = 8,
	};
	int i;

	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	expect_show(test, &probe, 1, "hook bitmap_find_next_zero_area_off: kretprobe\n");
	for (i = 1; i <= 100; i++) {
		KUNIT_EXPECT_EQ(test, call_untraced(i), 5ul);
		KUNIT_EXPECT_EQ(test, atomic_read(&hits), i / 2);
		if (i % 2)
			continue;
		KUNIT_EXPECT_EQ(test, returned.first, 5ul);
		KUNIT_EXPECT_EQ(test, returned.last, (unsigned long)i);
		KUNIT_EXPECT_EQ(test, value, 5ul);
	}
	tap_probes_detach(&probe, 1);
	KUNIT_EXPECT_EQ(test, tap_probes_missed(&probe, 1), 0ull);
	call_untraced(2);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 50);
}

static void tap_probe_test_return_without_entry(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_RETURN,
		.name = { "bitmap_find_next_zero_area_off" },
		.needs = "CONFIG_KRETPROBES",
		.ret = on_return,
		.data_size = sizeof(struct call),
		.maxactive = 8,
	};

	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	call_untraced(7);
	tap_probes_detach(&probe, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 1);
	KUNIT_EXPECT_EQ(test, value, 5ul);
}

/* More calls at the same time than can be followed: what is missed is counted. */
static atomic_t sleeping, sleepers_returned;

static void on_sleep_return(struct tap_tool *given, void *data, unsigned long v)
{
	atomic_inc(&sleepers_returned);
}

static int sleeper(void *data)
{
	atomic_inc(&sleeping);
	/* a probed function that sleeps until it is woken */
	schedule_timeout_interruptible(MAX_SCHEDULE_TIMEOUT - 1);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

static void tap_probe_test_return_counts_what_it_missed(struct kunit *test)
{
	static struct tap_probe probe = {
		.type = TAP_RETURN,
		.name = { "schedule_timeout_interruptible" },
		.needs = "CONFIG_KRETPROBES",
		.ret = on_sleep_return,
		.maxactive = 2,
	};
	struct task_struct *task[12];
	int i;

	atomic_set(&sleeping, 0);
	atomic_set(&sleepers_returned, 0);
	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	for (i = 0; i < ARRAY_SIZE(task); i++) {
		task[i] = kthread_run(sleeper, NULL, "tap_kunit_sleep");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	/* others may call it as well; so many at least, in ours */
	for (i = 0; i < TIMEOUT; i++) {
		if (atomic_read(&sleeping) == ARRAY_SIZE(task) &&
		    tap_probes_missed(&probe, 1) >= ARRAY_SIZE(task) - 2)
			break;
		schedule_timeout_uninterruptible(1);
	}
	KUNIT_EXPECT_GE(test, tap_probes_missed(&probe, 1), ARRAY_SIZE(task) - 2ull);
	for (i = 0; i < ARRAY_SIZE(task); i++)
		kthread_stop(task[i]);
	KUNIT_EXPECT_GE(test, tap_probes_missed(&probe, 1) +
			atomic_read(&sleepers_returned), (u64)ARRAY_SIZE(task));
	tap_probes_detach(&probe, 1);
	/* and the number outlives the hook */
	KUNIT_EXPECT_GE(test, tap_probes_missed(&probe, 1), ARRAY_SIZE(task) - 2ull);
	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	KUNIT_EXPECT_GE(test, tap_probes_missed(&probe, 1), ARRAY_SIZE(task) - 2ull);
	tap_probes_detach(&probe, 1);
}

/* --- tracepoints ------------------------------------------------------- */

static void on_fork(void *given, struct task_struct *parent,
		    struct task_struct *child)
{
	if (given != tool)
		WRITE_ONCE(wrong_tool, true);
	atomic_inc(&hits);
}
TAP_CHECK_TRACEPOINT(sched_process_fork, on_fork);

static int nothing(void *data)
{
	return 0;
}

static void tap_probe_test_tracepoint(struct kunit *test)
{
	static struct tap_probe probe = TAP_PROBE("sched_process_fork", on_fork,
					   "CONFIG_TRACEPOINTS", NULL);
	struct task_struct *task;
	int i;

	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	expect_show(test, &probe, 1, "hook sched_process_fork: tracepoint\n");
	for (i = 0; i < 23; i++) {
		task = kthread_run(nothing, NULL, "tap_kunit_nothing");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	}
	/* others may have forked meanwhile */
	KUNIT_EXPECT_GE(test, atomic_read(&hits), 23);
	tap_probes_detach(&probe, 1);
	i = atomic_read(&hits);
	task = kthread_run(nothing, NULL, "tap_kunit_nothing");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), i);
	KUNIT_EXPECT_EQ(test, tap_probes_missed(&probe, 1), 0ull);
}

/* --- required, optional, and names ------------------------------------- */

static void tap_probe_test_required_is_missing(struct kunit *test)
{
	static struct tap_probe probes[] = {
		{
			.type = TAP_FUNCTION,
			.name = { "proc_create_seq_private" },
			.needs = "CONFIG_PROC_FS",
			.function = on_function,
		},
		{
			.name = { "no_such_function", "nor_this_one" },
			.needs = "CONFIG_NO_SUCH_OPTION",
		},
	};
	static const enum tap_probe_type types[] = {
		TAP_TRACEPOINT, TAP_FUNCTION, TAP_RETURN,
	};
	struct tap_text why = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		probes[1].type = types[i];
		KUNIT_EXPECT_EQ(test, tap_probes_attach(probes, 2, tool, "kunit", &why),
				-EOPNOTSUPP);
		tap_putc(&why, '\0');
		KUNIT_EXPECT_NOT_NULL(test, strstr(why.buf, "no_such_function"));
		KUNIT_EXPECT_NOT_NULL(test, strstr(why.buf, "CONFIG_NO_SUCH_OPTION"));
		KUNIT_EXPECT_PTR_EQ(test, strchr(why.buf, '\n'), NULL);
		tap_text_clear(&why);
		/* nothing is attached */
		expect_show(test, probes, 2,
			    "hook proc_create_seq_private: none\nhook no_such_function: none\n");
		call_traced(test, 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&hits), 0);
	}
	tap_text_free(&why);
}

static void tap_probe_test_optional_is_missing(struct kunit *test)
{
	static struct tap_probe probes[] = {
		TAP_PROBE("no_such_tracepoint", on_fork, "CONFIG_NO_SUCH_OPTION",
			  "a column is empty"),
		{
			.type = TAP_FUNCTION,
			.name = { "no_such_function" },
			.needs = "CONFIG_NO_SUCH_OPTION",
			.without = "another column is empty",
			.function = on_function,
		},
		{
			.type = TAP_RETURN,
			.name = { "only_on_other_kernels" },
			.without = "",
			.ret = on_return,
		},
		{
			.type = TAP_FUNCTION,
			.name = { "proc_create_seq_private" },
			.needs = "CONFIG_PROC_FS",
			.function = on_function,
		},
	};

	KUNIT_ASSERT_EQ(test, attach(test, probes, ARRAY_SIZE(probes)), 0);
	expect_show(test, probes, ARRAY_SIZE(probes),
		    "hook no_such_tracepoint: none\n"
		    "hook no_such_function: none\n"
		    "hook proc_create_seq_private: ftrace\n");
	call_traced(test, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 1);
	KUNIT_EXPECT_EQ(test, tap_probes_missed(probes, ARRAY_SIZE(probes)), 0ull);
	tap_probes_detach(probes, ARRAY_SIZE(probes));
	call_traced(test, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 1);
	/* once more, for what is not attached */
	tap_probes_detach(probes, ARRAY_SIZE(probes));
}

static void tap_probe_test_wanted_by_a_setting(struct kunit *test)
{
	static bool setting;
	static struct tap_probe probes[] = {
		{
			.type = TAP_FUNCTION,
			.name = { "proc_create_seq_private" },
			.needs = "CONFIG_PROC_FS",
			.when = &setting,
			.function = on_function,
		},
		TAP_PROBE("sched_process_fork", on_fork, "CONFIG_TRACEPOINTS", NULL),
	};

	setting = false;
	KUNIT_ASSERT_EQ(test, attach(test, probes, ARRAY_SIZE(probes)), 0);
	expect_show(test, probes, ARRAY_SIZE(probes),
		    "hook sched_process_fork: tracepoint\n");
	call_traced(test, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 0);
	tap_probes_detach(probes, ARRAY_SIZE(probes));

	setting = true;
	KUNIT_ASSERT_EQ(test, attach(test, probes, ARRAY_SIZE(probes)), 0);
	expect_show(test, probes, ARRAY_SIZE(probes),
		    "hook proc_create_seq_private: ftrace\n"
		    "hook sched_process_fork: tracepoint\n");
	call_traced(test, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 1);
	/* it is detached although nobody wants it by now */
	setting = false;
	tap_probes_detach(probes, ARRAY_SIZE(probes));
	call_traced(test, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&hits), 1);
}

static void tap_probe_test_second_name_is_used(struct kunit *test)
{
	static struct tap_probe probes[] = {
		{
			.type = TAP_FUNCTION,
			.name = { "no_such_function", "proc_create_seq_private",
				  "proc_remove" },
			.needs = "CONFIG_PROC_FS",
			.function = on_function,
		},
		{
			.type = TAP_RETURN,
			.name = { "a", "b", "c", "bitmap_find_next_zero_area_off" },
			.needs = "CONFIG_KRETPROBES",
			.ret = on_return,
			.data_size = sizeof(struct call),
			.maxactive = 8,
		},
		{
			.type = TAP_TRACEPOINT,
			.name = { "no_such_tracepoint", "sched_process_fork" },
			.needs = "CONFIG_TRACEPOINTS",
			.tracepoint = on_fork,
		},
	};

	KUNIT_ASSERT_EQ(test, attach(test, probes, ARRAY_SIZE(probes)), 0);
	expect_show(test, probes, ARRAY_SIZE(probes),
		    "hook proc_create_seq_private: ftrace\n"
		    "hook bitmap_find_next_zero_area_off: kretprobe\n"
		    "hook sched_process_fork: tracepoint\n");
	tap_probes_detach(probes, ARRAY_SIZE(probes));
	KUNIT_EXPECT_EQ(test, tap_probes_missed(probes, ARRAY_SIZE(probes)), 0ull);
}

/* --- attach and detach under hits -------------------------------------- */

static bool calling;
static bool attached;
static atomic_t after_detach;

static void on_busy_function(struct tap_tool *given, const struct tap_args *a)
{
	if (!READ_ONCE(attached))
		atomic_inc(&after_detach);
	atomic_inc(&hits);
}

static void on_busy_return(struct tap_tool *given, void *data, unsigned long v)
{
	if (!READ_ONCE(attached))
		atomic_inc(&after_detach);
	atomic_inc(&hits);
}

static void on_busy_switch(void *given)
{
	if (!READ_ONCE(attached))
		atomic_inc(&after_detach);
	atomic_inc(&hits);
}

/* Often, and yet with pauses: patching code that runs all the time takes long. */
static void busy_thread(void *data, unsigned int cpu)
{
	loff_t pos = 0;
	char buf[1];

	while (READ_ONCE(calling)) {
		call_untraced(cpu);
		simple_read_from_buffer(NULL, 0, &pos, buf, 1);
		usleep_range(50, 100);
	}
}

static struct tap_probe busy_probes[] = {
	{
		.type = TAP_FUNCTION,
		.name = { "simple_read_from_buffer" },
		.needs = "CONFIG_FUNCTION_TRACER",
		.function = on_busy_function,
	}, {
		.type = TAP_TRACEPOINT,
		.name = { "sched_switch" },
		.needs = "CONFIG_TRACEPOINTS",
		.tracepoint = on_busy_switch,
	}, {
		.type = TAP_FUNCTION,
		.name = { "bitmap_find_next_zero_area_off" },
		.needs = "CONFIG_KPROBES",
		.function = on_busy_function,
	}, {
		.type = TAP_RETURN,
		.name = { "bitmap_find_next_zero_area_off" },
		.needs = "CONFIG_KRETPROBES",
		.ret = on_busy_return,
		.maxactive = 8,
	},
};

static void attach_under_hits(struct kunit *test, unsigned int nr, int times)
{
	struct tap_kunit_load load = { .thread = busy_thread };
	int i, before;

	calling = true;
	atomic_set(&after_detach, 0);
	tap_kunit_start(test, &load);
	for (i = 0; i < times; i++) {
		unsigned long end = jiffies + TIMEOUT;

		WRITE_ONCE(attached, true);
		before = atomic_read(&hits);
		if (attach(test, busy_probes, nr))
			break;
		while (atomic_read(&hits) == before && time_before(jiffies, end))
			schedule_timeout_uninterruptible(1);
		tap_probes_detach(busy_probes, nr);
		/* no handler runs any more, nor will one begin */
		WRITE_ONCE(attached, false);
		KUNIT_EXPECT_GT(test, atomic_read(&hits), before);
	}
	WRITE_ONCE(calling, false);
	tap_kunit_wait(&load);
	KUNIT_EXPECT_EQ(test, i, times);
	KUNIT_EXPECT_EQ(test, atomic_read(&after_detach), 0);
}

static void tap_probe_test_attach_100_times_under_hits(struct kunit *test)
{
	attach_under_hits(test, 2, 100);
}

/* Not so often: to be rid of a kprobe takes the kernel half a second. */
static void tap_probe_test_attach_kprobes_under_hits(struct kunit *test)
{
	attach_under_hits(test, ARRAY_SIZE(busy_probes), 10);
}

/* --- timers ------------------------------------------------------------ */

#define TIMER_HZ 1000
#define PERIOD (NSEC_PER_SEC / TIMER_HZ)

struct timer_cpu {
	u64 periods;
	u64 calls;
	s64 lag;	/* how much less was counted than has passed, least since asked */
	bool in_irq;
	bool no_regs;
};

static struct timer_cpu timer_cpus[NR_CPUS];
static u64 timer_start;

static void on_timer(struct tap_tool *given, struct pt_regs *regs, u64 periods)
{
	struct timer_cpu *at = &timer_cpus[smp_processor_id()];
	u64 now = ktime_get_ns();
	s64 lag;

	if (given != tool)
		WRITE_ONCE(wrong_tool, true);
	at->in_irq = in_hardirq();
	at->no_regs |= !regs;
	at->calls++;
	at->periods += periods;
	lag = now - timer_start - at->periods * PERIOD;
	if (lag < at->lag)
		at->lag = lag;
}

static void hold_up(void *data)
{
	u64 end = ktime_get_ns() + 20 * PERIOD;

	/* with interrupts off; by the clock, since mdelay() is not exact everywhere */
	while (ktime_get_ns() < end)
		cpu_relax();
}

/* Every period is accounted for, those in which the CPU was away too. */
static void tap_probe_test_timer_weights_add_up(struct kunit *test)
{
	static const unsigned int hz = TIMER_HZ;
	static struct tap_probe probe = {
		.type = TAP_TIMER,
		.name = { "timer" },
		.needs = "CONFIG_HIGH_RES_TIMERS",
		.timer = on_timer,
		.hz = &hz,
	};
	static struct tap_probe second;
	struct tap_text why = {};
	unsigned long end = jiffies + TIMEOUT;
	s64 started;
	int cpu, round;

	second = probe;
	memset(timer_cpus, 0, sizeof(timer_cpus));
	timer_start = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
	started = ktime_get_ns() - timer_start;
	expect_show(test, &probe, 1, "hook timer: hrtimer\n");
	/* the hotplug callbacks know of one */
	KUNIT_EXPECT_EQ(test, tap_probes_attach(&second, 1, tool, "kunit", &why),
			-EOPNOTSUPP);
	tap_text_free(&why);
	for (round = 0; round < 3; round++) {
		for_each_online_cpu(cpu) {
			struct timer_cpu *at = &timer_cpus[cpu];
			u64 calls, new_calls, periods;
			s64 lag;

			smp_call_function_single(cpu, hold_up, NULL, 1);
			calls = READ_ONCE(at->calls);
			WRITE_ONCE(at->lag, S64_MAX);
			/* the first calls after that have caught up */
			while (READ_ONCE(at->calls) < calls + 20 &&
			       time_before(jiffies, end))
				schedule_timeout_uninterruptible(1);
			lag = READ_ONCE(at->lag);
			new_calls = READ_ONCE(at->calls);
			periods = READ_ONCE(at->periods);
			KUNIT_EXPECT_GE(test, new_calls, calls + 20);
			/* never more than has passed, nor a period less */
			KUNIT_EXPECT_GE(test, lag, 0ll);
			KUNIT_EXPECT_LT(test, lag, started + PERIOD);
			KUNIT_EXPECT_GT(test, periods, new_calls);
			KUNIT_EXPECT_TRUE(test, at->in_irq);
			KUNIT_EXPECT_FALSE(test, at->no_regs);
		}
	}
	tap_probes_detach(&probe, 1);
	for_each_online_cpu(cpu)
		timer_cpus[cpu].calls = 0;
	msleep(20);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, timer_cpus[cpu].calls, 0ull);
	/* and it can be had again */
	KUNIT_EXPECT_EQ(test, attach(test, &second, 1), 0);
	tap_probes_detach(&second, 1);
}

static void tap_probe_test_timer_again_and_again(struct kunit *test)
{
	static const unsigned int hz = 10000;
	static struct tap_probe probe = {
		.type = TAP_TIMER,
		.name = { "timer" },
		.needs = "CONFIG_HIGH_RES_TIMERS",
		.timer = on_timer,
		.hz = &hz,
	};
	int i;

	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_EQ(test, attach(test, &probe, 1), 0);
		if (i % 10 == 0)
			schedule_timeout_uninterruptible(1);
		tap_probes_detach(&probe, 1);
	}
}

/* --- memory ------------------------------------------------------------ */

static atomic_t strangers;

/* Nobody calls the function: a hit means that something else was hooked. */
static void on_stranger(struct tap_tool *given, const struct tap_args *a)
{
	atomic_inc(&strangers);
}

static int attempt(struct kunit *test)
{
	static const unsigned int hz = TIMER_HZ;
	static struct tap_probe probes[] = {
		TAP_PROBE("sched_process_fork", on_fork, "CONFIG_TRACEPOINTS", ""),
		{
			.type = TAP_FUNCTION,
			.name = { "proc_create_seq_private" },
			.needs = "CONFIG_PROC_FS",
			/* must not be taken for what this kernel lacks */
			.without = "a column is empty",
			.function = on_stranger,
		},
		{
			.type = TAP_RETURN,
			.name = { "bitmap_find_next_zero_area_off" },
			.needs = "CONFIG_KRETPROBES",
			.without = "a column is empty",
			.ret = on_return,
			.data_size = sizeof(struct call),
			.maxactive = 8,
		},
		{
			.type = TAP_TIMER,
			.name = { "timer" },
			.needs = "CONFIG_HIGH_RES_TIMERS",
			.without = "a column is empty",
			.timer = on_timer,
			.hz = &hz,
		},
	};
	struct tap_text why = {};
	int err, i;

	err = tap_probes_attach(probes, ARRAY_SIZE(probes), tool, "kunit", &why);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		KUNIT_EXPECT_EQ(test, !err, !!probes[i].bound);
	/* many functions of the kernel are called meanwhile */
	schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, atomic_read(&strangers), 0);
	atomic_set(&strangers, 0);
	tap_probes_detach(probes, ARRAY_SIZE(probes));
	tap_text_free(&why);
	return err;
}

static void tap_probe_test_attach_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt);
}

static struct kunit_case tap_probe_cases[] = {
	KUNIT_CASE(tap_probe_test_function_by_ftrace),
	KUNIT_CASE(tap_probe_test_function_bare),
	KUNIT_CASE(tap_probe_test_function_by_kprobe),
	KUNIT_CASE(tap_probe_test_kprobe_is_the_tasks_own_work),
	KUNIT_CASE(tap_probe_test_return_gets_what_entry_kept),
	KUNIT_CASE(tap_probe_test_return_without_entry),
	KUNIT_CASE(tap_probe_test_return_counts_what_it_missed),
	KUNIT_CASE(tap_probe_test_tracepoint),
	KUNIT_CASE(tap_probe_test_required_is_missing),
	KUNIT_CASE(tap_probe_test_optional_is_missing),
	KUNIT_CASE(tap_probe_test_wanted_by_a_setting),
	KUNIT_CASE(tap_probe_test_second_name_is_used),
	KUNIT_CASE(tap_probe_test_attach_100_times_under_hits),
	KUNIT_CASE(tap_probe_test_attach_kprobes_under_hits),
	KUNIT_CASE(tap_probe_test_timer_weights_add_up),
	KUNIT_CASE(tap_probe_test_timer_again_and_again),
	KUNIT_CASE(tap_probe_test_attach_without_memory),
	{}
};

static struct kunit_suite tap_probe_suite = {
	.name = "tap_probe",
	.init = tap_probe_init,
	.exit = tap_probe_exit,
	.test_cases = tap_probe_cases,
};
TAP_KUNIT_SUITE(tap_probe_suite);
