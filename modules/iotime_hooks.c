// SPDX-License-Identifier: GPL-2.0-only
/*
 * iotime's handlers: a file is opened, is used, and is closed for good
 *
 * A file is opened when its descriptor is about to become valid: fd_install()
 * is called by whichever system call opens it, after all that can fail and
 * before anybody can use it. There the path is asked for: d_path() needs the
 * task's root, which a process that exits has given up before its files are
 * closed. Nothing has to be joined with a return, which threads that sleep in
 * open(), of a FIFO, would lose. It is closed for good in __fput(), once and
 * whoever had it: after close(), close_range(), exec, exit, a message that
 * nobody received. What fails is seen where the system call ends.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm_types.h>	/* trace/events need struct folio (7.x) */
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <trace/events/syscalls.h>

#include "call_table.h"
#include "iotime.h"

unsigned int iotime_name_kb = 4096;
u64 iotime_start;
atomic64_t iotime_unseen;
struct tap_strings iotime_names;
static struct iotime_scratch __percpu *iotime_scratch;

void iotime_end(struct tap_tool *tool)
{
	free_percpu(iotime_scratch);
	iotime_scratch = NULL;
	tap_strings_fini(&iotime_names);
}

int iotime_prepare(struct tap_tool *tool, struct tap_text *why)
{
	int err = tap_file_io_files_prepare(tool, why) ?:
		  tap_strings_init(&iotime_names, iotime_name_kb);

	if (!iotime_start)
		iotime_start = ktime_get_mono_fast_ns();
	if (err)
		return err;
	iotime_scratch = alloc_percpu(struct iotime_scratch);
	if (iotime_scratch)
		return 0;
	iotime_end(tool);
	return -ENOMEM;
}

/* Where a call that opens files has the name. */
enum iotime_call {
	IOTIME_OTHER,		/* it opens none */
	IOTIME_FIRST,		/* the first argument */
	IOTIME_SECOND,
	IOTIME_HANDLE,		/* it has none */
	IOTIME_RING,		/* it can do anything */
};

#define IOTIME_CALLS(NR)						\
	[NR(openat)] = IOTIME_SECOND,						\
	[NR(openat2)] = IOTIME_SECOND,						\
	[NR(open_by_handle_at)] = IOTIME_HANDLE,				\
	[NR(io_uring_enter)] = IOTIME_RING
/* ... which newer architectures do not have. */
#define IOTIME_CALLS_OLD(NR)						\
	[NR(open)] = IOTIME_FIRST,						\
	[NR(creat)] = IOTIME_FIRST

static const u8 iotime_calls[] = {
	IOTIME_CALLS(TAP_NR),
	TAP_CALLS_OLD(IOTIME_CALLS_OLD(TAP_NR))
};

static const u8 iotime_calls_32[] = {
	TAP_CALLS_32(IOTIME_CALLS(TAP_NR_32),
		     IOTIME_CALLS_OLD(TAP_NR_32))
};

static enum iotime_call iotime_call(struct pt_regs *regs)
{
	return tap_call_find(regs, iotime_calls, iotime_calls_32);
}

/* Of a name that is too long the end remains. */
static char *iotime_cut(char *name, size_t len)
{
	if (len <= IOTIME_NAME)
		return name;
	name += len - IOTIME_NAME;
	memcpy(name, "...", 3);
	return name;
}

/* The event is as long as its name. */
static void iotime_write(struct tap_tool *tool, const struct iotime_event *event)
{
	tap_stream_write(&tool->stream, event,
			 offsetof(struct iotime_event, name) +
			 strlen(event->name) + 1);
}

/*
 * Forget an open file. If it was closed there is a line. Not in an interrupt:
 * a request that completes there keeps its file open.
 */
static void iotime_end_of(struct tap_tool *tool, const struct file *file)
{
	struct iotime_event *event = &this_cpu_ptr(iotime_scratch)->event;
	struct iotime_open open;
	size_t len;

	if (!tap_inflight_take(&tool->begun, (uintptr_t)file, &open))
		return;
	len = tap_strings_take(&iotime_names, open.name, event->name,
			       sizeof(event->name));
	if (!open.closed || !open.wanted)
		return;
	if (!len)
		strscpy(event->name, "(name lost)", sizeof(event->name));
	event->names = open.names;
	event->sums = open.sums;
	event->open_ns = open.closed - open.opened;
	event->error = 0;
	iotime_write(tool, event);
}

