/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_OWNER_H
#define TAP_OWNER_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "gate.h"
#include "inflight.h"
#include "who.h"

/**
 * struct tap_owned - what is kept for a thing: the process that last used it
 * @who: the process, as in a key
 * @names: its names when it was seen last
 * @round: the gate's filter (see tap_gate_round()) that @wanted is about
 * @wanted: that filter lets the process pass
 * @tag: for who keeps such data elsewhere
 *
 * It is a copy: the process may be gone when somebody asks.
 */
struct tap_owned {
	struct tap_who who;
	struct tap_names names;
	u32 round;
	u32 wanted;
	u64 tag;
	/* private: */
	u32 slot;
	u32 pad;
};

/**
 * struct tap_owners - from things, by their addresses, to their owners
 */
struct tap_owners {
	/* private: */
	struct tap_inflight map;
	atomic64_t untracked;
};

/**
 * tap_owners_init() - allocate the map, empty
 * @owners: what to initialise, all zero
 * @nr: things that have room
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then nothing is held.
 */
int tap_owners_init(struct tap_owners *owners, u32 nr);

/**
 * tap_owners_fini() - free the map
 * @owners: a map that no handler uses any more, or one that is all zero
 *
 * Context: process context, may sleep.
 */
void tap_owners_fini(struct tap_owners *owners);

/**
 * tap_owner_put() - something has another owner, or its owner has changed
 * @owners: the map
 * @thing: its address
 * @task: a task that cannot go away
 * @by_thread: names=thread
 * @gate: whose filter is asked whether the process is wanted
 *
 * Context: any, CPU pinned.
 * Return: false: there is no room.
 */
bool tap_owner_put(struct tap_owners *owners, const void *thing,
		   struct task_struct *task, bool by_thread,
		   const struct tap_gate *gate);

/**
 * tap_owned_by() - is everything as it was when the owner was seen last?
 * @owned: what is kept for the thing
 * @task: who uses it
 * @by_thread: names=thread
 *
 * Return: true if nothing has changed.
 */
static __always_inline bool tap_owned_by(const struct tap_owned *owned,
					 struct task_struct *task, bool by_thread)
{
	if (unlikely(by_thread) || unlikely(READ_ONCE(owned->who.thread[0])))
		if (!by_thread || strncmp(owned->who.thread, task->comm,
					  sizeof(owned->who.thread)))
			return false;
	return READ_ONCE(owned->who.start) ==
	       READ_ONCE(task->group_leader)->start_time &&
	       READ_ONCE(owned->who.pid) == task->tgid &&
	       READ_ONCE(owned->who.uid) ==
	       __kuid_val(rcu_dereference_raw(task->real_cred)->uid) &&
	       !tap_names_stale(&owned->names, task);
}

/**
 * tap_owned_wanted() - does the gate let the owner pass, as far as is known?
 * @owned: what is kept for the thing
 * @gate: the gate
 *
 * Return: false if not, or if it has to be asked again.
 */
static __always_inline bool tap_owned_wanted(const struct tap_owned *owned,
					     const struct tap_gate *gate)
{
	return tap_gate_is_open(gate) ||
	       (READ_ONCE(owned->round) == tap_gate_round(gate) &&
		READ_ONCE(owned->wanted));
}

/**
 * tap_owner_is() - is something known to be a task's, and nothing has changed?
 * @owners: the map
 * @thing: its address
 * @task: current
 * @by_thread: names=thread
 * @gate: with a filter the answer is no: what it says of a process can change at
 *        any time
 *
 * Context: any, CPU pinned.
 * Return: false if tap_owner_use() is to be called.
 */
static __always_inline bool tap_owner_is(struct tap_owners *owners,
					 const void *thing,
					 struct task_struct *task, bool by_thread,
					 const struct tap_gate *gate)
{
	struct tap_inflight_look look;
	const struct tap_owned *owned;

	owned = tap_inflight_look(&owners->map, (unsigned long)thing, &look);
	return likely(owned) && likely(tap_gate_is_open(gate)) &&
	       likely(tap_owned_by(owned, task, by_thread)) &&
	       likely(tap_inflight_looked(&look));
}

/**
 * tap_owner_use() - a task uses something: it is its process's from now on
 * @owners: the map
 * @thing: its address
 * @task: current
 * @by_thread: names=thread
 * @gate: whose filter is asked whether that process is wanted
 *
 * Writes only if something has changed since the last use.
 *
 * Context: any, CPU pinned.
 */
