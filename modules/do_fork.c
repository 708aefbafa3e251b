// SPDX-License-Identifier: GPL-2.0-only
/*
 * do_fork - how a process comes to be, stage by stage
 *
 * A group of lines is one process or thread that is created, or refused: the
 * system call, kernel_clone() (once do_fork()) with its arguments, how long each
 * stage took, and what is returned. With summary=1 it is a table of the stages.
 */
#include "do_fork.h"

bool do_fork_summary;
u32 do_fork_shown;
static char *do_fork_list;

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

#define DO_FORK_RETURN(handler)						\
	.type = TAP_RETURN,							\
	.needs = "CONFIG_KRETPROBES",						\
	.entry = handler##_entry,						\
	.ret = handler##_return

static struct tap_probe do_fork_probes[] = {
	[DO_FORK_ARGUMENTS] = {
		DO_FORK_RETURN(do_fork_clone3),
		.name = { "__x64_sys_clone3", "__arm64_sys_clone3" },
		.without = "a clone3() whose arguments are refused is not shown",
	},
	[DO_FORK_CHECK] = {
		DO_FORK_RETURN(do_fork_clone),
		.name = { "kernel_clone" },
	},
	[DO_FORK_COPY_PROCESS] = {
		DO_FORK_RETURN(do_fork_copy),
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
	{
		DO_FORK_RETURN(do_fork_clone3),
		.name = { "__ia32_sys_clone3" },
		.without = "",
	},
};

bool do_fork_hooked(enum do_fork_stage stage)
{
	return READ_ONCE(do_fork_probes[stage].bound);
}

/* --- settings ---------------------------------------------------------- */

static int do_fork_check_stages(const char *text, struct tap_text *why)
{
	return do_fork_parse(text, why) ? 0 : -EINVAL;
}

static int do_fork_apply_stages(struct tap_tool *tool, struct tap_text *why)
{
	WRITE_ONCE(do_fork_shown,
		   do_fork_list ? do_fork_parse(do_fork_list, why) : ~0u);
	return 0;
}

/* --- the summary ------------------------------------------------------- */

static void do_fork_add(struct tap_tool *tool, const struct do_fork_key *key,
			u64 ns, bool refused)
{
	struct tap_sums row = tap_row(tool, key);

	tap_add(row, key->first == DO_FORK_TOTAL ? DO_FORK_COUNT : DO_FORK_PART, 1);
	if (refused)
		tap_add(row, DO_FORK_REFUSED, 1);
	tap_add_time(row, DO_FORK_TIMES, ns, 1);
}

void do_fork_count_first(struct tap_tool *tool, u64 ns)
{
	const struct do_fork_key key = { .first = DO_FORK_FIRST_RUN };

	do_fork_add(tool, &key, ns, false);
}

void do_fork_count(struct tap_tool *tool, const struct do_fork_event *event)
{
	const struct do_fork_key total = { .first = DO_FORK_TOTAL };
	bool refused = event->result < 0;
	u32 shown = READ_ONCE(do_fork_shown);
	struct do_fork_key key = { .part = 1 };
	u64 copy = 0;
	u32 rest;

	for (rest = event->stages; rest; rest &= rest - 1) {
		key.first = __ffs(rest);
		key.next = do_fork_next(event, key.first);
		if (key.first >= DO_FORK_COPY_PROCESS && key.first <= DO_FORK_NEWTASK)
			copy += event->ns[key.first];
		if (shown & GENMASK(key.next - 1, key.first))
			do_fork_add(tool, &key, event->ns[key.first],
				    refused && !(rest & (rest - 1)));
	}
	if (event->stages & BIT(DO_FORK_COPY_PROCESS)) {
		key = (struct do_fork_key){
			.first = DO_FORK_COPY_PROCESS,
			.next = DO_FORK_NEWTASK + 1,
		};
		do_fork_add(tool, &key, copy, false);
	}
	do_fork_add(tool, &total, event->total_ns, refused);
}

static void do_fork_row_name(const struct tap_row *row, char *buf, size_t size)
{
	const struct do_fork_key *key = row->key;
	const char *mark = tap_row_mark(row);

	if (mark)
		strscpy(buf, mark, size);
	else if (key->first == DO_FORK_TOTAL)
		strscpy(buf, "total", size);
	else if (key->first == DO_FORK_FIRST_RUN)
		strscpy(buf, "first_run", size);
	else if (!key->part)
		strscpy(buf, "copy_process", size);
	else
		do_fork_name(buf, size, key->first, key->next);
}

static void do_fork_summary_header(struct tap_text *text,
				   const struct tap_snapshot *snapshot)
{
	tap_printf(text, "%-44s %10s %14s %14s us:count\n", "stage", "count",
		   "avg (us)", "max (us)");
}

/* Nanoseconds as microseconds. */
static void do_fork_us(struct tap_text *text, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, NSEC_PER_USEC, &rest);

	tap_printf(text, " %10llu.%03u", us, rest);
}

