/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_IO_LINE_H
#define TAP_IO_LINE_H

#include <linux/types.h>

#include "column.h"
#include "file_io.h"
#include "tap.h"

/**
 * struct tap_io_line - an event: a call and one of its files
 * @names: whose call it was
 * @function: as in struct tap_io
 * @ino: as in struct tap_io_file
 * @bytes: as in struct tap_io
 * @error: as in struct tap_io
 * @dev: device number of the file system, as the kernel has it
 * @path: an enum tap_io_path
 * @write: the file was written, else read
 * @pad: makes it whole words
 */
struct tap_io_line {
	struct tap_names names;
	const char *function;
	u64 ino;
	u64 bytes;
	int error;
	u32 dev;
	u16 path;
	u16 write;
	u32 pad;
};

/**
 * tap_io_line() - write the event
 * @tool: a stream tool with TAP_IO_LINES
 * @io: the call
 *
 * Context: between tap_begin() and tap_end().
 */
void tap_io_line(struct tap_tool *tool, const struct tap_io *io);

/**
 * tap_io_line_text() - begin a line: who, what, and the device
 * @text: where to
 * @line: the event
 * @escape: names are escaped
 *
 * Context: process context, may sleep.
 */
void tap_io_line_text(struct tap_text *text, const struct tap_io_line *line,
		      bool escape);

/* All of them JSON's. */
#define TAP_IO_LINE_COLUMNS 12
extern const struct tap_column tap_io_line_columns[TAP_IO_LINE_COLUMNS];

/* What a descriptor says, beside which files are wanted and how a line looks. */
#define TAP_IO_LINES(wanted)						\
	TAP_FILE_IO_CALLS(tap_io_line, wanted),					\
	TAP_COLUMNS(tap_io_line_columns),					\
	.event_size = sizeof(struct tap_io_line)

/* For tools that have such lines: `stacked`. */
#define TAP_PARAM_STACKED(tool)						\
	TAP_PARAM(stacked, "what overlayfs does to the file below has lines, too: 0 or 1", \
		  .type = TAP_PARAM_BOOL, .value = &(tool).io_stacked)

#endif /* TAP_IO_LINE_H */
