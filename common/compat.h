/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compat - every difference between kernels that tap is built for, 5.10 to 7.3
 *
 * Nothing else in tap knows what a kernel version offers.  The TAP_HAVE_
 * macros come from scripts/compat-probe, which reads the very headers that are
 * compiled against: stable kernels backport changes, so a version number does
 * not tell.  The version below is only the floor under which nothing was ever
 * tried.
 */
#ifndef TAP_COMPAT_H
#define TAP_COMPAT_H

#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/namei.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/unistd.h>
#include <linux/version.h>
#include <generated/tap-have.h>
#ifdef TAP_HAVE_FTRACE_REGS_H
#include <linux/ftrace_regs.h>
#endif
#if defined(TAP_HAVE_DROP_REASONS) || defined(TAP_HAVE_DROP_REASONS_BY_SUBSYS)
#include <net/dropreason.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 10, 0)
#error "tap needs Linux 5.10 or later"
#endif

/*
 * linux/preempt.h: in_irq() was renamed in_hardirq() (5.11); the old name is
 * gone from recent kernels.
 */
#ifndef TAP_HAVE_IN_HARDIRQ
#define in_hardirq() in_irq()
#endif

/*
 * linux/hrtimer.h: hrtimer_setup() takes the function as an argument (6.13);
 * hrtimer_init() went away in 6.15.
 */
#ifndef TAP_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* linux/proc_fs.h: PDE_DATA() was renamed pde_data() (5.17). */
#ifndef TAP_HAVE_PDE_DATA_LOWER
#define pde_data(inode) PDE_DATA(inode)
#endif

/*
 * linux/namei.h: lookup_one_len_unlocked() became lookup_noperm_unlocked(),
 * which takes a struct qstr (6.16).
 */

/**
 * tap_lookup_unlocked() - look a name up in a directory, without permissions
 * @name: the name
 * @parent: the directory, its inode not locked
 *
 * Return: a dentry, for dput(), positive or negative; or an ERR_PTR().
 */
static inline struct dentry *tap_lookup_unlocked(const char *name,
						 struct dentry *parent)
{
#ifdef TAP_HAVE_LOOKUP_NOPERM_UNLOCKED
	return lookup_noperm_unlocked(&QSTR(name), parent);
#else
	return lookup_one_len_unlocked(name, parent, strlen(name));
#endif
}

/*
 * linux/ftrace.h: a callback's registers.  5.10 passes a struct pt_regs and
 * only if the whole set was asked for; later kernels pass a struct ftrace_regs
 * that holds at least the arguments where DYNAMIC_FTRACE_WITH_ARGS is set
 * (x86 from 5.11, arm64 from 6.2).  ftrace_regs_get_argument() came in 6.2.
 */
#ifdef TAP_HAVE_FTRACE_REGS_CB
#define tap_ftrace_regs ftrace_regs
#else
#define tap_ftrace_regs pt_regs
#endif

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#define TAP_FTRACE_FLAGS 0
#define TAP_FTRACE_ARGS 1
#elif defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#define TAP_FTRACE_FLAGS FTRACE_OPS_FL_SAVE_REGS
#define TAP_FTRACE_ARGS 1
#else
#define TAP_FTRACE_FLAGS 0
#define TAP_FTRACE_ARGS 0	/* the function tracer cannot show arguments */
#endif

/**
 * tap_ftrace_argument() - an argument of the function that is entered
 * @fregs: what the callback got
 * @n: which argument, 0 to 5
 *
 * Return: the argument, as wide as a register.
 */
static __always_inline unsigned long
tap_ftrace_argument(struct tap_ftrace_regs *fregs, unsigned int n)
{
#if !TAP_FTRACE_ARGS
	return 0;
#elif defined(ftrace_regs_get_argument)
	return ftrace_regs_get_argument(fregs, n);
#elif defined(TAP_HAVE_FTRACE_REGS_CB)
	return regs_get_kernel_argument(&fregs->regs, n);
#else
	return regs_get_kernel_argument(fregs, n);
#endif
}

