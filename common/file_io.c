// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: file_io - transfers on open files, each once, whichever way it goes
 *
 * A system call is counted where it ends, by its number and what it returns:
 * that is how many bytes it moved, short or not, and whatever it called inside
 * (a stacked file system, splice behind sendfile and copy_file_range) is part
 * of it. This needs no memory of the entry, so there is nothing to lose when
 * thousands of threads sleep in read(). What has no system call of its own is
 * counted where it completes: io_uring's requests by its tracepoint, those of
 * io_submit() in aio_complete_rw(), what the kernel does by itself in the
 * functions that it calls for that.
 *
 * The alternatives, for a read() of a byte from /dev/zero, instructions that an
 * empty handler adds on 6.1 and 7.3 (x86-64, counted as tests/bench does): a
 * kretprobe on vfs_read() 391 and 465, whose pool is used up by as many threads
 * as it has instances, and which eight functions want; the entry of vfs_read()
 * by the function tracer 99 and 103 and sys_exit 59 and 67, which still have to
 * be paired. sys_exit alone is what all other system calls pay for it, too.
 *
 * A tool that has to know the file looks it up where the call begins, when the
 * descriptor means what it means to the call, and notes what it wants to know
 * under the thread, if it wants this file. At the end the descriptor could be
 * another file's, and the file be gone.
 *
 * A request of io_submit() completes in an interrupt or in somebody else's
 * task. Who submitted it is noted under the address of its kiocb. One that is
 * refused after that leaves its note, until the address is used again; notes
 * are as many as there have been kiocbs at a time.
 */
#include "compat.h"	/* is there TAP_IO_URING_COMPLETE? */

#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mm_types.h>	/* trace/events need struct folio (7.x) */
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/syscall.h>
#ifdef TAP_IO_URING_COMPLETE
#include <linux/io_uring_types.h>
#include <trace/events/io_uring.h>
#endif
#include <trace/events/syscalls.h>

#include "file_io.h"
#include "inflight.h"
#include "io_calls.h"

/* Requests of io_submit() in flight that are known. */
#define TAP_IO_REQUESTS 4096

/*
 * Room for system calls on files that are wanted, at a time. A thread's note is
 * in one of eight places.
 */
#define TAP_IO_NOTES_BITS 13
#define TAP_IO_NOTES_WALK 8

/*
 * The files of a system call that are wanted. Only its thread writes them, and
 * looks for them; others only see that the place is taken.
 */
struct tap_io_note {
	struct task_struct *task;	/* NULL: free; cmpxchg to take it */
	atomic_t begun;			/* notes of who looks here first */
	u8 wanted;			/* TAP_IO_READ, TAP_IO_WRITE */
	u64 begin;			/* as in struct tap_io */
	struct tap_io_file file[2];	/* read, written */
	const struct file *open[2];
};

/* The last places' walks go beyond them. */
#define TAP_IO_NOTES_SIZE						\
	((BIT(TAP_IO_NOTES_BITS) + TAP_IO_NOTES_WALK) * sizeof(struct tap_io_note))

static struct tap_inflight tap_io_owners;
static struct tap_io_note *tap_io_notes;
static atomic64_t tap_io_notes_lost;

/* When something begins, for who asks. */
static __always_inline u64 tap_io_now(const struct tap_tool *tool)
{
	return tool->io_open ? ktime_get_mono_fast_ns() : 0;
}

/* tap_begin(), which is no question for who wants everybody's transfers. */
static __always_inline bool tap_io_begin(struct tap_tool *tool)
{
	if (!tool->io_open)
		return tap_begin(tool, current);
	preempt_disable_notrace();
	return true;
}

static __always_inline void tap_io_tell(struct tap_tool *tool,
					const struct tap_io *io)
{
	if (!tap_io_begin(tool))
		return;
	tool->io(tool, io);
	tap_end();
}

/*
 * Does the tool hear of a call with this result? EBADF: there was no file. Who
 * keeps something of open files has to hear of each end.
 */
static __always_inline bool tap_io_counts(const struct tap_tool *tool, long ret)
{
	return likely(ret > 0) || tool->io_open ||
	       (tool->io_calls && ret != -EBADF);
}

/* Does the tool ask which file it is? */
static __always_inline bool tap_io_asks(const struct tap_tool *tool)
{
	return tool->io_wanted || tool->io_open;
}

/* --- files ------------------------------------------------------------- */

/*
 * The inode of a file that is wanted, else NULL. @file need not be held, but then
 * RCU's reader calls: from 6.7 on its memory may be another file's by now, which
 * has no inode yet.
 */
static __always_inline const struct inode *
tap_io_want(struct tap_tool *tool, const struct file *file)
{
	const struct inode *inode = READ_ONCE(file->f_inode);

	if (unlikely(!inode))
		return NULL;
	return !tool->io_wanted || tool->io_wanted(inode) ? inode : NULL;
}

