// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioblktime - how long block I/O takes, by device
 *
 * A line is one device and one direction. Counted is what the device's own
 * statistics count (/sys/block/DEVICE/stat, fields 1 and 5): requests, after
 * merging, or of a device without requests bios. What is a partition's is its
 * disk's, too. The time is that from the allocation of the request, or from
 * when the bio came, to the end. Flushes, discards and what a program sends past
 * the block layer (SG_IO) are neither reads nor writes.
 */
#include "dev.h"
#include "ioblktime.h"

struct ioblktime_key {
	u32 dev;
	u32 group;		/* STAT_READ or STAT_WRITE */
};

struct ioblktime_attr {
	const struct gendisk *disk;	/* whose name it is, not to be followed */
	char name[40];
};

enum ioblktime_sum {
	IOBLKTIME_COUNT,
	IOBLKTIME_PART,		/* the same of a partition whose disk is counted, too */
	IOBLKTIME_TIMES,
};

static char *ioblktime_dev_text;
static dev_t ioblktime_dev;		/* what that says */

static void ioblktime_count(struct tap_tool *tool, struct block_device *bdev,
			    enum ioblktime_sum sum, u32 group, u64 ns, u64 n)
{
	const struct ioblktime_key key = { .dev = bdev->bd_dev, .group = group };
	struct ioblktime_attr *attr;
	struct tap_sums row;

	if (ioblktime_dev && ioblktime_dev != bdev->bd_dev)
		return;
	row = tap_row(tool, &key);
	attr = row.attr;
	/* a number that one disk has left can be another's */
	if (unlikely(READ_ONCE(attr->disk) != bdev->bd_disk)) {
		scnprintf(attr->name, sizeof(attr->name), "%pg", bdev);
		WRITE_ONCE(attr->disk, bdev->bd_disk);
	}
	tap_add(row, sum, n);
	tap_add_time(row, IOBLKTIME_TIMES, ns, n);
}

void ioblktime_end(struct tap_tool *tool, struct block_device *bdev,
		   enum req_op op, u64 start, u64 n)
{
	u64 ns = ktime_get_ns() - start;
	u32 group = op_stat_group(op);

	if ((group != STAT_READ && group != STAT_WRITE) || !tap_begin(tool, NULL))
		return;
	if (bdev_is_partition(bdev))
		ioblktime_count(tool, bdev, ioblktime_dev ? IOBLKTIME_COUNT :
				IOBLKTIME_PART, group, ns, n);
	ioblktime_count(tool, bdev_whole(bdev), IOBLKTIME_COUNT, group, ns, n);
	tap_end();
}

#define IOBLKTIME_PROBE(event, handler)					\
	TAP_PROBE(event, handler, "CONFIG_BLOCK and CONFIG_TRACEPOINTS", NULL)
static struct tap_probe ioblktime_probes[] = {
	IOBLKTIME_PROBE("block_rq_issue", ioblktime_rq_issue),
	IOBLKTIME_PROBE("block_rq_complete", ioblktime_rq_complete),
	IOBLKTIME_PROBE("block_bio_queue", ioblktime_bio_queue),
	IOBLKTIME_PROBE("block_split", ioblktime_split),
	IOBLKTIME_PROBE("block_bio_remap", ioblktime_remap),
	IOBLKTIME_PROBE("block_bio_complete", ioblktime_bio_complete),
};

static int ioblktime_prepare(struct tap_tool *tool, struct tap_text *why)
{
	ioblktime_since = ktime_get_ns();
	return tap_dev_parse(&ioblktime_dev, ioblktime_dev_text, why);
}

static void ioblktime_stats(struct tap_tool *tool, struct tap_text *text)
{
	tap_printf(text, "unseen %lld\n", atomic64_read(&ioblktime_unseen));
}

static void ioblktime_rw(const struct tap_row *row, char *buf, size_t size)
{
	const struct ioblktime_key *key = row->key;

	strscpy(buf, key->group == STAT_READ ? "R" : "W", size);
}

#define COUNT (BIT(IOBLKTIME_COUNT) | BIT(IOBLKTIME_PART))
#define US(head, json, width, what, ...)				\
	TAP_COLUMN_US(head, json, width, what, IOBLKTIME_TIMES, __VA_ARGS__)

static const struct tap_column ioblktime_columns[] = {
	{ .head = "device", .json = "device", .width = 10, .attr = 1, .name = 1,
	  TAP_AT(TAP_STR, struct ioblktime_attr, name) },
	{ .head = "rw", .json = "rw", .width = 3, .type = TAP_FN,
	  .fn = ioblktime_rw },
	US("total (us)", "total_us", 10, TOTAL),
	TAP_COLUMN_SUM("count", "count", 10, COUNT),
	US("avg (us)", "avg_us", 10, MEAN),
	US("min (us)", "min_us", 10, MIN, .verbose = 1),
	US("max (us)", "max_us", 10, MAX, .verbose = 1),
	US("us:count", "hist_us", 0, HIST, .verbose = 1),
	{ .json = "dev", TAP_AT(TAP_DEV, struct ioblktime_key, dev) },
};

static struct tap_tool ioblktime = {
	TAP_DEFAULTS("ioblktime"),
	TAP_PROBES(ioblktime_probes),
	TAP_COLUMNS(ioblktime_columns),
	.layout = TAP_LAYOUT_TIMES(struct ioblktime_key, struct ioblktime_attr,
				   IOBLKTIME_TIMES),
	.sort = COUNT,
	.events = BIT(IOBLKTIME_COUNT),
	.inflight = 4096,
	.begun_size = sizeof(struct ioblktime_begun),
	.prepare = ioblktime_prepare,
	.stats = ioblktime_stats,
	.keep_readers = true,
	.interval_ms = 10000,
	.limit = 20,
};
TAP_PARAM(dev, "this device only: MAJOR:MINOR, or 0x and what stat -c %D prints",
	  .type = TAP_PARAM_TEXT, .value = &ioblktime_dev_text,
	  .check = tap_dev_check, .apply = tap_tool_apply_probes);
TAP_PARAM(hist, "text has shortest, longest, and how many took how long: 0 or 1",
	  .type = TAP_PARAM_BOOL, .value = &ioblktime.verbose);
TAP_PARAM_INFLIGHT(ioblktime, "bios");
module_tap_table_of_nobody(ioblktime, "how long block I/O takes, by device");
