// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of do_fork: the documented ones, whose prefix and first fields are
 * what they always were, and the stages between them.
 */
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/signal.h>

#include "do_fork.h"

/* The pieces that are copied from each mark on, and what a mark needs. */
static const struct {
	const char *pieces;
	u64 without;		/* with this flag the function is not called */
} do_fork_stages[DO_FORK_STAGES] = {
	[DO_FORK_ARGUMENTS] = { "arguments" },
	[DO_FORK_CHECK] = { "check" },
	[DO_FORK_COPY_PROCESS] = { "flags+signals" },
	[DO_FORK_TASK_STRUCT] = { "task_struct" },
	[DO_FORK_CREDS] = { "creds+limits" },
	[DO_FORK_SCHED] = { "sched" },
	[DO_FORK_PERF] = { "perf+audit" },
	[DO_FORK_SECURITY] = { "security" },
	[DO_FORK_SEMUNDO] = { "semundo" },
	[DO_FORK_FILES] = { "files", CLONE_FILES },
	[DO_FORK_FS] = { "fs+sighand+signal", CLONE_FS },
	[DO_FORK_MM] = { "mm", CLONE_VM },
	[DO_FORK_NAMESPACES] = { "namespaces+io" },
	[DO_FORK_THREAD] = { "thread" },
	[DO_FORK_PID] = { "pid+pidfd" },
	[DO_FORK_CGROUP] = { "cgroup" },
	[DO_FORK_TASKLIST] = { "tasklist" },
	[DO_FORK_NEWTASK] = { "newtask" },
	[DO_FORK_PARENT_SETTID] = { "parent_settid" },
	[DO_FORK_WAKE] = { "wake_up_new_task" },
	[DO_FORK_PTRACE] = { "ptrace_event" },
	[DO_FORK_VFORK_WAIT] = { "vfork_wait" },
	[DO_FORK_VFORK_DONE] = { "vfork_done" },
};

/* uapi/linux/sched.h, in the order of their bits. */
static const struct {
	u64 bit;
	const char *name;
} do_fork_flags[] = {
#define FLAG(name) { CLONE_##name, "CLONE_" #name }
	FLAG(NEWTIME), FLAG(VM), FLAG(FS), FLAG(FILES), FLAG(SIGHAND), FLAG(PIDFD),
	FLAG(PTRACE), FLAG(VFORK), FLAG(PARENT), FLAG(THREAD), FLAG(NEWNS),
	FLAG(SYSVSEM), FLAG(SETTLS), FLAG(PARENT_SETTID), FLAG(CHILD_CLEARTID),
	FLAG(DETACHED), FLAG(UNTRACED), FLAG(CHILD_SETTID), FLAG(NEWCGROUP),
	FLAG(NEWUTS), FLAG(NEWIPC), FLAG(NEWUSER), FLAG(NEWPID), FLAG(NEWNET),
	FLAG(IO), FLAG(CLEAR_SIGHAND), FLAG(INTO_CGROUP),
};

static const char *const do_fork_signals[] = {
	"0", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS",
	"SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM",
	"SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN",
	"SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH",
	"SIGIO", "SIGPWR", "SIGSYS",
};

/* --- stages ------------------------------------------------------------ */

unsigned int do_fork_next(const struct do_fork_event *event, unsigned int stage)
{
	u32 later = event->stages & ~GENMASK(stage, 0);
	unsigned int next = stage + 1;

	/* each of these is one by itself, and need not come to pass */
	if (stage < DO_FORK_COPY_PROCESS || stage >= DO_FORK_PARENT_SETTID)
		return next;
	if (later)
		return __ffs(later);
	/* how far it would have gone */
	while (next < DO_FORK_NEWTASK &&
	       (!do_fork_hooked(next) || (do_fork_stages[next].without & event->flags)))
		next++;
	return next;
}

void do_fork_name(char *buf, size_t size, unsigned int first, unsigned int next)
{
	size_t len = scnprintf(buf, size, "%s", do_fork_stages[first].pieces);

	while (++first < next && first < DO_FORK_STAGES)
		len += scnprintf(buf + len, size - len, "+%s",
				 do_fork_stages[first].pieces);
}

/* Is this one of the names that are joined by '+'? */
static bool do_fork_has(const char *pieces, const char *name, size_t len)
{
	size_t n;

	for (;; pieces += n + 1) {
		n = strcspn(pieces, "+");
		if (n == len && !memcmp(pieces, name, len))
			return true;
		if (!pieces[n])
			return false;
	}
}

