// SPDX-License-Identifier: GPL-2.0-only
/*
 * traceio - bytes read and written per process
 *
 * A line is one process, with what it has read and written since the tool was
 * loaded: files, pipes, sockets, terminals, in all the ways that there are of
 * reading and writing an open file (common/file_io.h). Bytes are those that
 * were transferred, from the page cache or not.
 */
#include "file_io.h"
#include "tap.h"

struct traceio_key {
	struct tap_who who;
};

enum traceio_sum {
	TRACEIO_TRANSFERS,
	TRACEIO_READ,
	TRACEIO_WRITE,
	TRACEIO_PATHS,		/* one for each enum tap_io_path */
	TRACEIO_NR_SUMS = TRACEIO_PATHS + TAP_IO_NR_PATHS,
};

static void traceio_io(struct tap_tool *tool, const struct tap_io *io)
{
	struct traceio_key key = {};
	struct tap_sums row = tap_io_row(tool, &key, io);

	tap_add(row, TRACEIO_TRANSFERS, 1);
	tap_add(row, io->write ? TRACEIO_WRITE : TRACEIO_READ, io->bytes);
	tap_add(row, TRACEIO_PATHS + io->path, io->bytes);
}

static struct tap_probe traceio_probes[] = { TAP_FILE_IO_PROBES };

/* The documented output has none. */
static void traceio_header(struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
}

#define PATH(name, path)						\
	TAP_COLUMN_SUM(NULL, name "_bytes", 0, BIT(TRACEIO_PATHS + (path)))

static const struct tap_column traceio_columns[] = {
	TAP_COLUMN_PID("PID", 8),
	TAP_COLUMN_COMM("COMM", 15),
	{ .head = "r:", .width = 12, .type = TAP_BYTES, .sums = BIT(TRACEIO_READ) },
	{ .head = "w:", .width = 12, .type = TAP_BYTES, .sums = BIT(TRACEIO_WRITE) },
	TAP_COLUMN_SUM(NULL, "transfers", 0, BIT(TRACEIO_TRANSFERS)),
	TAP_COLUMN_SUM(NULL, "read_bytes", 0, BIT(TRACEIO_READ)),
	TAP_COLUMN_SUM(NULL, "write_bytes", 0, BIT(TRACEIO_WRITE)),
	PATH("rw", TAP_IO_RW),
	PATH("vec", TAP_IO_VEC),
	PATH("sendfile", TAP_IO_SENDFILE),
	PATH("splice", TAP_IO_SPLICE),
	PATH("copy", TAP_IO_COPY),
	PATH("uring", TAP_IO_URING),
	PATH("aio", TAP_IO_AIO),
	PATH("kernel", TAP_IO_KERNEL),
	TAP_COLUMN_UID(NULL, 0),
	TAP_JSON_NAMES(1),
};

static struct tap_tool traceio = {
	TAP_DEFAULTS("traceio"),
	TAP_PROBES(traceio_probes),
	TAP_FILE_IO(traceio_io),
	TAP_COLUMNS(traceio_columns),
	.layout = TAP_LAYOUT(struct traceio_key, struct tap_names,
			     TRACEIO_NR_SUMS),
	.by_process = true,
	.header = traceio_header,
	.sort = BIT(TRACEIO_READ) | BIT(TRACEIO_WRITE),
	.events = BIT(TRACEIO_TRANSFERS),
	.limit = 10,
};
TAP_PARAM_NAMES(traceio);
TAP_PARAM_SELF(traceio);
module_tap_table(traceio, "bytes read and written per process");
