// SPDX-License-Identifier: GPL-2.0-only
/*
 * disktop - bytes read from and written to files on disks, per process
 *
 * A line is one process and what it has read from, or written to, regular files
 * of one file system on a block device: the bytes that were transferred, from
 * the page cache or not.
 */
#include <linux/time.h>

#include "file_io.h"
#include "tap.h"

struct disktop_key {
	struct tap_who who;
	pid_t ppid;
	u32 dev;
	u64 write;
};

struct disktop_attr {
	struct tap_names names;
	char disk[32];
};

enum disktop_sum {
	DISKTOP_TRANSFERS,
	DISKTOP_READ,
	DISKTOP_WRITE,
	DISKTOP_NR_SUMS,
};

static void disktop_io(struct tap_tool *tool, const struct tap_io *io)
{
	struct disktop_key key = { .ppid = tap_io_ppid(io), .dev = io->file->dev,
				   .write = io->write };
	struct tap_sums row = tap_io_row(tool, &key, io);
	struct disktop_attr *attr = row.attr;

	if (unlikely(!attr->disk[0]))
		memcpy(attr->disk, io->file->disk, sizeof(io->file->disk));
	tap_add(row, DISKTOP_TRANSFERS, 1);
	tap_add(row, io->write ? DISKTOP_WRITE : DISKTOP_READ, io->bytes);
}

static struct tap_probe disktop_probes[] = { TAP_FILE_IO_FILES_PROBES };

static void disktop_direction(const struct tap_row *row, char *buf, size_t size)
{
	const struct disktop_key *key = row->key;

	strscpy(buf, key->write ? "W" : "R", size);
}

#define DISKTOP_BYTES (BIT(DISKTOP_READ) | BIT(DISKTOP_WRITE))
static const struct tap_column disktop_columns[] = {
	TAP_COLUMN_UID("UID", 8),
	TAP_COLUMN_PID("PID", 8),
	{ .head = "PPID", .json = "ppid", .width = 8,
	  TAP_AT(TAP_INT, struct disktop_key, ppid) },
	TAP_COLUMN_COMM("CMD", 25),
	{ .head = "DEVICE", .json = "device", .width = 8, .attr = 1,
	  TAP_AT(TAP_STR, struct disktop_attr, disk) },
	{ .head = "T", .json = "direction", .width = 4, .type = TAP_FN,
	  .fn = disktop_direction },
	TAP_COLUMN_SUM("BYTES", "bytes", 12, DISKTOP_BYTES),
	TAP_COLUMN_SUM(NULL, "transfers", 0, BIT(DISKTOP_TRANSFERS)),
	{ .json = "dev", TAP_AT(TAP_UINT, struct disktop_key, dev) },
	TAP_JSON_NAMES(1),
};

/* All rows of the window, shown or not, and the time at its end (UTC). */
static void disktop_header(struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const struct tap_columns columns = { .column = disktop_columns,
					     .nr = ARRAY_SIZE(disktop_columns) };
	u64 read = 0, write = 0;
	struct tm tm;
	u32 i;

	for (i = 0; i < snapshot->nr_rows; i++) {
		read += snapshot->rows[i].sums[DISKTOP_READ];
		write += snapshot->rows[i].sums[DISKTOP_WRITE];
	}
	time64_to_tm(snapshot->end, 0, &tm);
	tap_printf(text, "\n%.3s %.3s %2d %02d:%02d:%02d %ld , ",
		   days + 3 * tm.tm_wday, months + 3 * tm.tm_mon, tm.tm_mday,
		   tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_year + 1900);
	tap_printf(text, "Average:%4lluKb/sec, Read:  %6lluKb, Write: %6lluKb\n\n",
		   div64_u64(((read + write) >> 10) * MSEC_PER_SEC,
			     snapshot->window_ms ?: 1),
		   read >> 10, write >> 10);
	tap_columns_head(&columns, text);
}

static struct tap_tool disktop = {
	TAP_DEFAULTS("disktop"),
	TAP_PROBES(disktop_probes),
	TAP_FILE_IO_FILES(disktop_io, tap_io_on_disk),
	TAP_COLUMNS(disktop_columns),
	.layout = TAP_LAYOUT(struct disktop_key, struct disktop_attr,
			     DISKTOP_NR_SUMS),
	.by_process = true,
	.header = disktop_header,
	.sort = DISKTOP_BYTES,
	.events = BIT(DISKTOP_TRANSFERS),
	.interval_ms = 5000,
	.limit = 10,
};
TAP_PARAM_NAMES(disktop);
TAP_PARAM_SELF(disktop);
module_tap_table(disktop, "bytes read from and written to files on disks, per process");
