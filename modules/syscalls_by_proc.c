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
union syscalls_by_proc_key {
	char name[TASK_COMM_LEN];
	struct {
		u64 start;
		pid_t pid;
		u32 is_pid;	/* all ones */
	};
};

static struct tap_tool syscalls_by_proc;
static unsigned int by_pid;	/* parameter by: 0: name, 1: pid */

static void syscalls_by_proc_enter(void *data, struct pt_regs *regs, long nr)
{
	struct task_struct *leader = READ_ONCE(current->group_leader);
	union syscalls_by_proc_key key;
	struct tap_names *names;
	struct tap_sums row;

	if (!tap_begin(&syscalls_by_proc, current))
		return;
	if (READ_ONCE(by_pid)) {
		key.start = leader->start_time;
		key.pid = leader->pid;
		key.is_pid = U32_MAX;
		row = tap_row(&syscalls_by_proc, &key);
		names = row.attr;
		if (unlikely(tap_names_stale(names, current)))
			tap_names_set(names, current);
	} else {
		if (READ_ONCE(syscalls_by_proc.by_thread))
			leader = current;
		memcpy(key.name, leader->comm, sizeof(key.name));
		row = tap_row(&syscalls_by_proc, &key);
		names = row.attr;
		if (unlikely(!names->comm[0]))
			memcpy(names->comm, key.name, sizeof(key.name));
	}
	tap_add(row, 0, 1);
	tap_end();
}
TAP_CHECK_TRACEPOINT(sys_enter, syscalls_by_proc_enter);

static struct tap_probe probes[] = {
	TAP_PROBE("sys_enter", syscalls_by_proc_enter, "CONFIG_FTRACE_SYSCALLS", NULL),
};

static void syscalls_by_proc_header(struct tap_text *text,
				    const struct tap_snapshot *snapshot)
{
	tap_printf(text, "%-10s %s\n", "#SysCalls",
		   READ_ONCE(by_pid) ? "PID" : "Process Name");
}

static bool syscalls_by_proc_gone(const void *data)
{
	const union syscalls_by_proc_key *key = data;

	return key->is_pid == U32_MAX && tap_process_gone(key->pid, key->start);
}

static void syscalls_by_proc_name(const struct tap_row *row, char *buf, size_t size)
{
	const union syscalls_by_proc_key *key = row->key;

	if (key->is_pid == U32_MAX)
		scnprintf(buf, size, "%d", key->pid);
	else
		strscpy(buf, key->name, size);
}

/* What was counted the other way is no part of the new table. */
static int syscalls_by_proc_apply(struct tap_tool *tool, struct tap_text *why)
{
	tap_window_reset(&tool->window);
	return 0;
}

static const struct tap_column columns[] = {
	TAP_COLUMN_SUM("#SysCalls", "count", -10, BIT(0)),
	/* without a parameter `verbose`: not shown, but numbers are in order */
	{ .head = "PID", .json = "pid", .verbose = 1, .attr = 1,
	  TAP_AT(TAP_INT, struct tap_names, pid) },
	{ .head = "Process Name", .name = 1, .type = TAP_FN,
	  .fn = syscalls_by_proc_name },
	TAP_JSON_NAMES(1),
};

static struct tap_tool syscalls_by_proc = {
	TAP_DEFAULTS("syscalls_by_proc"),
	TAP_PROBES(probes),
	TAP_COLUMNS(columns),
	.layout = TAP_LAYOUT(union syscalls_by_proc_key, struct tap_names, 1),
	.gone = syscalls_by_proc_gone,
	.sort = BIT(0),
	.header = syscalls_by_proc_header,
};

static const char *const choices[] = { "name", "pid", NULL };
TAP_PARAM(by, "name: a row for each name; pid: for each process",
	  .type = TAP_PARAM_CHOICE, .value = &by_pid, .choices = choices,
	  .apply = syscalls_by_proc_apply);
TAP_PARAM_NAMES(syscalls_by_proc);
TAP_PARAM_SELF(syscalls_by_proc);
module_tap_table(syscalls_by_proc, "system calls by process");
