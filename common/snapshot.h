/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_SNAPSHOT_H
#define TAP_SNAPSHOT_H

#include <linux/refcount.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "column.h"
#include "table.h"

/**
 * struct tap_view - how the rows of a table become the lines of a file
 * @columns: what a line shows
 * @key_size: bytes of a key
 * @sort: rows are ordered by these sums added up, descending; ties, and all
 *        rows if it is 0, by the key, ascending
 * @events: the sums that count events
 * @fold: may change a row's key before rows are sorted; rows that are then
 *        equal are added up. NULL: none. May sleep
 */
struct tap_view {
	struct tap_columns columns;
	u32 key_size;
	u32 sort;
	u32 events;
	void (*fold)(struct tap_row *row);
};

/**
 * struct tap_snapshot - a table at one moment, added up over all CPUs, sorted
 * @ref: readers that hold it
 * @seq: number of the window
 * @window_ms: how long was counted
 * @end: when that ended, seconds since 1970
 * @state: partial, complete or running
 * @events: events counted in the rows
 * @lost: events that happened and could not be counted
 * @self: what the tool's readers did themselves and is not in the rows
 * @nr_rows: rows
 * @rows: the rows, busiest first
 */
struct tap_snapshot {
	refcount_t ref;
	u64 seq;
	u64 window_ms;
	time64_t end;
	const char *state;
	u64 events;
	u64 lost;
	u64 self;
	u32 nr_rows;
	struct tap_row rows[];
};

/**
 * tap_snapshot_take() - add up, fold and sort a table
 * @table: the table; writers may be at work
 * @view: how it is shown
 *
 * Rows without an event are left out.
 *
 * Context: process context, may sleep.
 * Return: the snapshot with one reference, @events, @self and the rows filled
 * in; NULL without memory.
 */
struct tap_snapshot *tap_snapshot_take(struct tap_table *table,
				       const struct tap_view *view);

/**
 * tap_snapshot_put() - give a reference back
 * @snapshot: the snapshot, or NULL
 *
 * Context: process context, may sleep.
 */
void tap_snapshot_put(struct tap_snapshot *snapshot);

#endif /* TAP_SNAPSHOT_H */
