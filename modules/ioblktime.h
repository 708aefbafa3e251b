/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ioblktime: where block I/O begins and ends
 *
 * A disk whose driver takes requests (sd, nvme, virtio, loop) counts requests
 * as they end; one whose driver takes bios (device mapper, md) counts those.
 * block_bio_complete is not for requests: blk_update_request() takes the mark
 * of a bio away that would make bio_endio() call it.
 */
#ifndef IOBLKTIME_H
#define IOBLKTIME_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/mm_types.h>	/* trace/events/block.h needs struct folio (7.x) */
#include <trace/events/block.h>

#include "dev.h"
#include "tap.h"

struct ioblktime_begun {
	u64 start;
	u64 pieces;		/* of a bio that its driver splits */
};

static char *ioblktime_dev_text;
static dev_t ioblktime_dev;		/* what that says */
static u64 ioblktime_since;		/* the probes are attached */
static atomic64_t ioblktime_unseen;	/* what ended and was not seen to begin */

static int ioblktime_prepare(struct tap_tool *tool, struct tap_text *why)
{
	ioblktime_since = ktime_get_ns();
	return tap_dev_parse(&ioblktime_dev, ioblktime_dev_text, why);
}

static void ioblktime_stats(struct tap_tool *tool, struct tap_text *text)
{
	tap_printf(text, "unseen %lld\n", atomic64_read(&ioblktime_unseen));
}

/* @n reads or writes of @bdev, which took from @start to now. Context: any. */
static void ioblktime_end(struct tap_tool *tool, struct block_device *bdev,
			  enum req_op op, u64 start, u64 n);

/* --- requests ---------------------------------------------------------- */

/* Without statistics and I/O scheduler, a request has no time of its own. */
static void ioblktime_rq_issue(void *data, struct request *rq)
{
	const struct ioblktime_begun begun = { ktime_get_ns(), 1 };
	struct tap_tool *tool = data;

	if (unlikely(!rq->start_time_ns) && rq->bio && !blk_rq_is_passthrough(rq))
		tap_inflight_put(&tool->begun, (unsigned long)rq, &begun);
}
TAP_CHECK_TRACEPOINT(block_rq_issue, ioblktime_rq_issue);

/*
 * A request can end in parts, and its data before the flush that belongs to it.
 * What has no bio is a flush, or has ended before.
 */
static void ioblktime_rq_complete(void *data, struct request *rq,
				  blk_status_t error, unsigned int nr_bytes)
{
	struct ioblktime_begun begun = { rq->start_time_ns };
	struct tap_tool *tool = data;

	if (!rq->bio || nr_bytes < blk_rq_bytes(rq) ||
	    rq->rq_flags & RQF_FLUSH_SEQ || blk_rq_is_passthrough(rq))
		return;
	if (unlikely(!begun.start))
		tap_inflight_take(&tool->begun, (unsigned long)rq, &begun);
	if (likely(begun.start >= ioblktime_since))
		ioblktime_end(tool, rq->part ?: rq->bio->bi_bdev, req_op(rq),
			      begun.start, 1);
	else
		atomic64_inc(&ioblktime_unseen);
}
TAP_CHECK_TRACEPOINT(block_rq_complete, ioblktime_rq_complete);

/* --- bios -------------------------------------------------------------- */

static bool ioblktime_takes_bios(const struct bio *bio)
{
	return bio->bi_bdev->bd_disk->fops->submit_bio;
}

/* What has no data is a flush, which drivers count as a write, or do not. */
static void ioblktime_bio_queue(void *data, struct bio *bio)
{
	const struct ioblktime_begun begun = { ktime_get_ns(), !!bio_sectors(bio) };
	struct tap_tool *tool = data;

	if (ioblktime_takes_bios(bio))
		tap_inflight_put(&tool->begun, (unsigned long)bio, &begun);
}
TAP_CHECK_TRACEPOINT(block_bio_queue, ioblktime_bio_queue);

/*
 * Device mapper counts each piece of a bio, and goes on with the same bio. The
 * block layer splits a piece off that is a bio of its own.
 */
static void ioblktime_split(void *data, struct bio *bio, unsigned int sector)
{
	struct ioblktime_begun begun = { ktime_get_ns() };
	struct tap_tool *tool = data;

	if (!ioblktime_takes_bios(bio))
		return;
	tap_inflight_take(&tool->begun, (unsigned long)bio, &begun);
	begun.pieces++;
	tap_inflight_put(&tool->begun, (unsigned long)bio, &begun);
}
TAP_CHECK_TRACEPOINT(block_split, ioblktime_split);

/* A driver that hands on the very bio (NVMe's multipath) does not end it. */
static void ioblktime_remap(void *data, struct bio *bio, dev_t dev, sector_t from)
{
	struct ioblktime_begun begun;
	struct tap_tool *tool = data;

	if (bio->bi_bdev->bd_dev != dev)	/* else it was a partition's */
		tap_inflight_take(&tool->begun, (unsigned long)bio, &begun);
}
TAP_CHECK_TRACEPOINT(block_bio_remap, ioblktime_remap);

static void ioblktime_bio_complete(void *data, struct request_queue *q,
				   struct bio *bio)
{
	struct ioblktime_begun begun;
	struct tap_tool *tool = data;

	if (!ioblktime_takes_bios(bio))
		return;
	if (!tap_inflight_take(&tool->begun, (unsigned long)bio, &begun))
		atomic64_inc(&ioblktime_unseen);
	else if (begun.pieces)
		ioblktime_end(tool, bio->bi_bdev, bio_op(bio), begun.start,
			      begun.pieces);
}
TAP_CHECK_TRACEPOINT(block_bio_complete, ioblktime_bio_complete);

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

#endif /* IOBLKTIME_H */
