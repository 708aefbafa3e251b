// SPDX-License-Identifier: GPL-2.0-only
/*
 * socket_trace - the functions of net/socket.c, entry and return, by thread
 *
 * A line is an entry or a return of one of the functions that the running
 * kernel has, whoever calls it: a system call, poll and epoll, io_uring, a
 * server in the kernel, a softirq. Names are the running kernel's. A system
 * call shows twice, as what the entry code calls (__x64_sys_bind) and as what
 * does the work (__sys_bind); of a 32-bit socketcall() only the latter stands
 * in net/socket.c.
 */
#include <linux/kernel.h>

#include "socket_trace.h"
#include "tap.h"

struct socket_trace_event {
	struct tap_names names;
	struct tap_call call;
};

static struct tap_tool socket_trace;
static bool socket_trace_return;

static void socket_trace_call(struct tap_tool *tool, struct task_struct *task,
			      const struct tap_call *call)
{
	struct socket_trace_event event = { .call = *call };

	tap_names_set(&event.names, task);
	tap_event(tool, &event);
}

static struct tap_calls socket_trace_calls = {
	.functions = socket_trace_functions,
	.nr = ARRAY_SIZE(socket_trace_functions),
	.wanted = tap_wanted,
	.event = socket_trace_call,
	.inflight = 1024,
};

static struct tap_probe socket_trace_probes[] = {
	{
		.type = TAP_CALLS,
		.name = { "net/socket.c" },
		.needs = "CONFIG_KRETPROBES",
		.calls = &socket_trace_calls,
	},
};

/* --- what is seen ------------------------------------------------------ */

static const struct tap_function *
socket_trace_function(const struct socket_trace_event *event)
{
	return &socket_trace_functions[event->call.function];
}

static void socket_trace_what(const struct tap_row *row, char *buf, size_t size)
{
	const struct socket_trace_event *event = row->key;

	strscpy(buf, event->call.returns ? "return" : "entry", size);
}

static void socket_trace_name(const struct tap_row *row, char *buf, size_t size)
{
	strscpy(buf, socket_trace_function(row->key)->name, size);
}

static void socket_trace_alias(const struct tap_row *row, char *buf, size_t size)
{
	const struct tap_function *function = socket_trace_function(row->key);

	strscpy(buf, function->alias ?: function->name, size);
}

static void socket_trace_value(const struct tap_row *row, char *buf, size_t size)
{
	const struct socket_trace_event *event = row->key;

	tap_call_value(socket_trace_function(event), &event->call, buf, size);
}

static void socket_trace_errno(const struct tap_row *row, char *buf, size_t size)
{
	const struct socket_trace_event *event = row->key;

	tap_call_errno(socket_trace_function(event), &event->call, buf, size);
}

static void socket_trace_show(struct tap_text *text, const struct tap_row *row,
			      const struct tap_snapshot *snapshot)
{
	const struct socket_trace_event *event = row->key;
	char value[32], error[32];

	tap_call_text(text, &event->call, &event->names,
		      READ_ONCE(socket_trace.escape));
	tap_printf(text, " %s %s%s", event->call.returns ? "<-" : "->",
		   socket_trace_function(event)->name,
		   event->call.followed ? "" : " (return not followed)");
	socket_trace_value(row, value, sizeof(value));
	socket_trace_errno(row, error, sizeof(error));
	if (*value && READ_ONCE(socket_trace_return))
		tap_printf(text, *error ? " return=%s (%s)" : " return=%s",
			   value, error);
	tap_putc(text, '\n');
}

#define AT(type, member) TAP_AT(type, struct socket_trace_event, member)
#define FN(function) .type = TAP_FN, .fn = (function)

static const struct tap_column socket_trace_columns[] = {
	{ .json = "event", FN(socket_trace_what) },
	{ .json = "function", FN(socket_trace_name) },
	{ .json = "alias", FN(socket_trace_alias) },
	{ .json = "depth", AT(TAP_U16, call.depth) },
	{ .json = "followed", AT(TAP_U16, call.followed) },
	{ .json = "elapsed_ns", AT(TAP_U64, call.elapsed_ns) },
	{ .json = "return", FN(socket_trace_value) },
	{ .json = "errno", FN(socket_trace_errno) },
	{ .json = "pid", AT(TAP_INT, names.pid) },
	TAP_JSON_NAMES(0),
};

static int socket_trace_check(const char *only, struct tap_text *why)
{
	if (tap_calls_known(&socket_trace_calls, only))
		return 0;
	tap_printf(why, "allowed are functions of net/socket.c, joined with commas");
	return -EINVAL;
}

static int socket_trace_apply(struct tap_tool *tool, struct tap_text *why)
{
	return tap_calls_select(&socket_trace_calls, why);
}

static struct tap_tool socket_trace = {
	TAP_DEFAULTS("socket_trace"),
	TAP_PROBES(socket_trace_probes),
	TAP_COLUMNS(socket_trace_columns),
	.event_size = sizeof(struct socket_trace_event),
	.show = socket_trace_show,
};
TAP_PARAM(functions, "what is traced: functions of net/socket.c, joined with commas; empty: all",
	  .type = TAP_PARAM_TEXT, .value = &socket_trace_calls.only,
	  .check = socket_trace_check, .apply = socket_trace_apply);
TAP_PARAM(inflight, "calls that are followed at once in each function that can sleep: 16 to 65536",
	  .type = TAP_PARAM_UINT, .value = &socket_trace_calls.inflight,
	  .min = 16, .max = 65536, .load_only = true);
TAP_PARAM(return, "text has the values that are returned: 0 or 1",
	  .type = TAP_PARAM_BOOL, .value = &socket_trace_return);
TAP_PARAM_SELF(socket_trace);
module_tap_stream(socket_trace, "the functions of net/socket.c, entry and return");
