// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: root - one /proc/tap for modules that know nothing of each other
 *
 * Each tool is a module that needs no other, so the directory belongs to none
 * of them: the first one makes it and the last one removes it. What it hangs
 * on is a small object that the directory's entry points to.
 *
 * Creating a name twice in procfs warns, and procfs has one superblock per
 * mount, so its own locks do not help between modules. The lock is
 * kernel_param_lock(NULL), which every kernel exports and which is otherwise
 * held only to set built-in parameters.
 */
#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mount.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

#include "compat.h"
#include "root.h"

#define TAP_ROOT_MAGIC 0x7461702d726f6f74ull	/* "tap-root" */
#define TAP_ROOT_VERSION 1

static struct tap_root *tap_root_create(void)
{
	struct tap_root *root = kzalloc(sizeof(*root), GFP_KERNEL);

	if (!root)
		return ERR_PTR(-ENOMEM);
	root->magic = TAP_ROOT_MAGIC;
	root->version = TAP_ROOT_VERSION;
	root->proc = proc_mkdir_data("tap", 0555, NULL, root);
	if (!root->proc) {
		kfree(root);
		return ERR_PTR(-ENOMEM);
	}
	root->debugfs = debugfs_create_dir("tap", NULL);
	return root;
}

struct tap_root *tap_root_get(void)
{
	struct file_system_type *type = get_fs_type("proc");
	struct tap_root *root;
	struct vfsmount *mnt;
	struct dentry *dentry;

	if (!type)
		return ERR_PTR(-ENODEV);
	mnt = kern_mount(type);
	module_put(type->owner);
	if (IS_ERR(mnt))
		return ERR_CAST(mnt);

	kernel_param_lock(NULL);
	dentry = tap_lookup_unlocked("tap", mnt->mnt_root);
	if (IS_ERR(dentry)) {
		/* -ENOENT: procfs keeps no dentry for a name it does not have */
		root = PTR_ERR(dentry) == -ENOENT ? tap_root_create() :
						    ERR_CAST(dentry);
		goto unlock;
	}
	if (d_really_is_negative(dentry)) {
		root = tap_root_create();
	} else {
		root = pde_data(d_inode(dentry));
		if (!root || root->magic != TAP_ROOT_MAGIC ||
		    root->version != TAP_ROOT_VERSION)
			root = ERR_PTR(-EEXIST);
	}
	dput(dentry);
unlock:
	if (!IS_ERR(root))
		root->users++;
	kernel_param_unlock(NULL);
	kern_unmount(mnt);
	return root;
}

void tap_root_put(struct tap_root *root)
{
	kernel_param_lock(NULL);
	if (!--root->users) {
		debugfs_remove(root->debugfs);
		proc_remove(root->proc);
		kfree(root);
	}
	kernel_param_unlock(NULL);
}
