// SPDX-License-Identifier: GPL-2.0-only
/*
 * inodewatch - calls that read and write a file
 *
 * A line is one call that reached the file, whether it moved anything or not,
 * and the kernel's function that does what it wants: vfs_read for read(2). A
 * call that reads one file and writes another (sendfile) has a line for each
 * that is watched.
 */
#include "io_line.h"
#include "tap.h"
#include "watch.h"

TAP_DEFINE_WATCH(inodewatch_watch);

static bool inodewatch_wanted(const struct inode *inode)
{
	return tap_watch_wants(&inodewatch_watch, inode->i_sb->s_dev, inode->i_ino);
}

static struct tap_probe inodewatch_probes[] = { TAP_FILE_IO_FILES_PROBES };
static struct tap_tool inodewatch;

static void inodewatch_show(struct tap_text *text, const struct tap_row *row,
			    const struct tap_snapshot *snapshot)
{
	const struct tap_io_line *line = row->key;

	tap_io_line_text(text, line, READ_ONCE(inodewatch.escape));
	tap_printf(text, "/%llu\n", line->ino);
}

static struct tap_tool inodewatch = {
	TAP_DEFAULTS("inodewatch"),
	TAP_PROBES(inodewatch_probes),
	TAP_IO_LINES(inodewatch_wanted),
	TAP_WATCH(inodewatch_watch),
	.show = inodewatch_show,
};
TAP_PARAM_SELF(inodewatch);
TAP_PARAM_STACKED(inodewatch);
module_tap_stream(inodewatch, "calls that read and write a file");
