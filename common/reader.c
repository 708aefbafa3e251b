// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: reader - who has a data file open
 *
 * Data files are the same in /proc/tap and in debugfs. While one is open, the
 * module cannot go away, and what its process does is left out of tools that
 * would otherwise see their own reader at work.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "reader.h"
#include "tap.h"

int tap_reader_may_open(void)
{
	return perfmon_capable() ? 0 : -EPERM;
}

int tap_reader_open(struct file *file, struct tap_tool *tool, bool json)
{
	struct tap_reader *reader;
	int err;

	err = tap_reader_may_open();
	if (err)
		return err;
	if (!try_module_get(tool->owner))
		return -ENODEV;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	if (!reader) {
		err = -ENOMEM;
		goto err_put_module;
	}
	reader->tool = tool;
	reader->json = json;
	reader->slot = -1;
	mutex_init(&reader->lock);
	file->private_data = reader;
	if (!tool->keep_readers) {
		mutex_lock(&tool->lock);
		reader->slot = tap_gate_add_reader(&tool->gate);
		mutex_unlock(&tool->lock);
	}
	err = tap_is_stream(tool) ? tap_stream_file_open(file) :
				    tap_table_file_open(file);
	if (err)
		tap_reader_release(NULL, file);
	return err;

err_put_module:
	module_put(tool->owner);
	return err;
}

int tap_reader_release(struct inode *inode, struct file *file)
{
	struct tap_reader *reader = file->private_data;
	struct tap_tool *tool = reader->tool;

	if (!tool->keep_readers) {
		mutex_lock(&tool->lock);
		tap_gate_remove_reader(&tool->gate, reader->slot);
		mutex_unlock(&tool->lock);
	}
	tap_text_free(&reader->text);
	kvfree(reader->event);
	kfree(reader);
	/* procfs and debugfs wait for this call before our text is freed */
	module_put(tool->owner);
	return 0;
}
