// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/calls.c */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "calls.h"
#include "kunit.h"

/* Handlers get it as it is; nothing here looks into it. */
static struct tap_tool *const tool = (void *)0x1234;

/* --- what is called ---------------------------------------------------- */

/*
 * Functions of the kernel: those of modules built here are unknown to the
 * function tracer. The first is called by the second.
 */
enum { LEAF, OUTER, SLEEP, COMPLETE, NONE, NR };

static struct tap_function functions[NR] = {
	[LEAF] = { .name = "sock_alloc", .value = TAP_VALUE_POINTER },
	[OUTER] = { .name = "sock_create_kern", .alias = "outer",
		    .value = TAP_VALUE_INT },
	[SLEEP] = { .name = "wait_for_completion", .alias = "outer",
		    .value = TAP_VALUE_VOID, .sleeps = true },
	[COMPLETE] = { .name = "complete", .value = TAP_VALUE_VOID },
	[NONE] = { .name = "tap_kunit_nowhere", .value = TAP_VALUE_VOID },
};

static struct socket *call_outer(void)
{
	struct socket *sock;

	if (sock_create_kern(&init_net, AF_UNIX, SOCK_DGRAM, 0, &sock))
		return NULL;
	sock_release(sock);
	return sock;
}

/* --- what is told ------------------------------------------------------ */

#define MAX_EVENTS 256

static struct {
	struct task_struct *task;
	struct tap_call call;
} events[MAX_EVENTS];
static atomic_t nr_events;
static bool wrong, refuse;
static struct task_struct *caller;

/* The test itself, and the threads that it starts. */
static bool wanted(struct tap_tool *given, struct task_struct *task)
{
	if (given != tool || (task && task != current))
		WRITE_ONCE(wrong, true);
	return !READ_ONCE(refuse) && task &&
	       (task == caller || !strcmp(task->comm, "tap_kunit"));
}

static void on_event(struct tap_tool *given, struct task_struct *task,
		     const struct tap_call *call)
{
	int i = atomic_inc_return(&nr_events) - 1;

	if (given != tool)
		WRITE_ONCE(wrong, true);
	if (i >= MAX_EVENTS)
		return;
	events[i].task = task;
	events[i].call = *call;
}

static struct tap_calls calls;

static int tap_calls_init(struct kunit *test)
{
	calls = (struct tap_calls){
		.functions = functions,
		.nr = NR,
		.wanted = wanted,
		.event = on_event,
		.inflight = 64,
	};
	atomic_set(&nr_events, 0);
	caller = current;
	wrong = false;
	refuse = false;
	return 0;
}

static void tap_calls_exit(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, wrong);
}

static int attach(struct kunit *test)
{
	struct tap_text why = {};
	int err = tap_calls_attach(&calls, tool, "kunit", &why);

	KUNIT_EXPECT_EQ(test, why.len != 0, err == -EINVAL);
	tap_text_free(&why);
	return err;
}

static void expect(struct kunit *test, int i, int function, int returns,
		   int depth, u64 value)
{
	const struct tap_call *call = &events[i].call;

	KUNIT_EXPECT_PTR_EQ(test, events[i].task, current);
	KUNIT_EXPECT_EQ_MSG(test, (int)call->function, function, "event %d", i);
	KUNIT_EXPECT_EQ_MSG(test, (int)call->returns, returns, "event %d", i);
	KUNIT_EXPECT_EQ_MSG(test, (int)call->depth, depth, "event %d", i);
	KUNIT_EXPECT_EQ_MSG(test, (int)call->followed, 1, "event %d", i);
	KUNIT_EXPECT_EQ_MSG(test, call->value, value, "event %d", i);
	if (depth == 1 && !returns)
		KUNIT_EXPECT_EQ(test, call->elapsed_ns, 0ull);
	else
		KUNIT_EXPECT_GE(test, call->elapsed_ns,
				events[i - 1].call.elapsed_ns);
}

static void expect_hooks(struct kunit *test, const char *hooks)
{
	struct tap_text text = {};
	unsigned long bytes;
	char *last;

	tap_calls_show(&calls, &text);
	tap_putc(&text, '\0');
	last = strstr(text.buf, "calls_bytes ");
	KUNIT_ASSERT_NOT_NULL(test, last);
	KUNIT_EXPECT_EQ(test, kstrtoul(last + strlen("calls_bytes "), 10, &bytes), 0);
	KUNIT_EXPECT_GT(test, bytes, 0ul);
	*last = '\0';
	KUNIT_EXPECT_STREQ(test, text.buf, hooks);
	tap_text_free(&text);
}

