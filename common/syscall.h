/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscall - system calls by number, as the kernel that was built for has them
 *
 * The tables come from its headers (scripts/syscall-names). Only a module that
 * shows names includes this.
 */
#ifndef TAP_SYSCALL_H
#define TAP_SYSCALL_H

#include <linux/kernel.h>
#include <asm/unistd.h>
#include <generated/syscall-names.h>

/**
 * tap_syscall_is_x32() - does an x32 program make this call?
 * @nr: its number
 * @compat: not 0: 32-bit code makes it
 *
 * Return: true if so; never but on x86.
 */
static inline bool tap_syscall_is_x32(u32 nr, u32 compat)
{
#ifdef CONFIG_X86_X32_ABI
	/* the bit is set in numbers below 0 too, which are no calls */
	return !compat && (int)nr > 0 && nr & __X32_SYSCALL_BIT;
#else
	return false;
#endif
}

/**
 * tap_syscall_name() - the name of a system call
 * @nr: its number
 * @compat: not 0: 32-bit code makes it
 *
 * Return: its name without sys_, or NULL if it has none.
 */
static inline const char *tap_syscall_name(u32 nr, u32 compat)
{
#ifdef CONFIG_COMPAT
	if (compat)
		return nr < ARRAY_SIZE(tap_syscall_names_32) ?
		       tap_syscall_names_32[nr] : NULL;
#endif
#ifdef CONFIG_X86_X32_ABI
	if (tap_syscall_is_x32(nr, compat)) {
		nr &= ~__X32_SYSCALL_BIT;
		if (nr < ARRAY_SIZE(tap_syscall_names_x32) &&
		    tap_syscall_names_x32[nr])
			return tap_syscall_names_x32[nr];
	}
#endif
	return nr < ARRAY_SIZE(tap_syscall_names_64) ?
	       tap_syscall_names_64[nr] : NULL;
}

#endif /* TAP_SYSCALL_H */
