// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: filter - whose events are counted
 *
 * Parsed once, tested in the probe before anything else is done. A filter is
 * never changed: a new one takes its place, and the old one is freed after an
 * RCU grace period, since handlers pin their CPU while they use it.
 *
 * The tree is a set of processes, told apart by their signal_struct, which all
 * threads of a process share, which survives exec, and which cannot be used
 * again before sched_process_free has been seen for the leader. It is an open
 * hash; a process that is gone leaves a mark that a later one may take. Look-ups
 * take no lock: an entry is one word.
 */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "filter.h"

#define TAP_TREE_BITS 13	/* 4096 processes at half load: 64 KiB */
#define TAP_TREE_SLOTS BIT(TAP_TREE_BITS)
#define TAP_TREE_WALK 64
#define TAP_TREE_GONE ((struct signal_struct *)1)

struct tap_tree {
	raw_spinlock_t lock;	/* serialises changes; interrupts off, NMIs only try */
	u32 nr;			/* under lock */
	u64 untracked;		/* under lock; READ_ONCE without */
	struct signal_struct *slots[TAP_TREE_SLOTS];	/* WRITE_ONCE under lock */
};

enum tap_filter_term {
	TAP_FILTER_PID,
	TAP_FILTER_TID,
	TAP_FILTER_UID,
	TAP_FILTER_COMM,
	TAP_FILTER_CGROUP,
	TAP_FILTER_TREE,
	TAP_FILTER_NR,
};

static const char *const tap_filter_names[TAP_FILTER_NR] = {
	[TAP_FILTER_PID]	= "pid",
	[TAP_FILTER_TID]	= "tid",
	[TAP_FILTER_UID]	= "uid",
	[TAP_FILTER_COMM]	= "comm",
	[TAP_FILTER_CGROUP]	= "cgroup",
	[TAP_FILTER_TREE]	= "tree",
};

struct tap_filter {
	unsigned long terms;	/* a bit for each term that is given */
	pid_t pid;
	pid_t tid;
	uid_t uid;
	pid_t root;
	u64 cgroup;
	char comm[TASK_COMM_LEN];
	struct tap_tree *tree;
};

static int tap_filter_pid(const char *value, pid_t *pid, struct tap_text *why)
{
	if (!kstrtoint(value, 10, pid) && *pid > 0)
		return 0;
	tap_printf(why, "a process or thread id is a number from 1");
	return -EINVAL;
}

static int tap_filter_term(struct tap_filter *filter, char *term,
			   struct tap_text *why)
{
	char *name = strsep(&term, "=");
	int i = match_string(tap_filter_names, TAP_FILTER_NR, name);

	if (i < 0 || !term || !*term) {
		tap_printf(why,
			   "allowed is pid=, tid=, uid=, comm=, cgroup=, tree=, joined with commas");
		return -EINVAL;
	}
	if (__test_and_set_bit(i, &filter->terms)) {
		tap_printf(why, "%s= stands twice", name);
		return -EINVAL;
	}
	switch (i) {
	case TAP_FILTER_PID:
		return tap_filter_pid(term, &filter->pid, why);
	case TAP_FILTER_TID:
		return tap_filter_pid(term, &filter->tid, why);
	case TAP_FILTER_TREE:
		return tap_filter_pid(term, &filter->root, why);
	case TAP_FILTER_UID:
		if (!kstrtouint(term, 10, &filter->uid))
			return 0;
		tap_printf(why, "a user id is a number");
		return -EINVAL;
	case TAP_FILTER_CGROUP:
		if (!IS_ENABLED(CONFIG_CGROUPS)) {
			tap_printf(why, "this kernel has no CONFIG_CGROUPS");
			return -EINVAL;
		}
		if (!kstrtou64(term, 0, &filter->cgroup))
			return 0;
		tap_printf(why, "a cgroup id is a number, the inode of its directory");
		return -EINVAL;
	default:
		if (strscpy(filter->comm, term, sizeof(filter->comm)) > 0)
			return 0;
		tap_printf(why, "a name has at most %u characters",
			   TASK_COMM_LEN - 1);
		return -EINVAL;
	}
}

struct tap_filter *tap_filter_parse(const char *spec, struct tap_text *why)
{
	struct tap_filter *filter;
	char *copy, *rest, *term;
	int err = -ENOMEM;

	filter = kzalloc(sizeof(*filter), GFP_KERNEL);
	copy = kvmalloc(strlen(spec) + 1, GFP_KERNEL);
	if (!filter || !copy)
		goto err_free;
	strcpy(copy, spec);
	rest = copy;
	while ((term = strsep(&rest, ","))) {
		err = tap_filter_term(filter, term, why);
		if (err)
			goto err_free;
	}
	if (filter->root) {
		err = -ENOMEM;
		filter->tree = kvzalloc(sizeof(*filter->tree), GFP_KERNEL);
		if (!filter->tree)
			goto err_free;
		raw_spin_lock_init(&filter->tree->lock);
	}
	kvfree(copy);
	return filter;

err_free:
	kvfree(copy);
	kfree(filter);
	return ERR_PTR(err);
}

void tap_filter_free(struct tap_filter *filter)
{
	if (!filter)
		return;
	kvfree(filter->tree);
	kfree(filter);
}

int tap_filter_check(const char *spec, struct tap_text *why)
{
	struct tap_filter *filter = tap_filter_parse(spec, why);

	if (IS_ERR(filter))
		return PTR_ERR(filter);
	tap_filter_free(filter);
	return 0;
}

