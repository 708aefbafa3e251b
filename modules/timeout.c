// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeout - who waits until time runs out, and by which calls
 *
 * A line is a process: how many of its calls of each kind ended because the time
 * that they were given was over, and how often its interval timers went off.
 * Calls that ended otherwise, that had no time limit, or whose limit was 0 or
 * had passed when they began, are none of them. What waited when the tool was
 * loaded is not counted.
 */
#include "timeout.h"

static struct tap_tool timeout;

#define FUNCTION(handler, missing, ...)					\
	{ .type = TAP_FUNCTION, .name = { __VA_ARGS__ },			\
	  .needs = "CONFIG_FUNCTION_TRACER or CONFIG_KPROBES",			\
	  .without = (missing), .function = (handler),				\
	  .bare = handler##_bare }

/* Where a call ends comes first: what begins is seen to end. */
static struct tap_probe timeout_probes[] = {
	TAP_PROBE("sys_exit", timeout_sys_exit, "CONFIG_FTRACE_SYSCALLS", NULL),
	TAP_PROBE("sched_process_free", tap_forget_task, "CONFIG_TRACEPOINTS", NULL),
	TAP_PROBE("itimer_expire", timeout_itimer_expire, "CONFIG_TRACEPOINTS", NULL),
	FUNCTION(timeout_poll, "poll is 0", "do_sys_poll"),
	FUNCTION(timeout_select, "select is 0", "do_select"),
	FUNCTION(timeout_epoll, "epoll is 0", "do_epoll_wait"),
	FUNCTION(timeout_futex, "futex is 0", "do_futex"),
	/* futex_wait(2), and before there was one, within do_futex() */
	FUNCTION(timeout_futex_wait, "", "__futex_wait"),
	FUNCTION(timeout_futex_waitv, "", "futex_wait_multiple"),
	FUNCTION(timeout_nanosleep, "nanosle is 0", "hrtimer_nanosleep"),
	FUNCTION(timeout_nanosleep_alarm, "", "alarmtimer_do_nsleep"),
	FUNCTION(timeout_nanosleep_cpu, "", "do_cpu_nanosleep"),
	FUNCTION(timeout_signal, "signal is 0",
		 "do_sigtimedwait", "do_sigtimedwait.isra.0"),
};

static void timeout_header(struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
	tap_printf(text, "%s| process\n",
		   "  pid |   poll  select   epoll  itimer   futex nanosle  signal");
}

static void timeout_show(struct tap_text *text, const struct tap_row *row,
			 const struct tap_snapshot *snapshot)
{
	const char *mark = tap_row_mark(row);
	const struct timeout_key *key = row->key;
	char name[38 + 1], comm[TASK_COMM_LEN];
	int i;

	tap_who_name(row, comm, sizeof(comm));
	if (!mark && READ_ONCE(timeout.escape))
		tap_escape(name, sizeof(name), comm, sizeof(comm));
	else
		strscpy(name, mark ?: comm, sizeof(name));
	tap_printf(text, "%5d |", mark ? 0 : key->who.pid);
	for (i = 0; i < TIMEOUT_NR_SUMS; i++)
		tap_printf(text, i ? " %7llu" : "%7llu", row->sums[i]);
	tap_printf(text, "| %s\n", name);
}

#define TIMEOUT_ALL (BIT(TIMEOUT_NR_SUMS) - 1)

static const struct tap_column timeout_columns[] = {
	TAP_COLUMN_PID("pid", 0),
	TAP_COLUMN_SUM(NULL, "poll", 0, BIT(TIMEOUT_POLL)),
	TAP_COLUMN_SUM(NULL, "select", 0, BIT(TIMEOUT_SELECT)),
	TAP_COLUMN_SUM(NULL, "epoll", 0, BIT(TIMEOUT_EPOLL)),
	TAP_COLUMN_SUM(NULL, "itimer", 0, BIT(TIMEOUT_ITIMER)),
	TAP_COLUMN_SUM(NULL, "futex", 0, BIT(TIMEOUT_FUTEX)),
	TAP_COLUMN_SUM(NULL, "nanosleep", 0, BIT(TIMEOUT_NANOSLEEP)),
	TAP_COLUMN_SUM(NULL, "signal", 0, BIT(TIMEOUT_SIGNAL)),
	TAP_COLUMN_SUM(NULL, "total", 0, TIMEOUT_ALL),
	TAP_COLUMN_UID(NULL, 0),
	TAP_JSON_NAMES(1),
};

static struct tap_tool timeout = {
	TAP_DEFAULTS("timeout"),
	TAP_PROBES(timeout_probes),
	TAP_COLUMNS(timeout_columns),
	.layout = TAP_LAYOUT(struct timeout_key, struct tap_names, TIMEOUT_NR_SUMS),
	.by_process = true,
	.header = timeout_header,
	.show = timeout_show,
	.sort = TIMEOUT_ALL,
	.limit = 20,
	.inflight = 4096,
	.begun_size = sizeof(struct timeout_begun),
};
TAP_PARAM_INFLIGHT(timeout, "calls with a time limit");
TAP_PARAM_NAMES(timeout);
TAP_PARAM_SELF(timeout);
module_tap_table(timeout, "who waits until time runs out");
