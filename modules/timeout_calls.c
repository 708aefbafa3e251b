// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which calls wait for a time, and whether it ran out.
 *
 * Where a call begins to wait, in the function of the kernel that all its forms
 * lead to, the limit is the kernel's own copy: what the caller passed may not be
 * readable any more, or be overwritten. If there is a limit, the call is noted,
 * and what it returns tells the rest. Calls without never are, and have no part
 * in how many can be followed.
 *
 * A call that a stop interrupts is not over: restart_syscall(2) goes on with it.
 * If a signal's handler ran instead it is, and whatever call comes next finds
 * out.
 */
#include <linux/alarmtimer.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/mm_types.h>	/* trace/events need struct folio (7.x) */
#include <linux/pid.h>
#include <linux/sched/task_stack.h>
#include <linux/time64.h>
#include <trace/events/syscalls.h>
#include <trace/events/timer.h>

#include "call_table.h"
#include "timeout.h"

enum timeout_call {
	TIMEOUT_OTHER,
	TIMEOUT_WAIT,		/* it may have a time limit */
	TIMEOUT_RESTART,	/* of whatever was interrupted */
};

#define TIMEOUT_CALLS(NR)						\
	[NR(ppoll)] = TIMEOUT_WAIT,						\
	[NR(pselect6)] = TIMEOUT_WAIT,						\
	[NR(epoll_pwait)] = TIMEOUT_WAIT,					\
	[TAP_NR_EPOLL_PWAIT2] = TIMEOUT_WAIT,					\
	[NR(futex)] = TIMEOUT_WAIT,						\
	[TAP_NR_FUTEX_WAITV] = TIMEOUT_WAIT,					\
	[TAP_NR_FUTEX_WAIT] = TIMEOUT_WAIT,					\
	[NR(nanosleep)] = TIMEOUT_WAIT,						\
	[NR(clock_nanosleep)] = TIMEOUT_WAIT,					\
	[NR(rt_sigtimedwait)] = TIMEOUT_WAIT,					\
	[NR(restart_syscall)] = TIMEOUT_RESTART
#define TIMEOUT_CALLS_OLD(NR)						\
	[NR(poll)] = TIMEOUT_WAIT,						\
	[NR(select)] = TIMEOUT_WAIT,						\
	[NR(epoll_wait)] = TIMEOUT_WAIT

static const u8 timeout_calls[] = {
	TIMEOUT_CALLS(TAP_NR),
	TAP_CALLS_OLD(TIMEOUT_CALLS_OLD(TAP_NR))
	TAP_CALLS_X32([TAP_NR_X32(rt_sigtimedwait)] = TIMEOUT_WAIT)
};

static const u8 timeout_calls_32[] = {
	TAP_CALLS_32(TIMEOUT_CALLS(TAP_NR_32),
		     TIMEOUT_CALLS_OLD(TAP_NR_32),
		     [TAP_NR_32(_newselect)] = TIMEOUT_WAIT,
		     [TAP_NR_32(ppoll_time64)] = TIMEOUT_WAIT,
		     [TAP_NR_32(pselect6_time64)] = TIMEOUT_WAIT,
		     [TAP_NR_32(futex_time64)] = TIMEOUT_WAIT,
		     [TAP_NR_32(clock_nanosleep_time64)] = TIMEOUT_WAIT,
		     [TAP_NR_32(rt_sigtimedwait_time64)] = TIMEOUT_WAIT)
};

static __always_inline enum timeout_call timeout_call(struct pt_regs *regs)
{
	return tap_call_find(regs, timeout_calls, timeout_calls_32);
}

/* --- it begins to wait ------------------------------------------------- */

/*
 * What the file's readers do is left out when it has happened: the trailer says
 * how much that was.
 */
static void timeout_begins(struct tap_tool *tool, enum timeout_sum sum, u64 unless)
{
	const struct timeout_begun begun = { .sum = sum, .unless = unless };

	/* it goes on: what is known of it remains */
	if (timeout_call(current_pt_regs()) == TIMEOUT_RESTART)
		return;
	preempt_disable_notrace();
	if (tap_gate_is_open(&tool->gate) ||
	    tap_gate_test(&tool->gate, current) != TAP_FILTERED)
		tap_inflight_put(&tool->begun, (uintptr_t)current, &begun);
	preempt_enable_notrace();
}

