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
#include <linux/unistd.h>
#include <asm/syscall.h>
#ifdef TAP_IO_URING_COMPLETE
#include <linux/io_uring_types.h>
#include <trace/events/io_uring.h>
#endif
#include <trace/events/syscalls.h>

#include "file_io.h"
#include "inflight.h"

/* Requests of io_submit() in flight that are known. */
#define TAP_IO_REQUESTS 4096

/*
 * Room for system calls on files that are wanted, at a time. A thread's note is
 * in one of eight places.
 */
#define TAP_IO_NOTES_BITS 13
#define TAP_IO_NOTES_WALK 8

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

#define TAP_NR(name) __NR_##name

static const u8 tap_io_calls[] = {
	TAP_IO_CALLS(TAP_NR),
#ifdef CONFIG_X86_X32_ABI
	TAP_IO_CALLS_VEC(TAP_NR_X32),
	[TAP_NR_X32(io_submit)] = TAP_IO_PARTS,
#endif
};

#if defined(CONFIG_COMPAT) && defined(TAP_NR_32)
static const u8 tap_io_calls_32[] = {
	TAP_IO_CALLS(TAP_NR_32),
	[TAP_NR_32(sendfile64)] = TAP_IO_READ | TAP_IO_WRITE | TAP_IO_SENDFILE,
};
#else
static const u8 tap_io_calls_32[] = { 0 };
#endif

/*
 * The files of a system call that are wanted. Only its thread writes them, and
 * looks for them; others only see that the place is taken.
 */
struct tap_io_note {
	struct task_struct *task;	/* NULL: free; cmpxchg to take it */
	u8 wanted;			/* TAP_IO_READ, TAP_IO_WRITE */
	struct tap_io_file file[2];	/* read, written */
	const struct file *open[2];
};

/* The last places' walks go beyond them. */
#define TAP_IO_NOTES_SIZE						\
	((BIT(TAP_IO_NOTES_BITS) + TAP_IO_NOTES_WALK) * sizeof(struct tap_io_note))

static struct tap_inflight tap_io_owners;
static struct tap_io_note *tap_io_notes;
static atomic64_t tap_io_notes_lost;

static __always_inline void tap_io_tell(struct tap_tool *tool, bool write,
					enum tap_io_path path, u64 bytes,
					const struct tap_io_file *file,
					const struct file *open)
{
	const struct tap_io io = {
		.file = file,
		.open = open,
		.bytes = bytes,
		.path = path,
		.write = write,
	};

	if (!tap_begin(tool, current))
		return;
	tool->io(tool, &io);
	tap_end();
}

/* --- files ------------------------------------------------------------- */

/*
 * Is this file wanted? @file need not be held, but then RCU's reader calls: from
 * 6.7 on its memory may be another file's by now, which has no inode yet.
 */
static bool tap_io_want(const struct tap_tool *tool, const struct file *file,
			struct tap_io_file *id)
{
	const struct inode *inode = READ_ONCE(file->f_inode);
	const struct super_block *sb;

	if (unlikely(!inode))
		return false;
	sb = inode->i_sb;
	id->ino = inode->i_ino;
	id->dev = sb->s_dev;
	BUILD_BUG_ON(sizeof(id->disk) != sizeof(sb->s_id));
	/* file systems on a device call themselves by its name */
	if (S_ISREG(inode->i_mode) && sb->s_type->fs_flags & FS_REQUIRES_DEV)
		memcpy(id->disk, sb->s_id, sizeof(sb->s_id));
	else
		id->disk[0] = '\0';
	return tool->io_wanted(id);
}

/* tap_io_tell() of a file that is at hand. */
static void tap_io_tell_file(struct tap_tool *tool, bool write,
			     enum tap_io_path path, u64 bytes,
			     const struct file *file)
{
	struct tap_io_file id = {};

	if (!tool->io_wanted)
		tap_io_tell(tool, write, path, bytes, NULL, NULL);
	else if (tap_io_want(tool, file, &id))
		tap_io_tell(tool, write, path, bytes, &id, file);
}

