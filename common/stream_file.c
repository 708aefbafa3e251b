// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: stream_file - a stream as a file
 *
 * Reading prints the events from the oldest one on and then returns 0, so that
 * cat ends; a later read goes on with what is new. A pass covers what was
 * committed when its first read began: with a writer faster than the reader it
 * would never end otherwise. Events become text here, never before.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "reader.h"
#include "tap.h"

int tap_stream_file_open(struct file *file)
{
	struct tap_reader *reader = file->private_data;

	reader->event = kvmalloc(TAP_EVENT_MAX, GFP_KERNEL);
	if (!reader->event)
		return -ENOMEM;
	return nonseekable_open(NULL, file);
}

static void tap_stream_head(struct tap_reader *reader)
{
	const struct tap_tool *tool = reader->tool;
	const struct tap_columns columns = {
		.column = tool->columns,
		.nr = tool->nr_columns,
		.verbose = READ_ONCE(tool->verbose),
	};

	if (reader->json)
		return;
	if (tool->header)
		tool->header(&reader->text, NULL);
	else if (tool->columns[0].head)
		tap_columns_head(&columns, &reader->text);
}

/* The header again, before the first event of a later period. */
static void tap_stream_period(struct tap_reader *reader, u64 stamp)
{
	u64 ns = (u64)READ_ONCE(reader->tool->header_ms) * NSEC_PER_MSEC;
	u64 period = ns ? div64_u64(stamp, ns) + 1 : 0;

	if (reader->period && period && period != reader->period)
		tap_stream_head(reader);
	reader->period = period;
}

static void tap_stream_line(struct tap_reader *reader, struct tap_record *record)
{
	const struct tap_tool *tool = reader->tool;
	const struct tap_columns columns = {
		.column = tool->columns,
		.nr = tool->nr_columns,
		.verbose = READ_ONCE(tool->verbose),
		.raw = !READ_ONCE(tool->escape),
	};
	const struct tap_row row = {
		.id = TAP_ROW_FIRST,
		.key = reader->event,
		.attr = record,
	};
	struct tap_text *text = &reader->text;

	if (!record->len) {
		reader->lost += record->lost;
		if (reader->json)
			tap_printf(text, "{\"tool\":\"%s\",\"lost\":%u}\n",
				   tool->name, record->lost);
		else
			tap_printf(text, "# %u events lost\n", record->lost);
		return;
	}
	reader->events++;
	tap_stream_period(reader, record->stamp);
	if (reader->json) {
		tap_printf(text, "{\"tool\":\"%s\",\"time_ns\":%llu,",
			   tool->name, record->stamp);
		tap_columns_json(&columns, &row, text);
		tap_printf(text, "}\n");
	} else if (tool->show) {
		tool->show(text, &row, NULL);
	} else {
		tap_columns_text(&columns, &row, text);
	}
}

static void tap_stream_begin_pass(struct tap_reader *reader)
{
	struct tap_stream *stream = &reader->tool->stream;

	tap_stream_drain(stream);
	reader->end = tap_stream_end(stream);
	reader->in_pass = true;
	reader->events = 0;
	reader->lost = 0;
}

/* The next text of this pass; false: there is no more. */
static bool tap_stream_next(struct tap_reader *reader)
{
	struct tap_stream *stream = &reader->tool->stream;
	struct tap_record record;
	bool begun = reader->begun;

	tap_text_clear(&reader->text);
	reader->offset = 0;
	if (!begun)
		tap_stream_head(reader);
	reader->begun = true;
	if (tap_stream_read(stream, &reader->cursor, reader->end, &record,
			    reader->event))
		tap_stream_line(reader, &record);
	else if (reader->json && (!begun || reader->events || reader->lost)) {
		tap_printf(&reader->text,
			   "{\"summary\":\"%s\",\"events\":%llu,\"lost\":%llu}\n",
			   reader->tool->name, reader->events, reader->lost);
		reader->events = 0;
		reader->lost = 0;
	}
	return reader->text.len;
}

ssize_t tap_stream_file_read(struct file *file, char __user *buf, size_t count,
			     loff_t *pos)
{
	struct tap_reader *reader = file->private_data;
	ssize_t done = 0;
	ssize_t err = 0;

	if (mutex_lock_interruptible(&reader->lock))
		return -ERESTARTSYS;
	if (!reader->in_pass)
		tap_stream_begin_pass(reader);
	while (done < count) {
		size_t n;

		if (reader->offset == reader->text.len &&
		    !tap_stream_next(reader)) {
			/* what was read goes first; the next read ends the pass */
			reader->in_pass = done;
			break;
		}
		if (reader->text.failed) {
			err = -ENOMEM;
			break;
		}
		n = min(count - done, reader->text.len - reader->offset);
		if (copy_to_user(buf + done, reader->text.buf + reader->offset, n)) {
			err = -EFAULT;
			break;
		}
		reader->offset += n;
		done += n;
		if (fatal_signal_pending(current))
			break;
	}
	mutex_unlock(&reader->lock);
	return done ?: err;
}

__poll_t tap_stream_file_poll(struct file *file, struct poll_table_struct *wait)
{
	struct tap_reader *reader = file->private_data;
	struct tap_stream *stream = &reader->tool->stream;
	bool more;

	poll_wait(file, &stream->wait, wait);
	mutex_lock(&reader->lock);
	more = !reader->begun || reader->offset < reader->text.len ||
	       reader->cursor.pos < tap_stream_end(stream);
	mutex_unlock(&reader->lock);
	return more ? EPOLLIN | EPOLLRDNORM : 0;
}
