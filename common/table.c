// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: table - keys to sums, for any context
 *
 * One map from keys to rows is shared by all CPUs; nothing is ever taken out
 * of it. Each row has 64-bit sums on every CPU, so counting is one addition
 * without a lock and without a shared cache line; who reads adds the CPUs up.
 *
 *	slots		keys, attrs		sums
 *	[ 0 ]		1 (other)		cpu0: [1][2][3][4][5]...
 *	[ 5 ] ------>	5 { pid 17 }		cpu1: [1][2][3][4][5]...
 *	[ 0 ]
 *	[ 4 ] ------>	4 { pid 3 }
 *
 * A key gets a row in three steps: take the next row id, write the key there,
 * and claim a free slot for the id by cmpxchg(). Who finds an id in a slot
 * therefore finds the key too. Two CPUs with the same new key race for the
 * same slot, as both walk from the same place; the loser keeps its id as this
 * CPU's spare for the next new key. There are twice as many slots as rows, so
 * that most keys are found where the walk begins.
 *
 * When all rows are given out, new keys are added up in one row, (other). The
 * flag @full keeps their writers away from the shared counter. Nothing is
 * allocated after the start, and no walk is longer than 64 slots.
 *
 * Where keys are known beforehand and there are many of them, a second table for
 * the next window costs more than it gains. Such a table stays: nothing in it is
 * ever cleared, and what the sums were is taken off (@base).
 */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/string.h>

#include "table.h"

#define TAP_TABLE_WALK 64	/* slots; at half load 1.5 are looked at on average */

/* Rows of a full table, those without key and the unused id 0 included. */
static u32 tap_table_ids(const struct tap_table_layout *layout)
{
	return layout->max_rows + TAP_ROW_FIRST;
}

static u32 tap_table_slots(const struct tap_table_layout *layout)
{
	return roundup_pow_of_two(2 * tap_table_ids(layout));
}

static size_t tap_table_shared_bytes(const struct tap_table_layout *layout)
{
	return (size_t)tap_table_ids(layout) *
	       (layout->key_size + layout->attr_size) +
	       tap_table_slots(layout) * sizeof(u32) +
	       (layout->stays ?
		(size_t)tap_table_ids(layout) * layout->nr_sums * sizeof(u64) : 0);
}

static size_t tap_table_cpu_bytes(const struct tap_table_layout *layout)
{
	return (size_t)tap_table_ids(layout) * layout->nr_sums *
	       sizeof(local64_t);
}

size_t tap_table_bytes(const struct tap_table_layout *layout)
{
	return tap_table_shared_bytes(layout) +
	       num_possible_cpus() * tap_table_cpu_bytes(layout);
}

u32 tap_table_rows(const struct tap_table_layout *layout)
{
	struct tap_table_layout l = *layout;

	for (l.max_rows = 65536; l.max_rows > 64; l.max_rows /= 2)
		if (2 * tap_table_shared_bytes(&l) <= 8 << 20 &&
		    2 * tap_table_cpu_bytes(&l) <= 128 << 10)
			break;
	return l.max_rows;
}

int tap_table_init(struct tap_table *table, const struct tap_table_layout *layout)
{
	u32 ids = tap_table_ids(layout);
	int cpu;

	table->layout = *layout;
	table->slot_shift = 64 - ilog2(tap_table_slots(layout));
	get_random_bytes(&table->seed, sizeof(table->seed));
	atomic_set(&table->nr_rows, 0);
	table->slots = kvcalloc(tap_table_slots(layout), sizeof(u32), GFP_KERNEL);
	table->keys = kvcalloc(ids, layout->key_size, GFP_KERNEL);
	table->attrs = kvcalloc(ids, max(layout->attr_size, 1U), GFP_KERNEL);
	table->spare = alloc_percpu(u32);
	table->sums = alloc_percpu(local64_t *);
	if (layout->stays)
		table->base = kvcalloc(ids, layout->nr_sums * sizeof(u64),
				       GFP_KERNEL);
	if (!table->slots || !table->keys || !table->attrs || !table->spare ||
	    !table->sums || (layout->stays && !table->base))
		goto err_fini;
	for_each_possible_cpu(cpu) {
		local64_t *sums = kvmalloc_node(tap_table_cpu_bytes(layout),
						GFP_KERNEL | __GFP_ZERO,
						cpu_to_node(cpu));

		if (!sums)
			goto err_fini;
		*per_cpu_ptr(table->sums, cpu) = sums;
	}
	return 0;

err_fini:
	tap_table_fini(table);
	return -ENOMEM;
}

