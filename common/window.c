// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: window - counting in intervals, without stopping for the reader
 *
 * There are two tables. Handlers count in the active one. To end a window, the
 * other one, which is empty, becomes active; handlers pin their CPU while they
 * use a table, so after an RCU grace period nobody counts in the first any
 * more. It is then added up into a snapshot, which is published, and cleared.
 *
 *	handlers --> table A                 table B (empty)
 *	flip:        table A (grace period)  table B <-- handlers
 *	             snapshot, clear
 *
 * All of this happens in one place, under one mutex, in a worker or in who
 * wrote to `flip`; so a window cannot end before the last one is published. A
 * worker that comes late makes a long window, and window_ms tells.
 *
 * With interval_ms=0 there is one window since load or reset. When its table
 * is three quarters full, at most once a second, the same exchange makes room:
 * the rows go over to the other table, except that those of processes which
 * have ended are added up in one row, (exited).
 *
 * If the layout has @stays there is one table. A window's end takes what it
 * shows off the sums; what is counted meanwhile is the next window's.
 */
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include "window.h"

#define TAP_WINDOW_COMPACT_MS 1000

/* Handlers go over to the other table, which is empty. Returns the old one. */
static struct tap_table *tap_window_exchange(struct tap_window *window)
{
	struct tap_table *old = window->active;

	lockdep_assert_held(&window->lock);
	if (old->layout.stays)
		return old;
	/* pairs with the address dependency of a handler's READ_ONCE() */
	smp_store_release(&window->active,
			  &window->tables[old == &window->tables[0]]);
	synchronize_rcu();
	return old;
}

static u64 tap_window_lost(struct tap_window *window)
{
	return window->lost ? window->lost(window->data) : 0;
}

static void tap_window_restart(struct tap_window *window)
{
	lockdep_assert_held(&window->lock);
	window->start_ns = ktime_get_ns();
	window->start_lost = tap_window_lost(window);
}

static struct tap_snapshot *tap_window_take(struct tap_window *window,
					    struct tap_table *table,
					    const char *state)
{
	struct tap_snapshot *snapshot;

	lockdep_assert_held(&window->lock);
	snapshot = tap_snapshot_take(table, &window->view);
	if (!snapshot)
		return NULL;
	snapshot->state = state;
	snapshot->seq = window->seq;
	snapshot->window_ms = div_u64(ktime_get_ns() - window->start_ns,
				      NSEC_PER_MSEC);
	snapshot->end = ktime_get_real_seconds();
	/* the counter may lag behind while probes are being detached */
	snapshot->lost = max(tap_window_lost(window), window->start_lost) -
			 window->start_lost;
	return snapshot;
}

static void tap_window_publish(struct tap_window *window)
{
	lockdep_assert_held(&window->lock);
	window->refresh_ns = ktime_get_ns();
	WRITE_ONCE(window->seq, window->seq + 1);
	wake_up_interruptible_all(&window->wait);
}

/* What a snapshot shows no longer counts in a table that stays. */
static void tap_window_forget_shown(struct tap_table *table,
				    const struct tap_snapshot *snapshot)
{
	u32 i, sum;

	for (i = 0; i < snapshot->nr_rows; i++)
		for (sum = 0; sum < table->layout.nr_sums; sum++)
			tap_table_forget(table, snapshot->rows[i].id, sum,
					 snapshot->rows[i].sums[sum]);
	tap_table_forget(table, TAP_ROW_SELF, 0, snapshot->self);
}

static int tap_window_end(struct tap_window *window)
{
	struct tap_snapshot *snapshot;
	struct tap_table *old;

	lockdep_assert_held(&window->lock);
	old = tap_window_exchange(window);
	if (window->carry)
		tap_table_carry(window->active, old);
	snapshot = tap_window_take(window, old, "complete");
	if (!snapshot) {
		if (old == window->active)
			return -ENOMEM;
		tap_table_merge(window->active, old, NULL);
		tap_table_clear(old);
		return -ENOMEM;
	}
	tap_window_restart(window);
	if (old == window->active)
		tap_window_forget_shown(old, snapshot);
	else
		tap_table_clear(old);
	window->events += snapshot->events;
	tap_snapshot_put(window->last);
	window->last = snapshot;
	tap_window_publish(window);
	return 0;
}

static void tap_window_compact(struct tap_window *window)
{
	struct tap_table *table = window->active;
	u64 now = ktime_get_ns();
	struct tap_table *old;

	lockdep_assert_held(&window->lock);
	if (!window->gone ||
	    tap_table_used(table) < table->layout.max_rows / 4 * 3 ||
	    now - window->compact_ns < TAP_WINDOW_COMPACT_MS * NSEC_PER_MSEC)
		return;
	window->compact_ns = now;
	old = tap_window_exchange(window);
	tap_table_merge(window->active, old, window->gone);
	tap_table_clear(old);
}