/* --- system calls ------------------------------------------------------ */

static __always_inline u8 tap_io_call(struct pt_regs *regs)
{
	/* -1, of a call that was cancelled, is beyond all */
	u32 nr = syscall_get_nr(current, regs);

	if (tap_syscall_is_compat())
		return nr < ARRAY_SIZE(tap_io_calls_32) ? tap_io_calls_32[nr] : 0;
	nr &= ~TAP_X32_BIT;
	return nr < ARRAY_SIZE(tap_io_calls) ? tap_io_calls[nr] : 0;
}

void tap_file_io_exit(void *data, struct pt_regs *regs, long ret)
{
	enum tap_io_path path;
	u8 call;

	if (ret <= 0)
		return;
	call = tap_io_call(regs);
	path = call & ~(TAP_IO_READ | TAP_IO_WRITE);
	if (call & TAP_IO_READ)
		tap_io_tell(data, false, path, ret, NULL, NULL);
	if (call & TAP_IO_WRITE)
		tap_io_tell(data, true, path, ret, NULL, NULL);
}
TAP_CHECK_TRACEPOINT(sys_exit, tap_file_io_exit);

static bool tap_io_want_fd(const struct tap_tool *tool, unsigned int fd,
			   struct tap_io_note *note, bool write)
{
	const struct file *file = files_lookup_fd_raw(current->files, fd);

	note->open[write] = file;
	return file && tap_io_want(tool, file, &note->file[write]);
}

/* The first of the places where a thread's note can be. */
static struct tap_io_note *tap_io_note_first(void)
{
	return tap_io_notes + hash_ptr(current, TAP_IO_NOTES_BITS);
}

/* The current task's note, or NULL. */
static struct tap_io_note *tap_io_note_find(void)
{
	struct tap_io_note *note = tap_io_note_first();
	struct tap_io_note *end = note + TAP_IO_NOTES_WALK;

	for (; note < end; note++)
		if (READ_ONCE(note->task) == current)
			return note;
	return NULL;
}

/* A place for a note, or NULL without room. The current task has none yet. */
static struct tap_io_note *tap_io_note_new(void)
{
	struct tap_io_note *note = tap_io_note_first();
	int i;

	for (i = 0; i < TAP_IO_NOTES_WALK; i++, note++)
		if (!READ_ONCE(note->task) && !cmpxchg(&note->task, NULL, current))
			return note;
	atomic64_inc(&tap_io_notes_lost);
	return NULL;
}

/* The files of a call: which argument is what was read, and what was written. */
static void tap_io_note_call(const struct tap_tool *tool, u8 call,
			     const unsigned long *args, struct tap_io_note *note)
{
	unsigned int in = 0, out = 0;

	switch (call & TAP_IO_PATH) {
	case TAP_IO_SENDFILE:
		in = 1;
		break;
	case TAP_IO_SPLICE:
	case TAP_IO_COPY:
		out = 2;
		break;
	}
	note->wanted = 0;
	if (call & TAP_IO_READ && tap_io_want_fd(tool, args[in], note, false))
		note->wanted |= TAP_IO_READ;
	if (call & TAP_IO_WRITE && tap_io_want_fd(tool, args[out], note, true))
		note->wanted |= TAP_IO_WRITE;
}

/*
 * The call has not looked its descriptors up yet. Another thread that gives one
 * a new meaning just now may make a difference, as it may for the call.
 */