/* With a limit that is 0 if it was 0, else when or how long. */
static __always_inline void timeout_begins_until(struct tap_tool *tool,
						 enum timeout_sum sum,
						 const struct timespec64 *limit)
{
	if (limit && (limit->tv_sec || limit->tv_nsec))
		timeout_begins(tool, sum, U64_MAX);
}

/* With a time to wait for that may have passed. */
static __always_inline void timeout_begins_at(struct tap_tool *tool,
					      enum timeout_sum sum,
					      clockid_t clock, ktime_t limit)
{
	ktime_t now;

	switch (clock) {
	case CLOCK_REALTIME:
		now = ktime_get_real();
		break;
	case CLOCK_BOOTTIME:
		now = ktime_get_boottime();
		break;
	case CLOCK_TAI:
		now = ktime_get_clocktai();
		break;
	default:
		now = ktime_get();
	}
	if (limit > now)
		timeout_begins(tool, sum, U64_MAX);
}

/* do_sys_poll(fds, nfds, limit) */
static __always_inline void timeout_poll_body(struct tap_tool *tool,
					      const struct tap_args *args)
{
	timeout_begins_until(tool, TIMEOUT_POLL, (void *)tap_arg(args, 2));
}
TAP_BARE(timeout_poll, timeout_poll_body);

/* do_select(n, fds, limit) */
static __always_inline void timeout_select_body(struct tap_tool *tool,
						const struct tap_args *args)
{
	timeout_begins_until(tool, TIMEOUT_SELECT, (void *)tap_arg(args, 2));
}
TAP_BARE(timeout_select, timeout_select_body);

/* do_epoll_wait(epfd, events, maxevents, limit) */
static __always_inline void timeout_epoll_body(struct tap_tool *tool,
					       const struct tap_args *args)
{
	if (tap_epoll_limited(tap_arg(args, 3)))
		timeout_begins(tool, TIMEOUT_EPOLL, U64_MAX);
}
TAP_BARE(timeout_epoll, timeout_epoll_body);

/* do_futex(uaddr, op, val, limit, ...): a point in time, also for FUTEX_WAIT */
static __always_inline void timeout_futex_body(struct tap_tool *tool,
					       const struct tap_args *args)
{
	const ktime_t *limit = (void *)tap_arg(args, 3);
	unsigned int op = tap_arg(args, 1);
	bool real = op & FUTEX_CLOCK_REALTIME ||
		    (op & FUTEX_CMD_MASK) == FUTEX_LOCK_PI;

	if (limit)
		timeout_begins_at(tool, TIMEOUT_FUTEX,
				  real ? CLOCK_REALTIME : CLOCK_MONOTONIC, *limit);
}
TAP_BARE(timeout_futex, timeout_futex_body);

static __always_inline void timeout_begins_sleeper(struct tap_tool *tool,
						   struct hrtimer_sleeper *sleeper)
{
	struct hrtimer *timer = &sleeper->timer;

	if (sleeper && hrtimer_get_softexpires(timer) > hrtimer_cb_get_time(timer))
		timeout_begins(tool, TIMEOUT_FUTEX, U64_MAX);
}

/* __futex_wait(uaddr, flags, val, sleeper, bitset) */
static __always_inline void timeout_futex_wait_body(struct tap_tool *tool,
						    const struct tap_args *args)
{
	timeout_begins_sleeper(tool, (void *)tap_arg(args, 3));
}
TAP_BARE(timeout_futex_wait, timeout_futex_wait_body);

/* futex_wait_multiple(array, count, sleeper) */
static __always_inline void timeout_futex_waitv_body(struct tap_tool *tool,
						     const struct tap_args *args)
{
	timeout_begins_sleeper(tool, (void *)tap_arg(args, 2));
}
TAP_BARE(timeout_futex_waitv, timeout_futex_waitv_body);