u32 do_fork_parse(const char *list, struct tap_text *why)
{
	const char *name = list;
	unsigned int i;
	size_t len;
	u32 all = 0;

	for (;; name += len + 1) {
		u32 one = 0;

		len = strcspn(name, ",");
		for (i = 0; i < DO_FORK_STAGES; i++)
			if (len && do_fork_has(do_fork_stages[i].pieces, name, len))
				one |= BIT(i);
		if (!one)
			break;
		all |= one;
		if (!name[len])
			return all;
	}
	tap_printf(why, "names of stages joined with commas:");
	for (i = 0; i < DO_FORK_STAGES; i++)
		tap_printf(why, " %s", do_fork_stages[i].pieces);
	return 0;
}

/* Nanoseconds as microseconds. */
static void do_fork_stage(struct tap_text *text, int depth, const char *name, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, NSEC_PER_USEC, &rest);

	tap_printf(text, "%*s%-*s %10llu.%03u us\n", 2 * depth, "", 44 - 2 * depth,
		   name, us, rest);
}

static void do_fork_stage_lines(struct tap_text *text,
				const struct do_fork_event *event)
{
	u32 rest, shown = READ_ONCE(do_fork_shown);
	char name[128];
	unsigned int i;
	u64 copy = 0;

	for (i = DO_FORK_COPY_PROCESS; i <= DO_FORK_NEWTASK; i++)
		copy += event->ns[i];
	for (rest = event->stages; rest; rest &= rest - 1) {
		unsigned int stage = __ffs(rest);
		unsigned int next = do_fork_next(event, stage);
		bool inside = stage >= DO_FORK_COPY_PROCESS && stage <= DO_FORK_NEWTASK;

		if (stage == DO_FORK_COPY_PROCESS)
			do_fork_stage(text, 1, "copy_process", copy);
		if (!(shown & GENMASK(next - 1, stage)))
			continue;
		do_fork_name(name, sizeof(name), stage, next);
		do_fork_stage(text, 1 + inside, name, event->ns[stage]);
	}
	do_fork_stage(text, 1, "total", event->total_ns);
	switch (event->first) {
	case DO_FORK_RAN:
		do_fork_stage(text, 1, "first run after", event->first_ns);
		break;
	case DO_FORK_PENDING:
		tap_printf(text, "  first run: pending\n");
		break;
	case DO_FORK_UNKNOWN:
		tap_printf(text, "  first run: unknown\n");
		break;
	}
}

/* --- names ------------------------------------------------------------- */

const char *do_fork_kind_name(const struct do_fork_event *event)
{
	static const char *const names[] = {
		[DO_FORK_PROCESS] = "process",
		[DO_FORK_A_THREAD] = "thread",
		[DO_FORK_VFORK] = "vfork",
		[DO_FORK_KERNEL] = "kernel",
		[DO_FORK_IO_WORKER] = "io_worker",
	};

	return event->late ? "" : names[event->kind];
}

const char *do_fork_call_name(const struct do_fork_event *event)
{
	static const char *const names[] = {
		[DO_FORK_NO_CALL] = "",
		[DO_FORK_CLONE] = "sys_clone",
		[DO_FORK_CLONE3] = "sys_clone3",
		[DO_FORK_A_FORK] = "sys_fork",
		[DO_FORK_A_VFORK] = "sys_vfork",
	};

	return names[event->nr];
}

static const char *do_fork_trace_name(s32 trace)
{
	switch (trace) {
	case PTRACE_EVENT_FORK:
		return "PTRACE_EVENT_FORK";
	case PTRACE_EVENT_VFORK:
		return "PTRACE_EVENT_VFORK";
	case PTRACE_EVENT_CLONE:
		return "PTRACE_EVENT_CLONE";
	}
	return "none";
}

/* What kernel_clone() chooses from, and what it has chosen. */
void do_fork_trace(const struct do_fork_event *event, char *buf, size_t size)
{
	const char *would = event->flags & CLONE_VFORK ? "vfork" :
			    event->exit_signal != SIGCHLD ? "clone" : "fork";

	if (event->late)
		return;
	if (event->trace)
		strscpy(buf, do_fork_trace_name(event->trace), size);
	else if (event->flags & CLONE_UNTRACED)
		strscpy(buf, "none(CLONE_UNTRACED)", size);
	else
		scnprintf(buf, size, "none(%s not traced)", would);
}

static void do_fork_signal(struct tap_text *text, u32 signal)
{
	if (signal < ARRAY_SIZE(do_fork_signals))
		tap_printf(text, "%s", do_fork_signals[signal]);
	else
		tap_printf(text, "%u", signal);
}