#define HOOK(name) "hook " name ": kretprobe\n"
#define ALL_HOOKS HOOK("sock_alloc") HOOK("sock_create_kern")		\
	HOOK("wait_for_completion") HOOK("complete") "unfollowed 0\n"

/* --- entry and return -------------------------------------------------- */

static void tap_calls_test_nested(struct kunit *test)
{
	struct socket *sock;
	int i;

	KUNIT_ASSERT_EQ(test, attach(test), 0);
	expect_hooks(test, ALL_HOOKS);
	for (i = 0; i < 20; i += 4) {
		sock = call_outer();
		KUNIT_ASSERT_NOT_NULL(test, sock);
		KUNIT_ASSERT_EQ(test, atomic_read(&nr_events), i + 4);
		expect(test, i, OUTER, 0, 1, 0);
		expect(test, i + 1, LEAF, 0, 2, 0);
		expect(test, i + 2, LEAF, 1, 2, (uintptr_t)sock);
		expect(test, i + 3, OUTER, 1, 1, 0);
	}
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);
	tap_calls_detach(&calls);
	call_outer();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 20);
}

static void tap_calls_test_unwanted(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	refuse = true;
	call_outer();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 0);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);
	refuse = false;
	call_outer();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 4);
	tap_calls_detach(&calls);
}

/* --- which functions --------------------------------------------------- */

static void tap_calls_test_known(struct kunit *test)
{
	static const char *const good[] = {
		"sock_alloc", "outer", "nothing,outer", "outer,nothing",
		"tap_kunit_nowhere", "a.cold,outer",
	};
	static const char *const bad[] = {
		"", ",", "nothing", "outer,", ",outer", "outer,,outer", "oute",
		"outer2", "outer ", " outer", "outer outer", "sock_*",
		"outer\n",
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(good); i++)
		KUNIT_EXPECT_TRUE_MSG(test, tap_calls_known(&calls, good[i]),
				      "%s", good[i]);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_FALSE_MSG(test, tap_calls_known(&calls, bad[i]),
				       "%s", bad[i]);
}

static void tap_calls_test_only(struct kunit *test)
{
	struct socket *sock;

	calls.only = "sock_alloc,nothing";
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	expect_hooks(test, HOOK("sock_alloc") "unfollowed 0\n");
	sock = call_outer();
	KUNIT_ASSERT_EQ(test, atomic_read(&nr_events), 2);
	expect(test, 0, LEAF, 0, 1, 0);
	expect(test, 1, LEAF, 1, 1, (uintptr_t)sock);
	tap_calls_detach(&calls);

	calls.only = "tap_kunit_nowhere";
	KUNIT_EXPECT_EQ(test, attach(test), -EINVAL);
	call_outer();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 2);
}

static void tap_calls_test_select(struct kunit *test)
{
	struct tap_text why = {};

	/* not attached: for later */
	calls.only = "outer";
	KUNIT_EXPECT_EQ(test, tap_calls_select(&calls, &why), 0);
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	expect_hooks(test, HOOK("sock_create_kern") HOOK("wait_for_completion") "unfollowed 0\n");
	calls.only = "sock_alloc,sock_create_kern";
	KUNIT_EXPECT_EQ(test, tap_calls_select(&calls, &why), 0);
	expect_hooks(test, HOOK("sock_alloc") HOOK("sock_create_kern") "unfollowed 0\n");
	calls.only = "tap_kunit_nowhere";
	KUNIT_EXPECT_EQ(test, tap_calls_select(&calls, &why), -EINVAL);
	TAP_EXPECT_TEXT(test, &why, "tap_kunit_nowhere: there is no such function on this kernel");
	expect_hooks(test, HOOK("sock_alloc") HOOK("sock_create_kern") "unfollowed 0\n");
	call_outer();
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 4);
	calls.only = NULL;
	KUNIT_EXPECT_EQ(test, tap_calls_select(&calls, &why), 0);
	expect_hooks(test, ALL_HOOKS);
	tap_calls_detach(&calls);
	tap_text_free(&why);
}

/* --- many at once ------------------------------------------------------ */

#define SLEEPERS 20

