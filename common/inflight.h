/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_INFLIGHT_H
#define TAP_INFLIGHT_H

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* No entry. */
#define TAP_INFLIGHT_NONE U32_MAX

/**
 * struct tap_inflight_bucket - entries whose keys have the same hash
 */
struct tap_inflight_bucket {
	/* private: */
	raw_spinlock_t lock;	/* any context with interrupts off; NMIs only try */
	seqcount_t seq;		/* written under lock */
	u32 first;		/* under lock; tap_inflight_look() without */
};

/**
 * struct tap_inflight_entry - a key and what was put under it
 */
struct tap_inflight_entry {
	/* private: */
	u64 key;
	u32 next;	/* in a bucket or a free list, under its lock */
	u8 data[] __aligned(8);
};

/**
 * struct tap_inflight - what has begun and not yet ended
 *
 * Joins the two halves of a call, a request or a wait: the first half puts
 * some data under a key (a thread, a request's address), the second half takes
 * it back. In between tap_inflight_peek() looks at it.
 */
struct tap_inflight {
	/* private: */
	struct tap_inflight_bucket *buckets;
	u8 *entries;
	struct tap_inflight_free __percpu *free;
	u32 bucket_mask;
	u32 entry_size;
	u32 data_size;
	u32 nr;
	u64 seed;
	atomic64_t lost;
};

/**
 * tap_inflight_init() - allocate the pool
 * @inflight: what to initialise, all zero
 * @nr: entries that have room at the same time
 * @data_size: bytes kept with each key, a multiple of 8
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then nothing is held.
 */
int tap_inflight_init(struct tap_inflight *inflight, u32 nr, u32 data_size);

/**
 * tap_inflight_fini() - free the pool
 * @inflight: a pool that no handler uses any more, or one that is all zero
 *
 * Context: process context, may sleep.
 */
void tap_inflight_fini(struct tap_inflight *inflight);

/**
 * tap_inflight_put() - remember that something has begun
 * @inflight: the pool
 * @key: what it will be found by
 * @data: data_size bytes, copied
 *
 * Something else under the same key is replaced: its end was not seen. When
 * the pool is full, or when an NMI finds a lock taken, nothing is remembered
 * and one is counted as lost.
 *
 * Context: any.
 * Return: true if it is remembered.
 */
bool tap_inflight_put(struct tap_inflight *inflight, u64 key, const void *data);

/**
 * tap_inflight_take() - it has ended: get what was put, and forget it
 * @inflight: the pool
 * @key: the key
 * @data: data_size bytes, written only if it was found; NULL: of no interest
 *
 * Context: any. An NMI that finds a lock taken counts one as lost.
 * Return: true if it was found.
 */
bool tap_inflight_take(struct tap_inflight *inflight, u64 key, void *data);

/**
 * tap_inflight_own() - the data under a key that nobody else uses
 * @inflight: the pool
 * @key: the key, which only who calls may put, own or take
 *
 * It is found, or put there all zero, and may be read and written in place
 * until tap_inflight_take(). Without room one is counted as lost.
 *
 * Context: any but NMIs, CPU pinned.
 * Return: the data, or NULL if there is no room.
 */
void *tap_inflight_own(struct tap_inflight *inflight, u64 key);

/**
 * tap_inflight_find() - the same, if there is any
 * @inflight: the pool
 * @key: as for tap_inflight_own()
 *
 * Context: any but NMIs, CPU pinned.
 * Return: the data, or NULL if nothing is there.
 */
void *tap_inflight_find(struct tap_inflight *inflight, u64 key);

/**
 * tap_inflight_bucket() - the bucket that a key belongs to
 * @inflight: the pool
 * @key: the key
 *
 * Return: the bucket.
 */
static __always_inline struct tap_inflight_bucket *
tap_inflight_bucket(const struct tap_inflight *inflight, u64 key)
{
	u64 hash = (key ^ inflight->seed) * 0x9e3779b97f4a7c15ull;

	return &inflight->buckets[(hash >> 32) & inflight->bucket_mask];
}

/**
 * tap_inflight_at() - an entry by its number
 * @inflight: the pool
 * @i: the number
 *
 * Return: the entry.
 */
static __always_inline struct tap_inflight_entry *
tap_inflight_at(const struct tap_inflight *inflight, u32 i)
{
	return (void *)(inflight->entries + (size_t)i * inflight->entry_size);
}

/**
 * tap_inflight_lock() - take a lock; an NMI, which may have interrupted its holder, only tries
 * @lock: a raw spinlock. A macro, so that sparse can follow whether it is held
 *
 * Return: true if it is taken.
 */
#define tap_inflight_lock(lock)						\
	(likely(!in_nmi()) ? ({ raw_spin_lock(lock); true; }) :		\
			     raw_spin_trylock(lock))

