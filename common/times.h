/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * times - how long something took, as sums of a row
 *
 * The sums are nanoseconds, and how many were how long, by powers of two of a
 * microsecond: 0 is less than one, and bucket i is 2^(i-1) up to 2^i.
 */
#ifndef TAP_TIMES_H
#define TAP_TIMES_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/*
 * The last one is 2^24 us, 17 seconds, and more. With these a table has 256 rows
 * in the memory that a tool may hold, with one more 128.
 */
#define TAP_TIMES_BUCKETS 26

/**
 * enum tap_times_sum - the sums of times, counted from the first one
 * @TAP_TIMES_TOTAL: all added up
 * @TAP_TIMES_BUCKET: how many were how long, TAP_TIMES_BUCKETS of them
 * @TAP_TIMES_MAX: a maximum, the longest
 * @TAP_TIMES_MIN: a maximum, too: of the complement, so that it begins with 0
 * @TAP_TIMES_SUMS: how many there are
 */
enum tap_times_sum {
	TAP_TIMES_TOTAL,
	TAP_TIMES_BUCKET,
	TAP_TIMES_MAX = TAP_TIMES_BUCKET + TAP_TIMES_BUCKETS,
	TAP_TIMES_MIN,
	TAP_TIMES_SUMS,
};

/**
 * tap_times_bucket() - the bucket of a time
 * @ns: the time
 *
 * Context: any.
 * Return: its number, 0 to TAP_TIMES_BUCKETS - 1.
 */
static __always_inline unsigned int tap_times_bucket(u64 ns)
{
	return min_t(unsigned int, fls64(div_u64(ns, NSEC_PER_USEC)),
		     TAP_TIMES_BUCKETS - 1);
}

/**
 * tap_times_bucket_us() - the shortest time of a bucket
 * @bucket: its number
 *
 * Return: the time in microseconds.
 */
static inline u32 tap_times_bucket_us(unsigned int bucket)
{
	return bucket ? 1U << (bucket - 1) : 0;
}

/**
 * tap_times_total_us() - all times added up
 * @times: the sums of the times
 *
 * Return: microseconds.
 */
static inline u64 tap_times_total_us(const u64 *times)
{
	return div_u64(times[TAP_TIMES_TOTAL], NSEC_PER_USEC);
}

/**
 * tap_times_mean_us() - the mean
 * @times: the sums of the times
 *
 * Return: microseconds, rounded down; 0 if there is no time.
 */
static inline u64 tap_times_mean_us(const u64 *times)
{
	u64 n = 0;
	int i;

	for (i = 0; i < TAP_TIMES_BUCKETS; i++)
		n += times[TAP_TIMES_BUCKET + i];
	return n ? div_u64(div64_u64(times[TAP_TIMES_TOTAL], n), NSEC_PER_USEC) : 0;
}

/**
 * tap_times_min_us() - the shortest time
 * @times: the sums of the times
 *
 * Return: microseconds, rounded down; 0 if there is no time.
 */
static inline u64 tap_times_min_us(const u64 *times)
{
	u64 min = times[TAP_TIMES_MIN];

	return min ? div_u64(~min, NSEC_PER_USEC) : 0;
}

/**
 * tap_times_max_us() - the longest time
 * @times: the sums of the times
 *
 * Return: microseconds, rounded down.
 */
static inline u64 tap_times_max_us(const u64 *times)
{
	return div_u64(times[TAP_TIMES_MAX], NSEC_PER_USEC);
}

#endif /* TAP_TIMES_H */
