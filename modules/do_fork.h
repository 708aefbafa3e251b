/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of do_fork share: the stages, an event, the handlers, and how
 * an event is written.
 */
#ifndef TAP_DO_FORK_H
#define TAP_DO_FORK_H

#include <linux/ktime.h>
#include <linux/pid_namespace.h>

#include "tap.h"

/*
 * A stage is the time from one mark to the next. Marks are what is callable in
 * kernel_clone() and copy_process(), in the order of the calls; most of what
 * copies a piece is inlined.
 */
enum do_fork_stage {
	DO_FORK_ARGUMENTS,	/* clone3: from user memory */
	DO_FORK_CHECK,		/* kernel_clone() */
	DO_FORK_COPY_PROCESS,
	DO_FORK_TASK_STRUCT,
	DO_FORK_CREDS,
	DO_FORK_SCHED,
	DO_FORK_PERF,
	DO_FORK_SECURITY,
	DO_FORK_SEMUNDO,
	DO_FORK_FILES,
	DO_FORK_FS,
	DO_FORK_MM,
	DO_FORK_NAMESPACES,
	DO_FORK_THREAD,
	DO_FORK_PID,
	DO_FORK_CGROUP,
	DO_FORK_TASKLIST,
	DO_FORK_NEWTASK,	/* the last one in copy_process() */
	DO_FORK_PARENT_SETTID,
	DO_FORK_WAKE,
	DO_FORK_PTRACE,		/* these come to pass or not */
	DO_FORK_VFORK_WAIT,
	DO_FORK_VFORK_DONE,
	DO_FORK_STAGES,
	DO_FORK_PROBES = DO_FORK_STAGES + 2,
	/* rows of the summary that are none */
	DO_FORK_FIRST_RUN = DO_FORK_STAGES,
	DO_FORK_TOTAL = DO_FORK_STAGES + 1,
};

/* Marks that are the entry of a function and no more: stage, function. */
#define DO_FORK_MARKS(mark)						\
	mark(TASK_STRUCT, arch_dup_task_struct)				\
	mark(CREDS, copy_creds)						\
	mark(SCHED, sched_fork)						\
	mark(PERF, perf_event_init_task)				\
	mark(SECURITY, security_task_alloc)				\
	mark(SEMUNDO, copy_semundo)					\
	mark(FILES, dup_fd)						\
	mark(FS, copy_fs_struct)					\
	mark(MM, dup_mmap)						\
	mark(NAMESPACES, copy_namespaces)				\
	mark(THREAD, copy_thread)					\
	mark(PID, alloc_pid)						\
	mark(CGROUP, cgroup_can_fork)					\
	mark(TASKLIST, sched_cgroup_fork)

enum do_fork_kind {
	DO_FORK_PROCESS,
	DO_FORK_A_THREAD,
	DO_FORK_VFORK,
	DO_FORK_KERNEL,
	DO_FORK_IO_WORKER,
};

enum do_fork_call {
	DO_FORK_NO_CALL,
	DO_FORK_CLONE,
	DO_FORK_CLONE3,
	DO_FORK_A_FORK,
	DO_FORK_A_VFORK,
};

/* What became of the child: no child, running, to run, or no room to follow it. */
enum do_fork_first {
	DO_FORK_NO_CHILD,
	DO_FORK_RAN,
	DO_FORK_PENDING,
	DO_FORK_UNKNOWN,
};

/* A process or thread is created or refused; or with @late, it runs at last. */
struct do_fork_event {
	struct tap_names names;		/* who creates; with @late, who is created */
	u64 flags;			/* these are kernel_clone()'s arguments */
	u64 stack;
	u64 stack_size;
	u64 parent_tid;
	u64 child_tid;
	u64 pidfd;
	u64 tls;
	u64 call[5];			/* the system call's arguments */
	u64 ns[DO_FORK_STAGES];
	u64 total_ns;
	u64 first_ns;			/* from when it was woken to its first run */
	u32 stages;			/* those that were reached */
	s32 result;			/* a pid in the creator's namespace, or an error */
	u32 word[2];			/* where parent_tid and child_tid point */
	pid_t pid;
	pid_t ns_pid;			/* in its own namespace */
	s32 trace;			/* a PTRACE_EVENT_, 0: none */
	s32 exit_signal;
	s32 cgroup;
	u8 kind;
	u8 nr;				/* enum do_fork_call */
	u8 first;
	u8 late;
	u32 set_tid_size;
	pid_t set_tid[MAX_PID_NS_LEVEL + 1];	/* only so many are written */
};

/* One that has begun. */
struct do_fork_begun {
	u64 begin;
	u64 since;			/* the stage began */
	u64 child;			/* key in do_fork_children */
	u32 stage;
	u32 words;			/* event.word is read */
	struct do_fork_event event;
};

/* The key of a row of the summary: what lies between two marks. */
struct do_fork_key {
	u16 first;
	u16 part;			/* 0: copy_process with all that is in it */
	u16 next;
	u16 pad;
};

