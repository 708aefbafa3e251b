// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscalls_by_proc - who makes the system calls
 *
 * A line is all processes of one name, or with by=pid one process. What a
 * program called before it executed another one counts under its old name. A
 * call is counted when it is entered; what needs no entry into the kernel (the
 * vDSO, io_uring's queue) is no call.
 */
#include <linux/string.h>
#include <trace/events/syscalls.h>

#include "tap.h"

/* A name, whose last byte is 0, or a process. */
struct syscalls_by_proc_key {
	union {
		char name[TASK_COMM_LEN];
		struct {
			u64 start;
			pid_t pid;
			u32 is_pid;	/* all ones */
		};
	};
};

static struct tap_tool syscalls_by_proc;

enum {
	BY_NAME,
	BY_PID,
};

static const char *const syscalls_by_proc_by_choices[] = { "name", "pid", NULL };
static unsigned int syscalls_by_proc_by;

static __always_inline struct tap_sums
syscalls_by_proc_pid(struct task_struct *task)
{
	const struct syscalls_by_proc_key key = {
		.start = READ_ONCE(task->group_leader)->start_time,
		.pid = task->tgid,
		.is_pid = U32_MAX,
	};
	struct tap_sums row = tap_row(&syscalls_by_proc, &key);

	if (unlikely(tap_names_stale(row.attr, task)))
		tap_names_set(row.attr, task);
	return row;
}

static __always_inline struct tap_sums
syscalls_by_proc_name(struct task_struct *task)
{
	struct syscalls_by_proc_key key;

	if (!READ_ONCE(syscalls_by_proc.by_thread))
		task = READ_ONCE(task->group_leader);
	memcpy(key.name, task->comm, sizeof(key.name));
	return tap_row(&syscalls_by_proc, &key);
}

static void syscalls_by_proc_enter(void *data, struct pt_regs *regs, long nr)
{
	struct tap_sums row;

	if (!tap_begin(&syscalls_by_proc, current))
		return;
	if (READ_ONCE(syscalls_by_proc_by) == BY_PID)
		row = syscalls_by_proc_pid(current);
	else
		row = syscalls_by_proc_name(current);
	tap_add(row, 0, 1);
	tap_end();
}
TAP_CHECK_TRACEPOINT(sys_enter, syscalls_by_proc_enter);

static struct tap_probe syscalls_by_proc_probes[] = {
	TAP_PROBE("sys_enter", syscalls_by_proc_enter, "CONFIG_FTRACE_SYSCALLS",
		  NULL),
};

static void syscalls_by_proc_header(struct tap_text *text,
				    const struct tap_snapshot *snapshot)
{
	tap_printf(text, "%-10s %s\n", "#SysCalls",
		   READ_ONCE(syscalls_by_proc_by) == BY_PID ? "PID" :
							      "Process Name");
}

static bool syscalls_by_proc_gone(const void *data)
{
	const struct syscalls_by_proc_key *key = data;

	return key->is_pid == U32_MAX && tap_process_gone(key->pid, key->start);
}

static void syscalls_by_proc_show_name(const struct tap_row *row, char *buf,
				       size_t size)
{
	const struct syscalls_by_proc_key *key = row->key;
	const struct tap_names *names = row->attr;

	strscpy(buf, key->is_pid == U32_MAX ? names->comm : key->name, size);
}

/* What text shows. Each row tells itself what it is of, whatever `by` says by now. */
static void syscalls_by_proc_show(const struct tap_row *row, char *buf, size_t size)
{
	const struct syscalls_by_proc_key *key = row->key;

	if (key->is_pid == U32_MAX)
		scnprintf(buf, size, "%d", key->pid);
	else
		strscpy(buf, key->name, size);
}

/* What was counted the other way is no part of the new table. */
static int syscalls_by_proc_apply_by(struct tap_tool *tool, struct tap_text *why)
{
	tap_window_reset(&tool->window);
	return 0;
}

static const struct tap_column syscalls_by_proc_columns[] = {
	TAP_COLUMN_SUM("#SysCalls", "count", -10, BIT(0)),
	/* without a parameter `verbose`: not shown, but numbers are in order */
	{ .head = "PID", .json = "pid", .verbose = 1, .attr = 1,
	  TAP_AT(TAP_INT, struct tap_names, pid) },
	{ .head = "Process Name", .name = 1, .type = TAP_FN,
	  .fn = syscalls_by_proc_show },
	{ .json = "comm", .name = 1, .type = TAP_FN,
	  .fn = syscalls_by_proc_show_name },
	{ .json = "ns_pid", .attr = 1,
	  TAP_AT(TAP_INT, struct tap_names, ns_pid) },
};

static struct tap_tool syscalls_by_proc = {
	TAP_DEFAULTS("syscalls_by_proc"),
	TAP_PROBES(syscalls_by_proc_probes),
	TAP_COLUMNS(syscalls_by_proc_columns),
	.layout = TAP_LAYOUT(struct syscalls_by_proc_key, struct tap_names, 1),
	.gone = syscalls_by_proc_gone,
	.sort = BIT(0),
	.header = syscalls_by_proc_header,
};
TAP_PARAM(by, "name: a row for each name; pid: for each process",
	  .type = TAP_PARAM_CHOICE, .value = &syscalls_by_proc_by,
	  .choices = syscalls_by_proc_by_choices,
	  .apply = syscalls_by_proc_apply_by);
TAP_PARAM_NAMES(syscalls_by_proc);
TAP_PARAM_SELF(syscalls_by_proc);
module_tap_table(syscalls_by_proc, "system calls by process");