static struct completion until;
static atomic_t asleep;

static int sleeper(void *unused)
{
	wait_for_completion(&until);
	call_outer();
	atomic_dec(&asleep);
	return 0;
}

/* What the test itself and the making of threads call is not of interest. */
#define SLEEPERS_ONLY "sock_alloc,sock_create_kern,wait_for_completion"

static void start_sleepers(struct kunit *test, int nr)
{
	int i;

	WRITE_ONCE(caller, NULL);
	init_completion(&until);
	atomic_set(&asleep, nr);
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(sleeper, NULL, "tap_kunit")));
}

static void wake_sleepers(void)
{
	complete_all(&until);
	while (atomic_read(&asleep))
		msleep(20);
}

/* How many events there are of this kind. */
static int count(int function, int returns, int followed, int depth)
{
	int i, n = 0;

	for (i = 0; i < min(atomic_read(&nr_events), MAX_EVENTS); i++)
		n += events[i].call.function == function &&
		     events[i].call.returns == returns &&
		     events[i].call.followed == followed &&
		     events[i].call.depth == depth;
	return n;
}

static void tap_calls_test_inflight(struct kunit *test)
{
	calls.only = SLEEPERS_ONLY;
	calls.inflight = 16;
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	start_sleepers(test, SLEEPERS);
	while (atomic_read(&nr_events) < SLEEPERS)
		msleep(20);
	KUNIT_EXPECT_EQ(test, count(SLEEP, 0, 1, 1), 16);
	KUNIT_EXPECT_EQ(test, count(SLEEP, 0, 0, 1), SLEEPERS - 16);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 16U);
	wake_sleepers();
	KUNIT_EXPECT_EQ(test, count(SLEEP, 1, 1, 1), 16);
	/* what was not followed does not count for the depth */
	KUNIT_EXPECT_EQ(test, count(LEAF, 0, 1, 2) + count(LEAF, 0, 0, 2) +
			count(LEAF, 0, 0, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);

	/* there is room again */
	atomic_set(&nr_events, 0);
	start_sleepers(test, 16);
	while (atomic_read(&nr_events) < 16)
		msleep(20);
	wake_sleepers();
	KUNIT_EXPECT_EQ(test, count(SLEEP, 0, 1, 1), 16);
	KUNIT_EXPECT_EQ(test, count(SLEEP, 1, 1, 1), 16);
	tap_calls_detach(&calls);
}

