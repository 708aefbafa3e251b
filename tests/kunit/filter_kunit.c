// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/filter.c */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/mm.h>

#include "filter.h"
#include "kunit.h"

#define TREE_MAX 4096	/* processes that filter.h promises room for */

static struct tap_filter *parse(struct kunit *test, const char *fmt, ...)
{
	struct tap_text why = {};
	struct tap_filter *filter;
	char spec[200];
	va_list args;

	va_start(args, fmt);
	vscnprintf(spec, sizeof(spec), fmt, args);
	va_end(args);
	filter = tap_filter_parse(spec, &why);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(filter), "%s: %.*s", spec, (int)why.len,
			       why.buf);
	KUNIT_EXPECT_EQ(test, why.len, 0);
	tap_text_free(&why);
	return filter;
}

static bool match(struct tap_filter *filter, struct task_struct *task)
{
	bool is;

	preempt_disable();
	is = tap_filter_match(filter, task);
	preempt_enable();
	return is;
}

/* Does the filter match the current task, and never an interrupt? */
static bool matches(struct kunit *test, struct tap_filter *filter)
{
	bool is = match(filter, current);

	KUNIT_EXPECT_FALSE(test, match(filter, NULL));
	tap_filter_free(filter);
	return is;
}

static void tap_filter_test_refused(struct kunit *test)
{
	static const char *const specs[] = {
		"", ",", "pid", "pid=", "=1", "nonsense=1", "PID=1", "pid=0",
		"pid=-1", "pid=1x", "pid= 1", "pid=2147483648",
		"pid=99999999999999999999", "tid=0", "tid=x", "uid=-1", "uid=root",
		"uid=4294967296", "comm=", "comm=sixteencharacter", "cgroup=x",
		"cgroup=-1", "tree=0", "tree=self", "pid=1,", ",pid=1", "pid=1,,uid=0",
		"pid=1;uid=0", "pid=1,pid=2", "comm=a,comm=b", "uid=0,pid",
	};
	struct tap_text why = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(specs); i++) {
		struct tap_filter *filter = tap_filter_parse(specs[i], &why);

		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR(filter), -EINVAL, "%s", specs[i]);
		KUNIT_EXPECT_GT_MSG(test, why.len, 0, "%s", specs[i]);
		KUNIT_EXPECT_PTR_EQ(test, memchr(why.buf, '\n', why.len), NULL);
		if (!IS_ERR(filter))
			tap_filter_free(filter);
		tap_text_clear(&why);
		KUNIT_EXPECT_EQ(test, tap_filter_check(specs[i], &why), -EINVAL);
		KUNIT_EXPECT_GT(test, why.len, 0);
		tap_text_clear(&why);
	}
	KUNIT_EXPECT_EQ(test, tap_filter_check("pid=1,uid=0,comm=init", &why), 0);
	KUNIT_EXPECT_EQ(test, why.len, 0);
	tap_text_free(&why);
}

static void tap_filter_test_pid_and_tid(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "pid=%d", current->tgid)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "pid=%d", current->tgid + 1)));
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "tid=%d", current->pid)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "tid=%d", current->pid + 1)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "pid=2147483647")));
}

static void tap_filter_test_uid(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "uid=0")));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "uid=1")));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "uid=4294967294")));
}

static void tap_filter_test_comm(struct kunit *test)
{
	char name[TASK_COMM_LEN];

	strscpy(name, current->comm, sizeof(name));
	strscpy(current->comm, "fifteen letters", sizeof(current->comm));
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "comm=fifteen letters")));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "comm=fifteen letter")));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "comm=Fifteen letters")));
	/* a name may have what looks like a term */
	strscpy(current->comm, "a=b", sizeof(current->comm));
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "comm=a=b")));
	strscpy(current->comm, name, sizeof(current->comm));
}

