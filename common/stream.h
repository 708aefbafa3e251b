/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_STREAM_H
#define TAP_STREAM_H

#include <asm/local.h>
#include <linux/cache.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

/* Longest event, bytes. */
#define TAP_EVENT_MAX 4000

/**
 * struct tap_record - what stands before each event, in a ring and in the history
 * @stamp: ktime_get_mono_fast_ns() when the event was written
 * @size: bytes of the whole record, a multiple of 8
 * @len: bytes of the event; 0 in the history: no event, but @lost lost ones
 * @lost: in a ring: events lost on that CPU so far, the low 32 bits;
 *        in the history: events lost before the next one
 */
struct tap_record {
	u64 stamp;
	u16 size;
	u16 len;
	u32 lost;
};

/**
 * struct tap_ring - the events of one CPU on their way to the history
 *
 * One writer, the CPU it belongs to, with interrupts off; one reader, the
 * drain, under the stream's mutex.
 */
struct tap_ring {
	/* private: */
	u8 *data;
	u64 head;		/* bytes written, ever; odd while a record is written */
	local_t lost;		/* events without room, ever; NMIs count too */
	local_t self;		/* events of readers, left out */
	u64 tail ____cacheline_aligned_in_smp;	/* bytes drained; released by the drain */
	u64 lost_seen;		/* of lost, in the history already; the drain's own */
	u64 cut_head;		/* the drain's own: what it reads up to */
};

/**
 * struct tap_stream - events in the order they happened
 * @wait: woken when events have come into the history
 * @missed: events that a probe missed, since load, called with @data; may
 *          sleep. NULL: none are
 * @data: for @missed
 */
struct tap_stream {
	wait_queue_head_t wait;
	u64 (*missed)(void *data);
	void *data;
	/* private: */
	struct tap_ring __percpu *rings;
	u32 ring_size;
	u32 alarm;		/* bytes in a ring that call for a drain; 0 after each drain */
	struct mutex lock;	/* protects all below, and makes the drain the only one */
	u8 *history;
	size_t history_size;
	u64 first;		/* byte position of the oldest record */
	u64 next;		/* byte position after the newest record; READ_ONCE without lock */
	u64 first_event;	/* number of the oldest record's first event */
	u64 next_event;		/* number of the next event */
	u64 reset_event;	/* number of the first event after the last reset */
	u64 lost;		/* of these, lost before they came here */
	u64 last_stamp;
	u64 missed_seen;
	struct irq_work irq_work;
	struct workqueue_struct *queue;
	struct delayed_work work;
};

/**
 * struct tap_cursor - a reader's place in a stream
 * @pos: byte position in the history
 * @event: number of the event there
 *
 * All zero is the beginning; what was forgotten since then counts as lost.
 */
struct tap_cursor {
	u64 pos;
	u64 event;
};

/**
 * tap_stream_init() - allocate rings and history
 * @stream: @missed and @data are set, all else is zero
 * @buffer_kb: the history, KiB, at least 16; rounded up to a power of two
 * @name: the tool's name, for the worker
 *
 * The history takes as many events as fit @buffer_kb and forgets the oldest.
 * Rings are 64 KiB to 1 MiB for each possible CPU and 64 MiB at most together.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then nothing is held.
 */
int tap_stream_init(struct tap_stream *stream, u32 buffer_kb, const char *name);

/**
 * tap_stream_fini() - free everything
 * @stream: a stream that no handler writes to any more, or all zero
 *
 * Context: process context, may sleep.
 */
void tap_stream_fini(struct tap_stream *stream);

/**
 * tap_stream_alarm() - the rare part of tap_stream_write()
 * @stream: the stream
 * @ring: this CPU's ring
 * @used: bytes it would hold with the new event
 *
 * Asks for a drain, or counts the event as lost.
 *
 * Context: any, interrupts off.
 * Return: true if the event is to be written.
 */
bool tap_stream_alarm(struct tap_stream *stream, struct tap_ring *ring, u64 used);

