/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_WINDOW_H
#define TAP_WINDOW_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "snapshot.h"
#include "table.h"

/**
 * struct tap_window - a table that is counted in windows
 * @view: how its rows are shown; set before tap_window_init()
 * @gone: has the process that a key belongs to ended? Its row then makes room
 *        for others. May not sleep. NULL: no key belongs to one
 * @carry: sums below 0 are left to the next window
 * @lost: events lost since load, called with @data; may sleep. NULL: none are
 * @data: for @lost
 * @wait: woken when a window is complete, and every refresh_ms when there are
 *        no windows
 */
struct tap_window {
	struct tap_view view;
	bool (*gone)(const void *key);
	bool carry;
	u64 (*lost)(void *data);
	void *data;
	wait_queue_head_t wait;
	/* private: */
	struct tap_table *active;	/* what handlers count in; READ_ONCE, changed under lock */
	struct tap_table tables[2];
	struct mutex lock;		/* protects all below, and every change of active */
	struct tap_snapshot *last;	/* the last complete window */
	u32 interval_ms;
	u32 refresh_ms;
	u64 seq;			/* windows completed; READ_ONCE without lock */
	u64 events;			/* in windows completed and in none */
	u64 start_ns;			/* of the running window */
	u64 start_lost;
	u64 next_ns;			/* when the worker is due */
	u64 compact_ns;			/* when the table was compacted last */
	u64 refresh_ns;			/* when pollers were woken last, without windows */
	struct workqueue_struct *queue;
	struct delayed_work work;
};

/**
 * tap_window_init() - allocate the tables, nothing is counted yet
 * @window: @view, @gone, @lost and @data are set, all else is zero
 * @layout: what a row holds
 * @name: the tool's name, for the worker
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then nothing is held.
 */
int tap_window_init(struct tap_window *window,
		    const struct tap_table_layout *layout, const char *name);

/**
 * tap_window_fini() - free everything
 * @window: a window that no handler uses any more, or one that is all zero
 *
 * Context: process context, may sleep.
 */
void tap_window_fini(struct tap_window *window);

/**
 * tap_window_set() - choose how long a window is, and start a new one
 * @window: the window
 * @interval_ms: 0 counts since load or reset
 * @refresh_ms: how often poll() reports data when @interval_ms is 0
 *
 * What was counted so far is forgotten, if @interval_ms changed.
 *
 * Context: process context, may sleep.
 */
void tap_window_set(struct tap_window *window, u32 interval_ms, u32 refresh_ms);

/**
 * tap_window_flip() - end the running window now
 * @window: the window
 *
 * Returns when the window is published: a reader that opens the file then
 * gets it. Without windows it only wakes those who poll.
 *
 * Context: process context, sleeps for an RCU grace period.
 * Return: 0 or -ENOMEM, and then the window goes on.
 */
int tap_window_flip(struct tap_window *window);

/**
 * tap_window_reset() - forget everything that was counted
 * @window: the window
 *
 * Context: process context, sleeps for an RCU grace period.
 */
void tap_window_reset(struct tap_window *window);

/**
 * tap_window_sort() - order the rows of snapshots from now on
 * @window: the window
 * @sort: as in struct tap_view
 *
 * Context: process context, may sleep.
 */
void tap_window_sort(struct tap_window *window, u32 sort);

/**
 * tap_window_get() - what a reader gets
 * @window: the window
 *
 * The last complete window; the running one before the first is complete
 * (state partial), or if there are no windows (state running).
 *
 * Context: process context, may sleep.
 * Return: a reference to a snapshot, or NULL without memory.
 */
struct tap_snapshot *tap_window_get(struct tap_window *window);

/**
 * tap_window_events() - events counted since load
 * @window: the window
 *
 * Context: process context, may sleep.
 * Return: events in all windows, the running one included.
 */
u64 tap_window_events(struct tap_window *window);

#endif /* TAP_WINDOW_H */
