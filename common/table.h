/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_TABLE_H
#define TAP_TABLE_H

#include <asm/local64.h>
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/types.h>

/**
 * enum tap_row_id - rows that every table has
 * @TAP_ROW_NONE: no row; what a free slot holds
 * @TAP_ROW_OTHER: keys that found no room are added up here
 * @TAP_ROW_SELF: what the readers of the tool did themselves; never shown
 * @TAP_ROW_EXITED: processes that ended and were folded to make room
 * @TAP_ROW_FIRST: the first row that has a key
 */
enum tap_row_id {
	TAP_ROW_NONE,
	TAP_ROW_OTHER,
	TAP_ROW_SELF,
	TAP_ROW_EXITED,
	TAP_ROW_FIRST,
};

/**
 * struct tap_table_layout - what the rows of a table hold
 * @key_size: bytes of a key, a multiple of 8. Keys are compared and hashed as
 *            a whole, so unused bytes must be zero
 * @attr_size: bytes kept beside a key without being part of it, a multiple of
 *             8; all zero in a new row
 * @nr_sums: 64-bit sums of a row
 * @nr_maxima: how many of them, the last ones, are no sums but the greatest
 *             value there was, see tap_table_raise()
 * @max_rows: keys that have room
 * @stays: rows and what is counted in them stay when the table is cleared, which
 *         takes note of what the sums were. There are no maxima then
 */
struct tap_table_layout {
	u32 key_size;
	u32 attr_size;
	u32 nr_sums;
	u32 nr_maxima;
	u32 max_rows;
	bool stays;
};

/**
 * struct tap_table - keys to sums
 */
struct tap_table {
	/* private: read-mostly, written by init, full also by the last insert */
	struct tap_table_layout layout;
	u32 *slots;			/* row ids by hash of the key, 0 = free */
	u32 slot_shift;			/* there are 1 << (64 - slot_shift) slots */
	bool full;			/* no row is left, see tap_table_insert() */
	u64 seed;
	u64 *keys;
	u8 *attrs;
	local64_t *__percpu *sums;	/* each CPU's own, added up by the reader */
	u64 *base;			/* stays: what no longer counts; the reader's */
	u32 __percpu *spare;		/* a row id that lost its race */
	/* rows given out, on a line of its own; grows until the table is cleared */
	atomic_t nr_rows ____cacheline_aligned_in_smp;
};

/**
 * tap_table_init() - allocate a table, empty
 * @table: what to initialise, all zero
 * @layout: what the rows hold
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then nothing is held.
 */
int tap_table_init(struct tap_table *table, const struct tap_table_layout *layout);

/**
 * tap_table_fini() - free what a table holds
 * @table: a table that nobody uses, or one that is all zero
 *
 * Context: process context, may sleep.
 */
void tap_table_fini(struct tap_table *table);

/**
 * tap_table_clear() - empty a table
 * @table: a table without writers and readers
 *
 * The caller has made sure that there is no writer: it unhooked the table and
 * waited for RCU. Writers may be at work if the layout has @stays: an event
 * counts before or after.
 *
 * Context: process context, may sleep.
 */
void tap_table_clear(struct tap_table *table);

/**
 * tap_table_forget() - part of a sum no longer counts
 * @table: a table whose layout has @stays
 * @id: the row
 * @sum: which sum
 * @n: how much of it
 *
 * Context: process context, one at a time.
 */
static inline void tap_table_forget(struct tap_table *table, u32 id, u32 sum,
				    u64 n)
{
	table->base[(size_t)id * table->layout.nr_sums + sum] += n;
}

/**
 * tap_table_bytes() - memory of a table
 * @layout: what its rows hold
 *
 * Return: bytes on all possible CPUs together.
 */
size_t tap_table_bytes(const struct tap_table_layout *layout);

/**
 * tap_table_rows() - how many rows fit the memory that a tool may hold
 * @layout: what the rows hold, @max_rows not used
 *
 * Two tables in 8 MiB and 128 KiB per possible CPU, at most 65536 rows.
 *
 * Return: the number of rows.
 */
