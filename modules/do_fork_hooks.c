// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a process comes to be.
 *
 * What is known of a creation is kept under the creator from the first mark on;
 * only the creator itself touches it. The event is written when kernel_clone()
 * returns, copy_process() for workers, or clone3() if it came no further.
 *
 * The child runs some time after it was woken, before or after its creator
 * returns: whoever is second tells of it. Its record says who came first, and
 * changes under that record's lock.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/mm_types.h>	/* trace/events need struct folio (7.x) */
#include <linux/ptrace.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>
#include <asm/syscall.h>

#include "do_fork.h"

bool do_fork_ready;
struct tap_inflight do_fork_children;

/* A child that was woken. */
struct do_fork_child {
	u64 woken;
	u64 ran;
	u64 told;		/* its creator's event says that it is pending */
};

/* --- children ---------------------------------------------------------- */

void do_fork_woken(struct do_fork_begun *begun, bool told)
{
	const struct do_fork_child child = { .woken = begun->since, .told = told };

	begun->event.first = DO_FORK_PENDING;
	if (!tap_inflight_put(&do_fork_children, begun->child, &child))
		begun->event.first = DO_FORK_UNKNOWN;
}

/* Runs: is it for the child to tell? */
static bool do_fork_runs(void *data, void *arg)
{
	struct do_fork_child *child = data;

	child->ran = *(u64 *)arg;
	return child->told || do_fork_summary;
}

/* Its creator returns: has it run? */
static bool do_fork_has_run(void *data, void *arg)
{
	struct do_fork_child *child = data;

	child->told = 1;
	return child->ran;
}

static void do_fork_late(struct tap_tool *tool, u64 ns)
{
	struct do_fork_event event = { .late = 1, .first_ns = ns };

	if (do_fork_summary) {
		do_fork_count_first(tool, ns);
		return;
	}
	tap_names_set(&event.names, current);
	event.pid = event.names.tid;
	event.ns_pid = task_pid_nr_ns(current, task_active_pid_ns(current));
	tap_stream_write(&tool->stream, &event,
			 offsetof(struct do_fork_event, set_tid));
}

/* schedule_tail() is the first that a new task does; interrupts are off. */
static __always_inline void do_fork_first_run_body(struct tap_tool *tool,
						   const struct tap_args *args)
{
	u64 key = do_fork_child_key(current);
	u64 now = ktime_get_mono_fast_ns();
	struct do_fork_child child;

	preempt_disable_notrace();
	if (tap_inflight_update(&do_fork_children, key, do_fork_runs, &now) &&
	    tap_inflight_take(&do_fork_children, key, &child))
		do_fork_late(tool, now - child.woken);
	preempt_enable_notrace();
}
TAP_BARE(do_fork_first_run, do_fork_first_run_body);

/* --- beginnings and ends ----------------------------------------------- */

/* Which system call is this, of a task of user space? */
static enum do_fork_call do_fork_which(void)
{
	u32 nr = syscall_get_nr(current, task_pt_regs(current));

	if (current->flags & PF_KTHREAD)
		return DO_FORK_NO_CALL;
#ifdef TAP_NR_32
	if (tap_syscall_is_compat()) {
		switch (nr) {
		case TAP_NR_32(clone):
			return DO_FORK_CLONE;
		case TAP_NR_32(clone3):
			return DO_FORK_CLONE3;
		case TAP_NR_32(fork):
			return DO_FORK_A_FORK;
		case TAP_NR_32(vfork):
			return DO_FORK_A_VFORK;
		}
		return DO_FORK_NO_CALL;
	}
#endif
	switch (nr & ~TAP_X32_BIT) {
	case __NR_clone:
		return DO_FORK_CLONE;
	case __NR_clone3:
		return DO_FORK_CLONE3;
#ifdef __NR_fork
	case __NR_fork:
		return DO_FORK_A_FORK;
	case __NR_vfork:
		return DO_FORK_A_VFORK;
#endif
	}
	return DO_FORK_NO_CALL;
}

static void do_fork_call(struct do_fork_event *event, enum do_fork_call call)
{
	unsigned long args[6];

	event->nr = call;
	if (call == DO_FORK_NO_CALL)
		return;
	syscall_get_arguments(current, task_pt_regs(current), args);
	memcpy(event->call, args, sizeof(event->call));
	if (call == DO_FORK_CLONE && tap_clone_is_backwards())
		swap(event->call[3], event->call[4]);
}

static struct do_fork_begun *do_fork_begin(struct tap_tool *tool,
					   enum do_fork_stage stage)
{
	struct do_fork_begun *begun;

	begun = tap_inflight_own(&tool->begun, (uintptr_t)current);
	if (!begun)
		return NULL;
	/* one whose end was not seen: an oops */
	if (unlikely(begun->begin))
		memset(begun, 0, sizeof(*begun));
	begun->stage = stage;
	begun->event.stages = BIT(stage);
	tap_names_set(&begun->event.names, current);
	if (current->flags & PF_KTHREAD)
		begun->event.kind = DO_FORK_KERNEL;
	begun->begin = ktime_get_mono_fast_ns();
	begun->since = begun->begin;
	return begun;
}

