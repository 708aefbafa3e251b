/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * call_table - what a tool knows of some system calls, by number
 *
 * A table is an array of bytes, 0 for all calls that are not of interest. Two
 * make a set: one for native calls, x32's among them, and one for those of
 * 32-bit code.
 */
#ifndef TAP_CALL_TABLE_H
#define TAP_CALL_TABLE_H

#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/unistd.h>
#include <asm/syscall.h>

#include "compat.h"

/* The number of a native call, as TAP_NR_32() and TAP_NR_X32() give others'. */
#define TAP_NR(name) __NR_##name

/*
 * Entries of a table, the comma behind them included: for 32-bit code, and for
 * x32; none where the numbers are not known.
 */
#if defined(CONFIG_COMPAT) && defined(TAP_NR_32)
#define TAP_CALLS_32(...) __VA_ARGS__,
#else
#define TAP_CALLS_32(...) 0,
#endif
#ifdef CONFIG_X86_X32_ABI
#define TAP_CALLS_X32(...) __VA_ARGS__,
#else
#define TAP_CALLS_X32(...)
#endif

/* Likewise, calls of which newer architectures have later forms only. */
#ifdef __NR_open
#define TAP_CALLS_OLD(...) __VA_ARGS__,
#else
#define TAP_CALLS_OLD(...)
#endif

/*
 * Calls that are younger than the oldest kernel: their numbers are the same in
 * all ABIs, and a kernel that lacks them refuses them.
 */
#define TAP_NR_EPOLL_PWAIT2 441
#define TAP_NR_FUTEX_WAITV 449
#define TAP_NR_FUTEX_WAIT 455

/**
 * tap_call_at() - look a number up
 * @nr: the number as the entry code has it; that of a cancelled call, -1, is
 *      beyond all
 * @compat: not 0: 32-bit code makes the call
 * @native: for native calls
 * @nr_native: how many
 * @other: for those of 32-bit code
 * @nr_other: how many
 *
 * Context: any.
 * Return: what the table has; 0 if it has nothing.
 */
static __always_inline u8 tap_call_at(u32 nr, u32 compat, const u8 *native,
				      u32 nr_native, const u8 *other, u32 nr_other)
{
	if (compat)
		return nr < nr_other ? other[nr] : 0;
	nr &= ~TAP_X32_BIT;
	return nr < nr_native ? native[nr] : 0;
}

/**
 * tap_call_find() - what a set of tables says of the current task's system call
 * @regs: registers of the caller
 * @native: the array for native calls
 * @other: the one for those of 32-bit code
 *
 * Context: process, in a system call.
 * Return: what the table has; 0 if it has nothing.
 */
#define tap_call_find(regs, native, other)					\
	tap_call_at(syscall_get_nr(current, regs), tap_syscall_is_compat(),	\
		    native, ARRAY_SIZE(native), other, ARRAY_SIZE(other))

#endif /* TAP_CALL_TABLE_H */
