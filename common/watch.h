/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch - which file, or the files of which device: dev=, ino= and path=
 *
 * Handlers see a file by its superblock's device and its inode's number. What
 * stat(2) calls the device can be another one: btrfs has one for each subvolume
 * (btrfs_getattr()), which only that function tells.
 *
 * Inline, so that only modules that have such parameters hold it.
 */
#ifndef TAP_WATCH_H
#define TAP_WATCH_H

#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/slab.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

#include "dev.h"
#include "param.h"

/**
 * struct tap_watch - which files a tool is about
 * @dev_text: parameter dev
 * @ino_text: parameter ino
 * @path_text: parameter path
 * @path_dev: where path= led to when it was set: device of the superblock
 * @path_ino: number of the inode
 * @stat_dev: a device as stat(2) tells it
 * @super_dev: the superblock's, of the same; these are found at load
 * @dev: what handlers compare; 0: any
 * @ino: as @dev
 */
struct tap_watch {
	char *dev_text;
	char *ino_text;
	char *path_text;
	dev_t path_dev;
	u64 path_ino;
	dev_t stat_dev;
	dev_t super_dev;
	dev_t dev;
	u64 ino;
};

/**
 * tap_watch_wants() - is this one of the files?
 * @watch: which files
 * @dev: device of its superblock
 * @ino: number of its inode
 *
 * Context: any.
 * Return: true if it is.
 */
static __always_inline bool tap_watch_wants(const struct tap_watch *watch,
					    dev_t dev, u64 ino)
{
	dev_t wanted_dev = READ_ONCE(watch->dev);
	u64 wanted_ino = READ_ONCE(watch->ino);

	return (!wanted_ino || wanted_ino == ino) &&
	       (!wanted_dev || wanted_dev == dev);
}

/**
 * tap_watch_path() - where does a path lead to? For @check of path=
 * @watch: gets device and inode
 * @text: the path; the last link is followed, too
 * @why: gets a line, if it leads nowhere
 *
 * Nothing is held afterwards: the file can be renamed, removed, and unmounted.
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_watch_path(struct tap_watch *watch, const char *text,
				 struct tap_text *why)
{
	struct path path;
	int err = kern_path(text, LOOKUP_FOLLOW, &path);

	if (err) {
		tap_printf(why, "there is no such file: %pe", ERR_PTR(err));
		return -EINVAL;
	}
	watch->path_dev = path.dentry->d_sb->s_dev;
	watch->path_ino = d_inode(path.dentry)->i_ino;
	path_put(&path);
	return 0;
}

/**
 * tap_watch_set() - work out what handlers compare. @apply of dev= and ino=
 * @watch: which files
 * @why: gets a line, if the settings contradict each other
 *
 * Context: process context, may sleep; nobody sets anything at the same time.
 * Return: 0; -EINVAL if it is refused, and then nothing has changed.
 */
static inline int tap_watch_set(struct tap_watch *watch, struct tap_text *why)
{
	dev_t dev = watch->path_dev;
	u64 ino = watch->path_ino;
	int err = 0;

	if (!watch->path_text) {
		err = tap_dev_parse(&dev, watch->dev_text, why) ?:
		      tap_ino_parse(&ino, watch->ino_text, why);
	} else if (watch->dev_text || watch->ino_text) {
		tap_printf(why, "path= says which file: neither dev= nor ino= with it");
		err = -EINVAL;
	}
	if (err)
		return err;
	WRITE_ONCE(watch->dev, dev == watch->stat_dev ? watch->super_dev : dev);
	WRITE_ONCE(watch->ino, ino);
	return 0;
}

/**
 * tap_watch_mount_point() - take what is needed from a line of mountinfo
 * @line: the line, terminated; it is changed
 *
 * Return: where btrfs is mounted; NULL: it is about something else.
 */
static inline char *tap_watch_mount_point(char *line)
{
	const char *type = strstr(line, " - ");
	char *field = NULL;
	int i;

	if (!type || strncmp(type, " - btrfs ", strlen(" - btrfs ")))
		return NULL;
	for (i = 0; i < 5; i++)
		field = strsep(&line, " ");
	if (field)
		string_unescape_inplace(field, UNESCAPE_OCTAL);
	return field;
}

