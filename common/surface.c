// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: surface - what a user sees of a tool
 *
 * /proc/tap/<tool> and <tool>.json are the data. In debugfs, tap/<tool>/ has a
 * file for each parameter that can be changed, flip and reset, the JSON again,
 * and stats. debugfs may be closed (lockdown) or missing: then the parameters
 * of insmod are all there is.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "reader.h"
#include "root.h"
#include "surface.h"
#include "tap.h"

/* --- debugfs ----------------------------------------------------------- */

/*
 * delete_module(2) takes the last reference to a module before it marks it as
 * going. debugfs warns of a file that is opened in between, and whose owner is
 * gone but not going: so these files have no owner when they are opened, and get
 * one here. No module goes while it has open files: they need none of the
 * protection that debugfs gives against removal, and would not be allowed to
 * change owners with it (debugfs_create_file_unsafe()). debugfs does not remove
 * a file during open().
 */
static int tap_debugfs_open(struct inode *inode, struct file *file,
			    const struct file_operations *ops)
{
	if (!fops_get(ops))
		return -ENXIO;
	/* given back by __fput(), or by do_dentry_open() if this fails */
	replace_fops(file, ops);
	return ops->open(inode, file);
}

/* NAME_file_ops are for debugfs, NAME_ops are what an open file has. */
#define TAP_DEBUGFS_FILE(name)						\
static int name##_file_open(struct inode *inode, struct file *file)	\
{									\
	return tap_debugfs_open(inode, file, &name##_ops);		\
}									\
static const struct file_operations name##_file_ops = {			\
	.open = name##_file_open,					\
}

/* --- data files -------------------------------------------------------- */

static int tap_proc_open(struct inode *inode, struct file *file)
{
	return tap_reader_open(file, pde_data(inode), false);
}

static int tap_proc_open_json(struct inode *inode, struct file *file)
{
	return tap_reader_open(file, pde_data(inode), true);
}

static int tap_debugfs_open_json(struct inode *inode, struct file *file)
{
	return tap_reader_open(file, inode->i_private, true);
}

#define TAP_TABLE_PROC_OPS(open)				\
{								\
	.proc_open = (open),					\
	.proc_release = tap_reader_release,			\
	.proc_read = tap_table_file_read,			\
	.proc_lseek = tap_table_file_llseek,			\
	.proc_poll = tap_table_file_poll,			\
}

#define TAP_STREAM_PROC_OPS(open)				\
{								\
	.proc_open = (open),					\
	.proc_release = tap_reader_release,			\
	.proc_read = tap_stream_file_read,			\
	.proc_poll = tap_stream_file_poll,			\
}

/* By kind of tool: table, stream. */
static const struct proc_ops tap_proc_ops[] = {
	TAP_TABLE_PROC_OPS(tap_proc_open),
	TAP_STREAM_PROC_OPS(tap_proc_open),
};

static const struct proc_ops tap_proc_json_ops[] = {
	TAP_TABLE_PROC_OPS(tap_proc_open_json),
	TAP_STREAM_PROC_OPS(tap_proc_open_json),
};

static const struct file_operations tap_table_json_ops = {
	.owner = THIS_MODULE,
	.open = tap_debugfs_open_json,
	.release = tap_reader_release,
	.read = tap_table_file_read,
	.llseek = tap_table_file_llseek,
	.poll = tap_table_file_poll,
};
TAP_DEBUGFS_FILE(tap_table_json);

static const struct file_operations tap_stream_json_ops = {
	.owner = THIS_MODULE,
	.open = tap_debugfs_open_json,
	.release = tap_reader_release,
	.read = tap_stream_file_read,
	.poll = tap_stream_file_poll,
};
TAP_DEBUGFS_FILE(tap_stream_json);

/* --- controls ---------------------------------------------------------- */

static int tap_control_open(struct inode *inode, struct file *file)
{
	int err = tap_reader_may_open();

	return err ?: simple_open(inode, file);
}

/* The tool's directory is the parent of each of its controls. */
static struct tap_tool *tap_control_tool(const struct file *file)
{
	return d_inode(file->f_path.dentry->d_parent)->i_private;
}

static void tap_tool_changed(struct tap_tool *tool)
{
	lockdep_assert_held(&tool->lock);
	tap_names_set(&tool->changed_by, current);
}

/* Set a parameter; what is refused leaves everything as it was. */
static int tap_control_set(struct tap_tool *tool, const struct kernel_param *kp,
			   const char *value, struct tap_text *why)
{
	const struct tap_param *param = kp->arg;
	struct tap_text old = {}, again = {};
	int err;

	lockdep_assert_held(&tool->lock);
	tap_param_get(param, &old);
	tap_putc(&old, '\0');
	if (old.failed)
		return -ENOMEM;
	err = tap_param_set(param, kp->name, value, why);
	if (!err && param->apply) {
		err = param->apply(tool, why);
		if (err)
			tap_param_set(param, kp->name, old.buf, &again);
	}
	tap_text_free(&old);
	tap_text_free(&again);
	return err;
}

