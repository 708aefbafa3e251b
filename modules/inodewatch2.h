/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of inodewatch2 share: an event, and the handlers of the
 * functions that make changes.
 */
#ifndef TAP_INODEWATCH2_H
#define TAP_INODEWATCH2_H

#include <linux/fs.h>

#include "tap.h"

enum inodewatch2_value {
	INODEWATCH2_OWNER,
	INODEWATCH2_GROUP,
	INODEWATCH2_SIZE,
	INODEWATCH2_ATIME,
	INODEWATCH2_MTIME,
	INODEWATCH2_NR_VALUES,
};

struct inodewatch2_event {
	struct tap_names names;
	u64 ino;
	u64 value[INODEWATCH2_NR_VALUES];
	u32 dev;
	u32 changed;		/* ATTR_MODE and the like */
	u32 mode;
	u32 copied;
	uid_t uid;		/* who made the change */
	u32 pad;
};

extern unsigned int inodewatch2_all;	/* parameter attrs: all, not only the mode */

/* A change that a thread is about to make. */
struct inodewatch2_begun {
	u64 inode;
	u64 copied;		/* setattr_copy() has run on it */
};

/* What notify_change() was called with. */
struct inodewatch2_call {
	const struct inode *inode;
	const struct iattr *attr;
};

/* Is this inode watched? Context: any. */
bool inodewatch2_wanted(const struct inode *inode);

/* Handlers of notify_change(), its return, and setattr_copy(). */
bool inodewatch2_entry(struct tap_tool *tool, const struct tap_args *args,
		       void *data);
void inodewatch2_return(struct tap_tool *tool, void *data, unsigned long value);
void inodewatch2_copy(struct tap_tool *tool, const struct tap_args *args);

#endif /* TAP_INODEWATCH2_H */