/**
 * tap_stream_write() - put an event into the stream
 * @stream: the stream
 * @event: the event, without padding that was not initialised
 * @len: its length, 1 to TAP_EVENT_MAX bytes
 *
 * The event is copied. If this CPU's ring is full, or in an NMI, the event is
 * counted as lost, at its place in the order. Inline, so that a constant length
 * is copied by a few moves.
 *
 * Context: any.
 */
static __always_inline void tap_stream_write(struct tap_stream *stream,
					     const void *event, size_t len)
{
	u32 size = ALIGN(sizeof(struct tap_record) + len, 8);
	struct tap_record *record;
	struct tap_ring *ring;
	unsigned long flags;
	u64 head, used;

	local_irq_save(flags);
	ring = this_cpu_ptr(stream->rings);
	head = ring->head;
	/* acquire: the drain has read what is overwritten now */
	used = head + size - smp_load_acquire(&ring->tail);
	if (unlikely(used > READ_ONCE(stream->alarm)) || unlikely(in_nmi()))
		if (!tap_stream_alarm(stream, ring, used))
			goto out;
	WRITE_ONCE(ring->head, head | 1);
	/* the mark is seen before the stamp is taken; pairs with the drain */
	smp_mb();
	/* a record is never split: the last one runs into the ring's slack */
	record = (struct tap_record *)(ring->data +
				       (head & (stream->ring_size - 1)));
	record->stamp = ktime_get_mono_fast_ns();
	record->size = size;
	record->len = len;
	record->lost = local_read(&ring->lost);
	memcpy(record + 1, event, len);
	/* the record is complete before it is seen */
	smp_store_release(&ring->head, head + size);
out:
	local_irq_restore(flags);
}

/**
 * tap_stream_lose() - count an event as lost without writing it
 * @stream: the stream
 *
 * Context: any, CPU pinned.
 */
void tap_stream_lose(struct tap_stream *stream);

/**
 * tap_stream_self() - count an event of a reader, which is left out
 * @stream: the stream
 *
 * Context: any, CPU pinned.
 */
void tap_stream_self(struct tap_stream *stream);

/**
 * tap_stream_drain() - bring what the rings hold into the history
 * @stream: the stream
 *
 * All events that were committed before the call are in the history
 * afterwards, in the order of their stamps.
 *
 * Context: process context, may sleep.
 */
void tap_stream_drain(struct tap_stream *stream);

/**
 * tap_stream_end() - where the history ends now
 * @stream: the stream
 *
 * Context: any.
 * Return: a byte position, to be given to tap_stream_read().
 */
u64 tap_stream_end(struct tap_stream *stream);

/**
 * tap_stream_read() - read one record and go on to the next
 * @stream: the stream
 * @cursor: the reader's place
 * @end: do not read at or behind this position
 * @record: the record; with @len 0 it stands for @lost events that were lost,
 *          in the ring or because the history forgot them
 * @event: the event, TAP_EVENT_MAX bytes
 *
 * Readers consume nothing and do not disturb each other.
 *
 * Context: process context, may sleep.
 * Return: true if there was a record.
 */
bool tap_stream_read(struct tap_stream *stream, struct tap_cursor *cursor,
		     u64 end, struct tap_record *record, void *event);

/**
 * tap_stream_reset() - forget all events
 * @stream: the stream
 *
 * Context: process context, may sleep.
 */
void tap_stream_reset(struct tap_stream *stream);

/**
 * struct tap_stream_stats - what a stream has seen since load
 * @written: events that came into the history
 * @lost: events that did not, and events missed
 * @forgotten: events that the history forgot, since the last reset
 * @self: events of readers, left out
 * @bytes: memory held
 */
struct tap_stream_stats {
	u64 written;
	u64 lost;
	u64 forgotten;
	u64 self;
	u64 bytes;
};

/**
 * tap_stream_stats() - ask for the counters
 * @stream: the stream
 * @stats: the answer
 *
 * Context: process context, may sleep.
 */
void tap_stream_stats(struct tap_stream *stream, struct tap_stream_stats *stats);

#endif /* TAP_STREAM_H */