void tap_table_fini(struct tap_table *table)
{
	int cpu;

	if (table->sums)
		for_each_possible_cpu(cpu)
			kvfree(*per_cpu_ptr(table->sums, cpu));
	free_percpu(table->sums);
	free_percpu(table->spare);
	kvfree(table->base);
	kvfree(table->attrs);
	kvfree(table->keys);
	kvfree(table->slots);
	memset(table, 0, sizeof(*table));
}

u32 tap_table_used(struct tap_table *table)
{
	return min_t(u32, atomic_read(&table->nr_rows), table->layout.max_rows);
}

/* What is counted until now no longer counts. */
static void tap_table_clear_base(struct tap_table *table)
{
	u32 ids = tap_table_used(table) + TAP_ROW_FIRST;
	u32 id, sum;

	for (id = TAP_ROW_OTHER; id < ids; id++) {
		for (sum = 0; sum < table->layout.nr_sums; sum++)
			tap_table_forget(table, id, sum,
					 tap_table_total(table, id, sum));
		cond_resched();
	}
}

void tap_table_clear(struct tap_table *table)
{
	const struct tap_table_layout *l = &table->layout;
	size_t ids = tap_table_used(table) + TAP_ROW_FIRST;
	int cpu;

	if (l->stays) {
		tap_table_clear_base(table);
		return;
	}
	memset(table->slots, 0, sizeof(u32) << (64 - table->slot_shift));
	memset(table->attrs, 0, ids * l->attr_size);
	for_each_possible_cpu(cpu) {
		memset(*per_cpu_ptr(table->sums, cpu), 0,
		       ids * l->nr_sums * sizeof(local64_t));
		*per_cpu_ptr(table->spare, cpu) = TAP_ROW_NONE;
	}
	atomic_set(&table->nr_rows, 0);
	WRITE_ONCE(table->full, false);
}

u64 tap_table_total(const struct tap_table *table, u32 id, u32 sum)
{
	size_t i = (size_t)id * table->layout.nr_sums + sum;
	u64 total = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		total = tap_table_join(&table->layout, sum, total,
				       local64_read(*per_cpu_ptr(table->sums, cpu) + i));
	return table->layout.stays ? total - table->base[i] : total;
}

/* A row without a key: this CPU's spare one, else the next one. */
static u32 tap_table_new_id(struct tap_table *table)
{
	u32 id = this_cpu_xchg(*table->spare, TAP_ROW_NONE);

	if (id)
		return id;
	if (READ_ONCE(table->full))
		return TAP_ROW_OTHER;
	id = atomic_inc_return(&table->nr_rows);
	if (id >= table->layout.max_rows)
		WRITE_ONCE(table->full, true);
	if (id > table->layout.max_rows)
		return TAP_ROW_OTHER;
	return id - 1 + TAP_ROW_FIRST;
}