/* hrtimer_nanosleep(time, mode, clock); 0 sleeps, too, for the timer's slack */
static __always_inline void timeout_nanosleep_body(struct tap_tool *tool,
						   const struct tap_args *args)
{
	ktime_t time = tap_arg(args, 0);

	if ((enum hrtimer_mode)tap_arg(args, 1) == HRTIMER_MODE_ABS)
		timeout_begins_at(tool, TIMEOUT_NANOSLEEP, tap_arg(args, 2), time);
	else if (time)
		timeout_begins(tool, TIMEOUT_NANOSLEEP, U64_MAX);
}
TAP_BARE(timeout_nanosleep, timeout_nanosleep_body);

/* alarmtimer_do_nsleep(alarm, limit, type): CLOCK_REALTIME_ALARM and the like */
static __always_inline void timeout_nanosleep_alarm_body(struct tap_tool *tool,
							 const struct tap_args *args)
{
	timeout_begins_at(tool, TIMEOUT_NANOSLEEP,
			  (u32)tap_arg(args, 2) == ALARM_REALTIME ?
			  CLOCK_REALTIME : CLOCK_BOOTTIME,
			  tap_arg(args, 1));
}
TAP_BARE(timeout_nanosleep_alarm, timeout_nanosleep_alarm_body);

/*
 * do_cpu_nanosleep(clock, flags, time): CPU time of others. If it has passed, it
 * does not wait.
 */
static __always_inline void timeout_nanosleep_cpu_body(struct tap_tool *tool,
						       const struct tap_args *args)
{
	const struct timespec64 *time = (void *)tap_arg(args, 2);

	if ((int)tap_arg(args, 1) & TIMER_ABSTIME)
		timeout_begins(tool, TIMEOUT_NANOSLEEP, current->nvcsw);
	else
		timeout_begins_until(tool, TIMEOUT_NANOSLEEP, time);
}
TAP_BARE(timeout_nanosleep_cpu, timeout_nanosleep_cpu_body);

/*
 * do_sigtimedwait(set, info, limit). Compilers pass the set itself, and could
 * drop an argument: the limit is on the caller's stack, or this is not it.
 */
static __always_inline void timeout_signal_body(struct tap_tool *tool,
						const struct tap_args *args)
{
	const void *limit = (void *)tap_arg(args, 2);

	if (limit && object_is_on_stack(limit))
		timeout_begins_until(tool, TIMEOUT_SIGNAL, limit);
}
TAP_BARE(timeout_signal, timeout_signal_body);

/* --- it ends ----------------------------------------------------------- */

static void timeout_count(struct tap_tool *tool, struct task_struct *task,
			  u32 sum)
{
	struct timeout_key key = {};

	if (!tap_begin(tool, task))
		return;
	tap_add(tap_row_who(tool, &key, task), sum, 1);
	tap_end();
}

/* What a call returns when its time ran out, and never else if it had a limit. */
static const int timeout_returns[TIMEOUT_NR_SUMS] = {
	[TIMEOUT_FUTEX] = -ETIMEDOUT,
	[TIMEOUT_SIGNAL] = -EAGAIN,
};

void timeout_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	enum timeout_call call = timeout_call(regs);
	struct timeout_begun begun;
	struct tap_tool *tool = data;

	if (likely(call == TIMEOUT_OTHER))
		return;
	if (!tap_inflight_take(&tool->begun, (uintptr_t)current, &begun))
		return;
	/* a handler ran, and this is another call */
	if (begun.interrupted && call != TIMEOUT_RESTART)
		return;
	if (ret == -ERESTART_RESTARTBLOCK) {
		begun.interrupted = true;
		tap_inflight_put(&tool->begun, (uintptr_t)current, &begun);
	} else if (ret == timeout_returns[begun.sum] &&
		   begun.unless != current->nvcsw) {
		timeout_count(tool, current, begun.sum);
	}
}
TAP_CHECK_TRACEPOINT(sys_exit, timeout_sys_exit);

/*
 * ITIMER_REAL goes off in an interrupt, whatever runs then. What is charged is
 * the process, which is there: its timer is cancelled before it can go.
 */
void timeout_itimer_expire(void *data, int which, struct pid *pid,
			   unsigned long long now)
{
	struct task_struct *task;

	preempt_disable_notrace();	/* RCU's reader */
	task = pid_task(pid, PIDTYPE_TGID);
	if (task)
		timeout_count(data, task, TIMEOUT_ITIMER);
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(itimer_expire, timeout_itimer_expire);
