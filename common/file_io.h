/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_io - bytes that were transferred on an open file
 *
 * What a tool says to have these events: TAP_FILE_IO in its descriptor,
 * TAP_FILE_IO_PROBES in its list of probes. If it has to know the files, it is
 * TAP_FILE_IO_FILES_PROBES, with TAP_FILE_IO_FILES; with TAP_FILE_IO_CALLS if it
 * is to hear of calls that moved nothing, too; with TAP_FILE_IO_OPENS if it keeps
 * something of each open file.
 */
#ifndef TAP_FILE_IO_H
#define TAP_FILE_IO_H

#include <linux/fs.h>
#include <linux/stat.h>
#include <linux/types.h>

#include "tap.h"

struct io_ring_ctx;
struct io_uring_cqe;

/**
 * enum tap_io_path - the way that bytes took
 * @TAP_IO_RW: read, write, pread64, pwrite64
 * @TAP_IO_VEC: readv, writev and their p-forms
 * @TAP_IO_SENDFILE: sendfile
 * @TAP_IO_SPLICE: splice
 * @TAP_IO_COPY: copy_file_range
 * @TAP_IO_URING: a request of io_uring
 * @TAP_IO_AIO: a request of io_submit()
 * @TAP_IO_KERNEL: the kernel reads or writes a file by itself
 * @TAP_IO_NR_PATHS: how many there are
 */
enum tap_io_path {
	TAP_IO_RW,
	TAP_IO_VEC,
	TAP_IO_SENDFILE,
	TAP_IO_SPLICE,
	TAP_IO_COPY,
	TAP_IO_URING,
	TAP_IO_AIO,
	TAP_IO_KERNEL,
	TAP_IO_NR_PATHS,
};

/**
 * struct tap_io_file - what is known of a file
 * @ino: the number of its inode
 * @dev: the device number of its file system
 * @disk: the block device that it is on; empty if it is no regular file, or on
 *        none
 */
struct tap_io_file {
	u64 ino;
	u64 dev;
	char disk[32];
};

/**
 * struct tap_io_owner - who submitted what another task, or none, completes
 * @who: as part of a key
 * @names: its names then
 * @ppid: its parent's thread group id then
 * @begin: when that was, as in struct tap_io
 */
struct tap_io_owner {
	struct tap_who who;
	struct tap_names names;
	u64 ppid;
	u64 begin;
};

/**
 * struct tap_io - a transfer, or a call that moved nothing
 * @owner: whose it is; NULL: the current task's
 * @file: which file; NULL in a tool that does not ask
 * @open: which open file, by its address alone: it may be gone already. NULL in
 *        a tool that does not ask
 * @begin: tools with TAP_FILE_IO_OPENS: when it began, by
 *         ktime_get_mono_fast_ns(); 0: not known
 * @function: the kernel's function that does it. NULL in a tool that does not ask
 * @bytes: how many were transferred; 0 only in a tool with TAP_FILE_IO_CALLS
 *         or TAP_FILE_IO_OPENS
 * @error: what the call failed with, as -EAGAIN; else 0
 * @path: the way they took
 * @write: written to the file, else read from it
 */
struct tap_io {
	const struct tap_io_owner *owner;
	const struct tap_io_file *file;
	const struct file *open;
	u64 begin;
	const char *function;
	u64 bytes;
	int error;
	enum tap_io_path path;
	bool write;
};

/* The room for requests that complete elsewhere, and what found none. */
extern const struct tap_source tap_file_io_source;

/**
 * struct tap_io_kernel - what a return probe keeps of the kernel's own transfers
 * @file: the file
 * @begin: as in struct tap_io
 */
struct tap_io_kernel {
	const struct file *file;
	u64 begin;
};

/* ... and for files of system calls. */
extern const struct tap_source tap_file_io_files_source;

/**
 * tap_file_io_files_prepare() - forget the calls during which the probes were
 * detached
 * @tool: the tool
 * @why: not used
 *
 * What @prepare of a descriptor does.
 *
 * Context: process context, no handler runs.
 * Return: 0.
 */
int tap_file_io_files_prepare(struct tap_tool *tool, struct tap_text *why);

