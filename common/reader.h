/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_READER_H
#define TAP_READER_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "fmt.h"
#include "stream.h"

struct tap_tool;

/**
 * struct tap_reader - an open data file
 * @tool: whose file it is
 * @json: it is the JSON file
 * @lock: serialises reads of this file, and protects all below
 * @text: a table's whole text, or a stream's line that is being read
 * @seq: table: number of the window that @text shows
 * @cursor: stream: the reader's place
 * @end: stream: where this pass ends
 * @in_pass: stream: a pass has begun, and its end of file was not returned yet
 * @begun: stream: the header was written
 * @period: stream: that of the last event, as header_ms divides time; 0: none
 * @events: stream: events written in this pass, for the JSON summary
 * @lost: stream: events lost in this pass, likewise
 * @offset: stream: bytes of @text that were read
 * @event: stream: the event that is being written
 */
struct tap_reader {
	struct tap_tool *tool;
	bool json;
	struct mutex lock;	/* reads of this file, and all below */
	struct tap_text text;
	u64 seq;
	struct tap_cursor cursor;
	u64 end;
	bool in_pass;
	bool begun;
	u64 period;
	u64 events;
	u64 lost;
	size_t offset;
	u8 *event;
	/* private: */
	int slot;		/* in the tool's gate */
};

/**
 * tap_reader_may_open() - may the current task see the tools?
 *
 * A container's root may not: the capability must be held in the initial user
 * namespace.
 *
 * Return: 0 or -EPERM.
 */
int tap_reader_may_open(void);

/**
 * tap_reader_open() - a data file is opened
 * @file: the file; its private data is the reader afterwards
 * @tool: whose file it is
 * @json: it is the JSON file
 *
 * Pins the module: a task may sleep in poll() on a wait queue of ours.
 *
 * Context: process context, may sleep.
 * Return: 0, -EPERM, -ENOMEM, or -ENODEV if the tool is going.
 */
int tap_reader_open(struct file *file, struct tap_tool *tool, bool json);

/**
 * tap_reader_release() - it is closed
 * @inode: not used
 * @file: the file
 *
 * Context: process context, may sleep.
 * Return: 0.
 */
int tap_reader_release(struct inode *inode, struct file *file);

/**
 * tap_table_file_open() - a file of a table tool: take a snapshot and render it
 * @file: the file, its reader filled in
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int tap_table_file_open(struct file *file);

/**
 * tap_table_file_read() - read from the rendered snapshot
 * @file: the file
 * @buf: where to
 * @count: how much
 * @pos: from where
 *
 * Context: process context, may sleep.
 * Return: bytes read, -EFAULT or -ERESTARTSYS.
 */
ssize_t tap_table_file_read(struct file *file, char __user *buf, size_t count,
			    loff_t *pos);

/**
 * tap_table_file_llseek() - seek; to the start takes a fresh snapshot
 * @file: the file
 * @offset: where to
 * @whence: relative to what
 *
 * Context: process context, may sleep.
 * Return: the new position, -EINVAL, -ENOMEM or -ERESTARTSYS.
 */
loff_t tap_table_file_llseek(struct file *file, loff_t offset, int whence);

/**
 * tap_table_file_poll() - has a window completed since the snapshot?
 * @file: the file
 * @wait: as for poll_wait()
 *
 * Context: process context, may sleep.
 * Return: EPOLLIN | EPOLLRDNORM if so, else 0.
 */
__poll_t tap_table_file_poll(struct file *file, struct poll_table_struct *wait);

/**
 * tap_stream_file_open() - a file of a stream tool: begin with the oldest event
 * @file: the file, its reader filled in
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int tap_stream_file_open(struct file *file);

/**
 * tap_stream_file_read() - go on with this pass, or begin the next
 * @file: the file
 * @buf: where to
 * @count: how much
 * @pos: not used, the reader keeps its place
 *
 * Context: process context, may sleep.
 * Return: bytes read, 0 at the end of a pass, -EFAULT, -ENOMEM or -ERESTARTSYS.
 */
ssize_t tap_stream_file_read(struct file *file, char __user *buf, size_t count,
			     loff_t *pos);

/**
 * tap_stream_file_poll() - is there something that was not read?
 * @file: the file
 * @wait: as for poll_wait()
 *
 * Context: process context, may sleep.
 * Return: EPOLLIN | EPOLLRDNORM if so, else 0.
 */
__poll_t tap_stream_file_poll(struct file *file, struct poll_table_struct *wait);

#endif /* TAP_READER_H */