/**
 * tap_watch_is_mount() - is @dev what stat(2) tells of a mount?
 * @watch: gets what the superblock says, if it is
 * @name: where that is mounted
 *
 * Context: process context, may sleep.
 * Return: true if it is.
 */
static inline bool tap_watch_is_mount(struct tap_watch *watch, const char *name)
{
	struct kstat stat;
	struct path path;
	bool is;

	if (kern_path(name, 0, &path))
		return false;
	is = !vfs_getattr(&path, &stat, STATX_TYPE, AT_STATX_DONT_SYNC) &&
	     stat.dev == watch->dev;
	if (is) {
		watch->super_dev = path.dentry->d_sb->s_dev;
		watch->stat_dev = watch->dev;
	}
	path_put(&path);
	return is;
}

/**
 * tap_watch_read() - read a file of procfs
 * @name: the file
 * @text: gets all that it has; nothing, if it cannot be read
 *
 * Context: process context, may sleep.
 */
static inline void tap_watch_read(const char *name, struct tap_text *text)
{
	struct file *file = filp_open(name, O_RDONLY, 0);
	char *chunk = (char *)__get_free_page(GFP_KERNEL);
	ssize_t len = 0;
	loff_t pos = 0;

	if (!IS_ERR(file) && chunk) {
		while ((len = kernel_read(file, chunk, PAGE_SIZE, &pos)) > 0)
			tap_printf(text, "%.*s", (int)len, chunk);
	}
	free_page((unsigned long)chunk);
	if (!IS_ERR(file))
		fput(file);
}

/**
 * tap_watch_load() - what the parameters of insmod mean
 * @watch: which files
 * @why: gets a line, if the settings contradict each other
 *
 * No function for modules goes through the mounts, so their list is read from
 * where everybody can: the subvolumes of btrfs that the namespace of insmod has
 * mounted are known by what stat(2) calls them, too. Not when dev= is set later:
 * reading it takes locks that whoever reads settings takes before theirs.
 *
 * Context: process context, may sleep; no lock is held.
 * Return: 0; -EINVAL if it is refused.
 */
static inline int tap_watch_load(struct tap_watch *watch, struct tap_text *why)
{
	struct tap_text mounts = {};
	char *rest, *line;
	int err;

	err = tap_watch_set(watch, why);
	if (err || !watch->dev_text || MAJOR(watch->dev))
		return err;
	tap_watch_read("/proc/self/mountinfo", &mounts);
	tap_putc(&mounts, '\0');
	rest = mounts.failed ? NULL : mounts.buf;
	while ((line = strsep(&rest, "\n"))) {
		char *name = tap_watch_mount_point(line);

		if (name && tap_watch_is_mount(watch, name))
			break;
	}
	tap_text_free(&mounts);
	return tap_watch_set(watch, why);
}

/*
 * Define what a tool is about: a struct tap_watch of this name, TAP_WATCH() for
 * the descriptor, and its parameters.
 */
#define TAP_DEFINE_WATCH(watch)						\
	static struct tap_watch watch;						\
	static int watch##_path(const char *text, struct tap_text *why)	\
	{									\
		return tap_watch_path(&(watch), text, why);			\
	}									\
	static int watch##_apply(struct tap_tool *tool, struct tap_text *why)	\
	{									\
		return tap_watch_set(&(watch), why);				\
	}									\
	static int watch##_load(struct tap_text *why)				\
	{									\
		return tap_watch_load(&(watch), why);				\
	}									\
	TAP_PARAM(dev, "files of this device: MAJOR:MINOR, or 0x and what stat -c %D prints", \
		  .type = TAP_PARAM_TEXT, .value = &(watch).dev_text,		\
		  .check = tap_dev_check, .apply = watch##_apply);		\
	TAP_PARAM(ino, "files of this inode number",				\
		  .type = TAP_PARAM_TEXT, .value = &(watch).ino_text,		\
		  .check = tap_ino_check, .apply = watch##_apply);		\
	TAP_PARAM(path, "this file, wherever it goes from now on",		\
		  .type = TAP_PARAM_TEXT, .value = &(watch).path_text,		\
		  .check = watch##_path, .load_only = true)
#define TAP_WATCH(watch) .load = watch##_load

#endif /* TAP_WATCH_H */