/* --- opened ------------------------------------------------------------ */

/*
 * A path that is longer than the buffer leaves its end there; before 5.15 what
 * comes before the name that did not fit was not written.
 */
static u32 iotime_path(const struct file *file)
{
	char *path = this_cpu_ptr(iotime_scratch)->path;
	char *name = d_path(&file->f_path, path, PATH_MAX);

	if (IS_ERR(name)) {
		memset(path, 0, PATH_MAX);
		name = d_path(&file->f_path, path, PATH_MAX);
		if (IS_ERR(name))
			for (name = path; name < path + PATH_MAX - 1 && !*name;)
				name++;
	}
	path[PATH_MAX - 1] = '\0';
	name = iotime_cut(name, strlen(name));
	return tap_strings_put(&iotime_names, name, strlen(name));
}

static bool iotime_has_path(const struct file *file)
{
	const struct dentry *dentry = file->f_path.dentry;

	return !(dentry->d_op && dentry->d_op->d_dname);
}

/* Is it a call of open() that installs a descriptor, and not of pipe()? */
static bool iotime_is_opened(const struct file *file)
{
	/* workers of a ring, and who polls it, have no registers */
	if (current->flags & (PF_IO_WORKER | PF_KTHREAD))
		return current->flags & PF_IO_WORKER && iotime_has_path(file);
	switch (iotime_call(task_pt_regs(current))) {
	case IOTIME_OTHER:
		return false;
	case IOTIME_RING:
		return iotime_has_path(file);
	default:
		return true;
	}
}

static bool iotime_wants(struct tap_tool *tool)
{
	return tap_gate_is_open(&tool->gate) ||
	       tap_gate_test(&tool->gate, current) == TAP_COUNT;
}

void iotime_fd_install(struct tap_tool *tool, const struct tap_args *args)
{
	const struct file *file = (void *)tap_arg(args, 1);
	struct iotime_open open = {};

	if (!iotime_is_opened(file))
		return;
	preempt_disable_notrace();
	iotime_end_of(tool, file);
	open.wanted = iotime_wants(tool);
	open.opened = ktime_get_mono_fast_ns();
	tap_names_set(&open.names, current);
	open.name = iotime_path(file);
	if (!tap_inflight_put(&tool->begun, (uintptr_t)file, &open))
		tap_strings_take(&iotime_names, open.name, NULL, 0);
	preempt_enable_notrace();
}

/* --- used -------------------------------------------------------------- */

static bool iotime_add_user(void *data, void *arg)
{
	struct iotime_open *open = data;

	open->users++;
	return true;
}

bool iotime_begin(struct tap_tool *tool, const struct file *file)
{
	return tap_inflight_update(&tool->begun, (uintptr_t)file,
				   iotime_add_user, NULL);
}

/* What became of a transfer. */
struct iotime_transfer {
	const struct tap_io *io;
	bool counted;
	bool last;
};

static bool iotime_add(void *data, void *arg)
{
	struct iotime_transfer *transfer = arg;
	const struct tap_io *io = transfer->io;
	struct iotime_open *open = data;

	/* opened later, with the address of one that is gone */
	if (io->begin && (s64)(io->begin - open->opened) < 0)
		return false;
	open->users--;
	if (io->bytes) {
		if (io->write)
			open->sums.written += io->bytes;
		else
			open->sums.read += io->bytes;
		open->sums.transfers++;
		if (io->begin)
			open->sums.ns += ktime_get_mono_fast_ns() - io->begin;
	}
	transfer->counted = true;
	transfer->last = open->closed && !open->users;
	return true;
}

/*
 * A read() has given the file back before it ends: another thread may have
 * closed it by now. Then the last one to end writes the line.
 */
void iotime_io(struct tap_tool *tool, const struct tap_io *io)
{
	struct iotime_transfer transfer = { .io = io };

	tap_inflight_update(&tool->begun, (uintptr_t)io->open, iotime_add,
			    &transfer);
	if (unlikely(transfer.last))
		iotime_end_of(tool, io->open);
	else if (unlikely(!transfer.counted) && io->bytes)
		tap_stream_lose(&tool->stream);
}

