// SPDX-License-Identifier: GPL-2.0-only
/*
 * do_fork as a stream: what JSON has of an event.
 */
#include "do_fork.h"

static void do_fork_json_event(const struct tap_row *row, char *buf, size_t size)
{
	const struct do_fork_event *event = row->key;

	strscpy(buf, event->late ? "first_run" : "group", size);
}

static void do_fork_json_kind(const struct tap_row *row, char *buf, size_t size)
{
	strscpy(buf, do_fork_kind_name(row->key), size);
}

static void do_fork_json_call(const struct tap_row *row, char *buf, size_t size)
{
	strscpy(buf, do_fork_call_name(row->key), size);
}

static void do_fork_json_trace(const struct tap_row *row, char *buf, size_t size)
{
	do_fork_trace(row->key, buf, size);
}

static void do_fork_json_last(const struct tap_row *row, char *buf, size_t size)
{
	const struct do_fork_event *event = row->key;
	unsigned int last = fls(event->stages);

	if (last)
		do_fork_name(buf, size, last - 1, do_fork_next(event, last - 1));
}

static void do_fork_json_first(const struct tap_row *row, char *buf, size_t size)
{
	static const char *const names[] = { "none", "seen", "pending", "unknown" };
	const struct do_fork_event *event = row->key;

	strscpy(buf, event->late ? "seen" : names[event->first], size);
}

#define AT(type, member) TAP_AT(type, struct do_fork_event, member)
#define NS(name, stage) { .json = name "_ns", AT(TAP_U64, ns[DO_FORK_##stage]) }

static const struct tap_column do_fork_columns[] = {
	{ .json = "event", .type = TAP_FN, .fn = do_fork_json_event },
	{ .json = "kind", .type = TAP_FN, .fn = do_fork_json_kind },
	{ .json = "call", .type = TAP_FN, .fn = do_fork_json_call },
	{ .json = "pid", AT(TAP_INT, names.pid) },
	TAP_JSON_NAMES(0),
	{ .json = "clone_flags", AT(TAP_U64, flags) },
	{ .json = "stack_start", AT(TAP_U64, stack) },
	{ .json = "stack_size", AT(TAP_U64, stack_size) },
	{ .json = "parent_tidptr", AT(TAP_U64, parent_tid) },
	{ .json = "child_tidptr", AT(TAP_U64, child_tid) },
	{ .json = "tls", AT(TAP_U64, tls) },
	{ .json = "exit_signal", AT(TAP_INT, exit_signal) },
	{ .json = "trace", .type = TAP_FN, .fn = do_fork_json_trace },
	{ .json = "parent_tid", AT(TAP_INT, word[0]) },
	{ .json = "child_tid", AT(TAP_INT, word[1]) },
	{ .json = "child_pid", AT(TAP_INT, pid) },
	{ .json = "child_ns_pid", AT(TAP_INT, ns_pid) },
	{ .json = "return", AT(TAP_INT, result) },
	{ .json = "errno", AT(TAP_ERRNO, result) },
	{ .json = "last_stage", .type = TAP_FN, .fn = do_fork_json_last },
	NS("arguments", ARGUMENTS),
	NS("check", CHECK),
	NS("flags", COPY_PROCESS),
	NS("task_struct", TASK_STRUCT),
	NS("creds", CREDS),
	NS("sched", SCHED),
	NS("perf", PERF),
	NS("security", SECURITY),
	NS("semundo", SEMUNDO),
	NS("files", FILES),
	NS("fs", FS),
	NS("mm", MM),
	NS("namespaces", NAMESPACES),
	NS("thread", THREAD),
	NS("pid", PID),
	NS("cgroup", CGROUP),
	NS("tasklist", TASKLIST),
	NS("newtask", NEWTASK),
	NS("parent_settid", PARENT_SETTID),
	NS("wake_up_new_task", WAKE),
	NS("ptrace_event", PTRACE),
	NS("vfork_wait", VFORK_WAIT),
	NS("vfork_done", VFORK_DONE),
	{ .json = "total_ns", AT(TAP_U64, total_ns) },
	{ .json = "first_run", .type = TAP_FN, .fn = do_fork_json_first },
	{ .json = "first_run_ns", AT(TAP_U64, first_ns) },
};

/* The documented output has none. */
static void do_fork_header(struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
}

static void do_fork_show(struct tap_text *text, const struct tap_row *row,
			 const struct tap_snapshot *snapshot)
{
	do_fork_text(text, row->key, READ_ONCE(do_fork.escape));
}

void do_fork_use_events(struct tap_tool *tool)
{
	tool->event_size = sizeof(struct do_fork_event);
	tool->columns = do_fork_columns;
	tool->nr_columns = ARRAY_SIZE(do_fork_columns);
	tool->header = do_fork_header;
	tool->show = do_fork_show;
}
