// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: inflight - pairing of beginnings and ends, from a fixed pool
 *
 * A return probe needs such a pool in the kernel, and loses what sleeps when
 * the pool is used up; this one is ours, sized by a parameter, and counts what
 * found no room.
 *
 * Entries hang in hash buckets, each with a raw spinlock of its own taken with
 * interrupts off. Free entries are kept in one list per CPU; a CPU whose list
 * is empty takes from the others'. No two locks are held together, and nothing
 * is called under one but what changes an entry in place. An NMI may have
 * interrupted the holder of the very lock it wants, so there it only tries.
 *
 * Who only looks takes no lock: each bucket counts its changes, and an entry
 * stays an entry, whatever it holds.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/random.h>
#include <linux/string.h>

#include "inflight.h"

struct tap_inflight_free {
	raw_spinlock_t lock;	/* as a bucket's */
	u32 first;		/* under lock */
	u32 nr;			/* under lock */
};

static bool tap_inflight_pop(struct tap_inflight *inflight,
			     struct tap_inflight_free *free, u32 *i)
{
	bool found = false;

	if (!tap_inflight_lock(&free->lock))
		return false;
	if (free->first != TAP_INFLIGHT_NONE) {
		*i = free->first;
		WRITE_ONCE(free->first, tap_inflight_at(inflight, *i)->next);
		free->nr--;
		found = true;
	}
	raw_spin_unlock(&free->lock);
	return found;
}

/* A free entry: this CPU's, else the next CPU's that has one. */
static bool tap_inflight_get(struct tap_inflight *inflight, u32 *i)
{
	int cpu;

	if (tap_inflight_pop(inflight, this_cpu_ptr(inflight->free), i))
		return true;
	for_each_possible_cpu(cpu) {
		struct tap_inflight_free *free = per_cpu_ptr(inflight->free, cpu);

		if (READ_ONCE(free->first) != TAP_INFLIGHT_NONE &&
		    tap_inflight_pop(inflight, free, i))
			return true;
	}
	return false;
}

/*
 * Give an entry back to this CPU. An NMI that finds this list locked tries the
 * others; all being locked at that moment loses the entry until the tool is
 * loaded again, which the caller counts.
 */
static bool tap_inflight_release(struct tap_inflight *inflight, u32 i)
{
	struct tap_inflight_free *free = this_cpu_ptr(inflight->free);
	int cpu = -1;

	while (!tap_inflight_lock(&free->lock)) {
		cpu = cpumask_next(cpu, cpu_possible_mask);
		if (cpu >= nr_cpu_ids)
			return false;
		free = per_cpu_ptr(inflight->free, cpu);
	}
	tap_inflight_at(inflight, i)->next = free->first;
	WRITE_ONCE(free->first, i);
	free->nr++;
	raw_spin_unlock(&free->lock);
	return true;
}

/*
 * Put the data into the bucket, with the free entry *@i if the key is new; then
 * *@i is TAP_INFLIGHT_NONE. False: there is no free entry for a new key, or an
 * NMI found the bucket locked.
 */
static bool tap_inflight_store(struct tap_inflight *inflight, u64 key,
			       const void *data, u32 *i)
{
	struct tap_inflight_bucket *bucket = tap_inflight_bucket(inflight, key);
	struct tap_inflight_entry *entry;
	bool found;
	u32 *link;

	if (!tap_inflight_lock(&bucket->lock))
		return false;
	link = tap_inflight_link(inflight, bucket, key);
	raw_write_seqcount_begin(&bucket->seq);
	if (*link == TAP_INFLIGHT_NONE && *i != TAP_INFLIGHT_NONE) {
		entry = tap_inflight_at(inflight, *i);
		entry->key = key;
		entry->next = TAP_INFLIGHT_NONE;
		WRITE_ONCE(*link, *i);
		*i = TAP_INFLIGHT_NONE;
	}
	found = *link != TAP_INFLIGHT_NONE;
	if (found)
		memcpy(tap_inflight_at(inflight, *link)->data, data,
		       inflight->data_size);
	raw_write_seqcount_end(&bucket->seq);
	raw_spin_unlock(&bucket->lock);
	return found;
}

bool tap_inflight_put(struct tap_inflight *inflight, u64 key, const void *data)
{
	unsigned long flags;
	bool done;
	u32 i;

	local_irq_save(flags);
	if (!tap_inflight_get(inflight, &i))
		i = TAP_INFLIGHT_NONE;
	/* without a free entry it can still take the place of its like */
	done = tap_inflight_store(inflight, key, data, &i);
	if (i != TAP_INFLIGHT_NONE && !tap_inflight_release(inflight, i))
		done = false;
	local_irq_restore(flags);
	if (unlikely(!done))
		atomic64_inc(&inflight->lost);
	return done;
}

bool tap_inflight_take(struct tap_inflight *inflight, u64 key, void *data)
{
	struct tap_inflight_bucket *bucket = tap_inflight_bucket(inflight, key);
	u32 i = TAP_INFLIGHT_NONE;
	unsigned long flags;
	bool lost = false;
	u32 *link;

	/* most keys are in no bucket: a call that nobody asked about ends */
	if (READ_ONCE(bucket->first) == TAP_INFLIGHT_NONE)
		return false;
	local_irq_save(flags);
	if (tap_inflight_lock(&bucket->lock)) {
		link = tap_inflight_link(inflight, bucket, key);
		i = *link;
		if (i != TAP_INFLIGHT_NONE) {
			raw_write_seqcount_begin(&bucket->seq);
			WRITE_ONCE(*link, tap_inflight_at(inflight, i)->next);
			raw_write_seqcount_end(&bucket->seq);
			if (data)
				memcpy(data, tap_inflight_at(inflight, i)->data,
				       inflight->data_size);
		}
		raw_spin_unlock(&bucket->lock);
	} else {
		lost = true;
	}
	if (i != TAP_INFLIGHT_NONE && !tap_inflight_release(inflight, i))
		lost = true;
	local_irq_restore(flags);
	if (unlikely(lost))
		atomic64_inc(&inflight->lost);
	return i != TAP_INFLIGHT_NONE;
}