static void do_fork_summary_show(struct tap_text *text, const struct tap_row *row,
				 const struct tap_snapshot *snapshot)
{
	u64 count = tap_row_sum(row, BIT(DO_FORK_COUNT) | BIT(DO_FORK_PART));
	const u64 *times = row->sums + DO_FORK_TIMES;
	const char *gap = " ";
	char name[128];
	unsigned int i;

	do_fork_row_name(row, name, sizeof(name));
	tap_printf(text, "%-44s %10llu", name, count);
	do_fork_us(text, div64_u64(times[TAP_TIMES_TOTAL], count));
	do_fork_us(text, times[TAP_TIMES_MAX]);
	for (i = 0; i < TAP_TIMES_BUCKETS; i++) {
		if (!times[TAP_TIMES_BUCKET + i])
			continue;
		tap_printf(text, "%s%u:%llu", gap, tap_times_bucket_us(i),
			   times[TAP_TIMES_BUCKET + i]);
		gap = ",";
	}
	tap_putc(text, '\n');
}

#define US(name, what) TAP_COLUMN_US(NULL, name, 0, what, DO_FORK_TIMES)

static const struct tap_column do_fork_summary_columns[] = {
	/* what rows are ordered by; the one with all that is in it comes first */
	{ .head = "first", TAP_AT(TAP_U16, struct do_fork_key, first) },
	{ .head = "part", TAP_AT(TAP_U16, struct do_fork_key, part) },
	{ .json = "stage", .type = TAP_FN, .name = 1, .fn = do_fork_row_name },
	TAP_COLUMN_SUM(NULL, "count", 0, BIT(DO_FORK_COUNT) | BIT(DO_FORK_PART)),
	TAP_COLUMN_SUM(NULL, "refused", 0, BIT(DO_FORK_REFUSED)),
	US("avg_us", MEAN),
	TAP_COLUMN_SUM(NULL, "total_ns", 0, BIT(DO_FORK_TIMES + TAP_TIMES_TOTAL)),
	TAP_COLUMN_SUM(NULL, "max_ns", 0, BIT(DO_FORK_TIMES + TAP_TIMES_MAX)),
	US("hist_us", HIST),
};

/* --- events ------------------------------------------------------------ */

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

/* --- the tool ---------------------------------------------------------- */

/* Before all else: which kind of tool it is. */
static int do_fork_load(struct tap_text *why)
{
	struct tap_probe *probe;

	do_fork_apply_stages(&do_fork, why);
	for (probe = do_fork_probes;
	     probe < do_fork_probes + ARRAY_SIZE(do_fork_probes); probe++)
		if (probe->type == TAP_RETURN)
			probe->maxactive = do_fork.inflight;
	if (!do_fork_summary)
		return 0;
	do_fork.event_size = 0;
	do_fork.columns = do_fork_summary_columns;
	do_fork.nr_columns = ARRAY_SIZE(do_fork_summary_columns);
	do_fork.header = do_fork_summary_header;
	do_fork.show = do_fork_summary_show;
	return 0;
}

/* Children are many before they run, and their records small. */
static int do_fork_prepare(struct tap_tool *tool, struct tap_text *why)
{
	return tap_inflight_init(&do_fork_children, 4 * tool->inflight, 3 * sizeof(u64));
}

static void do_fork_attached(struct tap_tool *tool)
{
	WRITE_ONCE(do_fork_ready, true);
}

static void do_fork_end(struct tap_tool *tool)
{
	do_fork_ready = false;
	tap_inflight_fini(&do_fork_children);
}

static int do_fork_init_source(void)
{
	return 0;
}

static void do_fork_fini_source(void)
{
}

static u64 do_fork_lost(void)
{
	return tap_inflight_lost(&do_fork_children);
}

static const struct tap_source do_fork_source = {
	.init = do_fork_init_source,
	.fini = do_fork_fini_source,
	.lost = do_fork_lost,
};

struct tap_tool do_fork = {
	TAP_DEFAULTS("do_fork"),
	TAP_PROBES(do_fork_probes),
	TAP_COLUMNS(do_fork_columns),
	.source = &do_fork_source,
	.layout = {
		.key_size = sizeof(struct do_fork_key),
		.nr_sums = DO_FORK_TIMES + TAP_TIMES_SUMS,
		.nr_maxima = 2,
	},
	.events = BIT(DO_FORK_COUNT),
	.event_size = sizeof(struct do_fork_event),
	.inflight = 1024,
	.begun_size = sizeof(struct do_fork_begun),
	.load = do_fork_load,
	.prepare = do_fork_prepare,
	.begin = do_fork_attached,
	.end = do_fork_end,
	.header = do_fork_header,
	.show = do_fork_show,
	.keep_readers = true,
};
TAP_PARAM(summary, "1: a table of the stages: how many, how long; 0: events",
	  .type = TAP_PARAM_BOOL, .value = &do_fork_summary, .load_only = true);
TAP_PARAM(stages, "which stages are shown, names joined with commas; empty: all",
	  .type = TAP_PARAM_TEXT, .value = &do_fork_list,
	  .check = do_fork_check_stages, .apply = do_fork_apply_stages);
TAP_PARAM_INFLIGHT(do_fork, "creations");
TAP_TABLE_PARAMS(do_fork);
module_tap_stream(do_fork, "how a process comes to be, stage by stage");