/**
 * tap_ftrace_free_filter() - free what ftrace_set_filter() allocated
 * @ops: registered no more
 *
 * ftrace_free_filter() is exported from 5.19 on; before, an empty filter takes
 * the old one's place.
 */
static inline void tap_ftrace_free_filter(struct ftrace_ops *ops)
{
#ifdef TAP_HAVE_FTRACE_FREE_FILTER
	ftrace_free_filter(ops);
#else
	ftrace_set_filter(ops, NULL, 0, 1);
#endif
}

/**
 * tap_ftrace_set_filter_ips() - add functions to a filter by their addresses
 * @ops: not registered
 * @ips: the addresses
 * @nr: how many
 * @reset: they take the place of what was there
 *
 * ftrace_set_filter_ips() is there from 5.18 on.
 *
 * Return: 0, or an error: one of them cannot be traced, and of @ips none is in
 * the filter, or the first ones are.
 */
static inline int tap_ftrace_set_filter_ips(struct ftrace_ops *ops,
					    unsigned long *ips,
					    unsigned int nr, int reset)
{
#ifdef TAP_HAVE_FTRACE_SET_FILTER_IPS
	return ftrace_set_filter_ips(ops, ips, nr, 0, reset);
#else
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		err = ftrace_set_filter_ip(ops, ips[i], 0, reset && !i);
	return err;
#endif
}

/*
 * linux/ftrace.h: what a filter consists of. Kernels on which it is private to
 * kernel/trace/trace.h have the same, from 4.13 on.
 */
#ifndef TAP_HAVE_FTRACE_HASH
struct ftrace_hash {
	unsigned long size_bits;
	struct hlist_head *buckets;
	unsigned long count;
	unsigned long flags;
	struct rcu_head rcu;
};
#endif

/**
 * tap_ftrace_filter() - the functions in a filter
 * @ops: nobody changes its filter at the same time
 *
 * Return: the filter; NULL if there was never one.
 */
static inline const struct ftrace_hash *
tap_ftrace_filter(const struct ftrace_ops *ops)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return ops->func_hash ?
	       rcu_dereference_raw(ops->func_hash->filter_hash) : NULL;
#else
	return NULL;
#endif
}

/*
 * linux/fs.h: notify_change() and setattr_copy() are first told how to map ids,
 * by a user namespace (5.12), now by a struct mnt_idmap (6.3).
 */
#ifdef TAP_HAVE_NOTIFY_CHANGE_MAP
#define TAP_NOTIFY_CHANGE_ARG 1		/* the first of the others */
#else
#define TAP_NOTIFY_CHANGE_ARG 0
#endif

/*
 * linux/kprobes.h: get_kretprobe() came when rethook took the probe out of the
 * instance (5.11 and later).
 */
#ifndef TAP_HAVE_GET_KRETPROBE
#define get_kretprobe(ri) ((ri)->rp)
#endif

/*
 * linux/ftrace.h: protection against recursion.  Bit 4 of the flags means
 * "protect this callback" from 5.11 on, and meant "this callback protects
 * itself" (FTRACE_OPS_FL_RECURSION_SAFE) on 5.10, where leaving it clear is
 * how to ask for protection.
 */
#ifdef TAP_HAVE_FTRACE_RECURSION_SAFE
#define TAP_FTRACE_RECURSION 0
#define TAP_FTRACE_UNGUARDED FTRACE_OPS_FL_RECURSION_SAFE
#else
#define TAP_FTRACE_RECURSION FTRACE_OPS_FL_RECURSION
#define TAP_FTRACE_UNGUARDED 0
#endif

/* linux/net.h: sock_from_file() lost its error argument (5.11). */
#ifdef TAP_HAVE_SOCK_FROM_FILE_ERR
#define tap_sock_from_file(file)					\
({									\
	int __err;							\
									\
	sock_from_file(file, &__err);					\
})
#else
#define tap_sock_from_file(file) sock_from_file(file)
#endif

