/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is there such a file? A case runs in a thread of the kernel, which on recent
 * kernels has no files; the process that loads the module has them.
 */
#ifndef TAP_KUNIT_PATHS_H
#define TAP_KUNIT_PATHS_H

#include <linux/fs_struct.h>
#include <linux/namei.h>
#include <linux/path.h>

#include "kunit.h"

/* Exported by all kernels, and known to linux/namei.h of recent ones only. */
int vfs_path_lookup(struct dentry *dentry, struct vfsmount *mnt, const char *name,
		    unsigned int flags, struct path *path);

static struct path paths_root;

/* The suite's suite_init and suite_exit. */
static int paths_begin(struct kunit_suite *suite)
{
	get_fs_root(current->fs, &paths_root);
	return 0;
}

static void paths_end(struct kunit_suite *suite)
{
	path_put(&paths_root);
}

static bool exists(const char *name)
{
	struct path path;

	if (vfs_path_lookup(paths_root.dentry, paths_root.mnt, name, 0, &path))
		return false;
	path_put(&path);
	return true;
}

#endif /* TAP_KUNIT_PATHS_H */
