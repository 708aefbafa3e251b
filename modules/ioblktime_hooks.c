// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where block I/O begins and ends.
 *
 * A disk whose driver takes requests (sd, nvme, virtio, loop) counts requests
 * as they end; one whose driver takes bios (device mapper, md) counts those.
 * block_bio_complete is not for requests: blk_update_request() takes the mark
 * of a bio away that would make bio_endio() call it.
 */
#include <linux/mm_types.h>	/* trace/events/block.h needs struct folio (7.x) */
#include <trace/events/block.h>

#include "ioblktime.h"

u64 ioblktime_since;
atomic64_t ioblktime_unseen;

/* --- requests ---------------------------------------------------------- */

/* Without statistics and I/O scheduler, a request has no time of its own. */
void ioblktime_rq_issue(void *data, struct request *rq)
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
void ioblktime_rq_complete(void *data, struct request *rq,
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
void ioblktime_bio_queue(void *data, struct bio *bio)
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
void ioblktime_split(void *data, struct bio *bio, unsigned int sector)
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
void ioblktime_remap(void *data, struct bio *bio, dev_t dev, sector_t from)
{
	struct ioblktime_begun begun;
	struct tap_tool *tool = data;

	if (bio->bi_bdev->bd_dev != dev)	/* else it was a partition's */
		tap_inflight_take(&tool->begun, (unsigned long)bio, &begun);
}
TAP_CHECK_TRACEPOINT(block_bio_remap, ioblktime_remap);

void ioblktime_bio_complete(void *data, struct request_queue *q,
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
