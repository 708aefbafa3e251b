/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_FILTER_H
#define TAP_FILTER_H

#include <linux/sched.h>
#include <linux/types.h>

#include "fmt.h"

struct tap_filter;

/**
 * tap_filter_parse() - read a filter
 * @spec: terms of the form name=value, joined with commas; all must hold
 * @why: gets what is allowed, if @spec is refused
 *
 * Terms: pid (thread group id), tid, uid, comm (name of the thread or of its
 * group's leader), cgroup (the id of a cgroup of the unified hierarchy; its
 * descendants too) and tree (a process, and all that it forks from then on).
 * Each may stand once. Numbers are those of the initial namespaces.
 *
 * Context: process context, may sleep.
 * Return: a filter, for tap_filter_free(); an ERR_PTR(): -EINVAL if it is
 * refused, -ENOMEM.
 */
struct tap_filter *tap_filter_parse(const char *spec, struct tap_text *why);

/**
 * tap_filter_free() - free a filter
 * @filter: a filter that nobody uses, or NULL
 *
 * Context: process context, may sleep.
 */
void tap_filter_free(struct tap_filter *filter);

/**
 * tap_filter_check() - would tap_filter_parse() take it?
 * @spec: the filter
 * @why: gets what is allowed, if it is refused
 *
 * Context: process context, may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int tap_filter_check(const char *spec, struct tap_text *why);

/**
 * tap_filter_check_nobody() - refuses each filter, of a tool that has no use for it
 * @spec: the filter
 * @why: gets the reason
 *
 * A filter tells processes apart. A tool whose events are nobody's would show
 * nothing at all.
 *
 * Context: process context, may sleep.
 * Return: -EINVAL.
 */
int tap_filter_check_nobody(const char *spec, struct tap_text *why);

/**
 * tap_filter_match() - is this task's work wanted?
 * @filter: the filter
 * @task: current, or one that cannot go away; NULL: interrupt context, which no
 *        filter matches
 *
 * Context: any, CPU pinned.
 * Return: true if all terms hold.
 */
bool tap_filter_match(struct tap_filter *filter, struct task_struct *task);

/**
 * tap_filter_tree() - the root of the tree that a filter follows
 * @filter: the filter
 *
 * Return: a pid, or 0 if the filter has no tree.
 */
pid_t tap_filter_tree(const struct tap_filter *filter);

/**
 * tap_filter_has_root() - is there such a process?
 * @filter: a filter with a tree
 *
 * Context: process context.
 * Return: true if the root of the tree lives.
 */
bool tap_filter_has_root(const struct tap_filter *filter);

/**
 * tap_filter_start_tree() - begin with the tree's root
 * @filter: a filter with a tree
 *
 * To be called when tap_filter_fork() and tap_filter_exit() are already fed. A
 * root that has ended meanwhile leaves the tree empty.
 *
 * Context: process context.
 */
void tap_filter_start_tree(struct tap_filter *filter);

/**
 * tap_filter_fork() - a process of the tree may have forked
 * @filter: a filter with a tree
 * @parent: who forked
 * @child: the new task, not running yet
 *
 * For the tracepoint sched_process_fork. A child beyond the 4096 that have
 * room is not followed, and counted.
 *
 * Context: any, CPU pinned.
 */
void tap_filter_fork(struct tap_filter *filter, struct task_struct *parent,
		     struct task_struct *child);

/**
 * tap_filter_exit() - a task is gone
 * @filter: a filter with a tree
 * @task: the task
 *
 * For the tracepoint sched_process_free.
 *
 * Context: any, CPU pinned.
 */
void tap_filter_exit(struct tap_filter *filter, struct task_struct *task);

/**
 * tap_filter_untracked() - processes of the tree that found no room
 * @filter: the filter, or NULL
 *
 * Return: how many.
 */
u64 tap_filter_untracked(const struct tap_filter *filter);

#endif /* TAP_FILTER_H */