u32 tap_table_rows(const struct tap_table_layout *layout);

/**
 * tap_table_used() - rows that have a key
 * @table: the table
 *
 * Context: any.
 * Return: the number of ids given out, starting at TAP_ROW_FIRST. A few may
 * have no key (see tap_table_insert()): those have no sums either.
 */
u32 tap_table_used(struct tap_table *table);

/**
 * tap_table_key() - the key of a row
 * @table: the table
 * @id: the row
 *
 * Return: the key.
 */
static __always_inline void *tap_table_key(const struct tap_table *table, u32 id)
{
	return (u8 *)table->keys + (size_t)id * table->layout.key_size;
}

/**
 * tap_table_attr() - what is kept beside the key of a row
 * @table: the table
 * @id: the row
 *
 * All CPUs share it: a writer writes single words, and only when they change.
 *
 * Return: the attributes.
 */
static __always_inline void *tap_table_attr(const struct tap_table *table, u32 id)
{
	return table->attrs + (size_t)id * table->layout.attr_size;
}

/**
 * tap_table_sums() - this CPU's sums of a row
 * @table: the table
 * @id: the row
 *
 * Context: any, CPU pinned.
 * Return: @layout.nr_sums sums, for local64_add().
 */
static __always_inline local64_t *tap_table_sums(const struct tap_table *table,
						 u32 id)
{
	return __this_cpu_read(*table->sums) + (size_t)id * table->layout.nr_sums;
}

/**
 * tap_table_raise() - a value for one of a row's maxima
 * @max: this CPU's maximum
 * @value: the value
 *
 * Context: any, CPU pinned.
 */
static __always_inline void tap_table_raise(local64_t *max, u64 value)
{
	u64 old = local64_read(max);

	/* fails only if an interrupt has raised it */
	while (old < value) {
		u64 seen = local64_cmpxchg(max, old, value);

		if (seen == old)
			break;
		old = seen;
	}
}

/**
 * tap_table_join() - two values of one sum become one
 * @layout: what a row holds
 * @sum: which sum
 * @a: a value
 * @b: the other value
 *
 * Return: both added up; the greater one, if it is a maximum.
 */
static inline u64 tap_table_join(const struct tap_table_layout *layout, u32 sum,
				 u64 a, u64 b)
{
	return sum < layout->nr_sums - layout->nr_maxima ? a + b : max(a, b);
}

/**
 * tap_table_total() - one sum of a row over all CPUs
 * @table: the table
 * @id: the row
 * @sum: which sum
 *
 * With writers at work the result is some moment between the call and the
 * return; an event with several sums may be counted in one and not yet in the
 * next, at most one event per CPU.
 *
 * Context: any.
 * Return: the sum.
 */
u64 tap_table_total(const struct tap_table *table, u32 id, u32 sum);

/**
 * tap_table_merge() - add the rows of one table to another
 * @to: the table that grows; its writers may be at work
 * @from: the table that is added, without writers
 * @gone: true for a key that is added to TAP_ROW_EXITED instead; NULL: none
 *
 * What finds no room in @to is added to its TAP_ROW_OTHER, so no total changes.
 *
 * Context: process context, may sleep.
 */
void tap_table_merge(struct tap_table *to, struct tap_table *from,
		     bool (*gone)(const void *key));

/**
 * tap_table_carry() - sums below 0 are left to the next table
 * @to: the next table; its writers may be at work
 * @from: a table without writers
 *
 * Where one half of an event adds and the other subtracts, the second may come
 * after the first one's table has ended.
 *
 * Context: process context, may sleep.
 */
void tap_table_carry(struct tap_table *to, struct tap_table *from);

/**
 * tap_table_insert() - find the row of a key, or give it one
 * @table: the table
 * @key: the key
 * @slot: where the search starts, from the key's hash
 *
 * For tap_table_find(). At most 64 slots are looked at.
 *
 * Context: any, NMI too; CPU pinned.
 * Return: the row; TAP_ROW_OTHER when the table or that stretch of it is full.
 */
