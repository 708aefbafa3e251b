/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of futexes share: what a row is, what is kept of a call, and
 * the handlers.
 */
#ifndef TAP_FUTEXES_H
#define TAP_FUTEXES_H

#include "tap.h"

struct futexes_key {
	struct tap_who who;
	u64 lock;
};

enum futexes_sum {
	FUTEXES_COUNT,
	FUTEXES_TIMES,
};

/* A call that has begun. What it returns tells whether it waited, but with @pi. */
struct futexes_begun {
	u64 start;
	u64 lock;		/* 0: one of the array */
	u64 array;		/* of struct futex_waitv */
	u64 slept;		/* how often the task had, before */
	u64 counted;		/* so much of it, when it was interrupted */
	u64 pi;
};

/* Handlers of the tracepoints of these names. Context: process, preemptible. */
void futexes_sys_enter(void *data, struct pt_regs *regs, long nr);
void futexes_sys_exit(void *data, struct pt_regs *regs, long ret);

#endif /* TAP_FUTEXES_H */