enum do_fork_sum {
	DO_FORK_COUNT,			/* of the row of the total */
	DO_FORK_PART,			/* of any other */
	DO_FORK_REFUSED,
	DO_FORK_TIMES,
};

extern struct tap_tool do_fork;
extern struct tap_probe do_fork_probes[DO_FORK_PROBES];
extern bool do_fork_summary;		/* parameter summary */
extern u32 do_fork_shown;		/* parameter stages, a mask */
extern bool do_fork_ready;		/* everything is attached */
extern struct tap_inflight do_fork_children;	/* woken, and have not run or been told of */

/* What makes it the one or the other, before all else. */
void do_fork_use_events(struct tap_tool *tool);
void do_fork_use_summary(struct tap_tool *tool);

/* Is this mark there on this kernel? Context: any. */
bool do_fork_hooked(enum do_fork_stage stage);

/* The stage after this one, of those that were, or would have been, reached. */
unsigned int do_fork_next(const struct do_fork_event *event, unsigned int stage);

/* The name of what lies between two marks. */
void do_fork_name(char *buf, size_t size, unsigned int first, unsigned int next);

/* A mask of stages from a list of names; 0 and a line if it is none. */
u32 do_fork_parse(const char *list, struct tap_text *why);

/* Writes an event's lines. */
void do_fork_text(struct tap_text *text, const struct do_fork_event *event,
		  bool escape);

/* Names of what is in an event. */
const char *do_fork_kind_name(const struct do_fork_event *event);
const char *do_fork_call_name(const struct do_fork_event *event);
void do_fork_trace(const struct do_fork_event *event, char *buf, size_t size);

/* Adds an event to the summary; CPU pinned. */
void do_fork_count(struct tap_tool *tool, const struct do_fork_event *event);
void do_fork_count_first(struct tap_tool *tool, u64 ns);

/* For handlers: what is known of the creation that this thread is in. CPU pinned. */
static inline struct do_fork_begun *do_fork_find(struct tap_tool *tool)
{
	return tap_inflight_find(&tool->begun, (uintptr_t)current);
}

/* One stage ends, another begins. */
static __always_inline void do_fork_enter(struct do_fork_begun *begun,
					  enum do_fork_stage stage)
{
	u64 now = ktime_get_mono_fast_ns();

	begun->event.ns[begun->stage] += now - begun->since;
	begun->event.stages |= BIT(stage);
	begun->since = now;
	begun->stage = stage;
}

/*
 * A child, in do_fork_children. A task's memory can be another's by the time that
 * its creator looks, and its number, too; both at once cannot.
 */
static inline u64 do_fork_child_key(const struct task_struct *child)
{
	return (u64)child->pid << 32 | (u32)((uintptr_t)child >> 4);
}

/* It is woken; @told: its creator's event says so already. CPU pinned. */
void do_fork_woken(struct do_fork_begun *begun, bool told);

/* Reads what parent_tid and child_tid point to. */
void do_fork_words(struct do_fork_begun *begun);

/* Handlers. */
bool do_fork_clone3_entry(struct tap_tool *tool, const struct tap_args *args,
			  void *data);
bool do_fork_clone_entry(struct tap_tool *tool, const struct tap_args *args,
			 void *data);
void do_fork_clone_return(struct tap_tool *tool, void *data, unsigned long value);
bool do_fork_copy_entry(struct tap_tool *tool, const struct tap_args *args,
			void *data);
void do_fork_copy_return(struct tap_tool *tool, void *data, unsigned long value);
TAP_TASK_NEWTASK(do_fork_newtask);
void do_fork_process(void *data, struct task_struct *parent,
		     struct task_struct *child);
TAP_BARE_HANDLER(do_fork_wake);
TAP_BARE_HANDLER(do_fork_ptrace);
TAP_BARE_HANDLER(do_fork_wait);
TAP_BARE_HANDLER(do_fork_waited);
TAP_BARE_HANDLER(do_fork_first_run);
TAP_BARE_HANDLER(do_fork_at_arch_dup_task_struct);
TAP_BARE_HANDLER(do_fork_at_copy_creds);
TAP_BARE_HANDLER(do_fork_at_sched_fork);
TAP_BARE_HANDLER(do_fork_at_perf_event_init_task);
TAP_BARE_HANDLER(do_fork_at_security_task_alloc);
TAP_BARE_HANDLER(do_fork_at_copy_semundo);
TAP_BARE_HANDLER(do_fork_at_dup_fd);
TAP_BARE_HANDLER(do_fork_at_copy_fs_struct);
TAP_BARE_HANDLER(do_fork_at_dup_mmap);
TAP_BARE_HANDLER(do_fork_at_copy_namespaces);
TAP_BARE_HANDLER(do_fork_at_copy_thread);
TAP_BARE_HANDLER(do_fork_at_alloc_pid);
TAP_BARE_HANDLER(do_fork_at_cgroup_can_fork);
TAP_BARE_HANDLER(do_fork_at_sched_cgroup_fork);

#endif /* TAP_DO_FORK_H */
