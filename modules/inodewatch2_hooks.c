// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where changes of files' attributes are made.
 *
 * All go through notify_change(), system calls' and the kernel's own. Its return
 * says whether a change took effect, and then the inode has it. A file system
 * can pass a change to another below, and so to the same function again: that is
 * part of the change that is under way.
 */
#include <linux/ktime.h>

#include "inodewatch2.h"

unsigned int inodewatch2_all;

static void inodewatch2_changed(struct tap_tool *tool, const struct inode *inode,
				const struct iattr *attr, bool copied)
{
	struct inodewatch2_event event = { .copied = copied };

	/* notify_change() has added what the change entails: a bit taken away */
	event.changed = attr->ia_valid &
			(READ_ONCE(inodewatch2_all) ? ATTR_MODE | ATTR_UID |
			 ATTR_GID | ATTR_SIZE | ATTR_ATIME | ATTR_MTIME : ATTR_MODE);
	if (!event.changed || !tap_begin(tool, current))
		return;
	tap_names_set(&event.names, current);
	event.dev = inode->i_sb->s_dev;
	event.ino = inode->i_ino;
	event.mode = inode->i_mode;
	event.uid = __kuid_val(current_uid());
	event.value[INODEWATCH2_OWNER] = __kuid_val(inode->i_uid);
	event.value[INODEWATCH2_GROUP] = __kgid_val(inode->i_gid);
	event.value[INODEWATCH2_SIZE] = i_size_read(inode);
	event.value[INODEWATCH2_ATIME] = timespec64_to_ns(&attr->ia_atime);
	event.value[INODEWATCH2_MTIME] = timespec64_to_ns(&attr->ia_mtime);
	tap_event(tool, &event);
	tap_end();
}

bool inodewatch2_entry(struct tap_tool *tool, const struct tap_args *args,
		       void *data)
{
	struct inodewatch2_begun *begun;
	struct inodewatch2_call *call = data;

	call->inode = d_inode((void *)tap_arg(args, TAP_NOTIFY_CHANGE_ARG));
	call->attr = (void *)tap_arg(args, TAP_NOTIFY_CHANGE_ARG + 1);
	if (!inodewatch2_wanted(call->inode))
		return false;
	begun = tap_inflight_own(&tool->begun, (unsigned long)current);
	if (!begun || begun->inode)
		return false;
	begun->inode = (unsigned long)call->inode;
	return true;
}

/* Not every caller comes here by notify_change(). */
void inodewatch2_copy(struct tap_tool *tool, const struct tap_args *args)
{
	struct inodewatch2_begun *begun =
		tap_inflight_find(&tool->begun, (unsigned long)current);

	if (begun && begun->inode == tap_arg(args, TAP_NOTIFY_CHANGE_ARG))
		begun->copied = 1;
}

void inodewatch2_return(struct tap_tool *tool, void *data, unsigned long value)
{
	const struct inodewatch2_call *call = data;
	struct inodewatch2_begun begun;

	if (tap_inflight_take(&tool->begun, (unsigned long)current, &begun) &&
	    !(int)value)
		inodewatch2_changed(tool, call->inode, call->attr,
				    begun.copied);
}
