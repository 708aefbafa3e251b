// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: who - which process and thread an event belongs to
 *
 * Everything is taken while the event happens: when the file is read, the
 * process may be gone and its number in use again.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>

#include "who.h"

void tap_names_set(struct tap_names *names, struct task_struct *task)
{
	if (!task) {
		strscpy(names->comm, TAP_IRQ, sizeof(names->comm));
		strscpy(names->thread, TAP_IRQ, sizeof(names->thread));
		return;
	}
	memcpy(names->comm, READ_ONCE(task->group_leader)->comm,
	       sizeof(names->comm));
	memcpy(names->thread, task->comm, sizeof(names->thread));
	names->pid = task->tgid;
	names->tid = task->pid;
	/* 0 once the task was unhashed: it is on its last way out */
	names->ns_pid = task_tgid_nr_ns(task, task_active_pid_ns(task));
}

struct task_struct *tap_process_find(pid_t pid, u64 start)
{
	struct task_struct *task = pid_task(find_pid_ns(pid, &init_pid_ns),
					    PIDTYPE_TGID);

	return task && task->start_time == start ? task : NULL;
}

bool tap_process_gone(pid_t pid, u64 start)
{
	bool gone;

	rcu_read_lock();
	gone = !tap_process_find(pid, start);
	rcu_read_unlock();
	return gone;
}

bool tap_who_gone(const void *key)
{
	const struct tap_who *who = key;

	return who->pid && tap_process_gone(who->pid, who->start);
}