/* A write is one value, a newline at its end or not. */
static int tap_control_write(struct tap_tool *tool, const struct kernel_param *kp,
			     const char __user *buf, size_t count,
			     struct tap_text *why)
{
	char *value;
	int err;

	/* enough to be refused as too long */
	count = min_t(size_t, count, TAP_PARAM_MAX + 1);
	value = kvmalloc(count + 1, GFP_KERNEL);
	if (!value)
		return -ENOMEM;
	err = copy_from_user(value, buf, count) ? -EFAULT : 0;
	if (!err) {
		if (count && value[count - 1] == '\n')
			count--;
		value[count] = '\0';
		if (strlen(value) == count) {
			err = tap_control_set(tool, kp, value, why);
		} else {
			tap_printf(why, "%s: has a NUL byte", kp->name);
			err = -EINVAL;
		}
	}
	kvfree(value);
	return err;
}

static ssize_t tap_setting_write(struct file *file, const char __user *buf,
				 size_t count, loff_t *pos)
{
	const struct kernel_param *kp = file_inode(file)->i_private;
	struct tap_tool *tool = tap_control_tool(file);
	struct tap_text why = {};
	int err;

	/* /sys/module shows nothing that is about to be refused */
	kernel_param_lock(kp->mod);
	mutex_lock(&tool->lock);
	err = tap_control_write(tool, kp, buf, count, &why);
	if (err)
		swap(tool->refused, why);
	else
		tap_tool_changed(tool);
	mutex_unlock(&tool->lock);
	kernel_param_unlock(kp->mod);
	tap_text_free(&why);
	return err ?: count;
}

/* Once for each open, so that reads of any size see one value. */
static int tap_setting_show(struct seq_file *m, void *v)
{
	const struct kernel_param *kp = m->private;
	struct tap_tool *tool = tap_control_tool(m->file);
	struct tap_text text = {};
	int err;

	mutex_lock(&tool->lock);
	tap_param_get(kp->arg, &text);
	mutex_unlock(&tool->lock);
	tap_putc(&text, '\n');
	seq_write(m, text.buf, text.len);
	err = text.failed ? -ENOMEM : 0;
	tap_text_free(&text);
	return err;
}

static int tap_setting_open(struct inode *inode, struct file *file)
{
	int err = tap_reader_may_open();

	return err ?: single_open(file, tap_setting_show, inode->i_private);
}

static const struct file_operations tap_setting_ops = {
	.owner = THIS_MODULE,
	.open = tap_setting_open,
	.release = single_release,
	.read = seq_read,
	.write = tap_setting_write,
	.llseek = seq_lseek,
};
TAP_DEBUGFS_FILE(tap_setting);

static ssize_t tap_flip_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *pos)
{
	struct tap_tool *tool = file->private_data;
	int err = tap_window_flip(&tool->window);

	return err ?: count;
}

static const struct file_operations tap_flip_ops = {
	.owner = THIS_MODULE,
	.open = tap_control_open,
	.write = tap_flip_write,
	.llseek = noop_llseek,
};
TAP_DEBUGFS_FILE(tap_flip);

static ssize_t tap_reset_write(struct file *file, const char __user *buf,
			       size_t count, loff_t *pos)
{
	struct tap_tool *tool = file->private_data;

	if (tap_is_stream(tool))
		tap_stream_reset(&tool->stream);
	else
		tap_window_reset(&tool->window);
	mutex_lock(&tool->lock);
	tap_tool_changed(tool);
	mutex_unlock(&tool->lock);
	return count;
}

static const struct file_operations tap_reset_ops = {
	.owner = THIS_MODULE,
	.open = tap_control_open,
	.write = tap_reset_write,
	.llseek = noop_llseek,
};
TAP_DEBUGFS_FILE(tap_reset);

/* --- stats ------------------------------------------------------------- */

static void tap_stats_table(struct tap_tool *tool, struct tap_text *text)
{
	struct tap_snapshot *snapshot = tap_window_get(&tool->window);

	tap_printf(text, "events %llu\n", tap_window_events(&tool->window));
	if (snapshot)
		tap_printf(text, "self %llu\nlost %llu\nrows %u\n",
			   snapshot->self, snapshot->lost, snapshot->nr_rows);
	tap_printf(text, "max_rows %u\nfull %d\nbytes %zu\n",
		   tool->layout.max_rows, READ_ONCE(tool->window.active->full),
		   (tool->layout.stays ? 1 : 2) * tap_table_bytes(&tool->layout));
	tap_snapshot_put(snapshot);
}

