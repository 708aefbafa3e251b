// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: stream - events from any context, read in the order they happened
 *
 * Each CPU writes into a ring of its own. A drain merges the rings by stamp
 * into one bounded history, which forgets its oldest events; every open file
 * is a position in that history.
 *
 *	cpu0 ring ---\
 *	cpu1 ring ----> drain ----> history [ oldest .. newest ] --> any reader
 *	cpu2 ring ---/
 *
 * Loss: nothing is overwritten in a ring. An event that finds its ring full is
 * counted, the count travels in the next record of that CPU, and the drain puts
 * it into the history where it belongs. What the history forgets before a
 * reader came is told to that reader. So for each reader written = read + lost.
 *
 * Order: a writer marks its ring as being written before it takes the stamp.
 * The drain takes a stamp, the cut, waits until no record is being written
 * that was begun before, and then takes over only what is stamped up to the
 * cut. So nothing can come later that belongs before.
 *
 * When: the drain runs synchronously for a reader, 100 ms after an event for
 * those who poll, and at once when a ring is half full. An idle stream has no
 * timer.
 *
 * The kernel's own ring buffer was tried: its iterators are not reliable under
 * a live writer, and a record costs four times as much.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "compat.h"
#include "stream.h"

#define TAP_DRAIN_DELAY (HZ / 10)

/* A ring's last record may be as long as that. */
#define TAP_RING_SLACK (TAP_EVENT_MAX + sizeof(struct tap_record))

/* Context: any, NMI too; the next step needs a lock that a handler cannot take. */
static void tap_stream_kick(struct irq_work *irq_work)
{
	struct tap_stream *stream = container_of(irq_work, struct tap_stream,
						 irq_work);
	struct tap_ring *ring = this_cpu_ptr(stream->rings);

	if (READ_ONCE(ring->head) - READ_ONCE(ring->tail) > stream->ring_size / 2)
		mod_delayed_work(stream->queue, &stream->work, 0);
	else
		queue_delayed_work(stream->queue, &stream->work, TAP_DRAIN_DELAY);
}

bool tap_stream_alarm(struct tap_stream *stream, struct tap_ring *ring, u64 used)
{
	u32 half = stream->ring_size / 2;

	if (in_nmi() || used > stream->ring_size) {
		local_inc(&ring->lost);
		return false;
	}
	WRITE_ONCE(stream->alarm, used > half ? stream->ring_size : half);
	irq_work_queue(&stream->irq_work);
	return true;
}

void tap_stream_lose(struct tap_stream *stream)
{
	local_inc(&this_cpu_ptr(stream->rings)->lost);
}

void tap_stream_self(struct tap_stream *stream)
{
	local_inc(&this_cpu_ptr(stream->rings)->self);
}

/* A place for a record of @size bytes at the end of the history. */
static struct tap_record *tap_history_append(struct tap_stream *stream, u32 size)
{
	size_t offset = stream->next & (stream->history_size - 1);
	size_t left = stream->history_size - offset;
	struct tap_record *record;

	lockdep_assert_held(&stream->lock);
	if (left < size) {
		/* a record is never split: what is left is skipped */
		size += left;
	} else {
		left = 0;
	}
	while (stream->next + size - stream->first > stream->history_size) {
		size_t at = stream->first & (stream->history_size - 1);

		record = (struct tap_record *)(stream->history + at);
		if (stream->history_size - at < sizeof(*record) || !record->size) {
			stream->first += stream->history_size - at;
			continue;
		}
		stream->first += record->size;
		stream->first_event += record->len ? 1 : record->lost;
	}
	record = (struct tap_record *)(stream->history + offset);
	if (left >= sizeof(*record))
		record->size = 0;
	if (left)
		record = (struct tap_record *)stream->history;
	WRITE_ONCE(stream->next, stream->next + size);
	return record;
}

static void tap_history_lost(struct tap_stream *stream, u64 stamp, u32 lost)
{
	struct tap_record *record;

	if (!lost)
		return;
	record = tap_history_append(stream, sizeof(*record));
	*record = (struct tap_record){
		.stamp = stamp,
		.size = sizeof(*record),
		.lost = lost,
	};
	stream->next_event += lost;
	stream->lost += lost;
}