u32 tap_table_insert(struct tap_table *table, const u64 *key, u32 slot);

/**
 * tap_table_differs() - compare two keys
 * @a: a key
 * @b: a key
 * @words: their length in 64-bit words
 *
 * Return: 0 if they are equal.
 */
static __always_inline u64 tap_table_differs(const u64 *a, const u64 *b,
					     unsigned int words)
{
	u64 diff = 0;
	unsigned int i;

#pragma GCC unroll 16
	for (i = 0; i < words; i++)
		diff |= a[i] ^ b[i];
	return diff;
}

/**
 * tap_table_insert_word() - tap_table_insert() for a key of one word
 * @table: the table
 * @key: the key, by value: a handler then needs no stack for it
 * @slot: as for tap_table_insert()
 *
 * Context: as for tap_table_insert().
 * Return: likewise.
 */
u32 tap_table_insert_word(struct tap_table *table, u64 key, u32 slot);

/**
 * tap_table_slot() - where the search for a key starts
 * @table: the table
 * @key: the key, as long as the table's keys are
 * @words: its length in 64-bit words, a constant, so that the loop unrolls
 *
 * The multiplier is 2^64 divided by the golden ratio, which mixes upwards: the
 * highest bits choose the slot, and are folded down before the next word. The
 * seed is drawn at tap_table_init(): users choose keys (names, addresses), and
 * must not be able to choose a slot.
 *
 * Context: any.
 * Return: the number of the slot.
 */
static __always_inline u32 tap_table_slot(const struct tap_table *table,
					  const u64 *key, unsigned int words)
{
	u64 hash = (table->seed ^ key[0]) * 0x9e3779b97f4a7c15ull;
	unsigned int i;

#pragma GCC unroll 16
	for (i = 1; i < words; i++)
		hash = (hash ^ (hash >> 32) ^ key[i]) * 0x9e3779b97f4a7c15ull;
	/* the mask changes nothing, and spares a shift that UBSAN checks */
	return hash >> (table->slot_shift & 63);
}

/**
 * tap_table_look() - is the row of a key found at this slot?
 * @table: the table
 * @key: the key, as long as the table's keys are
 * @words: its length in 64-bit words, a constant, so that the loop unrolls
 * @slot: a slot of this table, or of one that has the same layout
 *
 * Context: any, NMI too; CPU pinned.
 * Return: the row, or TAP_ROW_NONE.
 */
static __always_inline u32 tap_table_look(const struct tap_table *table,
					  const u64 *key, unsigned int words,
					  u32 slot)
{
	/* pairs with the cmpxchg() in tap_table_insert(): the key is there */
	u32 id = READ_ONCE(table->slots[slot]);

	if (likely(id) &&
	    likely(!tap_table_differs(key, table->keys + (size_t)id * words, words)))
		return id;
	return TAP_ROW_NONE;
}

/**
 * tap_table_find() - find the row of a key, or give it one
 * @table: the table
 * @key: the key, as long as the table's keys are
 * @words: its length in 64-bit words, a constant, so that the loops unroll
 *
 * Context: any, NMI too; CPU pinned.
 * Return: the row; TAP_ROW_OTHER when the table is full.
 */
static __always_inline u32 tap_table_find(struct tap_table *table,
					  const u64 *key, unsigned int words)
{
	u32 slot = tap_table_slot(table, key, words);
	u32 id = tap_table_look(table, key, words, slot);

	if (likely(id))
		return id;
	if (words == 1)
		return tap_table_insert_word(table, *key, slot);
	return tap_table_insert(table, key, slot);
}

/**
 * tap_table_found() - at which slot is a row found?
 * @table: the table
 * @id: the row
 * @slot: where the search for its key starts
 *
 * Context: any, NMI too; CPU pinned.
 * Return: the slot, for tap_table_look(). @slot if it is none of those that
 * are searched: a row of no key of its own.
 */
u32 tap_table_found(const struct tap_table *table, u32 id, u32 slot);

#endif /* TAP_TABLE_H */
