// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is hooked: a probe for each stage, where it begins, and two more.
 */
#include "do_fork.h"

#define DO_FORK_PROBE(stage, fn)						\
	[DO_FORK_##stage] = {							\
		.type = TAP_FUNCTION,						\
		.name = { #fn },							\
		.without = "the stage before it has both names",		\
		.function = do_fork_at_##fn,					\
		.bare = do_fork_at_##fn##_bare,				\
	},

#define DO_FORK_OPTIONAL(stage, handler, missing, ...)			\
	[stage] = {								\
		.type = TAP_FUNCTION,						\
		.name = { __VA_ARGS__ },					\
		.without = (missing),						\
		.function = (handler),						\
		.bare = handler##_bare,						\
	}

#define DO_FORK_RETURN(handler, returns)					\
	.type = TAP_RETURN,							\
	.needs = "CONFIG_KRETPROBES",						\
	.entry = (handler),							\
	.ret = (returns)

struct tap_probe do_fork_probes[DO_FORK_PROBES] = {
	[DO_FORK_ARGUMENTS] = {
		DO_FORK_RETURN(do_fork_clone3_entry, do_fork_clone_return),
		.name = { "__x64_sys_clone3", "__arm64_sys_clone3" },
		.without = "a clone3() whose arguments are refused is not shown",
	},
	[DO_FORK_CHECK] = {
		DO_FORK_RETURN(do_fork_clone_entry, do_fork_clone_return),
		.name = { "kernel_clone" },
	},
	[DO_FORK_COPY_PROCESS] = {
		DO_FORK_RETURN(do_fork_copy_entry, do_fork_copy_return),
		.name = { "copy_process" },
	},
	DO_FORK_MARKS(DO_FORK_PROBE)
	[DO_FORK_NEWTASK] = TAP_PROBE("task_newtask", do_fork_newtask,
				      "CONFIG_TRACEPOINTS", NULL),
	[DO_FORK_PARENT_SETTID] = TAP_PROBE("sched_process_fork", do_fork_process,
					    "CONFIG_TRACEPOINTS", NULL),
	DO_FORK_OPTIONAL(DO_FORK_WAKE, do_fork_wake,
			 "the first run of children is not seen", "wake_up_new_task"),
	DO_FORK_OPTIONAL(DO_FORK_PTRACE, do_fork_ptrace,
			 "stops for a debugger are part of the stage before",
			 "ptrace_notify"),
	DO_FORK_OPTIONAL(DO_FORK_VFORK_WAIT, do_fork_wait,
			 "the wait of vfork is part of the stage before",
			 "wait_for_completion_state",
			 "wait_for_completion_killable"),
	DO_FORK_OPTIONAL(DO_FORK_VFORK_DONE, do_fork_waited,
			 "the end of vfork is part of the stage before",
			 "cgroup_leave_frozen"),
	DO_FORK_OPTIONAL(DO_FORK_STAGES, do_fork_first_run,
			 "the first run of children is not seen", "schedule_tail"),
	[DO_FORK_STAGES + 1] = {
		DO_FORK_RETURN(do_fork_clone3_entry, do_fork_clone_return),
		.name = { "__ia32_sys_clone3" },
		.without = "",
	},
};

bool do_fork_hooked(enum do_fork_stage stage)
{
	return READ_ONCE(do_fork_probes[stage].bound);
}
