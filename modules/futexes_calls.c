// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which system calls wait for a lock, and whether they did.
 *
 * A return of do_futex() would say the same, but a return probe's pool is
 * limited, and these are the calls that sleep; nor does the newer futex_waitv()
 * go through there.
 */
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/ktime.h>
#include <linux/mm_types.h>	/* trace/events need struct folio (7.x) */
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <trace/events/syscalls.h>

#include "call_table.h"
#include "futexes.h"

enum futexes_call {
	FUTEXES_OTHER,
	FUTEXES_FUTEX,		/* an operation */
	FUTEXES_WAIT,
	FUTEXES_WAITV,
	FUTEXES_RESTART,	/* of whatever was interrupted */
};

#define FUTEXES_CALLS(NR)						\
	[NR(futex)] = FUTEXES_FUTEX,						\
	[NR(restart_syscall)] = FUTEXES_RESTART,				\
	[TAP_NR_FUTEX_WAITV] = FUTEXES_WAITV,					\
	[TAP_NR_FUTEX_WAIT] = FUTEXES_WAIT

static const u8 futexes_calls[] = { FUTEXES_CALLS(TAP_NR) };

static const u8 futexes_calls_32[] = {
	TAP_CALLS_32(FUTEXES_CALLS(TAP_NR_32),
		     [TAP_NR_32(futex_time64)] = FUTEXES_FUTEX)
};

static __always_inline enum futexes_call futexes_call(struct pt_regs *regs)
{
	return tap_call_find(regs, futexes_calls, futexes_calls_32);
}

/* Does this operation wait? It does until it owns the lock, with @pi. */
static bool futexes_waits(unsigned int op, u64 *pi)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		*pi = true;
		return true;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return true;
	}
	return false;
}

/* What few calls need is a function of its own: its stack is not for the others. */
static noinline void futexes_begins(struct tap_tool *tool, struct pt_regs *regs,
				    enum futexes_call call)
{
	struct futexes_begun begun = {};
	unsigned long args[6];

	syscall_get_arguments(current, regs, args);
	if (call == FUTEXES_FUTEX && !futexes_waits(args[1], &begun.pi))
		return;
	if (!tap_begin(tool, current))
		return;
	if (call == FUTEXES_WAITV)
		begun.array = args[0];
	else
		begun.lock = args[0];
	begun.slept = current->nvcsw;
	begun.start = ktime_get_ns();
	tap_inflight_put(&tool->begun, (uintptr_t)current, &begun);
	tap_end();
}

void futexes_sys_enter(void *data, struct pt_regs *regs, long nr)
{
	enum futexes_call call = futexes_call(regs);

	if (unlikely(call != FUTEXES_OTHER && call != FUTEXES_RESTART))
		futexes_begins(data, regs, call);
}
TAP_CHECK_TRACEPOINT(sys_enter, futexes_sys_enter);

/*
 * Was it queued? It was if it was woken, timed out or was interrupted. The
 * operations with priority inheritance can return 0 without, if the lock is free
 * by the time that the kernel looks.
 */
static bool futexes_waited(const struct futexes_begun *begun, long ret)
{
	if (begun->pi)
		return current->nvcsw != begun->slept;
	switch (ret) {
	case -ETIMEDOUT:
	case -EINTR:
	case -ERESTARTSYS:
	case -ERESTART_RESTARTBLOCK:
		return true;
	}
	return ret >= 0;
}

/* Which lock of an array woke the task; the first one, if that was no lock. */
static u64 futexes_woken(const struct futexes_begun *begun, long ret)
{
	struct futex_waitv __user *array = u64_to_user_ptr(begun->array);
	u64 lock;

	if (!begun->array)
		return begun->lock;
	/* it has been read, and is in memory, unless that was changed meanwhile */
	if (copy_from_user_nofault(&lock, &array[max(ret, 0L)].uaddr, sizeof(lock)))
		return 0;
	return lock;
}

/*
 * A wait with a time limit that a stop interrupts is to be restarted, or is not:
 * it counts, and what the restarted call takes comes on top.
 */
static noinline void futexes_ends(struct tap_tool *tool, long ret)
{
	struct futexes_key key = {};
	struct futexes_begun begun;
	struct tap_sums row;
	u64 ns;

	if (!tap_begin(tool, current))
		return;
	if (!tap_inflight_take(&tool->begun, (uintptr_t)current, &begun) ||
	    !futexes_waited(&begun, ret))
		goto out;
	ns = ktime_get_ns() - begun.start;
	key.lock = futexes_woken(&begun, ret);
	row = tap_row_who(tool, &key, current);
	if (!begun.counted) {
		tap_add(row, FUTEXES_COUNT, 1);
		tap_add_time(row, FUTEXES_TIMES, ns, 1);
	} else {
		tap_add(row, FUTEXES_TIMES + TAP_TIMES_TOTAL, ns - begun.counted);
		tap_table_raise(row.sums + FUTEXES_TIMES + TAP_TIMES_MAX, ns);
	}
	if (ret == -ERESTART_RESTARTBLOCK) {
		begun.counted = ns;
		tap_inflight_put(&tool->begun, (uintptr_t)current, &begun);
	}
out:
	tap_end();
}

void futexes_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	if (unlikely(futexes_call(regs) != FUTEXES_OTHER))
		futexes_ends(data, ret);
}
TAP_CHECK_TRACEPOINT(sys_exit, futexes_sys_exit);