/* The oldest record of a ring, NULL if it has none up to what the drain reads. */
static struct tap_record *tap_ring_peek(struct tap_stream *stream,
					struct tap_ring *ring)
{
	if (ring->tail == ring->cut_head)
		return NULL;
	return (struct tap_record *)(ring->data +
				     (ring->tail & (stream->ring_size - 1)));
}

/*
 * The ring with the oldest record up to @cut. A machine has few rings with
 * something in them, so looking at each is cheaper than keeping a heap.
 */
static struct tap_ring *tap_stream_oldest(struct tap_stream *stream, u64 cut)
{
	struct tap_ring *oldest = NULL;
	u64 stamp = cut;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct tap_ring *ring = per_cpu_ptr(stream->rings, cpu);
		struct tap_record *record = tap_ring_peek(stream, ring);

		if (record && record->stamp <= stamp) {
			stamp = record->stamp;
			oldest = ring;
		}
	}
	return oldest;
}

/* Take over from the ring into the history what is lost up to @lost. */
static void tap_ring_lost(struct tap_stream *stream, struct tap_ring *ring,
			  u64 stamp, u32 lost)
{
	s32 more = lost - (u32)ring->lost_seen;

	if (more > 0) {
		ring->lost_seen += more;
		tap_history_lost(stream, stamp, more);
	}
}

static void __tap_stream_drain(struct tap_stream *stream)
{
	u64 next = stream->next;
	struct tap_ring *ring;
	u64 cut, missed;
	int cpu;

	lockdep_assert_held(&stream->lock);
	WRITE_ONCE(stream->alarm, 0);
	/* a writer that comes from here on asks for the next drain */
	smp_mb();
	cut = ktime_get_mono_fast_ns();
	/* stamp before mark; pairs with the barrier in tap_stream_write() */
	smp_mb();
	for_each_possible_cpu(cpu) {
		u64 head;

		ring = per_cpu_ptr(stream->rings, cpu);
		head = READ_ONCE(ring->head);
		/* a few hundred instructions with interrupts off */
		while (head & 1 && READ_ONCE(ring->head) == head)
			cond_resched();
		/* the head before the records; pairs with the writer's release */
		ring->cut_head = smp_load_acquire(&ring->head) & ~1ULL;
	}

	while ((ring = tap_stream_oldest(stream, cut))) {
		struct tap_record *from = tap_ring_peek(stream, ring);
		u32 size = from->size;
		struct tap_record *to;

		/* clocks of two CPUs can differ while the clock is being set */
		stream->last_stamp = max(stream->last_stamp, from->stamp);
		tap_ring_lost(stream, ring, stream->last_stamp, from->lost);
		to = tap_history_append(stream, size);
		memcpy(to, from, size);
		to->stamp = stream->last_stamp;
		to->lost = 0;
		stream->next_event++;
		/* it was read before its place is written again */
		smp_store_release(&ring->tail, ring->tail + size);
		cond_resched();
	}

	/* what was lost since the last record of a ring that is empty now */
	for_each_possible_cpu(cpu) {
		ring = per_cpu_ptr(stream->rings, cpu);
		if (!tap_ring_peek(stream, ring))
			tap_ring_lost(stream, ring, cut, local_read(&ring->lost));
	}
	missed = stream->missed ? stream->missed(stream->data) : 0;
	if (missed > stream->missed_seen) {
		tap_history_lost(stream, cut, missed - stream->missed_seen);
		stream->missed_seen = missed;
	}
	if (stream->next != next)
		wake_up_interruptible_all(&stream->wait);
}

void tap_stream_drain(struct tap_stream *stream)
{
	mutex_lock(&stream->lock);
	__tap_stream_drain(stream);
	mutex_unlock(&stream->lock);
}

static void tap_stream_work(struct work_struct *work)
{
	tap_stream_drain(container_of(to_delayed_work(work), struct tap_stream,
				      work));
}

u64 tap_stream_end(struct tap_stream *stream)
{
	return READ_ONCE(stream->next);
}