static void tap_io_file_set(struct tap_io_file *id, const struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;

	id->ino = inode->i_ino;
	id->dev = sb->s_dev;
	BUILD_BUG_ON(sizeof(id->disk) != sizeof(sb->s_id));
	/* file systems on a device call themselves by its name */
	if (tap_io_on_disk(inode))
		memcpy(id->disk, sb->s_id, sizeof(sb->s_id));
	else
		id->disk[0] = '\0';
}

/* @io follows if this is true, whatever happens: the tool may count on it. */
static __always_inline bool tap_io_open(struct tap_tool *tool,
					const struct file *file)
{
	return !tool->io_open || tool->io_open(tool, file);
}

/* tap_io_tell() of a file that is at hand. */
static void tap_io_tell_file(struct tap_tool *tool, bool write,
			     enum tap_io_path path, long ret,
			     const struct file *file, const char *function,
			     u64 begin)
{
	const struct inode *inode = NULL;
	struct tap_io_file id;
	struct tap_io io = {
		.begin = begin,
		.bytes = max(ret, 0L),
		.error = min(ret, 0L),
		.path = path,
		.write = write,
	};

	if (tap_io_asks(tool)) {
		preempt_disable_notrace();
		/* a request that was cancelled has not got its file yet */
		if (file)
			inode = tap_io_want(tool, file);
		if (inode && !tap_io_open(tool, file))
			inode = NULL;
		if (inode)
			tap_io_file_set(&id, inode);
		preempt_enable_notrace();
		if (!inode)
			return;
		io.file = &id;
		io.open = file;
		io.function = function;
	}
	tap_io_tell(tool, &io);
}

/* --- system calls ------------------------------------------------------ */

void tap_file_io_exit(void *data, struct pt_regs *regs, long ret)
{
	struct tap_io io;
	u8 call;

	if (ret <= 0)
		return;
	call = tap_io_call(regs);
	if (!(call & (TAP_IO_READ | TAP_IO_WRITE)))
		return;
	io = (struct tap_io){ .bytes = ret, .path = call & TAP_IO_PATH };
	if (call & TAP_IO_READ)
		tap_io_tell(data, &io);
	io.write = true;
	if (call & TAP_IO_WRITE)
		tap_io_tell(data, &io);
}
TAP_CHECK_TRACEPOINT(sys_exit, tap_file_io_exit);

/* The first of the places where a thread's note can be. */
static __always_inline struct tap_io_note *tap_io_note_first(void)
{
	return tap_io_notes + hash_ptr(current, TAP_IO_NOTES_BITS);
}

/* The current task's note, or NULL: most calls are on files that nobody wants. */
static __always_inline struct tap_io_note *tap_io_note_find(void)
{
	struct tap_io_note *note = tap_io_note_first();
	struct tap_io_note *end = note + TAP_IO_NOTES_WALK;

	if (!atomic_read(&note->begun))
		return NULL;
	for (; note < end; note++)
		if (READ_ONCE(note->task) == current)
			return note;
	return NULL;
}

/* A place for a note, or NULL without room. The current task has none yet. */
static struct tap_io_note *tap_io_note_new(void)
{
	struct tap_io_note *first = tap_io_note_first(), *note = first;
	int i;

	for (i = 0; i < TAP_IO_NOTES_WALK; i++, note++) {
		if (!READ_ONCE(note->task) && !cmpxchg(&note->task, NULL, current)) {
			atomic_inc(&first->begun);
			return note;
		}
	}
	atomic64_inc(&tap_io_notes_lost);
	return NULL;
}

static __always_inline void tap_io_note_end(struct tap_io_note *note)
{
	atomic_dec(&tap_io_note_first()->begun);
	/* pairs with the cmpxchg() of who takes the place */
	smp_store_release(&note->task, NULL);
}

/* The inode that a descriptor stands for, if it is wanted. */
static __always_inline const struct inode *
tap_io_want_fd(struct tap_tool *tool, unsigned int fd,
	       const struct file **file)
{
	*file = files_lookup_fd_raw(current->files, fd);
	return *file ? tap_io_want(tool, *file) : NULL;
}

/*
 * The call has not looked its descriptors up yet. Another thread that gives one
 * a new meaning just now may make a difference, as it may for the call.
 */
