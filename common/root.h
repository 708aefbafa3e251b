/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_ROOT_H
#define TAP_ROOT_H

#include <linux/types.h>

struct dentry;
struct proc_dir_entry;

/**
 * struct tap_root - the directories that all loaded tools share
 * @magic: TAP_ROOT_MAGIC
 * @version: of this structure's layout, TAP_ROOT_VERSION
 * @users: loaded tools, under kernel_param_lock(NULL)
 * @proc: /proc/tap
 * @debugfs: the directory tap in debugfs, or an ERR_PTR() where there is none
 *
 * Modules that were built apart meet here, an old and a new one too while a
 * package is upgraded; so it begins with what tells them apart, and whatever
 * changes its layout changes the version.
 */
struct tap_root {
	u64 magic;
	u32 version;
	u32 users;
	struct proc_dir_entry *proc;
	struct dentry *debugfs;
};

/**
 * tap_root_get() - find the shared directories, or make them
 *
 * Context: process context, may sleep.
 * Return: the root, or an ERR_PTR(): -EEXIST if /proc/tap is somebody else's
 * or another layout's, -ENOMEM.
 */
struct tap_root *tap_root_get(void);

/**
 * tap_root_put() - let go; the last one out removes the directories
 * @root: the root
 *
 * Context: process context, may sleep.
 */
void tap_root_put(struct tap_root *root);

#endif /* TAP_ROOT_H */
