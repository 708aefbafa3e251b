// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: io_line - a stream whose lines are calls that read or wrote a file
 *
 * An event is written when a call ends, with what is known of the file from when
 * it began. The name of the function stays a pointer to a constant: an event
 * does not outlive the module.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "io_line.h"

void tap_io_line(struct tap_tool *tool, const struct tap_io *io)
{
	struct tap_io_line line = {
		.function = io->function,
		.ino = io->file->ino,
		.bytes = io->bytes,
		.error = io->error,
		.dev = io->file->dev,
		.path = io->path,
		.write = io->write,
	};

	if (unlikely(io->owner))
		line.names = io->owner->names;
	else
		tap_names_set(&line.names, current);
	tap_event(tool, &line);
}

void tap_io_line_text(struct tap_text *text, const struct tap_io_line *line,
		      bool escape)
{
	char comm[TAP_ESCAPED(TASK_COMM_LEN)];

	if (escape)
		tap_escape(comm, sizeof(comm), line->names.comm, TASK_COMM_LEN);
	else
		strscpy(comm, line->names.comm, TASK_COMM_LEN);
	tap_printf(text, "%s(%d) %s 0x%x", comm, line->names.pid, line->function,
		   line->dev);
}

/* --- columns ----------------------------------------------------------- */

static void tap_io_line_function(const struct tap_row *row, char *buf,
				 size_t size)
{
	const struct tap_io_line *line = row->key;

	strscpy(buf, line->function, size);
}

static void tap_io_line_direction(const struct tap_row *row, char *buf,
				  size_t size)
{
	const struct tap_io_line *line = row->key;

	strscpy(buf, line->write ? "W" : "R", size);
}

static void tap_io_line_path(const struct tap_row *row, char *buf, size_t size)
{
	static const char *const paths[TAP_IO_NR_PATHS] = {
		[TAP_IO_RW] = "rw",
		[TAP_IO_VEC] = "vec",
		[TAP_IO_SENDFILE] = "sendfile",
		[TAP_IO_SPLICE] = "splice",
		[TAP_IO_COPY] = "copy",
		[TAP_IO_URING] = "uring",
		[TAP_IO_AIO] = "aio",
		[TAP_IO_KERNEL] = "kernel",
	};
	const struct tap_io_line *line = row->key;

	strscpy(buf, paths[line->path], size);
}

#define AT(type, member) TAP_AT(type, struct tap_io_line, member)
#define FN(function) .type = TAP_FN, .fn = (function)

const struct tap_column tap_io_line_columns[TAP_IO_LINE_COLUMNS] = {
	{ .json = "pid", AT(TAP_INT, names.pid) },
	{ .json = "function", FN(tap_io_line_function) },
	{ .json = "direction", FN(tap_io_line_direction) },
	{ .json = "path", FN(tap_io_line_path) },
	{ .json = "dev", AT(TAP_DEV, dev) },
	{ .json = "ino", AT(TAP_U64, ino) },
	{ .json = "bytes", AT(TAP_U64, bytes) },
	{ .json = "errno", AT(TAP_ERRNO, error) },
	TAP_JSON_NAMES(0),
};