int tap_filter_check_nobody(const char *spec, struct tap_text *why)
{
	tap_printf(why, "not allowed, since these events belong to no process");
	return -EINVAL;
}

static bool tap_filter_in_cgroup(struct task_struct *task, u64 id)
{
	bool found = false;
#ifdef CONFIG_CGROUPS
	struct cgroup *cgroup;

	rcu_read_lock();
	for (cgroup = task_dfl_cgroup(task); cgroup && !found;
	     cgroup = cgroup_parent(cgroup))
		found = cgroup_id(cgroup) == id;
	rcu_read_unlock();
#endif
	return found;
}

static bool tap_tree_has(const struct tap_tree *tree,
			 const struct signal_struct *signal)
{
	u32 slot = hash_ptr(signal, TAP_TREE_BITS);
	unsigned int i;

	for (i = 0; i < TAP_TREE_WALK; i++, slot = (slot + 1) % TAP_TREE_SLOTS) {
		const struct signal_struct *at = READ_ONCE(tree->slots[slot]);

		if (at == signal)
			return true;
		if (!at)
			return false;
	}
	return false;
}

bool tap_filter_match(struct tap_filter *filter, struct task_struct *task)
{
	unsigned long terms = filter->terms;

	if (!task)
		return false;
	if (terms & BIT(TAP_FILTER_PID) && task->tgid != filter->pid)
		return false;
	if (terms & BIT(TAP_FILTER_TID) && task->pid != filter->tid)
		return false;
	if (terms & BIT(TAP_FILTER_UID) &&
	    __kuid_val(task_uid(task)) != filter->uid)
		return false;
	if (terms & BIT(TAP_FILTER_COMM) &&
	    strncmp(task->comm, filter->comm, TASK_COMM_LEN) &&
	    strncmp(READ_ONCE(task->group_leader)->comm, filter->comm,
		    TASK_COMM_LEN))
		return false;
	if (terms & BIT(TAP_FILTER_CGROUP) &&
	    !tap_filter_in_cgroup(task, filter->cgroup))
		return false;
	if (terms & BIT(TAP_FILTER_TREE) &&
	    !tap_tree_has(filter->tree, task->signal))
		return false;
	return true;
}

static void tap_tree_add(struct tap_tree *tree, struct signal_struct *signal)
{
	u32 slot = hash_ptr(signal, TAP_TREE_BITS);
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&tree->lock, flags);
	for (i = 0; i < TAP_TREE_WALK; i++, slot = (slot + 1) % TAP_TREE_SLOTS) {
		struct signal_struct *at = tree->slots[slot];

		if (at && at != TAP_TREE_GONE)
			continue;
		if (tree->nr == TAP_TREE_SLOTS / 2)
			break;
		WRITE_ONCE(tree->slots[slot], signal);
		tree->nr++;
		goto out;
	}
	WRITE_ONCE(tree->untracked, tree->untracked + 1);
out:
	raw_spin_unlock_irqrestore(&tree->lock, flags);
}

static void tap_tree_remove(struct tap_tree *tree, struct signal_struct *signal)
{
	u32 slot = hash_ptr(signal, TAP_TREE_BITS);
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&tree->lock, flags);
	for (i = 0; i < TAP_TREE_WALK; i++, slot = (slot + 1) % TAP_TREE_SLOTS) {
		if (tree->slots[slot] != signal)
			continue;
		WRITE_ONCE(tree->slots[slot], TAP_TREE_GONE);
		tree->nr--;
		/* no walk goes on behind an empty slot: marks before one can go */
		while (!tree->slots[(slot + 1) % TAP_TREE_SLOTS] &&
		       tree->slots[slot] == TAP_TREE_GONE) {
			WRITE_ONCE(tree->slots[slot], NULL);
			slot = (slot - 1) % TAP_TREE_SLOTS;
		}
		break;
	}
	raw_spin_unlock_irqrestore(&tree->lock, flags);
}

pid_t tap_filter_tree(const struct tap_filter *filter)
{
	return filter->root;
}

/* Must hold rcu_read_lock(). */
static struct task_struct *tap_filter_root(const struct tap_filter *filter)
{
	return pid_task(find_pid_ns(filter->root, &init_pid_ns), PIDTYPE_TGID);
}

bool tap_filter_has_root(const struct tap_filter *filter)
{
	bool found;

	rcu_read_lock();
	found = tap_filter_root(filter);
	rcu_read_unlock();
	return found;
}

void tap_filter_start_tree(struct tap_filter *filter)
{
	struct task_struct *task;

	/* the task cannot be freed, nor its signal_struct, before we let go */
	rcu_read_lock();
	task = tap_filter_root(filter);
	if (task)
		tap_tree_add(filter->tree, task->signal);
	rcu_read_unlock();
}

void tap_filter_fork(struct tap_filter *filter, struct task_struct *parent,
		     struct task_struct *child)
{
	if (child->signal != parent->signal &&
	    tap_tree_has(filter->tree, parent->signal))
		tap_tree_add(filter->tree, child->signal);
}

void tap_filter_exit(struct tap_filter *filter, struct task_struct *task)
{
	if (thread_group_leader(task) && tap_tree_has(filter->tree, task->signal))
		tap_tree_remove(filter->tree, task->signal);
}

u64 tap_filter_untracked(const struct tap_filter *filter)
{
	return filter && filter->tree ? READ_ONCE(filter->tree->untracked) : 0;
}
