// SPDX-License-Identifier: GPL-2.0-only
/*
 * inodewatch2 - changes of files' attributes
 *
 * A line is one change of a file's mode that took effect, or with attrs=all one
 * of its owner, size or times, too: by a system call, or by the kernel itself, as
 * when a write takes the set-user-ID bit away. Shown as the function is
 * setattr_copy if the file system used that, else notify_change. A change that
 * one file system passes to another below (overlayfs) has one line.
 */
#include "inodewatch2.h"
#include "watch.h"

/* Each value: its bit in @changed, its name in JSON's list, and in text. */
static const struct {
	u32 bit;
	const char *word, *name;
} inodewatch2_values[] = {
	[INODEWATCH2_OWNER] = { ATTR_UID, "owner", "owner" },
	[INODEWATCH2_GROUP] = { ATTR_GID, "group", "group" },
	[INODEWATCH2_SIZE] = { ATTR_SIZE, "size", "size" },
	[INODEWATCH2_ATIME] = { ATTR_ATIME, "atime", "atime_ns" },
	[INODEWATCH2_MTIME] = { ATTR_MTIME, "mtime", "mtime_ns" },
};

static struct tap_tool inodewatch2;
TAP_DEFINE_WATCH(inodewatch2_watch);
static const char *const inodewatch2_attrs[] = { "mode", "all", NULL };

bool inodewatch2_wanted(const struct inode *inode)
{
	return tap_watch_wants(&inodewatch2_watch, inode->i_sb->s_dev,
			       inode->i_ino);
}

static struct tap_probe inodewatch2_probes[] = {
	{
		.type = TAP_FUNCTION,
		.name = { "setattr_copy" },
		.without = "the function is always notify_change",
		.function = inodewatch2_copy,
	}, {
		.type = TAP_RETURN,
		.name = { "notify_change" },
		.needs = "CONFIG_KRETPROBES",
		.entry = inodewatch2_entry,
		.ret = inodewatch2_return,
		.data_size = sizeof(struct inodewatch2_call),
		.maxactive = 1024,
	},
};

static void inodewatch2_function(const struct tap_row *row, char *buf, size_t size)
{
	const struct inodewatch2_event *event = row->key;

	strscpy(buf, event->copied ? "setattr_copy" : "notify_change", size);
}

/* What has changed, in words of JSON's. */
static void inodewatch2_what(const struct tap_row *row, char *buf, size_t size)
{
	const struct inodewatch2_event *event = row->key;
	int i, len = scnprintf(buf, size, "%s", event->changed & ATTR_MODE ? " mode" : "");

	for (i = 0; i < INODEWATCH2_NR_VALUES; i++)
		if (event->changed & inodewatch2_values[i].bit)
			len += scnprintf(buf + len, size - len, " %s",
					 inodewatch2_values[i].word);
	memmove(buf, buf + 1, len);
}

static void inodewatch2_show(struct tap_text *text, const struct tap_row *row,
			     const struct tap_snapshot *snapshot)
{
	const struct inodewatch2_event *event = row->key;
	char comm[TAP_ESCAPED(TASK_COMM_LEN)], function[16];
	int i;

	if (READ_ONCE(inodewatch2.escape))
		tap_escape(comm, sizeof(comm), event->names.comm, TASK_COMM_LEN);
	else
		strscpy(comm, event->names.comm, TASK_COMM_LEN);
	inodewatch2_function(row, function, sizeof(function));
	tap_printf(text, "%s(%d) %s 0x%x/%llu %o %u", comm, event->names.pid,
		   function, event->dev, event->ino, event->mode, event->uid);
	for (i = 0; i < INODEWATCH2_NR_VALUES; i++)
		if (event->changed & inodewatch2_values[i].bit)
			tap_printf(text, " %s=%llu", inodewatch2_values[i].name,
				   event->value[i]);
	tap_putc(text, '\n');
}

#define AT(type, member) TAP_AT(type, struct inodewatch2_event, member)

static const struct tap_column inodewatch2_columns[] = {
	{ .json = "pid", AT(TAP_INT, names.pid) },
	{ .json = "function", .type = TAP_FN, .fn = inodewatch2_function },
	{ .json = "dev", AT(TAP_DEV, dev) },
	{ .json = "ino", AT(TAP_U64, ino) },
	{ .json = "mode", AT(TAP_UINT, mode) },
	{ .json = "uid", AT(TAP_UINT, uid) },
	{ .json = "changed", .type = TAP_FN, .fn = inodewatch2_what },
	{ .json = "owner", AT(TAP_U64, value[INODEWATCH2_OWNER]) },
	{ .json = "group", AT(TAP_U64, value[INODEWATCH2_GROUP]) },
	{ .json = "size_bytes", AT(TAP_U64, value[INODEWATCH2_SIZE]) },
	TAP_JSON_NAMES(0),
};

static struct tap_tool inodewatch2 = {
	TAP_DEFAULTS("inodewatch2"),
	TAP_PROBES(inodewatch2_probes),
	TAP_COLUMNS(inodewatch2_columns),
	.event_size = sizeof(struct inodewatch2_event),
	.inflight = 1024,
	.begun_size = sizeof(struct inodewatch2_begun),
	TAP_WATCH(inodewatch2_watch),
	.show = inodewatch2_show,
};
TAP_PARAM(attrs, "mode: changes of modes; all: of owners, sizes and times, too",
	  .type = TAP_PARAM_CHOICE, .value = &inodewatch2_all,
	  .choices = inodewatch2_attrs);
TAP_PARAM_INFLIGHT(inodewatch2, "changes");
TAP_PARAM_SELF(inodewatch2);
module_tap_stream(inodewatch2, "changes of files' attributes");
