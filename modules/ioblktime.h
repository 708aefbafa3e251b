/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of ioblktime share: what is kept of I/O that has begun, and the
 * handlers of the places where it begins and ends.
 */
#ifndef TAP_IOBLKTIME_H
#define TAP_IOBLKTIME_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>

#include "tap.h"

struct ioblktime_begun {
	u64 start;
	u64 pieces;		/* of a bio that its driver splits */
};

extern u64 ioblktime_since;		/* the probes are attached */
extern atomic64_t ioblktime_unseen;	/* what ended and was not seen to begin */

/* @n reads or writes of @bdev, which took from @start to now. Context: any. */
void ioblktime_end(struct tap_tool *tool, struct block_device *bdev,
		   enum req_op op, u64 start, u64 n);

/* Handlers of the tracepoints of these names, less block_. */
void ioblktime_rq_issue(void *data, struct request *rq);
void ioblktime_rq_complete(void *data, struct request *rq,
			   blk_status_t error, unsigned int nr_bytes);
void ioblktime_bio_queue(void *data, struct bio *bio);
void ioblktime_split(void *data, struct bio *bio, unsigned int sector);
void ioblktime_remap(void *data, struct bio *bio, dev_t dev, sector_t from);
void ioblktime_bio_complete(void *data, struct request_queue *q,
			    struct bio *bio);

#endif /* TAP_IOBLKTIME_H */
