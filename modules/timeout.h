/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of timeout share: what a row counts, what is kept of a call,
 * and the handlers.
 */
#ifndef TAP_TIMEOUT_H
#define TAP_TIMEOUT_H

#include "tap.h"

struct pid;

struct timeout_key {
	struct tap_who who;
};

/* The columns, in their order. */
enum timeout_sum {
	TIMEOUT_POLL,
	TIMEOUT_SELECT,
	TIMEOUT_EPOLL,
	TIMEOUT_ITIMER,
	TIMEOUT_FUTEX,
	TIMEOUT_NANOSLEEP,
	TIMEOUT_SIGNAL,
	TIMEOUT_NR_SUMS,
};

/* A call that waits, and has a time limit. */
struct timeout_begun {
	u32 sum;		/* where it counts if its time runs out */
	u32 interrupted;	/* only restart_syscall(2) goes on with it */
	u64 unless;		/* it did not wait if nvcsw is still this; -1: it did */
};

/* Handlers of the tracepoints of these names. Context: process, preemptible. */
void timeout_sys_exit(void *data, struct pt_regs *regs, long ret);
/* Context: any but NMIs; in an interrupt, it is on another task's back. */
void timeout_itimer_expire(void *data, int which, struct pid *pid,
			   unsigned long long now);

/* Handlers of functions' entries, where a call begins to wait. Context: process. */
TAP_BARE_HANDLER(timeout_poll);
TAP_BARE_HANDLER(timeout_select);
TAP_BARE_HANDLER(timeout_epoll);
TAP_BARE_HANDLER(timeout_futex);
TAP_BARE_HANDLER(timeout_futex_wait);
TAP_BARE_HANDLER(timeout_futex_waitv);
TAP_BARE_HANDLER(timeout_nanosleep);
TAP_BARE_HANDLER(timeout_nanosleep_alarm);
TAP_BARE_HANDLER(timeout_nanosleep_cpu);
TAP_BARE_HANDLER(timeout_signal);

#endif /* TAP_TIMEOUT_H */
