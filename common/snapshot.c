// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: snapshot - what a reader of a table gets
 *
 * Header, rows and totals of one read come from one snapshot, so they agree,
 * however long the reader takes; several readers share a complete window's
 * snapshot. One allocation holds the rows, their keys, attributes and sums.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "snapshot.h"

static int tap_snapshot_cmp_key(const void *a, const void *b, const void *priv)
{
	const struct tap_view *view = priv;
	const struct tap_row *x = a;
	const struct tap_row *y = b;
	int diff = tap_columns_cmp(&view->columns, x, y);

	if (!diff)
		diff = memcmp(x->key, y->key, view->key_size);
	return diff;
}

static int tap_snapshot_cmp(const void *a, const void *b, const void *priv)
{
	const struct tap_view *view = priv;
	u64 m = tap_row_sum(a, view->sort);
	u64 n = tap_row_sum(b, view->sort);

	if (m != n)
		return m < n ? 1 : -1;
	return tap_snapshot_cmp_key(a, b, priv);
}

/* Equal keys side by side; a row without key before one whose key is zero. */
static int tap_snapshot_cmp_raw(const void *a, const void *b, const void *priv)
{
	const struct tap_view *view = priv;
	const struct tap_row *x = a;
	const struct tap_row *y = b;
	int diff = memcmp(x->key, y->key, view->key_size);

	return diff ?: (x->id > y->id) - (x->id < y->id);
}

/* Add up rows that show the same key. */
static void tap_snapshot_fold(struct tap_snapshot *snapshot,
			      const struct tap_view *view,
			      const struct tap_table_layout *layout)
{
	struct tap_row *rows = snapshot->rows;
	u32 out = 0;
	u32 i, sum;

	for (i = 0; i < snapshot->nr_rows; i++)
		if (rows[i].id >= TAP_ROW_FIRST)
			view->fold(&rows[i]);
	sort_r(rows, snapshot->nr_rows, sizeof(*rows), tap_snapshot_cmp_raw, NULL,
	       view);
	for (i = 1; i < snapshot->nr_rows; i++) {
		if (rows[i].id >= TAP_ROW_FIRST && rows[out].id >= TAP_ROW_FIRST &&
		    !memcmp(rows[i].key, rows[out].key, view->key_size)) {
			for (sum = 0; sum < layout->nr_sums; sum++)
				rows[out].sums[sum] =
					tap_table_join(layout, sum,
						       rows[out].sums[sum],
						       rows[i].sums[sum]);
		} else {
			rows[++out] = rows[i];
		}
	}
	if (snapshot->nr_rows)
		snapshot->nr_rows = out + 1;
}

struct tap_snapshot *tap_snapshot_take(struct tap_table *table,
				       const struct tap_view *view)
{
	const struct tap_table_layout *l = &table->layout;
	u32 ids = tap_table_used(table) + TAP_ROW_FIRST;
	size_t row_size = sizeof(struct tap_row) + l->key_size + l->attr_size +
			  l->nr_sums * sizeof(u64);
	struct tap_snapshot *snapshot;
	u8 *data;
	u32 id, sum;

	snapshot = kvzalloc(sizeof(*snapshot) + ids * row_size, GFP_KERNEL);
	if (!snapshot)
		return NULL;
	refcount_set(&snapshot->ref, 1);
	data = (u8 *)&snapshot->rows[ids];

	for (id = TAP_ROW_OTHER; id < ids; id++) {
		struct tap_row *row = &snapshot->rows[snapshot->nr_rows];
		u64 any = 0;

		row->id = id;
		row->sums = (u64 *)data;
		for (sum = 0; sum < l->nr_sums; sum++) {
			row->sums[sum] = tap_table_total(table, id, sum);
			any |= row->sums[sum];
		}
		if (!any)
			continue;
		/* pairs with the cmpxchg() in tap_table_insert() */
		smp_rmb();
		if (id == TAP_ROW_SELF) {
			snapshot->self = row->sums[0];
			memset(row->sums, 0, l->nr_sums * sizeof(u64));
			continue;
		}
		row->key = data + l->nr_sums * sizeof(u64);
		row->attr = row->key + l->key_size;
		if (id >= TAP_ROW_FIRST) {
			memcpy(row->key, tap_table_key(table, id), l->key_size);
			/* a name may change at this moment, see struct tap_names */
			data_race(memcpy(row->attr, tap_table_attr(table, id),
					 l->attr_size));
		}
		snapshot->events += tap_row_sum(row, view->events);
		snapshot->nr_rows++;
		data += row_size - sizeof(struct tap_row);
	}
	if (view->fold)
		tap_snapshot_fold(snapshot, view, l);
	sort_r(snapshot->rows, snapshot->nr_rows, sizeof(struct tap_row),
	       tap_snapshot_cmp, NULL, view);
	return snapshot;
}

void tap_snapshot_put(struct tap_snapshot *snapshot)
{
	if (snapshot && refcount_dec_and_test(&snapshot->ref))
		kvfree(snapshot);
}
