/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_WHO_H
#define TAP_WHO_H

#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "compat.h"

/**
 * struct tap_who - the process that an event is charged to, as part of a key
 * @start: when the process began, ns since boot; tells two users of one pid
 *         apart. 0 for the idle task and for interrupt context
 * @pid: thread group id in the initial pid namespace, 0 in interrupt context
 * @uid: real user id in the initial user namespace
 * @thread: name of the thread with names=thread, which gives each name a row;
 *          else empty, one row per process
 */
struct tap_who {
	u64 start;
	pid_t pid;
	uid_t uid;
	char thread[TASK_COMM_LEN];
};

/**
 * struct tap_names - what is shown of a process and is no part of a key
 * @comm: name of the thread group's leader; TAP_IRQ in interrupt context
 * @thread: name of the thread that was seen
 * @pid: thread group id, in the initial pid namespace
 * @tid: thread id of that thread, likewise
 * @ns_pid: thread group id in the pid namespace that the process lives in
 * @pad: makes it whole words
 *
 * It is taken when the event happens. A name that is changed at that very
 * moment can be half the old and half the new one.
 */
struct tap_names {
	char comm[TASK_COMM_LEN];
	char thread[TASK_COMM_LEN];
	pid_t pid;
	pid_t tid;
	pid_t ns_pid;
	u32 pad;
};

/* The name of what no process did. */
#define TAP_IRQ "(irq)"
/* The name of what belongs to none. */
#define TAP_UNATTRIBUTED "(unattributed)"

/**
 * tap_current() - the task that is at work
 *
 * A plain sendto() runs with softirqs disabled, where in_interrupt() and
 * in_softirq() are true; only a softirq or interrupt that is being served is
 * not the current task's work.
 *
 * Context: any.
 * Return: current, or NULL while a softirq, an interrupt or an NMI is served.
 */
static __always_inline struct task_struct *tap_current(void)
{
	return in_task() ? current : NULL;
}

/**
 * tap_who_set() - fill in whom an event is charged to
 * @who: all zero before
 * @task: the task, current or one that cannot go away; NULL: interrupt context
 * @by_thread: names=thread
 *
 * Context: any, CPU pinned.
 */
static __always_inline void tap_who_set(struct tap_who *who,
					struct task_struct *task, bool by_thread)
{
	if (!task)
		return;
	who->start = READ_ONCE(task->group_leader)->start_time;
	who->pid = task->tgid;
	/* a kuid is the initial user namespace's uid; a pinned CPU is RCU's reader */
	who->uid = __kuid_val(rcu_dereference_raw(task->real_cred)->uid);
	if (by_thread)
		strscpy_pad(who->thread, task->comm, sizeof(who->thread));
}

/**
 * tap_process_find() - find a process that was seen before
 * @pid: its thread group id in the initial pid namespace; may be in use again
 * @start: when it began
 *
 * Context: any but NMIs, RCU's reader.
 * Return: its first thread; NULL if it has ended.
 */
struct task_struct *tap_process_find(pid_t pid, u64 start);

/**
 * tap_process_gone() - has a process ended?
 * @pid: its thread group id in the initial pid namespace; may be in use again
 * @start: when it began
 *
 * Context: any but NMIs.
 * Return: true if it has; a process that still has threads has not.
 */
bool tap_process_gone(pid_t pid, u64 start);

/**
 * tap_who_gone() - the same of a key that begins with a struct tap_who
 * @key: the key
 *
 * Context: any but NMIs.
 * Return: true if it has; false for interrupt context.
 */
bool tap_who_gone(const void *key);

/**
 * tap_names_set() - fill in the names of a task
 * @names: what to fill in
 * @task: the task, current or one that cannot go away; NULL: interrupt context
 *
 * Context: any.
 */
void tap_names_set(struct tap_names *names, struct task_struct *task);

/**
 * tap_names_stale() - does the leader's name differ from the one at hand?
 * @names: names seen before, all zero at first
 * @task: as for tap_names_set()
 *
 * Cheap enough for every event: two words are compared.
 *
 * Context: any.
 * Return: true if tap_names_set() has something to do.
 */
static __always_inline bool tap_names_stale(const struct tap_names *names,
					    const struct task_struct *task)
{
	const u64 *old = (const u64 *)names->comm;
	const u64 *now;

	BUILD_BUG_ON(TASK_COMM_LEN != 2 * sizeof(u64));
	if (!task)
		return !names->comm[0];
	now = (const u64 *)READ_ONCE(task->group_leader)->comm;
	return READ_ONCE(old[0]) != READ_ONCE(now[0]) ||
	       READ_ONCE(old[1]) != READ_ONCE(now[1]);
}

#endif /* TAP_WHO_H */