u32 tap_table_insert(struct tap_table *table, const u64 *key, u32 slot)
{
	unsigned int words = table->layout.key_size / sizeof(u64);
	u32 mask = (1U << (64 - table->slot_shift)) - 1;
	u32 new = TAP_ROW_NONE;
	unsigned int i;

	for (i = 0; i < TAP_TABLE_WALK; i++, slot = (slot + 1) & mask) {
		u32 id = READ_ONCE(table->slots[slot]);

		if (!id) {
			if (!new) {
				new = tap_table_new_id(table);
				if (new == TAP_ROW_OTHER)
					return new;
				memcpy(tap_table_key(table, new), key,
				       words * sizeof(u64));
			}
			/* fully ordered: the key is written before the id is seen */
			id = cmpxchg(&table->slots[slot], TAP_ROW_NONE, new);
			if (!id)
				return new;
		}
		if (!tap_table_differs(key, tap_table_key(table, id), words)) {
			/*
			 * Should an interrupt have left its own spare since,
			 * that one is forgotten: a row less until the table is
			 * cleared.
			 */
			if (new)
				this_cpu_write(*table->spare, new);
			return id;
		}
	}
	if (new)
		this_cpu_write(*table->spare, new);
	return TAP_ROW_OTHER;
}

u32 tap_table_found(const struct tap_table *table, u32 id, u32 slot)
{
	u32 mask = (1U << (64 - table->slot_shift)) - 1;
	unsigned int i;

	for (i = 0; i < TAP_TABLE_WALK; i++)
		if (READ_ONCE(table->slots[(slot + i) & mask]) == id)
			return (slot + i) & mask;
	return slot;
}

u32 tap_table_insert_word(struct tap_table *table, u64 key, u32 slot)
{
	return tap_table_insert(table, &key, slot);
}

/* The row of one table's key in another table. CPU pinned. */
static u32 tap_table_row_in(struct tap_table *to, const struct tap_table *from,
			    u32 id)
{
	const struct tap_table_layout *l = &from->layout;
	u32 row = tap_table_find(to, tap_table_key(from, id),
				 l->key_size / sizeof(u64));

	/* the newer table's attributes, if it has any, are newer */
	if (row >= TAP_ROW_FIRST &&
	    !memchr_inv(tap_table_attr(to, row), 0, l->attr_size))
		memcpy(tap_table_attr(to, row), tap_table_attr(from, id),
		       l->attr_size);
	return row;
}

void tap_table_merge(struct tap_table *to, struct tap_table *from,
		     bool (*gone)(const void *key))
{
	const struct tap_table_layout *l = &from->layout;
	u32 ids = tap_table_used(from) + TAP_ROW_FIRST;
	u32 id, row, sum;

	for (id = TAP_ROW_OTHER; id < ids; id++) {
		u64 any = 0;

		for (sum = 0; sum < l->nr_sums; sum++)
			any |= tap_table_total(from, id, sum);
		if (!any)
			continue;
		row = id;
		if (id >= TAP_ROW_FIRST && gone && gone(tap_table_key(from, id)))
			row = TAP_ROW_EXITED;

		preempt_disable_notrace();
		if (row >= TAP_ROW_FIRST)
			row = tap_table_row_in(to, from, id);
		for (sum = 0; sum < l->nr_sums; sum++) {
			u64 total = tap_table_total(from, id, sum);

			if (sum < l->nr_sums - l->nr_maxima)
				local64_add(total, tap_table_sums(to, row) + sum);
			else
				tap_table_raise(tap_table_sums(to, row) + sum,
						total);
		}
		preempt_enable_notrace();
		cond_resched();
	}
}

void tap_table_carry(struct tap_table *to, struct tap_table *from)
{
	const struct tap_table_layout *l = &from->layout;
	u32 ids = tap_table_used(from) + TAP_ROW_FIRST;
	u32 id, row, sum;

	for (id = TAP_ROW_FIRST; id < ids; id++) {
		for (sum = 0; sum < l->nr_sums; sum++) {
			s64 total = tap_table_total(from, id, sum);

			if (likely(total >= 0))
				continue;
			preempt_disable_notrace();
			row = tap_table_row_in(to, from, id);
			local64_add(total, tap_table_sums(to, row) + sum);
			local64_sub(total, tap_table_sums(from, id) + sum);
			preempt_enable_notrace();
		}
		cond_resched();
	}
}
