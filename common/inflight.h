/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_INFLIGHT_H
#define TAP_INFLIGHT_H

#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/**
 * struct tap_inflight - what has begun and not yet ended
 *
 * Joins the two halves of a call, a request or a wait: the first half puts
 * some data under a key (a thread, a request's address), the second half takes
 * it back.
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
 * @data: data_size bytes, written only if it was found
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