/* As strace does; clone() has a signal in the lowest byte. */
static void do_fork_flag_names(struct tap_text *text, u64 flags, bool has_signal)
{
	u32 signal = has_signal ? flags & CSIGNAL : 0;
	const char *gap = "";
	unsigned int i;

	tap_printf(text, "clone_flags=0x%llx(", flags);
	flags -= signal;
	for (i = 0; i < ARRAY_SIZE(do_fork_flags); i++) {
		if (!(flags & do_fork_flags[i].bit))
			continue;
		tap_printf(text, "%s%s", gap, do_fork_flags[i].name);
		flags &= ~do_fork_flags[i].bit;
		gap = "|";
	}
	if (flags) {
		tap_printf(text, "%s0x%llx", gap, flags);
		gap = "|";
	}
	if (signal || !*gap) {
		tap_printf(text, "%s", gap);
		do_fork_signal(text, signal);
	}
	tap_putc(text, ')');
}

/* --- lines ------------------------------------------------------------- */

static void do_fork_call_line(struct tap_text *text,
			      const struct do_fork_event *event)
{
	tap_printf(text, "%-9s ", do_fork_call_name(event));
	switch (event->nr) {
	case DO_FORK_CLONE:
		/* the upper half is not looked at */
		do_fork_flag_names(text, (u32)event->call[0], true);
		tap_printf(text, " newsp=0x%llx parent_tid=0x%llx child_tid=0x%llx tls=0x%llx",
			   event->call[1], event->call[2], event->call[3],
			   event->call[4]);
		break;
	case DO_FORK_CLONE3:
		tap_printf(text, "uargs=0x%llx size=%llu", event->call[0],
			   event->call[1]);
		break;
	}
	tap_putc(text, '\n');
}

static void do_fork_clone_line(struct tap_text *text,
			       const struct do_fork_event *event, const char *comm)
{
	char trace[40] = "";
	u32 i;

	tap_printf(text, "do_fork   ");
	do_fork_flag_names(text, event->flags, false);
	do_fork_trace(event, trace, sizeof(trace));
	tap_printf(text, " stack_start=0x%llx stack_size=0x%llx", event->stack,
		   event->stack_size);
	tap_printf(text, " parent_tidptr=0x%llx child_tidptr=0x%llx",
		   event->parent_tid, event->child_tid);
	tap_printf(text, " trace=%s exit_signal=", trace);
	do_fork_signal(text, event->exit_signal);
	tap_printf(text, " tls=0x%llx", event->tls);
	if (event->set_tid_size) {
		tap_printf(text, " set_tid=");
		for (i = 0; i < event->set_tid_size; i++)
			tap_printf(text, "%s%d", i ? "," : "", event->set_tid[i]);
	}
	if (event->flags & CLONE_INTO_CGROUP)
		tap_printf(text, " cgroup=%d", event->cgroup);
	if (event->flags & CLONE_PIDFD)
		tap_printf(text, " pidfd=0x%llx", event->pidfd);
	tap_printf(text, " kind=%s by=%s(%d)\n", do_fork_kind_name(event), comm,
		   event->names.tid);
}

/* What follows the two words of each line of a return. */
static void do_fork_return_line(struct tap_text *text,
				const struct do_fork_event *event,
				const char *function)
{
	unsigned int last = fls(event->stages) - 1;
	char name[128] = "", error[32] = "";

	tap_printf(text, "<- %-10s %d %d", function, event->word[0], event->word[1]);
	if (event->result >= 0) {
		tap_printf(text, " pid=%d ns_pid=%d return=%d\n", event->pid,
			   event->ns_pid, event->result);
		return;
	}
	tap_errno(error, sizeof(error), event->result);
	do_fork_name(name, sizeof(name), last, do_fork_next(event, last));
	tap_printf(text, " return=%d %s stage=%s\n", event->result, error, name);
}

void do_fork_text(struct tap_text *text, const struct do_fork_event *event,
		  bool escape)
{
	char comm[TAP_ESCAPED(TASK_COMM_LEN)];
	u32 rest;
	u64 us;

	if (event->late) {
		us = div_u64_rem(event->first_ns, NSEC_PER_USEC, &rest);
		tap_printf(text, "first run of %d after %llu.%03u us\n", event->pid,
			   us, rest);
		return;
	}
	if (escape)
		tap_escape(comm, sizeof(comm), event->names.thread, TASK_COMM_LEN);
	else
		strscpy(comm, event->names.thread, TASK_COMM_LEN);
	if (event->nr != DO_FORK_NO_CALL)
		do_fork_call_line(text, event);
	/* what clone3() refuses itself comes no further */
	if (event->stages & ~BIT(DO_FORK_ARGUMENTS))
		do_fork_clone_line(text, event, comm);
	do_fork_stage_lines(text, event);
	if (event->stages & ~BIT(DO_FORK_ARGUMENTS))
		do_fork_return_line(text, event, "do_fork");
	if (event->nr != DO_FORK_NO_CALL)
		do_fork_return_line(text, event, do_fork_call_name(event));
}