static void tap_calls_test_detach_asleep(struct kunit *test)
{
	calls.only = SLEEPERS_ONLY;
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	start_sleepers(test, SLEEPERS);
	while (atomic_read(&nr_events) < SLEEPERS)
		msleep(20);
	tap_calls_detach(&calls);
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	atomic_set(&nr_events, 0);
	wake_sleepers();
	/* what began before is unknown, what begins now is not inside of it */
	KUNIT_EXPECT_EQ(test, count(SLEEP, 1, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, count(OUTER, 0, 1, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(LEAF, 0, 1, 2), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(LEAF, 1, 1, 2), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(OUTER, 1, 1, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 4 * SLEEPERS);
	tap_calls_detach(&calls);
}

static void tap_calls_test_select_asleep(struct kunit *test)
{
	struct tap_text why = {};

	calls.only = SLEEPERS_ONLY;
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	start_sleepers(test, SLEEPERS);
	while (atomic_read(&nr_events) < SLEEPERS)
		msleep(20);
	calls.only = "sock_alloc,sock_create_kern";
	KUNIT_ASSERT_EQ(test, tap_calls_select(&calls, &why), 0);
	atomic_set(&nr_events, 0);
	wake_sleepers();
	KUNIT_EXPECT_EQ(test, count(OUTER, 0, 1, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(LEAF, 0, 1, 2), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(LEAF, 1, 1, 2), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(OUTER, 1, 1, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 4 * SLEEPERS);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);

	/* what stays is followed to its end, as deep as it was */
	calls.only = SLEEPERS_ONLY;
	KUNIT_ASSERT_EQ(test, tap_calls_select(&calls, &why), 0);
	atomic_set(&nr_events, 0);
	start_sleepers(test, SLEEPERS);
	while (atomic_read(&nr_events) < SLEEPERS)
		msleep(20);
	calls.only = "sock_alloc,wait_for_completion";
	KUNIT_ASSERT_EQ(test, tap_calls_select(&calls, &why), 0);
	wake_sleepers();
	KUNIT_EXPECT_EQ(test, count(SLEEP, 0, 1, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, count(SLEEP, 1, 1, 1), SLEEPERS);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 4 * SLEEPERS);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);
	tap_calls_detach(&calls);
	tap_text_free(&why);
}

/* --- interrupts -------------------------------------------------------- */

#define ROUNDS 1000

static atomic_t made, torn;
static atomic_t told[2][2];	/* in interrupt context; returns */
static struct completion nobody;

/* How deep it is: on each CPU the thread, which is bound to it; the interrupt. */
static int place[NR_CPUS][2];

static void load_thread(void *data, unsigned int cpu)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		call_outer();
		cond_resched_tasks_rcu_qs();
	}
}

static void load_timer(void *data, unsigned int cpu)
{
	complete(&nobody);
	atomic_inc(&made);
}

static void on_load(struct tap_tool *given, struct task_struct *task,
		    const struct tap_call *call)
{
	int *depth = &place[smp_processor_id()][!task];

	if (call->depth != (call->returns ? *depth : *depth + 1) || !call->followed)
		atomic_inc(&torn);
	*depth += call->returns ? -1 : 1;
	/* a thread completes something now and then */
	if (!task || call->function != COMPLETE)
		atomic_inc(&told[!task][call->returns]);
}

/* Others complete something in interrupts, too. */
static bool wanted_load(struct tap_tool *given, struct task_struct *task)
{
	return task ? !strncmp(task->comm, "tap_kunit/", 10) : in_hardirq();
}

static void tap_calls_test_interrupts(struct kunit *test)
{
	struct tap_kunit_load load = {
		.thread = load_thread,
		.timer = load_timer,
	};
	int threads = num_online_cpus() * ROUNDS;

	init_completion(&nobody);
	atomic_set(&made, 0);
	atomic_set(&torn, 0);
	memset(told, 0, sizeof(told));
	memset(place, 0, sizeof(place));
	calls.only = "sock_alloc,sock_create_kern,complete";
	calls.wanted = wanted_load;
	calls.event = on_load;
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	tap_kunit_run(test, &load);
	KUNIT_EXPECT_EQ(test, atomic_read(&torn), 0);
	/* nothing of a thread is ever missed */
	KUNIT_EXPECT_EQ(test, atomic_read(&told[0][0]), 2 * threads);
	KUNIT_EXPECT_EQ(test, atomic_read(&told[0][1]), 2 * threads);
	/* an interrupt that comes into a kprobe's handler is, and counted */
	KUNIT_EXPECT_EQ(test, atomic_read(&told[1][0]), atomic_read(&told[1][1]));
	KUNIT_EXPECT_GE(test, (u64)atomic_read(&told[1][0]) + tap_calls_missed(&calls) / 2,
			(u64)atomic_read(&made));
	KUNIT_EXPECT_GT(test, atomic_read(&told[1][0]), 0);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);
	tap_calls_detach(&calls);
}

/* --- entry only -------------------------------------------------------- */

static struct tap_function softirq_functions[] = {
	/* one that the function tracer knows, and that calls nothing of ours */
	{ .name = "proc_create_seq_private", .value = TAP_VALUE_POINTER,
	  .softirq = true },
	{ .name = "tap_kunit_nowhere", .softirq = true },
};

static void tap_calls_test_entry_only(struct kunit *test)
{
	static const struct seq_operations ops;
	int i;

	calls.functions = softirq_functions;
	calls.nr = ARRAY_SIZE(softirq_functions);
	KUNIT_ASSERT_EQ(test, attach(test), 0);
	expect_hooks(test, "hook proc_create_seq_private: ftrace\nunfollowed 0\n");
	for (i = 0; i < 3; i++)
		proc_remove(proc_create_seq_private("tap_kunit", 0400, NULL,
						    &ops, 0, NULL));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 3);
	KUNIT_EXPECT_EQ(test, count(0, 0, 0, 1), 3);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&calls.threads), 0U);
	tap_calls_detach(&calls);
	proc_remove(proc_create_seq_private("tap_kunit", 0400, NULL, &ops, 0, NULL));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_events), 3);
}

/* --- out of memory ----------------------------------------------------- */