/* The worker's next turn: a period after the last one was due, if possible. */
static void tap_window_schedule(struct tap_window *window)
{
	u32 period = window->interval_ms ?: min_t(u32, window->refresh_ms,
						  TAP_WINDOW_COMPACT_MS);
	u64 now = ktime_get_ns();

	lockdep_assert_held(&window->lock);
	window->next_ns += period * NSEC_PER_MSEC;
	if (window->next_ns < now)
		window->next_ns = now + period * NSEC_PER_MSEC;
	mod_delayed_work(window->queue, &window->work,
			 nsecs_to_jiffies(window->next_ns - now));
}

static void tap_window_work(struct work_struct *work)
{
	struct tap_window *window = container_of(to_delayed_work(work),
						 struct tap_window, work);

	mutex_lock(&window->lock);
	/* while this turn waited for the lock another one took its place */
	if (delayed_work_pending(&window->work))
		goto out_unlock;
	if (window->interval_ms) {
		/* without memory the window goes on until the next turn */
		tap_window_end(window);
	} else {
		tap_window_compact(window);
		if (ktime_get_ns() - window->refresh_ns >=
		    window->refresh_ms * NSEC_PER_MSEC)
			tap_window_publish(window);
	}
	tap_window_schedule(window);
out_unlock:
	mutex_unlock(&window->lock);
}

int tap_window_init(struct tap_window *window,
		    const struct tap_table_layout *layout, const char *name)
{
	int err;

	mutex_init(&window->lock);
	init_waitqueue_head(&window->wait);
	INIT_DELAYED_WORK(&window->work, tap_window_work);
	window->view.key_size = layout->key_size;
	err = tap_table_init(&window->tables[0], layout);
	if (err)
		return err;
	err = layout->stays ? 0 : tap_table_init(&window->tables[1], layout);
	if (err)
		goto err_free_table;
	window->queue = alloc_workqueue("tap_%s", WQ_UNBOUND, 1, name);
	if (!window->queue) {
		err = -ENOMEM;
		goto err_free_tables;
	}
	window->active = &window->tables[0];
	return 0;

err_free_tables:
	tap_table_fini(&window->tables[1]);
err_free_table:
	tap_table_fini(&window->tables[0]);
	return err;
}

void tap_window_fini(struct tap_window *window)
{
	if (!window->queue)
		return;
	cancel_delayed_work_sync(&window->work);
	destroy_workqueue(window->queue);
	tap_snapshot_put(window->last);
	tap_table_fini(&window->tables[1]);
	tap_table_fini(&window->tables[0]);
	window->queue = NULL;
}

static void tap_window_forget(struct tap_window *window)
{
	lockdep_assert_held(&window->lock);
	tap_table_clear(tap_window_exchange(window));
	tap_window_restart(window);
	tap_snapshot_put(window->last);
	window->last = NULL;
}

void tap_window_set(struct tap_window *window, u32 interval_ms, u32 refresh_ms)
{
	mutex_lock(&window->lock);
	if (window->interval_ms != interval_ms || !window->start_ns) {
		window->interval_ms = interval_ms;
		tap_window_forget(window);
	}
	window->refresh_ms = refresh_ms;
	window->next_ns = ktime_get_ns();
	tap_window_schedule(window);
	mutex_unlock(&window->lock);
}

int tap_window_flip(struct tap_window *window)
{
	int err = 0;

	mutex_lock(&window->lock);
	if (window->interval_ms) {
		err = tap_window_end(window);
		window->next_ns = ktime_get_ns();
		tap_window_schedule(window);
	} else {
		tap_window_publish(window);
	}
	mutex_unlock(&window->lock);
	return err;
}

void tap_window_reset(struct tap_window *window)
{
	mutex_lock(&window->lock);
	tap_window_forget(window);
	mutex_unlock(&window->lock);
}

void tap_window_sort(struct tap_window *window, u32 sort)
{
	mutex_lock(&window->lock);
	window->view.sort = sort;
	mutex_unlock(&window->lock);
}

struct tap_snapshot *tap_window_get(struct tap_window *window)
{
	struct tap_snapshot *snapshot;

	mutex_lock(&window->lock);
	if (window->last) {
		snapshot = window->last;
		refcount_inc(&snapshot->ref);
	} else {
		snapshot = tap_window_take(window, window->active,
					   window->interval_ms ? "partial" :
								 "running");
	}
	mutex_unlock(&window->lock);
	return snapshot;
}

u64 tap_window_events(struct tap_window *window)
{
	struct tap_snapshot *snapshot;
	u64 events;

	mutex_lock(&window->lock);
	events = window->events;
	snapshot = tap_snapshot_take(window->active, &window->view);
	if (snapshot)
		events += snapshot->events;
	mutex_unlock(&window->lock);
	tap_snapshot_put(snapshot);
	return events;
}
