// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: table_file - a table as a file
 *
 * Open renders one snapshot into a buffer, and reads of any size serve from
 * that, so header, rows and trailer agree. A seek to the start takes a fresh
 * snapshot; no other seek does, since shells seek back to where they stopped.
 */
#include <linux/mm.h>
#include <linux/poll.h>

#include "reader.h"
#include "tap.h"

static void tap_table_text(struct tap_tool *tool, struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
	const struct tap_columns columns = {
		.column = tool->columns,
		.nr = tool->nr_columns,
		.verbose = READ_ONCE(tool->verbose),
		.raw = !READ_ONCE(tool->escape),
		.events = snapshot->events,
	};
	u32 limit = READ_ONCE(tool->limit);
	u32 i;

	if (tool->header)
		tool->header(text, snapshot);
	else if (tool->columns[0].head)
		tap_columns_head(&columns, text);
	limit = limit ? min(limit, snapshot->nr_rows) : snapshot->nr_rows;
	for (i = 0; i < limit; i++) {
		if (tool->show)
			tool->show(text, &snapshot->rows[i], snapshot);
		else
			tap_columns_text(&columns, &snapshot->rows[i], text);
	}
	tap_printf(text,
		   "# window_ms=%llu state=%s rows=%u shown=%u events=%llu lost=%llu self=%llu\n",
		   snapshot->window_ms, snapshot->state, snapshot->nr_rows,
		   limit, snapshot->events, snapshot->lost, snapshot->self);
}

static void tap_table_json(struct tap_tool *tool, struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
	const struct tap_columns columns = {
		.column = tool->columns,
		.nr = tool->nr_columns,
	};
	u32 i;

	for (i = 0; i < snapshot->nr_rows; i++) {
		tap_printf(text, "{\"tool\":\"%s\",", tool->name);
		tap_columns_json(&columns, &snapshot->rows[i], text);
		tap_printf(text, "}\n");
	}
	tap_printf(text,
		   "{\"summary\":\"%s\",\"window\":%llu,\"window_ms\":%llu,\"state\":\"%s\",\"rows\":%u,\"events\":%llu,\"lost\":%llu,\"self\":%llu}\n",
		   tool->name, snapshot->seq, snapshot->window_ms,
		   snapshot->state, snapshot->nr_rows, snapshot->events,
		   snapshot->lost, snapshot->self);
}

/* A fresh snapshot as text. Must hold reader->lock, if the file is open. */
static int tap_table_render(struct tap_reader *reader)
{
	struct tap_tool *tool = reader->tool;
	struct tap_snapshot *snapshot;

	/* before the snapshot: a window that completes meanwhile is news */
	reader->seq = READ_ONCE(tool->window.seq);
	snapshot = tap_window_get(&tool->window);
	if (!snapshot)
		return -ENOMEM;
	tap_text_clear(&reader->text);
	if (reader->json)
		tap_table_json(tool, &reader->text, snapshot);
	else
		tap_table_text(tool, &reader->text, snapshot);
	tap_snapshot_put(snapshot);
	return reader->text.failed ? -ENOMEM : 0;
}

int tap_table_file_open(struct file *file)
{
	return tap_table_render(file->private_data);
}

ssize_t tap_table_file_read(struct file *file, char __user *buf, size_t count,
			    loff_t *pos)
{
	struct tap_reader *reader = file->private_data;
	ssize_t ret;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	ret = simple_read_from_buffer(buf, count, pos, reader->text.buf,
				      reader->text.len);
	mutex_unlock(&reader->lock);
	return ret;
}

loff_t tap_table_file_llseek(struct file *file, loff_t offset, int whence)
{
	struct tap_reader *reader = file->private_data;
	loff_t ret = 0;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	if (whence == SEEK_SET && !offset)
		ret = tap_table_render(reader);
	if (!ret)
		ret = fixed_size_llseek(file, offset, whence, reader->text.len);
	mutex_unlock(&reader->lock);
	return ret;
}

__poll_t tap_table_file_poll(struct file *file, struct poll_table_struct *wait)
{
	struct tap_reader *reader = file->private_data;
	struct tap_window *window = &reader->tool->window;

	poll_wait(file, &window->wait, wait);
	return READ_ONCE(window->seq) != READ_ONCE(reader->seq) ?
	       EPOLLIN | EPOLLRDNORM : 0;
}