static int attach_once(struct kunit *test)
{
	struct tap_text why = {};
	int err = tap_calls_attach(&calls, tool, "kunit", &why);

	if (!err)
		tap_calls_detach(&calls);
	tap_text_free(&why);
	return err;
}

static void tap_calls_test_no_memory(struct kunit *test)
{
	/* a few instances are enough, and a few thousand take long */
	calls.inflight = 16;
	calls.only = "sock_alloc,sock_create_kern";
	tap_kunit_fail_each(test, attach_once);
}

/* --- text -------------------------------------------------------------- */

static void expect_value(struct kunit *test, int value, u64 returned_value,
			 const char *number, const char *name)
{
	const struct tap_function function = { .value = value };
	const struct tap_call call = { .value = returned_value, .returns = 1 };
	const struct tap_call entry = { .value = returned_value };
	char buf[32];

	tap_call_value(&function, &call, buf, sizeof(buf));
	KUNIT_EXPECT_STREQ(test, buf, number);
	tap_call_errno(&function, &call, buf, sizeof(buf));
	KUNIT_EXPECT_STREQ(test, buf, name);
	tap_call_value(&function, &entry, buf, sizeof(buf));
	KUNIT_EXPECT_STREQ(test, buf, "");
	tap_call_errno(&function, &entry, buf, sizeof(buf));
	KUNIT_EXPECT_STREQ(test, buf, "");
}

static void tap_calls_test_value(struct kunit *test)
{
	expect_value(test, TAP_VALUE_VOID, 5, "", "");
	expect_value(test, TAP_VALUE_INT, 5, "5", "");
	/* the upper half of a register is nobody's in a function that returns int */
	expect_value(test, TAP_VALUE_INT, 0xfffffff5, "-11", "EAGAIN");
	expect_value(test, TAP_VALUE_INT, 0x1234567800000005, "5", "");
	expect_value(test, TAP_VALUE_INT, (u32)-4096, "-4096", "");
	expect_value(test, TAP_VALUE_INT, (u32)-4000, "-4000", "");
	expect_value(test, TAP_VALUE_LONG, 1ull << 40, "1099511627776", "");
	expect_value(test, TAP_VALUE_LONG, -512, "-512", "ERESTARTSYS");
	expect_value(test, TAP_VALUE_POINTER, 0, "0", "");
	expect_value(test, TAP_VALUE_POINTER, -23, "-23", "ENFILE");
	expect_value(test, TAP_VALUE_MASK, 0xffffffff00000041, "0x41", "");
	expect_value(test, TAP_VALUE_MASK, -11, "0xfffffff5", "");
	expect_value(test, TAP_VALUE_BOOL, 0xffffff01, "1", "");
}

static void tap_calls_test_text(struct kunit *test)
{
	struct tap_call call = { .elapsed_ns = 1999, .depth = 1 };
	const struct tap_names names = { .thread = "a b", .tid = 17 };
	struct tap_text text = {};

	tap_call_text(&text, &call, &names, true);
	TAP_EXPECT_TEXT(test, &text, "     1 a\\040b(17):");
	call.depth = 3;
	call.elapsed_ns = 36000000000000ull;
	tap_call_text(&text, &call, &names, false);
	TAP_EXPECT_TEXT(test, &text, "36000000000 a b(17):  ");
	tap_text_free(&text);
}

static struct kunit_case tap_calls_cases[] = {
	KUNIT_CASE(tap_calls_test_nested),
	KUNIT_CASE(tap_calls_test_unwanted),
	KUNIT_CASE(tap_calls_test_known),
	KUNIT_CASE(tap_calls_test_only),
	KUNIT_CASE(tap_calls_test_select),
	KUNIT_CASE(tap_calls_test_inflight),
	KUNIT_CASE(tap_calls_test_detach_asleep),
	KUNIT_CASE(tap_calls_test_select_asleep),
	KUNIT_CASE(tap_calls_test_interrupts),
	KUNIT_CASE(tap_calls_test_entry_only),
	KUNIT_CASE(tap_calls_test_no_memory),
	KUNIT_CASE(tap_calls_test_value),
	KUNIT_CASE(tap_calls_test_text),
	{}
};

static struct kunit_suite tap_calls_suite = {
	.name = "tap_calls",
	.init = tap_calls_init,
	.exit = tap_calls_exit,
	.test_cases = tap_calls_cases,
};
TAP_KUNIT_SUITE(tap_calls_suite);