/* A thread is known by its own name and by that of its group's leader. */
static void tap_filter_test_comm_of_the_leader(struct kunit *test)
{
	struct task_struct *leader = kvzalloc(sizeof(*leader), GFP_KERNEL);
	struct task_struct *thread = kvzalloc(sizeof(*thread), GFP_KERNEL);
	struct tap_filter *filter;

	KUNIT_ASSERT_TRUE(test, leader && thread);
	strscpy(leader->comm, "leader", sizeof(leader->comm));
	strscpy(thread->comm, "thread", sizeof(thread->comm));
	leader->group_leader = leader;
	thread->group_leader = leader;
	filter = parse(test, "comm=leader");
	KUNIT_EXPECT_TRUE(test, match(filter, leader));
	KUNIT_EXPECT_TRUE(test, match(filter, thread));
	tap_filter_free(filter);
	filter = parse(test, "comm=thread");
	KUNIT_EXPECT_FALSE(test, match(filter, leader));
	KUNIT_EXPECT_TRUE(test, match(filter, thread));
	tap_filter_free(filter);
	kvfree(leader);
	kvfree(thread);
}

static void tap_filter_test_cgroup(struct kunit *test)
{
#ifdef CONFIG_CGROUPS
	u64 id;

	/* threads of the kernel are in the root, whose descendants are all others */
	rcu_read_lock();
	id = cgroup_id(task_dfl_cgroup(current));
	rcu_read_unlock();
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "cgroup=%llu", id)));
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "cgroup=0x%llx", id)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "cgroup=%llu", id + 12345)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "cgroup=18446744073709551615")));
#else
	kunit_skip(test, "a kernel without cgroups");
#endif
}

static void tap_filter_test_all_terms_must_hold(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, matches(test, parse(test, "uid=0,pid=%d,tid=%d",
						    current->tgid, current->pid)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "uid=1,pid=%d", current->tgid)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "pid=%d,uid=1", current->tgid)));
	KUNIT_EXPECT_FALSE(test, matches(test, parse(test, "uid=0,comm=someone,pid=%d",
						     current->tgid)));
}

/* --- tree -------------------------------------------------------------- */

/* Processes as far as the tree looks at them. */
struct family {
	struct tap_filter *filter;
	struct task_struct *task[4];
};

static struct family *new_family(struct kunit *test)
{
	struct family *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, f);
	for (i = 0; i < ARRAY_SIZE(f->task); i++) {
		f->task[i] = kvzalloc(sizeof(*f->task[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, f->task[i]);
	}
	f->filter = parse(test, "tree=%d", current->tgid);
	KUNIT_EXPECT_EQ(test, tap_filter_tree(f->filter), current->tgid);
	return f;
}

static void free_family(struct family *f)
{
	int i;

	tap_filter_free(f->filter);
	for (i = 0; i < ARRAY_SIZE(f->task); i++)
		kvfree(f->task[i]);
}

/* Never looked into; as far apart as the real ones. */
static struct signal_struct *signal_at(u64 n)
{
	return (struct signal_struct *)(PAGE_OFFSET + 0x100000 + n * 1088);
}

static void fork_to(struct family *f, struct task_struct *parent,
		    struct task_struct *child)
{
	preempt_disable();
	tap_filter_fork(f->filter, parent, child);
	preempt_enable();
}

static void exit_of(struct family *f, struct task_struct *task)
{
	preempt_disable();
	tap_filter_exit(f->filter, task);
	preempt_enable();
}

static void tap_filter_test_tree_of_nobody(struct kunit *test)
{
	struct tap_filter *filter = parse(test, "tree=2147483647");

	KUNIT_EXPECT_FALSE(test, tap_filter_has_root(filter));
	tap_filter_start_tree(filter);
	KUNIT_EXPECT_FALSE(test, match(filter, current));
	tap_filter_free(filter);
	filter = parse(test, "pid=1");
	KUNIT_EXPECT_EQ(test, tap_filter_tree(filter), 0);
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(filter), 0ull);
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(NULL), 0ull);
	tap_filter_free(filter);
	tap_filter_free(NULL);
}

