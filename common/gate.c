// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: gate - the filter, and the readers whose own work is left out
 *
 * Almost always there is neither, so handlers test one flag. A process counts
 * as reader while it has a file of the tool open: what it read before, such as
 * its libraries, was counted. It is known by its number and the time it began,
 * so a file that outlives who opened it does no harm.
 */
#include <linux/rcupdate.h>

#include "filter.h"
#include "gate.h"

static bool tap_gate_is_reader(const struct tap_gate *gate,
			       const struct task_struct *task)
{
	unsigned int nr = READ_ONCE(gate->nr_readers);
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (READ_ONCE(gate->readers[i].pid) == task->tgid &&
		    READ_ONCE(gate->readers[i].start) ==
		    READ_ONCE(task->group_leader)->start_time)
			return true;
	return false;
}

enum tap_verdict tap_gate_test(struct tap_gate *gate, struct task_struct *task)
{
	struct tap_filter *filter = READ_ONCE(gate->filter);

	if (filter && !tap_filter_match(filter, task))
		return TAP_FILTERED;
	if (task && !READ_ONCE(gate->count_readers) &&
	    tap_gate_is_reader(gate, task))
		return TAP_SELF;
	return TAP_COUNT;
}

static void tap_gate_update(struct tap_gate *gate)
{
	WRITE_ONCE(gate->shut, gate->filter || gate->nr_readers);
}

void tap_gate_set_filter(struct tap_gate *gate, struct tap_filter *filter)
{
	struct tap_filter *old = gate->filter;

	/* release: the filter is complete before a handler finds it */
	smp_store_release(&gate->filter, filter);
	/* release: who knows the number finds the filter, or a newer one */
	smp_store_release(&gate->round, gate->round + 1);
	tap_gate_update(gate);
	if (!old)
		return;
	synchronize_rcu();
	tap_filter_free(old);
}

int tap_gate_add_reader(struct tap_gate *gate)
{
	u64 start = current->group_leader->start_time;
	int i, slot = -1;

	for (i = TAP_READERS - 1; i >= 0; i--) {
		if (gate->readers[i].pid == current->tgid &&
		    gate->readers[i].start == start) {
			gate->readers[i].opens++;
			return i;
		}
		if (!gate->readers[i].pid)
			slot = i;
	}
	if (slot < 0)
		return slot;
	gate->readers[slot].opens = 1;
	WRITE_ONCE(gate->readers[slot].start, start);
	WRITE_ONCE(gate->readers[slot].pid, current->tgid);
	WRITE_ONCE(gate->nr_readers, max(gate->nr_readers, slot + 1U));
	tap_gate_update(gate);
	return slot;
}

void tap_gate_remove_reader(struct tap_gate *gate, int slot)
{
	unsigned int nr = gate->nr_readers;

	if (slot < 0 || --gate->readers[slot].opens)
		return;
	WRITE_ONCE(gate->readers[slot].pid, 0);
	while (nr && !gate->readers[nr - 1].pid)
		nr--;
	WRITE_ONCE(gate->nr_readers, nr);
	tap_gate_update(gate);
}
