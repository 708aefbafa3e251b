/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io_calls - the system calls that move data: a part of file_io, which alone
 * includes it
 */
#ifndef TAP_IO_CALLS_H
#define TAP_IO_CALLS_H

#include "call_table.h"
#include "file_io.h"

/* What a system call does: a path, the directions, or that others count it. */
#define TAP_IO_READ 0x40
#define TAP_IO_WRITE 0x80
#define TAP_IO_PARTS 0x20
#define TAP_IO_PATH 0x1f

#define TAP_IO_CALLS(NR)						\
	[NR(read)] = TAP_IO_READ | TAP_IO_RW,					\
	[NR(write)] = TAP_IO_WRITE | TAP_IO_RW,					\
	[NR(pread64)] = TAP_IO_READ | TAP_IO_RW,				\
	[NR(pwrite64)] = TAP_IO_WRITE | TAP_IO_RW,				\
	TAP_IO_CALLS_VEC(NR),							\
	[NR(sendfile)] = TAP_IO_READ | TAP_IO_WRITE | TAP_IO_SENDFILE,		\
	[NR(splice)] = TAP_IO_READ | TAP_IO_WRITE | TAP_IO_SPLICE,		\
	[NR(copy_file_range)] = TAP_IO_READ | TAP_IO_WRITE | TAP_IO_COPY,	\
	TAP_IO_CALLS_PARTS(NR)

/* These have numbers of their own in x32, too. */
#define TAP_IO_CALLS_VEC(NR)						\
	[NR(readv)] = TAP_IO_READ | TAP_IO_VEC,					\
	[NR(writev)] = TAP_IO_WRITE | TAP_IO_VEC,				\
	[NR(preadv)] = TAP_IO_READ | TAP_IO_VEC,				\
	[NR(pwritev)] = TAP_IO_WRITE | TAP_IO_VEC,				\
	[NR(preadv2)] = TAP_IO_READ | TAP_IO_VEC,				\
	[NR(pwritev2)] = TAP_IO_WRITE | TAP_IO_VEC

#define TAP_IO_CALLS_PARTS(NR)						\
	[NR(io_submit)] = TAP_IO_PARTS,						\
	[NR(io_uring_enter)] = TAP_IO_PARTS

static const u8 tap_io_calls[] = {
	TAP_IO_CALLS(TAP_NR),
	TAP_CALLS_X32(TAP_IO_CALLS_VEC(TAP_NR_X32),
		      [TAP_NR_X32(io_submit)] = TAP_IO_PARTS)
};

static const u8 tap_io_calls_32[] = {
	TAP_CALLS_32(TAP_IO_CALLS(TAP_NR_32),
		     [TAP_NR_32(sendfile64)] = TAP_IO_READ | TAP_IO_WRITE |
					       TAP_IO_SENDFILE)
};

/* Which argument is the descriptor that is read, and that is written. */
static const u8 tap_io_args[TAP_IO_NR_PATHS][2] = {
	[TAP_IO_SENDFILE] = { 1, 0 },
	[TAP_IO_SPLICE] = { 0, 2 },
	[TAP_IO_COPY] = { 0, 2 },
};

/* The kernel's functions that do it. */
static const char *const tap_io_functions[][2] = {
	[TAP_IO_RW] = { "vfs_read", "vfs_write" },
	[TAP_IO_VEC] = { "vfs_readv", "vfs_writev" },
	[TAP_IO_SENDFILE] = { "do_sendfile", "do_sendfile" },
	[TAP_IO_SPLICE] = { "do_splice", "do_splice" },
	[TAP_IO_COPY] = { "vfs_copy_file_range", "vfs_copy_file_range" },
};

/**
 * tap_io_call() - what the current task's system call does
 * @regs: registers of the caller
 *
 * Context: process.
 * Return: TAP_IO_READ and TAP_IO_WRITE with an enum tap_io_path, TAP_IO_PARTS, or
 * 0 for all other calls.
 */
static __always_inline u8 tap_io_call(struct pt_regs *regs)
{
	return tap_call_find(regs, tap_io_calls, tap_io_calls_32);
}

#endif /* TAP_IO_CALLS_H */