static void tap_filter_test_tree_follows_forks(struct kunit *test)
{
	struct family *f = new_family(test);
	struct task_struct *child = f->task[0];
	struct task_struct *grandchild = f->task[1];
	struct task_struct *thread = f->task[2];
	struct task_struct *stranger = f->task[3];
	int i;

	for (i = 0; i < 4; i++)
		f->task[i]->signal = signal_at(i);
	thread->signal = child->signal;
	thread->exit_signal = -1;	/* which tells it from a leader */

	KUNIT_EXPECT_FALSE(test, match(f->filter, current));
	KUNIT_EXPECT_TRUE(test, tap_filter_has_root(f->filter));
	tap_filter_start_tree(f->filter);
	KUNIT_EXPECT_TRUE(test, match(f->filter, current));
	KUNIT_EXPECT_FALSE(test, match(f->filter, child));
	/* who is not of the tree has no children of the tree */
	fork_to(f, stranger, child);
	KUNIT_EXPECT_FALSE(test, match(f->filter, child));
	fork_to(f, current, child);
	KUNIT_EXPECT_TRUE(test, match(f->filter, child));
	fork_to(f, child, thread);
	KUNIT_EXPECT_TRUE(test, match(f->filter, thread));
	fork_to(f, child, grandchild);
	KUNIT_EXPECT_TRUE(test, match(f->filter, grandchild));
	/* the process goes on when a thread ends */
	exit_of(f, thread);
	KUNIT_EXPECT_TRUE(test, match(f->filter, child));
	exit_of(f, child);
	KUNIT_EXPECT_FALSE(test, match(f->filter, child));
	KUNIT_EXPECT_TRUE(test, match(f->filter, grandchild));
	/* an end that is nobody's */
	exit_of(f, stranger);
	exit_of(f, child);
	exit_of(f, grandchild);
	KUNIT_EXPECT_FALSE(test, match(f->filter, grandchild));
	KUNIT_EXPECT_TRUE(test, match(f->filter, current));
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(f->filter), 0ull);
	free_family(f);
}

static void tap_filter_test_tree_full(struct kunit *test)
{
	struct family *f = new_family(test);
	struct task_struct *task = f->task[0];
	u64 i, found = 0, untracked;

	KUNIT_EXPECT_TRUE(test, tap_filter_has_root(f->filter));
	tap_filter_start_tree(f->filter);
	/* with its root it is full */
	for (i = 1; i < TREE_MAX + 10; i++) {
		task->signal = signal_at(i);
		fork_to(f, current, task);
	}
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(f->filter), 10ull);
	untracked = tap_filter_untracked(f->filter);
	for (i = 1; i < TREE_MAX + 10; i++) {
		task->signal = signal_at(i);
		found += match(f->filter, task);
	}
	KUNIT_EXPECT_EQ(test, found + untracked, TREE_MAX + 9ull);
	KUNIT_EXPECT_TRUE(test, match(f->filter, current));
	/* who ends makes room */
	task->signal = signal_at(1);
	exit_of(f, task);
	task->signal = signal_at(TREE_MAX + 100);
	fork_to(f, current, task);
	KUNIT_EXPECT_TRUE(test, match(f->filter, task));
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(f->filter), untracked);
	free_family(f);
}

/* Processes come and go, many more than have room at one time. */
static void tap_filter_test_tree_forgets_who_ended(struct kunit *test)
{
	struct family *f = new_family(test);
	struct task_struct *task = f->task[0];
	u64 i, found = 0, ghosts = 0;

	KUNIT_EXPECT_TRUE(test, tap_filter_has_root(f->filter));
	tap_filter_start_tree(f->filter);
	for (i = 0; i < 100000; i++) {
		task->signal = signal_at(i % 30000);
		fork_to(f, current, task);
		if (i >= 1000) {
			task->signal = signal_at((i - 1000) % 30000);
			exit_of(f, task);
		}
	}
	for (i = 0; i < 30000; i++) {
		bool lives = (100000 - 1 - i) % 30000 < 1000;

		task->signal = signal_at(i);
		if (match(f->filter, task)) {
			found += lives;
			ghosts += !lives;
		}
	}
	KUNIT_EXPECT_EQ(test, found, 1000ull);
	KUNIT_EXPECT_EQ(test, ghosts, 0ull);
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(f->filter), 0ull);
	free_family(f);
}