/**
 * tap_inflight_link() - where an entry is linked
 * @inflight: the pool
 * @bucket: the key's bucket, locked
 * @key: the key
 *
 * Return: where its number is, or the end of the bucket.
 */
static __always_inline u32 *
tap_inflight_link(struct tap_inflight *inflight,
		  struct tap_inflight_bucket *bucket, u64 key)
{
	u32 *link = &bucket->first;

	while (*link != TAP_INFLIGHT_NONE &&
	       tap_inflight_at(inflight, *link)->key != key)
		link = &tap_inflight_at(inflight, *link)->next;
	return link;
}

/**
 * tap_inflight_update() - change what was put, and leave it there
 * @inflight: the pool
 * @key: the key
 * @change: changes the data; called under a raw spinlock with interrupts off. Its
 *          result is returned. With a function that is known this costs 30
 *          instructions less as part of who calls it
 * @arg: for @change
 *
 * Context: any. An NMI that finds a lock taken counts one as lost.
 * Return: false if it was not found.
 */
static __always_inline bool
tap_inflight_update(struct tap_inflight *inflight, u64 key,
		    bool (*change)(void *data, void *arg), void *arg)
{
	struct tap_inflight_bucket *bucket = tap_inflight_bucket(inflight, key);
	unsigned long flags;
	bool done = false;
	u32 i;

	local_irq_save(flags);
	if (tap_inflight_lock(&bucket->lock)) {
		i = *tap_inflight_link(inflight, bucket, key);
		if (i != TAP_INFLIGHT_NONE) {
			raw_write_seqcount_begin(&bucket->seq);
			done = change(tap_inflight_at(inflight, i)->data, arg);
			raw_write_seqcount_end(&bucket->seq);
		}
		raw_spin_unlock(&bucket->lock);
	} else {
		atomic64_inc(&inflight->lost);
	}
	local_irq_restore(flags);
	return done;
}

/**
 * struct tap_inflight_look - a look at what was put
 */
struct tap_inflight_look {
	/* private: */
	const seqcount_t *changes;
	unsigned int seq;
};

/**
 * tap_inflight_look() - look at what was put, and leave it there
 * @inflight: the pool
 * @key: the key
 * @look: for tap_inflight_looked()
 *
 * Takes no lock and writes nothing shared. What is seen may change at any
 * moment and become something else's data, so it means something only if
 * tap_inflight_looked() says so afterwards.
 *
 * Context: any, CPU pinned.
 * Return: the data, to be read with READ_ONCE(); NULL if there is nothing.
 */
static __always_inline void *
tap_inflight_look(const struct tap_inflight *inflight, u64 key,
		  struct tap_inflight_look *look)
{
	const struct tap_inflight_bucket *bucket = tap_inflight_bucket(inflight, key);
	struct tap_inflight_entry *entry;
	unsigned int steps = 0;
	u32 next;

	look->changes = &bucket->seq;
	/* does not wait: this may have interrupted who writes */
	look->seq = raw_seqcount_begin(&bucket->seq);
	next = READ_ONCE(bucket->first);
	while (next != TAP_INFLIGHT_NONE) {
		entry = tap_inflight_at(inflight, next);
		if (likely(READ_ONCE(entry->key) == key))
			return entry->data;
		/* an entry that moves may lead astray, but not for long */
		if (++steps == 64)
			break;
		next = READ_ONCE(entry->next);
	}
	return NULL;
}

/**
 * tap_inflight_looked() - was that how it is?
 * @look: as tap_inflight_look() left it
 *
 * Return: true if nothing changed since: what was read belongs together, and
 * what was not found was not there.
 */
static __always_inline bool tap_inflight_looked(const struct tap_inflight_look *look)
{
	return !read_seqcount_retry(look->changes, look->seq);
}

/**
 * tap_inflight_peek() - a copy of what was put, which stays there
 * @inflight: the pool
 * @key: the key
 * @data: gets data_size bytes; garbage if nothing is found
 *
 * What changes meanwhile is copied again, a few times; if it goes on changing,
 * nothing is found.
 *
 * Context: any, CPU pinned.
 * Return: true if it was found.
 */
bool tap_inflight_peek(const struct tap_inflight *inflight, u64 key, void *data);

/**
 * tap_inflight_bytes() - memory of a pool
 * @inflight: the pool
 *
 * Return: bytes.
 */
size_t tap_inflight_bytes(const struct tap_inflight *inflight);

/**
 * tap_inflight_lost() - how many were not remembered or not found for a lock
 * @inflight: the pool
 *
 * Context: any.
 * Return: the number since init.
 */
u64 tap_inflight_lost(struct tap_inflight *inflight);

/**
 * tap_inflight_used() - how many are in flight
 * @inflight: the pool
 *
 * Context: process context. With writers at work a moment's value.
 * Return: the number.
 */
u32 tap_inflight_used(struct tap_inflight *inflight);

#endif /* TAP_INFLIGHT_H */
