// SPDX-License-Identifier: GPL-2.0-only
/*
 * traceio2 - calls that read and write files on a device
 *
 * A line is one call that reached a file of the device, whether it moved
 * anything or not, and the kernel's function that does what it wants: vfs_read
 * for read(2). A call that reads one file and writes another (sendfile) has a
 * line for each that is on the device.
 */
#include "io_line.h"
#include "tap.h"
#include "watch.h"

TAP_DEFINE_WATCH(traceio2_watch);

static bool traceio2_wanted(const struct inode *inode)
{
	return tap_watch_wants(&traceio2_watch, inode->i_sb->s_dev, inode->i_ino);
}

static struct tap_probe traceio2_probes[] = { TAP_FILE_IO_FILES_PROBES };
static struct tap_tool traceio2;

static void traceio2_show(struct tap_text *text, const struct tap_row *row,
			  const struct tap_snapshot *snapshot)
{
	tap_io_line_text(text, row->key, READ_ONCE(traceio2.escape));
	tap_putc(text, '\n');
}

static struct tap_tool traceio2 = {
	TAP_DEFAULTS("traceio2"),
	TAP_PROBES(traceio2_probes),
	TAP_IO_LINES(traceio2_wanted),
	TAP_WATCH(traceio2_watch),
	.show = traceio2_show,
};
TAP_PARAM_SELF(traceio2);
TAP_PARAM_STACKED(traceio2);
module_tap_stream(traceio2, "calls that read and write files on a device");
