/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_STRINGS_H
#define TAP_STRINGS_H

#include <linux/atomic.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* No string. */
#define TAP_STRING_NONE 0

/* Bytes of a string that one block of the pool holds. */
#define TAP_STRING_BLOCK 60

/**
 * struct tap_strings - strings of any length that are kept for some time
 *
 * In bounded memory: what finds no room is counted.
 */
struct tap_strings {
	/* private: */
	struct tap_strings_block *blocks;
	u32 nr;
	raw_spinlock_t lock;	/* interrupts off */
	u32 first;		/* under lock: the free blocks */
	u32 nr_free;		/* under lock; READ_ONCE without */
	atomic64_t lost;
};

/**
 * tap_strings_init() - allocate the pool
 * @strings: what to initialise, all zero
 * @kb: its size, KiB, at least 1
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then nothing is held.
 */
int tap_strings_init(struct tap_strings *strings, u32 kb);

/**
 * tap_strings_fini() - free the pool
 * @strings: a pool that no handler uses any more, or one that is all zero
 *
 * Context: process context, may sleep.
 */
void tap_strings_fini(struct tap_strings *strings);

/**
 * tap_strings_put() - keep a string
 * @strings: the pool
 * @string: the string, copied; has no NUL byte
 * @len: its length, a few pages at most
 *
 * Without room for all of it nothing is kept, and one is counted as lost.
 *
 * Context: any but NMIs.
 * Return: a number to take it by, or TAP_STRING_NONE.
 */
u32 tap_strings_put(struct tap_strings *strings, const char *string, size_t len);

/**
 * tap_strings_take() - get a string back, and forget it
 * @strings: the pool
 * @id: what tap_strings_put() returned and nobody has taken yet; with
 *      TAP_STRING_NONE the string is empty
 * @buf: gets as much of it as fits, terminated
 * @size: bytes at @buf, at least 1; 0 if the string is not wanted
 *
 * Context: any but NMIs.
 * Return: bytes at @buf, without the terminator.
 */
size_t tap_strings_take(struct tap_strings *strings, u32 id, char *buf,
			size_t size);

/**
 * tap_strings_lost() - how many found no room
 * @strings: the pool
 *
 * Context: any.
 * Return: the number since init.
 */
u64 tap_strings_lost(struct tap_strings *strings);

/**
 * tap_strings_used() - how much of the pool is in use
 * @strings: the pool
 *
 * Context: any. With writers at work a moment's value.
 * Return: bytes.
 */
size_t tap_strings_used(const struct tap_strings *strings);

#endif /* TAP_STRINGS_H */
