// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where stages begin. These functions are called from elsewhere, too: then there
 * is nothing under the thread, or it is in another stage.
 */
#include <linux/mm_types.h>	/* trace/events need struct folio (7.x) */
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "do_fork.h"

/* Where a stage begins whose own functions are called from elsewhere, too. */
static __always_inline void do_fork_mark(struct tap_tool *tool,
					 enum do_fork_stage stage)
{
	struct do_fork_begun *begun;

	preempt_disable_notrace();
	begun = do_fork_find(tool);
	if (begun && begun->stage >= DO_FORK_COPY_PROCESS && begun->stage < stage)
		do_fork_enter(begun, stage);
	preempt_enable_notrace();
}

#define DO_FORK_MARK(stage, function)					\
static __always_inline void do_fork_##function##_body(struct tap_tool *tool,	\
						      const struct tap_args *args) \
{									\
	do_fork_mark(tool, DO_FORK_##stage);				\
}									\
TAP_BARE(do_fork_at_##function, do_fork_##function##_body)
DO_FORK_MARK(TASK_STRUCT, arch_dup_task_struct);
DO_FORK_MARK(CREDS, copy_creds);
DO_FORK_MARK(SCHED, sched_fork);
DO_FORK_MARK(PERF, perf_event_init_task);
DO_FORK_MARK(SECURITY, security_task_alloc);
DO_FORK_MARK(SEMUNDO, copy_semundo);
DO_FORK_MARK(FILES, dup_fd);
DO_FORK_MARK(FS, copy_fs_struct);
DO_FORK_MARK(MM, dup_mmap);
DO_FORK_MARK(NAMESPACES, copy_namespaces);
DO_FORK_MARK(THREAD, copy_thread);
DO_FORK_MARK(PID, alloc_pid);
DO_FORK_MARK(CGROUP, cgroup_can_fork);
DO_FORK_MARK(TASKLIST, sched_cgroup_fork);

TAP_TASK_NEWTASK(do_fork_newtask)
{
	struct tap_tool *tool = data;
	struct do_fork_begun *begun;

	preempt_disable_notrace();
	begun = do_fork_find(tool);
	if (begun && begun->stage >= DO_FORK_COPY_PROCESS) {
		do_fork_enter(begun, DO_FORK_NEWTASK);
		begun->child = do_fork_child_key(task);
		begun->event.pid = task->pid;
		begun->event.ns_pid = task_pid_nr_ns(task, task_active_pid_ns(task));
		begun->event.result = task_pid_vnr(task);
	}
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(task_newtask, do_fork_newtask);

void do_fork_process(void *data, struct task_struct *parent,
		     struct task_struct *child)
{
	do_fork_mark(data, DO_FORK_PARENT_SETTID);
}
TAP_CHECK_TRACEPOINT(sched_process_fork, do_fork_process);

/* The child clears a word when it ends, which may be soon. */
static __always_inline void do_fork_wake_body(struct tap_tool *tool,
					      const struct tap_args *args)
{
	struct do_fork_begun *begun;

	preempt_disable_notrace();
	begun = do_fork_find(tool);
	if (begun && begun->child && begun->stage < DO_FORK_WAKE) {
		do_fork_words(begun);
		do_fork_enter(begun, DO_FORK_WAKE);
		do_fork_woken(begun, false);
	}
	preempt_enable_notrace();
}
TAP_BARE(do_fork_wake, do_fork_wake_body);

/* From one of some stages to another. */
static __always_inline void do_fork_step(struct tap_tool *tool,
					 enum do_fork_stage from,
					 enum do_fork_stage to,
					 enum do_fork_stage stage)
{
	struct do_fork_begun *begun;

	preempt_disable_notrace();
	begun = do_fork_find(tool);
	if (begun && begun->stage >= from && begun->stage <= to)
		do_fork_enter(begun, stage);
	preempt_enable_notrace();
}

/* The event that tells of the end of vfork is part of that. */
static __always_inline void do_fork_ptrace_body(struct tap_tool *tool,
						const struct tap_args *args)
{
	do_fork_step(tool, DO_FORK_WAKE, DO_FORK_WAKE, DO_FORK_PTRACE);
}
TAP_BARE(do_fork_ptrace, do_fork_ptrace_body);

static __always_inline void do_fork_wait_body(struct tap_tool *tool,
					      const struct tap_args *args)
{
	do_fork_step(tool, DO_FORK_WAKE, DO_FORK_PTRACE, DO_FORK_VFORK_WAIT);
}
TAP_BARE(do_fork_wait, do_fork_wait_body);

/* cgroup_leave_frozen() */
static __always_inline void do_fork_waited_body(struct tap_tool *tool,
						const struct tap_args *args)
{
	do_fork_step(tool, DO_FORK_VFORK_WAIT, DO_FORK_VFORK_WAIT,
		     DO_FORK_VFORK_DONE);
}
TAP_BARE(do_fork_waited, do_fork_waited_body);