/**
 * tap_file_io_enter() - a system call begins: handler of sys_enter
 * @data: the tool
 * @regs: registers of the caller
 * @nr: which system call
 *
 * Context: process, preemptible.
 */
void tap_file_io_enter(void *data, struct pt_regs *regs, long nr);

/**
 * tap_file_io_exit_files() - it ends: handler of sys_exit
 * @data: the tool
 * @regs: registers of the caller
 * @ret: what it returns
 *
 * Context: process, preemptible.
 */
void tap_file_io_exit_files(void *data, struct pt_regs *regs, long ret);

/**
 * tap_file_io_exit() - a system call ends: handler of sys_exit
 * @data: the tool
 * @regs: registers of the caller
 * @ret: what it returns
 *
 * Context: process, preemptible.
 */
void tap_file_io_exit(void *data, struct pt_regs *regs, long ret);

/**
 * tap_file_io_aio_submit() - handler of aio_prep_rw()
 * @tool: the tool
 * @args: the kiocb comes first
 *
 * Context: process.
 */
void tap_file_io_aio_submit(struct tap_tool *tool, const struct tap_args *args);

/**
 * tap_file_io_aio_complete() - handler of aio_complete_rw()
 * @tool: the tool
 * @args: a kiocb and its result
 *
 * Context: any but NMIs.
 */
void tap_file_io_aio_complete(struct tap_tool *tool,
			      const struct tap_args *args);

/**
 * tap_file_io_kernel() - the kernel begins to read or write a file
 * @tool: the tool
 * @args: the file comes first
 * @data: gets the file
 *
 * Context: process.
 * Return: false if it is counted as part of something else.
 */
bool tap_file_io_kernel(struct tap_tool *tool, const struct tap_args *args,
			void *data);

/**
 * tap_file_io_kernel_read() - it has read
 * @tool: the tool
 * @data: has the file
 * @value: bytes, or an error
 *
 * Context: process.
 */
void tap_file_io_kernel_read(struct tap_tool *tool, void *data,
			     unsigned long value);

/**
 * tap_file_io_kernel_write() - it has written
 * @tool: the tool
 * @data: has the file
 * @value: bytes, or an error
 *
 * Context: process.
 */
void tap_file_io_kernel_write(struct tap_tool *tool, void *data,
			      unsigned long value);

/**
 * tap_file_io_iter_read() - vfs_iter_read() has
 * @tool: the tool
 * @data: has the file
 * @value: bytes, or an error
 *
 * Context: process.
 */
void tap_file_io_iter_read(struct tap_tool *tool, void *data,
			   unsigned long value);

/**
 * tap_file_io_iter_write() - vfs_iter_write() has
 * @tool: the tool
 * @data: has the file
 * @value: bytes, or an error
 *
 * Context: process.
 */
void tap_file_io_iter_write(struct tap_tool *tool, void *data,
			    unsigned long value);

#ifdef TAP_IO_URING_COMPLETE
/* A request of io_uring is completed: handler of io_uring_complete. */
TAP_IO_URING_COMPLETE(tap_file_io_uring);
#define TAP_FILE_IO_URING						\
	TAP_PROBE("io_uring_complete", tap_file_io_uring, "CONFIG_IO_URING",	\
		  "what io_uring transfers is not counted"),
#else
#define TAP_FILE_IO_URING
#endif

#define TAP_FILE_IO_AIO(function_name, handler)				\
	{ .type = TAP_FUNCTION, .name = { function_name },			\
	  .function = (handler), .needs = "CONFIG_AIO",				\
	  .without = "what io_submit() transfers is not counted" }

/*
 * Several hundred threads of a server in the kernel can sleep in these, and
 * have to be followed: what is missed is counted as lost.
 */
#define TAP_FILE_IO_KERNEL(handler, ...)				\
	{ .type = TAP_RETURN, .name = { __VA_ARGS__ },				\
	  .entry = tap_file_io_kernel, .ret = (handler),			\
	  .data_size = sizeof(struct tap_io_kernel), .maxactive = 1024,		\
	  .needs = "CONFIG_KRETPROBES",						\
	  .without = "what the kernel itself transfers is not counted" }