static void tap_stats_stream(struct tap_tool *tool, struct tap_text *text)
{
	struct tap_stream_stats stats;

	tap_stream_stats(&tool->stream, &stats);
	tap_printf(text,
		   "events %llu\nself %llu\nlost %llu\noverwritten %llu\nbytes %llu\n",
		   stats.written, stats.self, stats.lost, stats.forgotten,
		   stats.bytes);
}

static int tap_stats_show(struct seq_file *m, void *v)
{
	struct tap_tool *tool = m->private;
	char comm[TAP_ESCAPED(TASK_COMM_LEN)];
	struct tap_text text = {};
	int err;

	if (tap_is_stream(tool))
		tap_stats_stream(tool, &text);
	else
		tap_stats_table(tool, &text);
	mutex_lock(&tool->lock);
	tap_printf(&text, "missed %llu\nuntracked %llu\n",
		   tap_probes_missed(tool->probes, tool->nr_probes),
		   tap_filter_untracked(tap_gate_filter(&tool->gate)));
	if (tool->begun_size && tool->attached)
		tap_printf(&text, "in_flight %u\n",
			   tap_inflight_used(&tool->begun));
	tap_probes_show(tool->probes, tool->nr_probes, &text);
	if (tool->stats && tool->attached)
		tool->stats(tool, &text);
	tap_escape(comm, sizeof(comm), tool->changed_by.comm, TASK_COMM_LEN);
	if (*comm)
		tap_printf(&text, "changed by: %s(%d)\n", comm,
			   tool->changed_by.tid);
	if (tool->refused.len)
		tap_printf(&text, "refused: %.*s\n", (int)tool->refused.len,
			   tool->refused.buf);
	mutex_unlock(&tool->lock);
	seq_write(m, text.buf, text.len);
	err = text.failed ? -ENOMEM : 0;
	tap_text_free(&text);
	return err;
}

static int tap_stats_open(struct inode *inode, struct file *file)
{
	int err = tap_reader_may_open();

	return err ?: single_open(file, tap_stats_show, inode->i_private);
}

static const struct file_operations tap_stats_ops = {
	.owner = THIS_MODULE,
	.open = tap_stats_open,
	.release = single_release,
	.read = seq_read,
	.llseek = seq_lseek,
};
TAP_DEBUGFS_FILE(tap_stats);

/* --- all of them ------------------------------------------------------- */

static void tap_surface_create_debugfs(struct tap_tool *tool)
{
	struct dentry *dir = debugfs_create_dir(tool->name, tool->root->debugfs);
	unsigned int i;

	tool->debugfs = dir;
	if (IS_ERR(dir))
		return;
	d_inode(dir)->i_private = tool;
	for (i = 0; i < tool->owner->num_kp; i++) {
		struct kernel_param *kp = &tool->owner->kp[i];
		const struct tap_param *param = kp->arg;

		if (kp->ops == &tap_param_ops && !param->load_only)
			debugfs_create_file_unsafe(kp->name, 0600, dir, kp,
						   &tap_setting_file_ops);
	}
	debugfs_create_file_unsafe("reset", 0200, dir, tool,
				   &tap_reset_file_ops);
	if (!tap_is_stream(tool))
		debugfs_create_file_unsafe("flip", 0200, dir, tool,
					   &tap_flip_file_ops);
	debugfs_create_file_unsafe("stats", 0400, dir, tool,
				   &tap_stats_file_ops);
	debugfs_create_file_unsafe("json", 0400, dir, tool,
				   tap_is_stream(tool) ? &tap_stream_json_file_ops :
				   &tap_table_json_file_ops);
}

int tap_surface_create(struct tap_tool *tool)
{
	bool stream = tap_is_stream(tool);
	char name[MODULE_NAME_LEN + 8];

	scnprintf(name, sizeof(name), "%s.json", tool->name);
	tool->proc_json = proc_create_data(name, 0400, tool->root->proc,
					   &tap_proc_json_ops[stream], tool);
	if (!tool->proc_json)
		return -ENOMEM;
	tool->proc = proc_create_data(tool->name, 0400, tool->root->proc,
				      &tap_proc_ops[stream], tool);
	if (!tool->proc)
		goto err_remove_json;
	/* nothing fails any more, and removes files that may be open by now */
	tap_surface_create_debugfs(tool);
	return 0;

err_remove_json:
	proc_remove(tool->proc_json);
	return -ENOMEM;
}

void tap_surface_remove(struct tap_tool *tool)
{
	debugfs_remove(tool->debugfs);
	proc_remove(tool->proc);
	proc_remove(tool->proc_json);
}
