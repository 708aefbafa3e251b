// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: owner - which process something belongs to that outlives a call
 *
 * A packet moves in a softirq, on whoever's back that runs; a socket knows no
 * process. So what a process uses is remembered with who it was, under the
 * thing's address, until the thing is gone: a map of fixed size, looked up
 * without a lock, written only when another process takes over.
 *
 * A filter judges tasks, and there is no task when a packet comes. It is asked
 * when the process uses the thing, and the answer is kept with the owner. After
 * the filter was changed it is asked again for each packet until the next use.
 */
#include <linux/rcupdate.h>

#include "filter.h"
#include "owner.h"

static u64 tap_owner_key(const void *thing)
{
	return (unsigned long)thing;
}

static void tap_owner_ask(struct tap_owned *owned, struct task_struct *task,
			  const struct tap_gate *gate)
{
	struct tap_filter *filter;

	owned->round = tap_gate_round(gate);
	filter = tap_gate_filter(gate);
	owned->wanted = !filter || tap_filter_match(filter, task);
}

bool tap_owner_put(struct tap_owners *owners, const void *thing,
		   struct task_struct *task, bool by_thread,
		   const struct tap_gate *gate)
{
	struct tap_owned owned = {};

	tap_who_set(&owned.who, task, by_thread);
	tap_names_set(&owned.names, task);
	tap_owner_ask(&owned, task, gate);
	return tap_inflight_put(&owners->map, tap_owner_key(thing), &owned);
}

void tap_owner_use(struct tap_owners *owners, const void *thing,
		   struct task_struct *task, bool by_thread,
		   const struct tap_gate *gate)
{
	struct tap_inflight_look look;
	struct tap_owned now = {};
	const struct tap_owned *owned;

	tap_owner_ask(&now, task, gate);
	owned = tap_inflight_look(&owners->map, tap_owner_key(thing), &look);
	if (owned && tap_owned_by(owned, task, by_thread) &&
	    READ_ONCE(owned->round) == now.round &&
	    READ_ONCE(owned->wanted) == now.wanted && tap_inflight_looked(&look))
		return;
	tap_owner_put(owners, thing, task, by_thread, gate);
}

void tap_owner_first(struct tap_owners *owners, const void *thing,
		     struct task_struct *task, bool by_thread,
		     const struct tap_gate *gate)
{
	struct tap_inflight_look look;

	if (!tap_inflight_look(&owners->map, tap_owner_key(thing), &look) &&
	    !tap_owner_put(owners, thing, task, by_thread, gate))
		atomic64_inc(&owners->untracked);
}

void tap_owner_inherit(struct tap_owners *owners, const void *thing,
		       const void *parent)
{
	struct tap_owned owned;

	if (tap_inflight_peek(&owners->map, tap_owner_key(parent), &owned) &&
	    !tap_inflight_put(&owners->map, tap_owner_key(thing), &owned))
		atomic64_inc(&owners->untracked);
}

void tap_owner_forget(struct tap_owners *owners, const void *thing)
{
	struct tap_owned owned;

	tap_inflight_take(&owners->map, tap_owner_key(thing), &owned);
}

/* Ask a new filter about an owner, who may be gone. */
static void tap_owner_judge(struct tap_owned *owned, const struct tap_gate *gate)
{
	rcu_read_lock();
	tap_owner_ask(owned, tap_process_find(owned->who.pid, owned->who.start),
		      gate);
	rcu_read_unlock();
}

bool tap_owner_get(struct tap_owners *owners, const void *thing,
		   const struct tap_gate *gate, struct tap_owned *owned)
{
	if (!tap_inflight_peek(&owners->map, tap_owner_key(thing), owned))
		return false;
	if (unlikely(owned->round != tap_gate_round(gate)))
		tap_owner_judge(owned, gate);
	return true;
}

void tap_owner_set_slot(struct tap_owners *owners, const void *thing, u32 slot)
{
	struct tap_inflight_look look;
	struct tap_owned *owned = tap_owner_look(owners, thing, &look);

	if (owned)
		WRITE_ONCE(owned->slot, slot);
}

u64 tap_owners_untracked(const struct tap_owners *owners)
{
	return atomic64_read(&owners->untracked);
}

u32 tap_owners_used(struct tap_owners *owners)
{
	return tap_inflight_used(&owners->map);
}

size_t tap_owners_bytes(const struct tap_owners *owners)
{
	return tap_inflight_bytes(&owners->map);
}

int tap_owners_init(struct tap_owners *owners, u32 nr)
{
	atomic64_set(&owners->untracked, 0);
	return tap_inflight_init(&owners->map, nr, sizeof(struct tap_owned));
}

void tap_owners_fini(struct tap_owners *owners)
{
	tap_inflight_fini(&owners->map);
}
