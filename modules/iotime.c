// SPDX-License-Identifier: GPL-2.0-only
/*
 * iotime - how long was spent in reading and writing each open file
 *
 * When an open file is closed for good, a line says what was read from it and
 * written to it, and if anything was, another how long that took. It is the open
 * file that counts, not a descriptor: what was duplicated, inherited or sent to
 * another process is one. Which file it is, is known from when it was opened:
 * the path as who opened it saw it. pid and comm are who closed it last. An
 * attempt to open a file that fails has a line, too.
 */
#include "file_io.h"
#include "iotime.h"
#include "strings.h"
#include "tap.h"

/* The files that are open come before what opens them: no end is missed. */
static struct tap_probe iotime_probes[] = {
	{
		.type = TAP_FUNCTION,
		.name = { "__fput" },
		.needs = "CONFIG_FUNCTION_TRACER or CONFIG_KPROBES",
		.function = iotime_fput,
	},
	TAP_PROBE("sys_enter", tap_file_io_enter, "CONFIG_FTRACE_SYSCALLS", NULL),
	TAP_PROBE("sys_exit", iotime_sys_exit, "CONFIG_FTRACE_SYSCALLS", NULL),
	TAP_FILE_IO_NO_CALLS,
	{
		.type = TAP_FUNCTION,
		.name = { "fd_install" },
		.needs = "CONFIG_FUNCTION_TRACER or CONFIG_KPROBES",
		.function = iotime_fd_install,
	},
};

static void iotime_stats(struct tap_tool *tool, struct tap_text *text)
{
	tap_printf(text, "names_bytes %zu\nnames_lost %llu\nunseen %lld\n",
		   tap_strings_used(&iotime_names),
		   tap_strings_lost(&iotime_names),
		   atomic64_read(&iotime_unseen));
}

/* --- what is seen ------------------------------------------------------ */

static void iotime_what(const struct tap_row *row, char *buf, size_t size)
{
	const struct iotime_event *event = row->key;

	strscpy(buf, event->error ? "fail" : "access", size);
}

/* A name of any length. */
static void iotime_escape(struct tap_text *text, const char *name, bool escape)
{
	char part[TAP_ESCAPED(TASK_COMM_LEN)];
	size_t len = strlen(name);
	size_t n;

	if (!escape)
		tap_printf(text, "%s", name);
	for (; escape && len; name += n, len -= n) {
		n = min_t(size_t, len, TASK_COMM_LEN);
		tap_escape(part, sizeof(part), name, n);
		tap_printf(text, "%s", part);
	}
}

static void iotime_line(struct tap_text *text, const struct tap_row *row,
			const char *what, bool escape)
{
	const struct iotime_event *event = row->key;
	const struct tap_record *record = row->attr;
	s64 ns = record->stamp - iotime_start;

	tap_printf(text, "%llu %d (", div_u64(max_t(s64, ns, 0), NSEC_PER_USEC),
		   event->names.pid);
	iotime_escape(text, event->names.comm, escape);
	tap_printf(text, ") %s ", what);
	iotime_escape(text, event->name, escape);
}

static void iotime_show(struct tap_text *text, const struct tap_row *row,
			const struct tap_snapshot *snapshot);

#define AT(type, member) TAP_AT(type, struct iotime_event, member)

static const struct tap_column iotime_columns[] = {
	{ .json = "event", .type = TAP_FN, .fn = iotime_what },
	{ .json = "path", AT(TAP_STR, name) },
	{ .json = "errno", AT(TAP_ERRNO, error) },
	{ .json = "read_bytes", AT(TAP_U64, sums.read) },
	{ .json = "write_bytes", AT(TAP_U64, sums.written) },
	{ .json = "transfers", AT(TAP_U64, sums.transfers) },
	{ .json = "io_ns", AT(TAP_U64, sums.ns) },
	{ .json = "open_ns", AT(TAP_U64, open_ns) },
	{ .json = "pid", AT(TAP_INT, names.pid) },
	TAP_JSON_NAMES(0),
};

static struct tap_tool iotime = {
	TAP_DEFAULTS("iotime"),
	TAP_PROBES(iotime_probes),
	TAP_FILE_IO_OPENS(iotime_io, iotime_begin),
	TAP_COLUMNS(iotime_columns),
	.event_size = sizeof(struct iotime_event),
	.inflight = 16384,
	.begun_size = sizeof(struct iotime_open),
	.prepare = iotime_prepare,
	.end = iotime_end,
	.stats = iotime_stats,
	.show = iotime_show,
};

static void iotime_show(struct tap_text *text, const struct tap_row *row,
			const struct tap_snapshot *snapshot)
{
	const struct iotime_event *event = row->key;
	bool escape = READ_ONCE(iotime.escape);
	char error[32];

	iotime_line(text, row, "access", escape);
	if (event->error) {
		tap_errno(error, sizeof(error), event->error);
		tap_printf(text, " fail %s\n", error);
		return;
	}
	tap_printf(text, " read: %llu write: %llu\n", event->sums.read,
		   event->sums.written);
	if (!event->sums.transfers)
		return;
	iotime_line(text, row, "iotime", escape);
	tap_printf(text, " time: %llu\n",
		   div_u64(event->sums.ns, NSEC_PER_USEC));
}

TAP_PARAM_INFLIGHT(iotime, "open files");
TAP_PARAM(name_kb, "room for names of files that are open, KiB: 1 to 65536",
	  .type = TAP_PARAM_UINT, .value = &iotime_name_kb,
	  .min = 1, .max = 65536, .load_only = true);
TAP_PARAM_SELF(iotime);
module_tap_stream(iotime, "time spent in reading and writing each open file");
