// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/root.c */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

#include "kunit.h"
#include "paths.h"
#include "root.h"

static void tap_root_test_first_makes_and_last_removes(struct kunit *test)
{
	struct tap_root *a, *b;

	KUNIT_ASSERT_FALSE(test, exists("/proc/tap"));
	a = tap_root_get();
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap"));
	KUNIT_EXPECT_TRUE(test, exists("/sys/kernel/debug/tap"));
	b = tap_root_get();
	KUNIT_EXPECT_PTR_EQ(test, a, b);
	tap_root_put(a);
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap"));
	tap_root_put(b);
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
	KUNIT_EXPECT_FALSE(test, exists("/sys/kernel/debug/tap"));
	/* and again */
	a = tap_root_get();
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap"));
	tap_root_put(a);
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
}

static void expect_refused(struct kunit *test, struct proc_dir_entry *entry)
{
	struct tap_root *root;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	root = tap_root_get();
	KUNIT_EXPECT_EQ(test, PTR_ERR(root), (long)-EEXIST);
	if (!IS_ERR(root))
		tap_root_put(root);
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap"));
	proc_remove(entry);
	/* nothing of it is left */
	root = tap_root_get();
	KUNIT_ASSERT_FALSE(test, IS_ERR(root));
	tap_root_put(root);
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
}

static void tap_root_test_somebody_elses_directory_is_refused(struct kunit *test)
{
	static u64 words[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	expect_refused(test, proc_mkdir("tap", NULL));
	expect_refused(test, proc_mkdir_data("tap", 0555, NULL, words));
	/* a name that was looked for in vain is remembered as missing */
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
	expect_refused(test, proc_mkdir("tap", NULL));
}

static const struct proc_ops file_ops;

static void tap_root_test_somebody_elses_file_is_refused(struct kunit *test)
{
	expect_refused(test, proc_create("tap", 0444, NULL, &file_ops));
}

static void tap_root_test_other_layout_is_refused(struct kunit *test)
{
	struct tap_root *root = tap_root_get();
	struct tap_root other;

	KUNIT_ASSERT_FALSE(test, IS_ERR(root));
	other = *root;
	tap_root_put(root);
	other.version++;
	expect_refused(test, proc_mkdir_data("tap", 0555, NULL, &other));
	KUNIT_EXPECT_EQ(test, other.users, 1U);
	other.version--;
	other.magic++;
	expect_refused(test, proc_mkdir_data("tap", 0555, NULL, &other));
	KUNIT_EXPECT_EQ(test, other.users, 1U);
}

static atomic_t failed;

static void load_thread(void *data, unsigned int cpu)
{
	int i;

	for (i = 0; i < 200; i++) {
		struct tap_root *root = tap_root_get();

		if (IS_ERR(root)) {
			atomic_inc(&failed);
			continue;
		}
		if (!exists("/proc/tap"))
			atomic_inc(&failed);
		tap_root_put(root);
		cond_resched_tasks_rcu_qs();
	}
}

static void tap_root_test_many_at_the_same_time(struct kunit *test)
{
	struct tap_kunit_load load = { .thread = load_thread };

	atomic_set(&failed, 0);
	tap_kunit_run(test, &load);
	KUNIT_EXPECT_EQ(test, atomic_read(&failed), 0);
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
	KUNIT_EXPECT_FALSE(test, exists("/sys/kernel/debug/tap"));
}

static int attempt(struct kunit *test)
{
	struct tap_root *root = tap_root_get();

	if (IS_ERR(root))
		return PTR_ERR(root);
	tap_root_put(root);
	return 0;
}

static void tap_root_test_get_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt);
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
}

static struct kunit_case tap_root_cases[] = {
	KUNIT_CASE(tap_root_test_first_makes_and_last_removes),
	KUNIT_CASE(tap_root_test_somebody_elses_directory_is_refused),
	KUNIT_CASE(tap_root_test_somebody_elses_file_is_refused),
	KUNIT_CASE(tap_root_test_other_layout_is_refused),
	KUNIT_CASE(tap_root_test_many_at_the_same_time),
	KUNIT_CASE(tap_root_test_get_without_memory),
	{}
};

static struct kunit_suite tap_root_suite = {
	.name = "tap_root",
	.suite_init = paths_begin,
	.suite_exit = paths_end,
	.test_cases = tap_root_cases,
};
TAP_KUNIT_SUITE(tap_root_suite);