bool tap_stream_read(struct tap_stream *stream, struct tap_cursor *cursor,
		     u64 end, struct tap_record *record, void *event)
{
	struct tap_record *from;
	bool found = false;
	size_t offset;

	mutex_lock(&stream->lock);
	if (cursor->pos < stream->first) {
		u64 lost = stream->first_event -
			   max(cursor->event, stream->reset_event);

		*record = (struct tap_record){
			.stamp = stream->last_stamp,
			.lost = min_t(u64, lost, U32_MAX),
		};
		found = lost;
		cursor->pos = stream->first;
		cursor->event = stream->first_event;
	}
	while (!found && cursor->pos < end) {
		offset = cursor->pos & (stream->history_size - 1);
		from = (struct tap_record *)(stream->history + offset);
		if (stream->history_size - offset < sizeof(*from) || !from->size) {
			cursor->pos += stream->history_size - offset;
			continue;
		}
		*record = *from;
		memcpy(event, from + 1, from->len);
		cursor->pos += from->size;
		cursor->event += from->len ? 1 : from->lost;
		found = true;
	}
	mutex_unlock(&stream->lock);
	return found;
}

void tap_stream_reset(struct tap_stream *stream)
{
	mutex_lock(&stream->lock);
	__tap_stream_drain(stream);
	stream->first = stream->next;
	stream->first_event = stream->next_event;
	stream->reset_event = stream->next_event;
	mutex_unlock(&stream->lock);
}

void tap_stream_stats(struct tap_stream *stream, struct tap_stream_stats *stats)
{
	int cpu;

	mutex_lock(&stream->lock);
	__tap_stream_drain(stream);
	stats->written = stream->next_event - stream->lost;
	stats->lost = stream->lost;
	stats->forgotten = stream->first_event - stream->reset_event;
	stats->self = 0;
	for_each_possible_cpu(cpu)
		stats->self += local_read(&per_cpu_ptr(stream->rings, cpu)->self);
	stats->bytes = stream->history_size +
		       num_possible_cpus() * (stream->ring_size + TAP_RING_SLACK);
	mutex_unlock(&stream->lock);
}

int tap_stream_init(struct tap_stream *stream, u32 buffer_kb, const char *name)
{
	size_t ring_size = (64 << 20) / num_possible_cpus();
	int cpu;

	mutex_init(&stream->lock);
	init_waitqueue_head(&stream->wait);
	init_irq_work(&stream->irq_work, tap_stream_kick);
	INIT_DELAYED_WORK(&stream->work, tap_stream_work);
	stream->ring_size = rounddown_pow_of_two(clamp_t(size_t, ring_size,
							 PAGE_SIZE, 1 << 20));
	stream->history_size = roundup_pow_of_two((size_t)buffer_kb << 10);
	stream->history = kvmalloc(stream->history_size, GFP_KERNEL);
	stream->queue = alloc_workqueue("tap_%s", WQ_UNBOUND, 1, name);
	stream->rings = alloc_percpu(struct tap_ring);
	if (!stream->history || !stream->queue || !stream->rings)
		goto err_fini;
	for_each_possible_cpu(cpu) {
		struct tap_ring *ring = per_cpu_ptr(stream->rings, cpu);

		ring->data = kvmalloc_node(stream->ring_size + TAP_RING_SLACK,
					   GFP_KERNEL, cpu_to_node(cpu));
		if (!ring->data)
			goto err_fini;
	}
	return 0;

err_fini:
	tap_stream_fini(stream);
	return -ENOMEM;
}

void tap_stream_fini(struct tap_stream *stream)
{
	int cpu;

	if (stream->queue) {
		irq_work_sync(&stream->irq_work);
		cancel_delayed_work_sync(&stream->work);
		destroy_workqueue(stream->queue);
		stream->queue = NULL;
	}
	if (stream->rings)
		for_each_possible_cpu(cpu)
			kvfree(per_cpu_ptr(stream->rings, cpu)->data);
	free_percpu(stream->rings);
	stream->rings = NULL;
	kvfree(stream->history);
	stream->history = NULL;
}
