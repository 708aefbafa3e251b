// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of common/watch.h. Tests run in a kernel thread, which has no file
 * system from 7.0 on: what needs files is tested with a tool.
 */
#include "kunit.h"
#include "watch.h"

static void tap_watch_test_wants(struct kunit *test)
{
	struct tap_watch watch = {};

	KUNIT_EXPECT_TRUE(test, tap_watch_wants(&watch, MKDEV(8, 5), 33));
	watch.ino = 33;
	KUNIT_EXPECT_TRUE(test, tap_watch_wants(&watch, MKDEV(8, 5), 33));
	KUNIT_EXPECT_TRUE(test, tap_watch_wants(&watch, MKDEV(8, 6), 33));
	KUNIT_EXPECT_FALSE(test, tap_watch_wants(&watch, MKDEV(8, 5), 34));
	KUNIT_EXPECT_FALSE(test, tap_watch_wants(&watch, MKDEV(8, 5),
						 33 + (1ULL << 32)));
	watch.dev = MKDEV(8, 5);
	KUNIT_EXPECT_TRUE(test, tap_watch_wants(&watch, MKDEV(8, 5), 33));
	KUNIT_EXPECT_FALSE(test, tap_watch_wants(&watch, MKDEV(8, 6), 33));
	KUNIT_EXPECT_FALSE(test, tap_watch_wants(&watch, MKDEV(8, 5), 34));
	watch.ino = 0;
	KUNIT_EXPECT_TRUE(test, tap_watch_wants(&watch, MKDEV(8, 5), 34));
	KUNIT_EXPECT_FALSE(test, tap_watch_wants(&watch, MKDEV(8, 6), 33));
}

static void tap_watch_test_set(struct kunit *test)
{
	struct tap_watch watch = {};
	struct tap_text why = {};
	char dev[] = "8:5", other[] = "0x2b", ino[] = "4294967329";

	watch.dev_text = dev;
	KUNIT_EXPECT_EQ(test, tap_watch_set(&watch, &why), 0);
	KUNIT_EXPECT_EQ(test, watch.dev, MKDEV(8, 5));
	KUNIT_EXPECT_EQ(test, watch.ino, 0ULL);

	watch.ino_text = ino;
	KUNIT_EXPECT_EQ(test, tap_watch_set(&watch, &why), 0);
	KUNIT_EXPECT_EQ(test, watch.dev, MKDEV(8, 5));
	KUNIT_EXPECT_EQ(test, watch.ino, 4294967329ULL);

	/* what stat(2) says, and what it is */
	watch.stat_dev = MKDEV(0, 43);
	watch.super_dev = MKDEV(0, 41);
	watch.dev_text = other;
	KUNIT_EXPECT_EQ(test, tap_watch_set(&watch, &why), 0);
	KUNIT_EXPECT_EQ(test, watch.dev, MKDEV(0, 41));

	watch.dev_text = NULL;
	watch.ino_text = NULL;
	KUNIT_EXPECT_EQ(test, tap_watch_set(&watch, &why), 0);
	KUNIT_EXPECT_EQ(test, watch.dev, 0);
	KUNIT_EXPECT_EQ(test, watch.ino, 0ULL);
	KUNIT_EXPECT_EQ(test, why.len, 0);
}

static void tap_watch_test_path_is_alone(struct kunit *test)
{
	char path[] = "/x", number[] = "7:1";
	struct tap_watch watch = {
		.path_text = path,
		.path_dev = MKDEV(8, 5),
		.path_ino = 33,
	};
	struct tap_text why = {};

	KUNIT_EXPECT_EQ(test, tap_watch_set(&watch, &why), 0);
	KUNIT_EXPECT_EQ(test, watch.dev, MKDEV(8, 5));
	KUNIT_EXPECT_EQ(test, watch.ino, 33ULL);

	watch.dev_text = number;
	KUNIT_EXPECT_EQ(test, tap_watch_set(&watch, &why), -EINVAL);
	TAP_EXPECT_TEXT(test, &why,
			"path= says which file: neither dev= nor ino= with it");
	watch.dev_text = NULL;
	watch.ino_text = number;
	KUNIT_EXPECT_EQ(test, tap_watch_load(&watch, &why), -EINVAL);
	TAP_EXPECT_TEXT(test, &why,
			"path= says which file: neither dev= nor ino= with it");
	KUNIT_EXPECT_EQ(test, watch.dev, MKDEV(8, 5));
	KUNIT_EXPECT_EQ(test, watch.ino, 33ULL);
	tap_text_free(&why);
}