/* --- closed ------------------------------------------------------------ */

/* Opened before this tool looked, or for want of room not remembered. */
static void iotime_close_unseen(struct tap_tool *tool, const struct file *file)
{
	if (file->f_mode & FMODE_OPENED && !(file->f_mode & FMODE_NOACCOUNT) &&
	    !(file->f_flags & __FMODE_EXEC) && iotime_has_path(file) &&
	    tap_wanted(tool, current))
		atomic64_inc(&iotime_unseen);
}

/* Or it may be: others may come and go just now. */
static bool iotime_is_open(struct tap_tool *tool, const struct file *file)
{
	struct tap_inflight_look look;

	return tap_inflight_look(&tool->begun, (uintptr_t)file, &look) ||
	       !tap_inflight_looked(&look);
}

/* Who closes a file, and when. True if that is all. */
static bool iotime_close(void *data, void *arg)
{
	const struct iotime_open *closer = arg;
	struct iotime_open *open = data;

	open->closed = closer->closed;
	/* what a process leaves to the kernel to close is the opener's */
	if (!(current->flags & PF_KTHREAD)) {
		open->names = closer->names;
		open->wanted = closer->wanted;
	}
	return !open->users;
}

void iotime_fput(struct tap_tool *tool, const struct tap_args *args)
{
	const struct file *file = (void *)tap_arg(args, 0);
	struct iotime_open closer;

	preempt_disable_notrace();
	if (!iotime_is_open(tool, file)) {
		iotime_close_unseen(tool, file);
	} else {
		closer.closed = ktime_get_mono_fast_ns();
		closer.wanted = tap_wanted(tool, current);
		tap_names_set(&closer.names, current);
		if (tap_inflight_update(&tool->begun, (uintptr_t)file,
					iotime_close, &closer))
			iotime_end_of(tool, file);
	}
	preempt_enable_notrace();
}

/* --- not opened -------------------------------------------------------- */

/*
 * A string of the caller's, terminated, as far as the kernel looks at it. It has
 * just been read, and is in memory. Its length, or -EFAULT.
 */
static ssize_t iotime_user_string(char *buf, unsigned long from)
{
	size_t len = 0;

	while (len < PATH_MAX - 1) {
		size_t part = min_t(size_t, PATH_MAX - 1 - len,
				    PAGE_SIZE - offset_in_page(from + len));
		size_t n;

		if (copy_from_user_nofault(buf + len, (void __user *)(from + len),
					   part))
			return -EFAULT;
		n = strnlen(buf + len, part);
		len += n;
		if (n < part)
			break;
	}
	buf[len] = '\0';
	return len;
}

/* The name that was passed, at @scratch->path or elsewhere. */
static const char *iotime_passed(struct iotime_scratch *scratch,
				 enum iotime_call call, struct pt_regs *regs)
{
	unsigned long args[6];
	ssize_t len;

	if (call == IOTIME_HANDLE)
		return "(handle)";
	syscall_get_arguments(current, regs, args);
	len = iotime_user_string(scratch->path, args[call == IOTIME_SECOND]);
	return len < 0 ? "(unreadable)" : iotime_cut(scratch->path, len);
}

static void iotime_fails(struct tap_tool *tool, struct pt_regs *regs, long ret)
{
	enum iotime_call call = iotime_call(regs);
	struct iotime_scratch *scratch;

	if (call == IOTIME_OTHER || call == IOTIME_RING || !tap_begin(tool, current))
		return;
	scratch = this_cpu_ptr(iotime_scratch);
	memset(&scratch->event.sums, 0, sizeof(scratch->event.sums));
	tap_names_set(&scratch->event.names, current);
	scratch->event.open_ns = 0;
	scratch->event.error = ret;
	strscpy(scratch->event.name, iotime_passed(scratch, call, regs),
		sizeof(scratch->event.name));
	iotime_write(tool, &scratch->event);
	tap_end();
}

/* One handler for both: a tracepoint with one is cheaper than with two. */
void iotime_sys_exit(void *data, struct pt_regs *regs, long ret)
{
	if (IS_ERR_VALUE(ret))
		iotime_fails(data, regs, ret);
	tap_file_io_exit_files(data, regs, ret);
}
TAP_CHECK_TRACEPOINT(sys_exit, iotime_sys_exit);