/**
 * tap_syscall_is_compat() - is this system call made by 32-bit code?
 *
 * On x86 the entry code marks it in the thread's status (in_ia32_syscall() of
 * arch/x86/include/asm/compat.h). An x32 call is a native one with a bit in
 * its number.
 *
 * Context: in a system call.
 * Return: not 0 if it is.
 */
static __always_inline u32 tap_syscall_is_compat(void)
{
#if defined(CONFIG_X86_64) && defined(CONFIG_IA32_EMULATION)
	return current_thread_info()->status & TS_COMPAT;
#elif defined(CONFIG_COMPAT) && !defined(CONFIG_X86_64)
	return is_compat_task();
#else
	return false;
#endif
}

/*
 * trace/events/skb.h: what the tracepoint kfree_skb gives its handlers.  The
 * reason came in 5.17, the receiving socket in 6.11, its const in 6.19.
 */
#if defined(TAP_HAVE_KFREE_SKB_SK_CONST)
#define TAP_KFREE_SKB_ARGS struct sk_buff *skb, void *location,		\
	enum skb_drop_reason reason, const struct sock *rx_sk
#elif defined(TAP_HAVE_KFREE_SKB_SK)
#define TAP_KFREE_SKB_ARGS struct sk_buff *skb, void *location,		\
	enum skb_drop_reason reason, struct sock *rx_sk
#elif defined(TAP_HAVE_KFREE_SKB_REASON)
#define TAP_KFREE_SKB_ARGS struct sk_buff *skb, void *location,		\
	enum skb_drop_reason reason
#else
#define TAP_KFREE_SKB_ARGS struct sk_buff *skb, void *location
#endif

/* The reason among these; 0 on kernels without. */
#ifdef TAP_HAVE_KFREE_SKB_REASON
#define TAP_KFREE_SKB_REASON reason
#else
#define TAP_KFREE_SKB_REASON 0
#endif

/**
 * tap_drop_is_consumed() - does this reason say that nothing was dropped?
 * @reason: the reason
 *
 * Context: any.
 * Return: true if so. Before subsystems (6.4) there is no such reason: what was
 * consumed has a tracepoint of its own.
 */
static inline bool tap_drop_is_consumed(u32 reason)
{
#ifdef TAP_HAVE_DROP_REASONS_BY_SUBSYS
	return reason == SKB_CONSUMED;
#else
	return false;
#endif
}

/**
 * tap_drop_reason_name() - what the running kernel calls a reason
 * @reason: the reason; from 6.4 on its upper half is a subsystem, whose names
 *          are in its module and go with that
 * @buf: gets the name, if there is one
 * @size: bytes at @buf
 *
 * Context: any.
 */
static inline void tap_drop_reason_name(u32 reason, char *buf, size_t size)
{
#if defined(TAP_HAVE_DROP_REASONS_BY_SUBSYS)
	u32 subsys = reason >> SKB_DROP_REASON_SUBSYS_SHIFT;
	u32 nr = reason & ~SKB_DROP_REASON_SUBSYS_MASK;
	const struct drop_reason_list *list = NULL;

	rcu_read_lock();
	if (subsys < SKB_DROP_REASON_SUBSYS_NUM)
		list = rcu_dereference(drop_reasons_by_subsys[subsys]);
	if (list && nr < list->n_reasons && list->reasons[nr])
		strscpy(buf, list->reasons[nr], size);
	rcu_read_unlock();
#elif defined(TAP_HAVE_DROP_REASONS)
	if (reason < SKB_DROP_REASON_MAX && drop_reasons[reason])
		strscpy(buf, drop_reasons[reason], size);
#endif
}

/*
 * The numbers of system calls of the other ABIs. arm64 has generated headers for
 * them from 6.11 on, which nobody has tried.
 */