void tap_owner_use(struct tap_owners *owners, const void *thing,
		   struct task_struct *task, bool by_thread,
		   const struct tap_gate *gate);

/**
 * tap_owner_first() - something is found in a task's hands
 * @owners: the map
 * @thing: its address
 * @task: a task that cannot go away
 * @by_thread: names=thread
 * @gate: as for tap_owner_use()
 *
 * It becomes that process's unless it has an owner. Without room it is counted
 * as untracked.
 *
 * Context: any, CPU pinned.
 */
void tap_owner_first(struct tap_owners *owners, const void *thing,
		     struct task_struct *task, bool by_thread,
		     const struct tap_gate *gate);

/**
 * tap_owner_inherit() - something new belongs to the owner of another
 * @owners: the map
 * @thing: the new one's address
 * @parent: the other's; nothing happens if it has no owner
 *
 * Without room it is counted as untracked.
 *
 * Context: any, CPU pinned.
 */
void tap_owner_inherit(struct tap_owners *owners, const void *thing,
		       const void *parent);

/**
 * tap_owner_forget() - something is no more, and its address may be used again
 * @owners: the map
 * @thing: its address
 *
 * Context: any, CPU pinned.
 */
void tap_owner_forget(struct tap_owners *owners, const void *thing);

/**
 * tap_owner_get() - whose is it?
 * @owners: the map
 * @thing: its address
 * @gate: whose filter is asked about the owner, if it is another one than was
 *        asked when the thing was used last. Of a process that is gone nobody
 *        can tell, so it is not wanted. Of one that lives the first thread is
 *        asked
 * @owned: gets what is kept
 *
 * Context: any, CPU pinned.
 * Return: false if nobody knows; then @owned is garbage.
 */
bool tap_owner_get(struct tap_owners *owners, const void *thing,
		   const struct tap_gate *gate, struct tap_owned *owned);

/**
 * tap_owner_look() - tap_owner_get() where most owners are known
 * @owners: the map
 * @thing: its address
 * @look: for tap_inflight_looked(), which says whether what was read meanwhile
 *        belongs together
 *
 * Context: any, CPU pinned.
 * Return: what is kept, to be read with READ_ONCE(); NULL: nothing.
 */
static __always_inline struct tap_owned *
tap_owner_look(struct tap_owners *owners, const void *thing,
	       struct tap_inflight_look *look)
{
	return tap_inflight_look(&owners->map, (unsigned long)thing, look);
}

/**
 * tap_owner_slot() - where the owner's row was found last
 * @owned: what tap_owner_look() found
 *
 * Context: any.
 * Return: what was passed to tap_owner_set_slot(), by whomever.
 */
static __always_inline u32 tap_owner_slot(const struct tap_owned *owned)
{
	return READ_ONCE(owned->slot);
}

/**
 * tap_owner_set_slot() - remember where the owner's row is
 * @owners: the map
 * @thing: its address
 * @slot: as for tap_row_again(), for which any will do
 *
 * Context: any, CPU pinned.
 */
void tap_owner_set_slot(struct tap_owners *owners, const void *thing, u32 slot);

/**
 * tap_owner_who() - the owner as part of a key
 * @owned: what tap_owner_look() found
 * @who: gets it
 *
 * Context: any.
 */
static __always_inline void tap_owner_who(const struct tap_owned *owned,
					  struct tap_who *who)
{
	const u64 *from = (const u64 *)&owned->who;
	u64 *to = (u64 *)who;
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < sizeof(*who) / sizeof(u64); i++)
		to[i] = READ_ONCE(from[i]);
}

/**
 * tap_owners_untracked() - how many things found no room
 * @owners: the map
 *
 * Return: the number since init.
 */
u64 tap_owners_untracked(const struct tap_owners *owners);

/**
 * tap_owners_used() - how many have an owner
 * @owners: the map
 *
 * Context: process context. With writers at work a moment's value.
 * Return: the number.
 */
u32 tap_owners_used(struct tap_owners *owners);

/**
 * tap_owners_bytes() - memory of the map
 * @owners: the map
 *
 * Return: bytes.
 */
size_t tap_owners_bytes(const struct tap_owners *owners);

#endif /* TAP_OWNER_H */
