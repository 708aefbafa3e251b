/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_GATE_H
#define TAP_GATE_H

#include <linux/compiler.h>
#include <linux/sched.h>
#include <linux/types.h>

struct tap_filter;

/* Processes whose own activity can be left out at the same time. */
#define TAP_READERS 16

/**
 * struct tap_gate - decides whose events are counted
 * @count_readers: self=1: readers are counted like everybody
 *
 * Changed under the tool's lock, tested by handlers without one.
 */
struct tap_gate {
	bool count_readers;
	/* private: */
	bool shut;			/* there is something to test */
	struct tap_filter *filter;	/* freed an RCU grace period after it was replaced */
	u32 round;			/* how often the filter was replaced */
	unsigned int nr_readers;	/* slots up to the last one in use */
	struct {
		pid_t pid;		/* 0: free; written last, cleared first */
		unsigned int opens;
		u64 start;
	} readers[TAP_READERS];
};

/**
 * enum tap_verdict - what a gate says of an event
 * @TAP_COUNT: it is counted
 * @TAP_FILTERED: the filter does not want it
 * @TAP_SELF: a reader of this tool caused it; counted apart
 */
enum tap_verdict {
	TAP_COUNT,
	TAP_FILTERED,
	TAP_SELF,
};

/**
 * tap_gate_is_open() - may an event be counted without a closer look?
 * @gate: the gate
 *
 * Context: any, CPU pinned.
 * Return: true if there is neither a filter nor a reader.
 */
static __always_inline bool tap_gate_is_open(const struct tap_gate *gate)
{
	return likely(!READ_ONCE(gate->shut));
}

/**
 * tap_gate_test() - the closer look
 * @gate: the gate
 * @task: whose event it is: current, or one that cannot go away; NULL: interrupt
 *        context
 *
 * Context: any, CPU pinned.
 * Return: what to do with the event.
 */
enum tap_verdict tap_gate_test(struct tap_gate *gate, struct task_struct *task);

/**
 * tap_gate_filter() - the filter in use
 * @gate: the gate
 *
 * Context: any, CPU pinned or under the tool's lock.
 * Return: the filter, or NULL.
 */
static inline struct tap_filter *tap_gate_filter(const struct tap_gate *gate)
{
	return READ_ONCE(gate->filter);
}

/**
 * tap_gate_round() - which filter is in use, by number
 * @gate: the gate
 *
 * Taken before tap_gate_filter(), it says whether what that filter said still
 * holds later on.
 *
 * Context: any.
 * Return: a number that changes with the filter.
 */
static __always_inline u32 tap_gate_round(const struct tap_gate *gate)
{
	/* pairs with smp_store_release() in tap_gate_set_filter() */
	return smp_load_acquire(&gate->round);
}

/**
 * tap_gate_set_filter() - replace the filter
 * @gate: the gate
 * @filter: the new one, which the gate frees in its time; NULL: none
 *
 * Context: process context, sleeps for an RCU grace period, tool's lock held.
 */
void tap_gate_set_filter(struct tap_gate *gate, struct tap_filter *filter);

/**
 * tap_gate_add_reader() - the current process opened a file of the tool
 * @gate: the gate
 *
 * Context: process context, tool's lock held.
 * Return: for tap_gate_remove_reader(). Negative when all slots are taken: its
 * activity is then counted like everybody's.
 */
int tap_gate_add_reader(struct tap_gate *gate);

/**
 * tap_gate_remove_reader() - the file was closed
 * @gate: the gate
 * @slot: what tap_gate_add_reader() returned
 *
 * Context: process context, tool's lock held.
 */
void tap_gate_remove_reader(struct tap_gate *gate, int slot);

#endif /* TAP_GATE_H */