#define TAP_FILE_IO_NO_CALLS						\
	TAP_FILE_IO_URING							\
	TAP_FILE_IO_AIO("aio_prep_rw", tap_file_io_aio_submit),			\
	TAP_FILE_IO_AIO("aio_complete_rw", tap_file_io_aio_complete),		\
	TAP_FILE_IO_KERNEL(tap_file_io_kernel_read, "__kernel_read"),		\
	TAP_FILE_IO_KERNEL(tap_file_io_iter_read, "vfs_iter_read"),		\
	TAP_FILE_IO_KERNEL(tap_file_io_kernel_write, "__kernel_write_iter",	\
			   "__kernel_write"),					\
	TAP_FILE_IO_KERNEL(tap_file_io_iter_write, "vfs_iter_write")

/* The hooks, for each way that bytes can take. */
#define TAP_FILE_IO_PROBES						\
	TAP_PROBE("sys_exit", tap_file_io_exit, "CONFIG_FTRACE_SYSCALLS", NULL), \
	TAP_FILE_IO_NO_CALLS
#define TAP_FILE_IO_FILES_PROBES					\
	TAP_PROBE("sys_enter", tap_file_io_enter, "CONFIG_FTRACE_SYSCALLS",	\
		  NULL),							\
	TAP_PROBE("sys_exit", tap_file_io_exit_files, "CONFIG_FTRACE_SYSCALLS",	\
		  NULL),							\
	TAP_FILE_IO_NO_CALLS

/* What a descriptor says: the handler, and which files are wanted. */
#define TAP_FILE_IO(handler)						\
	.source = &tap_file_io_source, .io = (handler)
#define TAP_FILE_IO_FILES(handler, wanted)				\
	.source = &tap_file_io_files_source, .io = (handler),			\
	.io_wanted = (wanted), .prepare = tap_file_io_files_prepare
#define TAP_FILE_IO_CALLS(handler, wanted)				\
	TAP_FILE_IO_FILES(handler, wanted), .io_calls = true

/* @prepare is the tool's own, and calls tap_file_io_files_prepare(). */
#define TAP_FILE_IO_OPENS(handler, wanted)				\
	.source = &tap_file_io_files_source, .io = (handler),			\
	.io_open = (wanted)

/**
 * tap_io_on_disk() - is it a regular file on a block device?
 * @inode: the file's
 *
 * Return: true if it is.
 */
static inline bool tap_io_on_disk(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) &&
	       inode->i_sb->s_type->fs_flags & FS_REQUIRES_DEV;
}

/**
 * tap_io_ppid() - the parent of the process that an event belongs to
 * @io: the transfer
 *
 * Context: in the tool's handler.
 * Return: its thread group id, in the initial pid namespace.
 */
static __always_inline pid_t tap_io_ppid(const struct tap_io *io)
{
	if (unlikely(io->owner))
		return io->owner->ppid;
	/* a pinned CPU is RCU's reader */
	return rcu_dereference_raw(current->real_parent)->tgid;
}

/**
 * tap_io_row() - the row of the process that an event belongs to
 * @tool: a table tool with @by_process
 * @key: as for tap_row_who()
 * @io: the transfer
 *
 * Context: in the tool's handler.
 * Return: the row.
 */
#define tap_io_row(tool, key, io)					\
({									\
	BUILD_BUG_ON(sizeof(*(key)) % sizeof(u64));			\
	__tap_io_row(tool, (u64 *)(key), sizeof(*(key)) / sizeof(u64), io);	\
})

static __always_inline struct tap_sums __tap_io_row(struct tap_tool *tool,
						    u64 *key, unsigned int words,
						    const struct tap_io *io)
{
	struct tap_names *names;
	struct tap_sums row;

	if (likely(!io->owner))
		return __tap_row_who(tool, key, words, current);
	*(struct tap_who *)key = io->owner->who;
	row = __tap_row(tool, key, words);
	names = row.attr;
	if (!names->comm[0])
		*names = io->owner->names;
	return row;
}

#endif /* TAP_FILE_IO_H */