struct load {
	struct family *family;
	struct task_struct *parent;
	atomic_t timers[NR_CPUS];
	atomic64_t wrong;
};

/* Each CPU has children of its own, in interrupts too; the parent stays. */
static void load_turn(struct load *load, u64 first, u64 n)
{
	struct task_struct *child;
	u64 i;

	child = kvzalloc(sizeof(*child), GFP_ATOMIC);
	if (!child)
		return;
	for (i = first; i < first + n; i++) {
		child->signal = signal_at(i);
		fork_to(load->family, load->parent, child);
		if (!match(load->family->filter, child) ||
		    !match(load->family->filter, load->parent))
			atomic64_inc(&load->wrong);
	}
	for (i = first; i < first + n; i++) {
		child->signal = signal_at(i);
		exit_of(load->family, child);
		if (match(load->family->filter, child) ||
		    !match(load->family->filter, load->parent))
			atomic64_inc(&load->wrong);
	}
	kvfree(child);
}

static void load_thread(void *data, unsigned int cpu)
{
	struct load *load = data;
	int i;

	for (i = 0; i < 20 || atomic_read(&load->timers[cpu]) < 100; i++) {
		load_turn(load, 10000 * (cpu + 1), 500);
		cond_resched_tasks_rcu_qs();
	}
}

/* Only looks: memory for a child is not to be had here. */
static void load_timer(void *data, unsigned int cpu)
{
	struct load *load = data;

	atomic_inc(&load->timers[cpu]);
	if (!match(load->family->filter, load->parent))
		atomic64_inc(&load->wrong);
}

static void tap_filter_test_tree_changed_in_use(struct kunit *test)
{
	struct load *load = kunit_kzalloc(test, sizeof(*load), GFP_KERNEL);
	struct tap_kunit_load on_cpus = {
		.thread = load_thread, .timer = load_timer, .data = load,
	};

	KUNIT_ASSERT_NOT_NULL(test, load);
	load->family = new_family(test);
	load->parent = current;
	KUNIT_EXPECT_TRUE(test, tap_filter_has_root(load->family->filter));
	tap_filter_start_tree(load->family->filter);
	tap_kunit_run(test, &on_cpus);
	KUNIT_EXPECT_EQ(test, atomic64_read(&load->wrong), 0);
	KUNIT_EXPECT_EQ(test, tap_filter_untracked(load->family->filter), 0ull);
	free_family(load->family);
}

/* --- memory ------------------------------------------------------------ */

static int attempt(struct kunit *test)
{
	struct tap_text why = {};
	struct tap_filter *filter = tap_filter_parse("tree=1,comm=init", &why);

	if (!IS_ERR(filter))
		tap_filter_free(filter);
	tap_text_free(&why);
	return PTR_ERR_OR_ZERO(filter);
}

static void tap_filter_test_parse_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt);
}

static struct kunit_case tap_filter_cases[] = {
	KUNIT_CASE(tap_filter_test_refused),
	KUNIT_CASE(tap_filter_test_pid_and_tid),
	KUNIT_CASE(tap_filter_test_uid),
	KUNIT_CASE(tap_filter_test_comm),
	KUNIT_CASE(tap_filter_test_comm_of_the_leader),
	KUNIT_CASE(tap_filter_test_cgroup),
	KUNIT_CASE(tap_filter_test_all_terms_must_hold),
	KUNIT_CASE(tap_filter_test_tree_of_nobody),
	KUNIT_CASE(tap_filter_test_tree_follows_forks),
	KUNIT_CASE(tap_filter_test_tree_full),
	KUNIT_CASE(tap_filter_test_tree_forgets_who_ended),
	KUNIT_CASE(tap_filter_test_tree_changed_in_use),
	KUNIT_CASE(tap_filter_test_parse_without_memory),
	{}
};

static struct kunit_suite tap_filter_suite = {
	.name = "tap_filter",
	.test_cases = tap_filter_cases,
};
TAP_KUNIT_SUITE(tap_filter_suite);