void tap_file_io_enter(void *data, struct pt_regs *regs, long nr)
{
	const struct inode *inode[2] = {};
	const struct file *open[2];
	struct tap_tool *tool = data;
	struct tap_io_note *note;
	unsigned long args[6];
	u8 call = tap_io_call(regs);
	int i;

	if (!(call & (TAP_IO_READ | TAP_IO_WRITE)))
		return;
	syscall_get_arguments(current, regs, args);
	preempt_disable_notrace();
	if (call & TAP_IO_READ)
		inode[0] = tap_io_want_fd(tool, args[tap_io_args[call & TAP_IO_PATH][0]],
					  &open[0]);
	if (call & TAP_IO_WRITE)
		inode[1] = tap_io_want_fd(tool, args[tap_io_args[call & TAP_IO_PATH][1]],
					  &open[1]);
	if (!inode[0] && !inode[1])
		goto out;
	note = tap_io_note_new();
	if (unlikely(!note))
		goto out;
	note->wanted = 0;
	note->begin = tap_io_now(tool);
	for (i = 0; i < 2; i++) {
		if (!inode[i] || !tap_io_open(tool, open[i]))
			continue;
		note->wanted |= i ? TAP_IO_WRITE : TAP_IO_READ;
		note->open[i] = open[i];
		if (tool->io_wanted)
			tap_io_file_set(&note->file[i], inode[i]);
	}
	if (unlikely(!note->wanted))
		tap_io_note_end(note);
out:
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(sys_enter, tap_file_io_enter);

static void tap_io_tell_note(struct tap_tool *tool, const struct tap_io_note *note,
			     enum tap_io_path path, bool write, long ret)
{
	const struct tap_io io = {
		.file = &note->file[write],
		.open = note->open[write],
		.begin = note->begin,
		.function = tap_io_functions[path][write],
		.bytes = max(ret, 0L),
		.error = min(ret, 0L),
		.path = path,
		.write = write,
	};

	tap_io_tell(tool, &io);
}

void tap_file_io_exit_files(void *data, struct pt_regs *regs, long ret)
{
	struct tap_io_note *note = tap_io_note_find();
	u8 call;

	if (!note)
		return;
	call = tap_io_call(regs);
	if (tap_io_counts(data, ret)) {
		if (note->wanted & TAP_IO_READ)
			tap_io_tell_note(data, note, call & TAP_IO_PATH, false, ret);
		if (note->wanted & TAP_IO_WRITE)
			tap_io_tell_note(data, note, call & TAP_IO_PATH, true, ret);
	}
	tap_io_note_end(note);
}
TAP_CHECK_TRACEPOINT(sys_exit, tap_file_io_exit_files);

/* --- io_uring ---------------------------------------------------------- */

#ifdef TAP_IO_URING_COMPLETE
/*
 * The current task is a thread of who made the request: itself, a worker, or
 * the one that polls the queue. A completion that belongs to no request (of a
 * multishot one) tells neither file nor operation.
 */
TAP_IO_URING_COMPLETE(tap_file_io_uring)
{
	const struct io_kiocb *req = request;
	struct tap_tool *tool = data;

	if (!req || !tap_io_counts(tool, req->cqe.res))
		return;
	switch (req->opcode) {
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_READ_FIXED:
	case IORING_OP_READV_FIXED:
		tap_io_tell_file(tool, false, TAP_IO_URING, req->cqe.res,
				 req->file, "io_read", 0);
		break;
	case IORING_OP_SPLICE:
		/* the file that was read is given back already */
		if (!tap_io_asks(tool))
			tap_io_tell_file(tool, false, TAP_IO_URING, req->cqe.res,
					 NULL, NULL, 0);
		tap_io_tell_file(tool, true, TAP_IO_URING, req->cqe.res,
				 req->file, "io_splice", 0);
		break;
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_WRITEV_FIXED:
		tap_io_tell_file(tool, true, TAP_IO_URING, req->cqe.res,
				 req->file, "io_write", 0);
		break;
	}
}
TAP_CHECK_TRACEPOINT(io_uring_complete, tap_file_io_uring);
#endif

/* --- io_submit --------------------------------------------------------- */

void tap_file_io_aio_submit(struct tap_tool *tool, const struct tap_args *args)
{
	const struct kiocb *kiocb = (void *)tap_arg(args, 0);
	struct tap_io_owner owner = {};

	if (!tap_io_begin(tool))
		return;
	if (tap_io_asks(tool) && !tap_io_want(tool, kiocb->ki_filp))
		goto out;
	owner.begin = tap_io_now(tool);
	tap_who_set(&owner.who, current, READ_ONCE(tool->by_thread));
	tap_names_set(&owner.names, current);
	owner.ppid = rcu_dereference_raw(current->real_parent)->tgid;
	tap_inflight_put(&tap_io_owners, (uintptr_t)kiocb, &owner);
out:
	tap_end();
}

void tap_file_io_aio_complete(struct tap_tool *tool, const struct tap_args *args)
{
	const struct kiocb *kiocb = (void *)tap_arg(args, 0);
	bool write = kiocb->ki_flags & IOCB_WRITE;
	long res = tap_arg(args, 1);
	struct tap_io_owner owner;
	struct tap_io_file id;
	const struct inode *inode;
	struct tap_io io = {
		.owner = &owner,
		.bytes = max(res, 0L),
		.error = min(res, 0L),
		.path = TAP_IO_AIO,
		.write = write,
	};

	preempt_disable_notrace();
	if (!tap_inflight_take(&tap_io_owners, (uintptr_t)kiocb, &owner) ||
	    !tap_io_counts(tool, res))
		goto out;
	io.begin = owner.begin;
	if (tap_io_asks(tool)) {
		inode = tap_io_want(tool, kiocb->ki_filp);
		if (!inode || !tap_io_open(tool, kiocb->ki_filp))
			goto out;
		tap_io_file_set(&id, inode);
		io.file = &id;
		io.open = kiocb->ki_filp;
		io.function = write ? "aio_write" : "aio_read";
	}
	tool->io(tool, &io);
out:
	preempt_enable_notrace();
}

/* --- the kernel itself ------------------------------------------------- */

/*
 * Is the current task in a system call or request that is counted as a whole?
 * A core is dumped on the way out of any system call.
 */
static bool tap_io_is_part(void)
{
	struct pt_regs *regs = task_pt_regs(current);

	if (current->flags & (PF_KTHREAD | PF_DUMPCORE))
		return false;
	if (current->flags & PF_IO_WORKER)
		return true;
	/* a program that the kernel starts has no registers yet */
	return user_mode(regs) && tap_io_call(regs);
}

/* A file of FMODE_NOACCOUNT is below one that was counted (overlayfs). */
bool tap_file_io_kernel(struct tap_tool *tool, const struct tap_args *args,
			void *data)
{
	const struct file *file = (void *)tap_arg(args, 0);
	struct tap_io_kernel *kernel = data;

	kernel->file = file;
	kernel->begin = tap_io_now(tool);
	if (file->f_mode & FMODE_NOACCOUNT)
		return READ_ONCE(tool->io_stacked);
	return !tap_io_is_part();
}

static void tap_io_kernel_end(struct tap_tool *tool, bool write, long ret,
			      const void *data, const char *function)
{
	const struct tap_io_kernel *kernel = data;

	if (tap_io_counts(tool, ret))
		tap_io_tell_file(tool, write, TAP_IO_KERNEL, ret, kernel->file,
				 function, kernel->begin);
}

void tap_file_io_kernel_read(struct tap_tool *tool, void *data,
			     unsigned long value)
{
	tap_io_kernel_end(tool, false, value, data, "__kernel_read");
}

void tap_file_io_kernel_write(struct tap_tool *tool, void *data,
			      unsigned long value)
{
	tap_io_kernel_end(tool, true, value, data, "__kernel_write");
}

void tap_file_io_iter_read(struct tap_tool *tool, void *data,
			   unsigned long value)
{
	tap_io_kernel_end(tool, false, value, data, "vfs_iter_read");
}

void tap_file_io_iter_write(struct tap_tool *tool, void *data,
			    unsigned long value)
{
	tap_io_kernel_end(tool, true, value, data, "vfs_iter_write");
}

/* --- what the handlers need -------------------------------------------- */

static int tap_file_io_init(void)
{
	return tap_inflight_init(&tap_io_owners, TAP_IO_REQUESTS,
				 sizeof(struct tap_io_owner));
}

static void tap_file_io_fini(void)
{
	tap_inflight_fini(&tap_io_owners);
}

static u64 tap_file_io_lost(void)
{
	return tap_inflight_lost(&tap_io_owners);
}

const struct tap_source tap_file_io_source = {
	.init = tap_file_io_init,
	.fini = tap_file_io_fini,
	.lost = tap_file_io_lost,
};

int tap_file_io_files_prepare(struct tap_tool *tool, struct tap_text *why)
{
	memset(tap_io_notes, 0, TAP_IO_NOTES_SIZE);
	return 0;
}

static int tap_file_io_files_init(void)
{
	int err = tap_file_io_init();

	if (err)
		return err;
	atomic64_set(&tap_io_notes_lost, 0);
	tap_io_notes = kvzalloc(TAP_IO_NOTES_SIZE, GFP_KERNEL);
	if (tap_io_notes)
		return 0;
	tap_file_io_fini();
	return -ENOMEM;
}

static void tap_file_io_files_fini(void)
{
	kvfree(tap_io_notes);
	tap_file_io_fini();
}

static u64 tap_file_io_files_lost(void)
{
	return tap_file_io_lost() + atomic64_read(&tap_io_notes_lost);
}

const struct tap_source tap_file_io_files_source = {
	.init = tap_file_io_files_init,
	.fini = tap_file_io_files_fini,
	.lost = tap_file_io_files_lost,
};