void tap_file_io_enter(void *data, struct pt_regs *regs, long nr)
{
	struct tap_io_note *note;
	unsigned long args[6];
	u8 call = tap_io_call(regs);

	if (!(call & (TAP_IO_READ | TAP_IO_WRITE)))
		return;
	syscall_get_arguments(current, regs, args);
	preempt_disable_notrace();
	note = tap_io_note_new();
	if (likely(note)) {
		tap_io_note_call(data, call, args, note);
		if (!note->wanted)
			WRITE_ONCE(note->task, NULL);
	}
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(sys_enter, tap_file_io_enter);

void tap_file_io_exit_files(void *data, struct pt_regs *regs, long ret)
{
	u8 call = tap_io_call(regs);
	struct tap_io_note *note;

	if (!(call & (TAP_IO_READ | TAP_IO_WRITE)))
		return;
	note = tap_io_note_find();
	if (!note)
		return;
	if (ret > 0 && note->wanted & TAP_IO_READ)
		tap_io_tell(data, false, call & TAP_IO_PATH, ret, &note->file[0],
			    note->open[0]);
	if (ret > 0 && note->wanted & TAP_IO_WRITE)
		tap_io_tell(data, true, call & TAP_IO_PATH, ret, &note->file[1],
			    note->open[1]);
	/* pairs with the cmpxchg() of who takes the place */
	smp_store_release(&note->task, NULL);
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

	if (!req || req->cqe.res <= 0)
		return;
	switch (req->opcode) {
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_READ_FIXED:
	case IORING_OP_READV_FIXED:
		tap_io_tell_file(tool, false, TAP_IO_URING, req->cqe.res,
				 req->file);
		break;
	case IORING_OP_SPLICE:
		/* the file that was read is given back already */
		if (!tool->io_wanted)
			tap_io_tell(tool, false, TAP_IO_URING, req->cqe.res,
				    NULL, NULL);
		fallthrough;
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_WRITEV_FIXED:
		tap_io_tell_file(tool, true, TAP_IO_URING, req->cqe.res,
				 req->file);
		break;
	}
}
TAP_CHECK_TRACEPOINT(io_uring_complete, tap_file_io_uring);
#endif

/* --- io_submit --------------------------------------------------------- */

void tap_file_io_aio_submit(struct tap_tool *tool, const struct tap_args *args)
{
	struct tap_io_owner owner = {};

	if (!tap_begin(tool, current))
		return;
	tap_who_set(&owner.who, current, READ_ONCE(tool->by_thread));
	tap_names_set(&owner.names, current);
	owner.ppid = rcu_dereference_raw(current->real_parent)->tgid;
	tap_inflight_put(&tap_io_owners, tap_arg(args, 0), &owner);
	tap_end();
}

void tap_file_io_aio_complete(struct tap_tool *tool, const struct tap_args *args)
{
	const struct kiocb *kiocb = (void *)tap_arg(args, 0);
	long res = tap_arg(args, 1);
	struct tap_io_owner owner;
	struct tap_io_file id = {};
	const struct tap_io io = {
		.owner = &owner,
		.file = &id,
		.open = kiocb->ki_filp,
		.bytes = res,
		.path = TAP_IO_AIO,
		.write = kiocb->ki_flags & IOCB_WRITE,
	};

	preempt_disable_notrace();
	if (tap_inflight_take(&tap_io_owners, (uintptr_t)kiocb, &owner) &&
	    res > 0 &&
	    (!tool->io_wanted || tap_io_want(tool, kiocb->ki_filp, &id)))
		tool->io(tool, &io);
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

	*(const struct file **)data = file;
	return !(file->f_mode & FMODE_NOACCOUNT) && !tap_io_is_part();
}

void tap_file_io_kernel_read(struct tap_tool *tool, void *data,
			     unsigned long value)
{
	if ((long)value > 0)
		tap_io_tell_file(tool, false, TAP_IO_KERNEL, value,
				 *(const struct file **)data);
}

void tap_file_io_kernel_write(struct tap_tool *tool, void *data,
			      unsigned long value)
{
	if ((long)value > 0)
		tap_io_tell_file(tool, true, TAP_IO_KERNEL, value,
				 *(const struct file **)data);
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