/* The arguments of kernel_clone() and copy_process(). */
static void do_fork_arguments(struct do_fork_event *event,
			      const struct kernel_clone_args *args)
{
	event->flags = args->flags;
	event->parent_tid = (uintptr_t)args->parent_tid;
	event->child_tid = (uintptr_t)args->child_tid;
	event->pidfd = (uintptr_t)args->pidfd;
	event->exit_signal = args->exit_signal;
	event->cgroup = args->cgroup;
	if (event->kind == DO_FORK_KERNEL || event->kind == DO_FORK_IO_WORKER)
		return;
	/* before 6.1 these are a function of the kernel's and its argument */
	event->stack = args->stack;
	event->stack_size = args->stack_size;
	event->tls = args->tls;
	event->set_tid_size = min_t(size_t, args->set_tid_size,
				    ARRAY_SIZE(event->set_tid));
	memcpy(event->set_tid, args->set_tid,
	       event->set_tid_size * sizeof(*event->set_tid));
	if (args->flags & CLONE_THREAD)
		event->kind = DO_FORK_A_THREAD;
	else if (args->flags & CLONE_VFORK)
		event->kind = DO_FORK_VFORK;
}

static u32 do_fork_word(u64 address)
{
	u32 word = 0;

	if (address &&
	    copy_from_user_nofault(&word, u64_to_user_ptr(address), sizeof(word)))
		word = 0;
	return word;
}

void do_fork_words(struct do_fork_begun *begun)
{
	struct do_fork_event *event = &begun->event;

	begun->words = 1;
	if (event->kind == DO_FORK_KERNEL || event->kind == DO_FORK_IO_WORKER)
		return;
	event->word[0] = do_fork_word(event->parent_tid);
	event->word[1] = event->child_tid == event->parent_tid ? event->word[0] :
			 do_fork_word(event->child_tid);
}

static void do_fork_finish(struct tap_tool *tool, struct do_fork_begun *begun)
{
	struct do_fork_event *event = &begun->event;
	struct do_fork_child child;

	/* the stage that it ends in */
	do_fork_enter(begun, begun->stage);
	event->total_ns = begun->since - begun->begin;
	if (!begun->words)
		do_fork_words(begun);
	if (event->kind == DO_FORK_IO_WORKER && event->result >= 0) {
		/* it is woken when this is over */
		do_fork_woken(begun, true);
	} else if (event->first == DO_FORK_PENDING && !do_fork_summary &&
		   tap_inflight_update(&do_fork_children, begun->child,
				       do_fork_has_run, NULL) &&
		   tap_inflight_take(&do_fork_children, begun->child, &child)) {
		event->first = DO_FORK_RAN;
		event->first_ns = child.ran - child.woken;
	}
	if (do_fork_summary)
		do_fork_count(tool, event);
	else
		tap_stream_write(&tool->stream, event,
				 offsetof(struct do_fork_event, set_tid) +
				 event->set_tid_size * sizeof(*event->set_tid));
	tap_inflight_take(&tool->begun, (uintptr_t)current, NULL);
}

/* --- system calls and their functions ---------------------------------- */

bool do_fork_clone3_entry(struct tap_tool *tool, const struct tap_args *args,
			  void *data)
{
	struct do_fork_begun *begun;

	if (!READ_ONCE(do_fork_ready) || !tap_wanted(tool, current))
		return false;
	begun = do_fork_begin(tool, DO_FORK_ARGUMENTS);
	if (!begun)
		return false;
	do_fork_call(&begun->event, DO_FORK_CLONE3);
	return true;
}

bool do_fork_clone_entry(struct tap_tool *tool, const struct tap_args *args,
			 void *data)
{
	struct do_fork_begun *begun;
	enum do_fork_call call;

	if (!READ_ONCE(do_fork_ready))
		return false;
	begun = do_fork_find(tool);
	if (begun && begun->stage == DO_FORK_ARGUMENTS) {
		do_fork_enter(begun, DO_FORK_CHECK);
	} else {
		call = do_fork_which();
		/* not wanted, or counted as lost */
		if (call == DO_FORK_CLONE3 && do_fork_hooked(DO_FORK_ARGUMENTS))
			return false;
		if (!tap_wanted(tool, current))
			return false;
		begun = do_fork_begin(tool, DO_FORK_CHECK);
		if (!begun)
			return false;
		do_fork_call(&begun->event, call);
	}
	do_fork_arguments(&begun->event, (void *)tap_arg(args, 0));
	return true;
}

/* Of clone3(), too: there it is over already, unless kernel_clone() was not reached. */
void do_fork_clone_return(struct tap_tool *tool, void *data, unsigned long value)
{
	struct do_fork_begun *begun = do_fork_find(tool);

	if (!begun)
		return;
	begun->event.result = value;
	do_fork_finish(tool, begun);
}

/* Workers come here directly, and only their return is of interest. */
bool do_fork_copy_entry(struct tap_tool *tool, const struct tap_args *args,
			void *data)
{
	const struct kernel_clone_args *clone = (void *)tap_arg(args, 3);
	struct do_fork_begun *begun = do_fork_find(tool);

	if (begun && begun->stage == DO_FORK_CHECK) {
		begun->event.trace = tap_arg(args, 1);
		do_fork_enter(begun, DO_FORK_COPY_PROCESS);
		return false;
	}
	if (!tap_clone_is_worker(clone) || !READ_ONCE(do_fork_ready) ||
	    !tap_wanted(tool, current))
		return false;
	begun = do_fork_begin(tool, DO_FORK_COPY_PROCESS);
	if (!begun)
		return false;
	begun->event.kind = DO_FORK_IO_WORKER;
	do_fork_arguments(&begun->event, clone);
	return true;
}

void do_fork_copy_return(struct tap_tool *tool, void *data, unsigned long value)
{
	struct do_fork_begun *begun = do_fork_find(tool);

	if (!begun)
		return;
	if (IS_ERR_VALUE(value))
		begun->event.result = value;
	do_fork_finish(tool, begun);
}