static void tap_watch_test_path(struct kunit *test)
{
	struct tap_watch root = {};
	struct tap_text why = {};
	struct path path;

	KUNIT_ASSERT_EQ(test, kern_path("/", 0, &path), 0);
	KUNIT_EXPECT_EQ(test, tap_watch_path(&root, "/", &why), 0);
	KUNIT_EXPECT_EQ(test, root.path_dev, path.dentry->d_sb->s_dev);
	KUNIT_EXPECT_EQ(test, root.path_ino, (u64)d_inode(path.dentry)->i_ino);
	path_put(&path);
	KUNIT_EXPECT_EQ(test, why.len, 0);
}

static void tap_watch_test_path_leads_nowhere(struct kunit *test)
{
	char *long_path = kunit_kzalloc(test, 5001, GFP_KERNEL);
	const struct {
		const char *path, *why;
		int err;
	} cases[] = {
		{ "/no/such/file", "-ENOENT", -ENOENT },
		{ long_path, "-ENAMETOOLONG", -ENAMETOOLONG },
	};
	struct tap_watch watch = {};
	struct tap_text why = {};
	char line[64];
	int i;

	KUNIT_ASSERT_NOT_NULL(test, long_path);
	memset(long_path, '/', 5000);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, tap_watch_path(&watch, cases[i].path, &why),
				    -EINVAL, "%s", cases[i].why);
		/* kernels without the names show the number */
		scnprintf(line, sizeof(line), "there is no such file: %pe",
			  ERR_PTR(cases[i].err));
		if (IS_ENABLED(CONFIG_SYMBOLIC_ERRNAME))
			scnprintf(line, sizeof(line), "there is no such file: %s",
				  cases[i].why);
		TAP_EXPECT_TEXT(test, &why, line);
	}
	KUNIT_EXPECT_EQ(test, watch.path_dev, 0);
	KUNIT_EXPECT_EQ(test, watch.path_ino, 0ULL);
	tap_text_free(&why);
}

static void tap_watch_test_mount_point(struct kunit *test)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{ "51 28 0:41 /sub /mnt/a rw,relatime shared:1 - btrfs /dev/loop0 rw",
		  "/mnt/a" },
		{ "51 28 0:41 /sub /mnt/a\\040b\\134c\\012 rw - btrfs /dev/loop0 rw",
		  "/mnt/a b\\c\n" },
		{ "51 28 0:41 / /x rw shared:1 master:2 - btrfs /dev/loop0 rw", "/x" },
		{ "51 28 0:40 / /btrfs rw - tmpfs btrfs rw", "(none)" },
		{ "51 28 0:40 / /a rw - btrfsx a rw", "(none)" },
		{ "51 28 8:1 / /a rw - ext4 /dev/sda1 rw", "(none)" },
		{ "1 - btrfs a", "(none)" },
		{ "", "(none)" },
	};
	char line[80];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name;

		strscpy(line, cases[i].line, sizeof(line));
		name = tap_watch_mount_point(line);
		if (!name)
			name = "(none)";
		KUNIT_EXPECT_STREQ_MSG(test, name, cases[i].name, "%s",
				       cases[i].line);
	}
}

/* What no mount is called by stays what it is. */
static void tap_watch_test_load(struct kunit *test)
{
	char dev[] = "0:1048575";
	struct tap_watch watch = { .dev_text = dev };
	struct tap_text why = {};

	KUNIT_EXPECT_EQ(test, tap_watch_load(&watch, &why), 0);
	KUNIT_EXPECT_EQ(test, watch.dev, MKDEV(0, 1048575));
	KUNIT_EXPECT_EQ(test, why.len, 0);
}

static struct kunit_case tap_watch_cases[] = {
	KUNIT_CASE(tap_watch_test_wants),
	KUNIT_CASE(tap_watch_test_set),
	KUNIT_CASE(tap_watch_test_path_is_alone),
	KUNIT_CASE(tap_watch_test_path),
	KUNIT_CASE(tap_watch_test_path_leads_nowhere),
	KUNIT_CASE(tap_watch_test_mount_point),
	KUNIT_CASE(tap_watch_test_load),
	{}
};

static struct kunit_suite tap_watch_suite = {
	.name = "tap_watch",
	.test_cases = tap_watch_cases,
};
TAP_KUNIT_SUITE(tap_watch_suite);