#ifdef CONFIG_X86_64
#include <asm/unistd_32_ia32.h>
#include <asm/unistd_64_x32.h>
#define TAP_NR_32(name) __NR_ia32_##name
#define TAP_NR_X32(name) __NR_x32_##name
#define TAP_X32_BIT __X32_SYSCALL_BIT
#else
#define TAP_X32_BIT 0
#endif

/**
 * tap_epoll_limited() - has a wait of epoll a time limit that is not 0?
 * @limit: last argument of fs/eventpoll.c's do_epoll_wait(): milliseconds, and
 *         since there is epoll_pwait2() (5.11) a struct timespec64
 *
 * Context: at the function's entry.
 * Return: true if so.
 */
static __always_inline bool tap_epoll_limited(unsigned long limit)
{
#ifdef __NR_epoll_pwait2
	const struct timespec64 *time = (const void *)limit;

	return time && (time->tv_sec || time->tv_nsec);
#else
	return (int)limit > 0;
#endif
}

/*
 * trace/events/io_uring.h: io_uring_complete tells which request from 5.19 on,
 * and gives the entry of the queue instead of its members from 6.12 on. What a
 * request is stands in linux/io_uring_types.h since 6.0.
 */
#if defined(TAP_HAVE_IO_URING_COMPLETE_CQE)
#define TAP_IO_URING_COMPLETE(handler)					\
	void handler(void *data, struct io_ring_ctx *ctx, void *request,	\
		     struct io_uring_cqe *cqe)
#elif defined(TAP_HAVE_IO_URING_COMPLETE_REQ)
#define TAP_IO_URING_COMPLETE(handler)					\
	void handler(void *data, void *ctx, void *request, u64 user_data,	\
		     int res, unsigned int cflags, u64 extra1, u64 extra2)
#endif

/*
 * linux/fdtable.h: what a descriptor stands for was __fcheck_files() before 5.11.
 */
#ifndef TAP_HAVE_FILES_LOOKUP_FD_RAW
#define files_lookup_fd_raw(files, fd) __fcheck_files(files, fd)
#endif

/* linux/io_uring.h: vectors of fixed buffers (6.15); else beyond all operations. */
#ifndef TAP_HAVE_IO_URING_READV_FIXED
#define IORING_OP_READV_FIXED 254
#define IORING_OP_WRITEV_FIXED 255
#endif

/* trace/events/task.h: the flags that task_newtask tells have 64 bits from 6.18 on. */
#ifdef TAP_HAVE_TASK_NEWTASK_U64
#define TAP_TASK_NEWTASK(handler)					\
	void handler(void *data, struct task_struct *task, u64 clone_flags)
#else
#define TAP_TASK_NEWTASK(handler)					\
	void handler(void *data, struct task_struct *task, unsigned long clone_flags)
#endif

/**
 * tap_clone_is_worker() - does a task come to be as io_uring's workers do?
 * @args: what copy_process() was called with
 *
 * linux/sched/task.h: @io_thread came in 5.12, @user_worker, which they have with
 * vhost's, in 6.4. Both bypass kernel_clone().
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool tap_clone_is_worker(const struct kernel_clone_args *args)
{
#if defined(TAP_HAVE_CLONE_USER_WORKER)
	return args->user_worker;
#elif defined(TAP_HAVE_CLONE_IO_THREAD)
	return args->io_thread;
#else
	return false;
#endif
}

/**
 * tap_clone_is_backwards() - has this clone() its last two arguments exchanged?
 *
 * CONFIG_CLONE_BACKWARDS; on x86-64 it is 32-bit code's (sys_ia32_clone()).
 *
 * Context: in a system call.
 * Return: true if tls comes before child_tid.
 */
static inline bool tap_clone_is_backwards(void)
{
	if (IS_ENABLED(CONFIG_CLONE_BACKWARDS))
		return true;
	return IS_ENABLED(CONFIG_X86_64) && tap_syscall_is_compat();
}

#endif /* TAP_COMPAT_H */