void *tap_inflight_own(struct tap_inflight *inflight, u64 key)
{
	struct tap_inflight_bucket *bucket = tap_inflight_bucket(inflight, key);
	struct tap_inflight_entry *entry = NULL;
	unsigned long flags;
	u32 i;

	local_irq_save(flags);
	raw_spin_lock(&bucket->lock);
	i = *tap_inflight_link(inflight, bucket, key);
	raw_spin_unlock(&bucket->lock);
	if (i != TAP_INFLIGHT_NONE) {
		entry = tap_inflight_at(inflight, i);
	} else if (tap_inflight_get(inflight, &i)) {
		entry = tap_inflight_at(inflight, i);
		entry->key = key;
		memset(entry->data, 0, inflight->data_size);
		/* nobody else has put this key meanwhile */
		raw_spin_lock(&bucket->lock);
		raw_write_seqcount_begin(&bucket->seq);
		entry->next = bucket->first;
		WRITE_ONCE(bucket->first, i);
		raw_write_seqcount_end(&bucket->seq);
		raw_spin_unlock(&bucket->lock);
	}
	local_irq_restore(flags);
	if (unlikely(!entry))
		atomic64_inc(&inflight->lost);
	return entry ? entry->data : NULL;
}

void *tap_inflight_find(struct tap_inflight *inflight, u64 key)
{
	struct tap_inflight_bucket *bucket = tap_inflight_bucket(inflight, key);
	unsigned long flags;
	u32 i;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	i = *tap_inflight_link(inflight, bucket, key);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return i != TAP_INFLIGHT_NONE ? tap_inflight_at(inflight, i)->data : NULL;
}

bool tap_inflight_peek(const struct tap_inflight *inflight, u64 key, void *data)
{
	struct tap_inflight_look look;
	const u64 *found;
	int tries;
	u32 i;

	for (tries = 0; tries < 4; tries++) {
		found = tap_inflight_look(inflight, key, &look);
		for (i = 0; found && i < inflight->data_size / sizeof(u64); i++)
			((u64 *)data)[i] = READ_ONCE(found[i]);
		if (likely(tap_inflight_looked(&look)))
			return found;
		cpu_relax();
	}
	return false;
}

size_t tap_inflight_bytes(const struct tap_inflight *inflight)
{
	return (size_t)inflight->nr * inflight->entry_size +
	       ((size_t)inflight->bucket_mask + 1) * sizeof(*inflight->buckets);
}

u64 tap_inflight_lost(struct tap_inflight *inflight)
{
	return atomic64_read(&inflight->lost);
}

u32 tap_inflight_used(struct tap_inflight *inflight)
{
	u32 used = inflight->nr;
	int cpu;

	for_each_possible_cpu(cpu)
		used -= READ_ONCE(per_cpu_ptr(inflight->free, cpu)->nr);
	return used;
}

int tap_inflight_init(struct tap_inflight *inflight, u32 nr, u32 data_size)
{
	u32 nr_buckets = roundup_pow_of_two(nr);
	u32 i, cpus = num_possible_cpus();
	int cpu, n = 0;

	inflight->nr = nr;
	inflight->data_size = data_size;
	inflight->entry_size = sizeof(struct tap_inflight_entry) + data_size;
	inflight->bucket_mask = nr_buckets - 1;
	get_random_bytes(&inflight->seed, sizeof(inflight->seed));
	inflight->buckets = kvcalloc(nr_buckets, sizeof(*inflight->buckets),
				     GFP_KERNEL);
	inflight->entries = kvcalloc(nr, inflight->entry_size, GFP_KERNEL);
	inflight->free = alloc_percpu(struct tap_inflight_free);
	if (!inflight->buckets || !inflight->entries || !inflight->free) {
		tap_inflight_fini(inflight);
		return -ENOMEM;
	}
	for (i = 0; i < nr_buckets; i++) {
		raw_spin_lock_init(&inflight->buckets[i].lock);
		seqcount_init(&inflight->buckets[i].seq);
		inflight->buckets[i].first = TAP_INFLIGHT_NONE;
	}
	/* each CPU begins with an equal share */
	for_each_possible_cpu(cpu) {
		struct tap_inflight_free *free = per_cpu_ptr(inflight->free, cpu);

		raw_spin_lock_init(&free->lock);
		free->first = TAP_INFLIGHT_NONE;
		for (i = n++; i < nr; i += cpus) {
			tap_inflight_at(inflight, i)->next = free->first;
			free->first = i;
			free->nr++;
		}
	}
	return 0;
}

void tap_inflight_fini(struct tap_inflight *inflight)
{
	free_percpu(inflight->free);
	kvfree(inflight->entries);
	kvfree(inflight->buckets);
	inflight->free = NULL;
	inflight->entries = NULL;
	inflight->buckets = NULL;
}
