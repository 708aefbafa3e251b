// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: tool - the life of a tool
 *
 * Up: tables or stream, windows, filter, probes, then the files, /proc last:
 * who can see a tool can use it. Down: the same in reverse, so that nobody can
 * open a file of a tool that is going, and every handler has returned before
 * what it uses is freed.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/mm_types.h>	/* trace/events/sched.h needs struct folio (7.x) */
#include <trace/events/sched.h>

#include "root.h"
#include "surface.h"
#include "tap.h"

const char *const tap_name_choices[] = { "process", "thread", NULL };

void tap_who_name(const struct tap_row *row, char *buf, size_t size)
{
	const struct tap_who *who = row->key;
	const struct tap_names *names = row->attr;

	strscpy(buf, *who->thread ? who->thread : names->comm, size);
}

bool tap_gate_slow(struct tap_tool *tool, struct task_struct *task)
{
	switch (tap_gate_test(&tool->gate, task)) {
	case TAP_COUNT:
		return true;
	case TAP_SELF:
		if (tap_is_stream(tool))
			tap_stream_self(&tool->stream);
		else
			local64_inc(tap_table_sums(READ_ONCE(tool->window.active),
						   TAP_ROW_SELF));
		return false;
	default:
		return false;
	}
}

void tap_forget_task(void *data, struct task_struct *task)
{
	struct tap_tool *tool = data;

	tap_inflight_take(&tool->begun, (uintptr_t)task, NULL);
}
TAP_CHECK_TRACEPOINT(sched_process_free, tap_forget_task);

/* --- the filter's tree ------------------------------------------------- */

static void tap_tree_fork(void *data, struct task_struct *parent,
			  struct task_struct *child)
{
	struct tap_tool *tool = data;
	struct tap_filter *filter;

	preempt_disable_notrace();
	filter = tap_gate_filter(&tool->gate);
	if (filter && tap_filter_tree(filter))
		tap_filter_fork(filter, parent, child);
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(sched_process_fork, tap_tree_fork);

static void tap_tree_free(void *data, struct task_struct *task)
{
	struct tap_tool *tool = data;
	struct tap_filter *filter;

	preempt_disable_notrace();
	filter = tap_gate_filter(&tool->gate);
	if (filter && tap_filter_tree(filter))
		tap_filter_exit(filter, task);
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(sched_process_free, tap_tree_free);

static struct tap_probe tap_tree_probes[] = {
	TAP_PROBE("sched_process_fork", tap_tree_fork, "CONFIG_TRACEPOINTS", NULL),
	TAP_PROBE("sched_process_free", tap_tree_free, "CONFIG_TRACEPOINTS", NULL),
};

/* What the filter's tree needs. Nothing has changed if there is an error. */
static int tap_tool_follow(struct tap_tool *tool, struct tap_filter *filter,
			   struct tap_text *why)
{
	int err;

	if (!tap_filter_has_root(filter)) {
		tap_printf(why, "filter=%.64s: there is no process %d",
			   tool->filter, tap_filter_tree(filter));
		return -EINVAL;
	}
	if (tool->following)
		return 0;
	err = tap_probes_attach(tap_tree_probes, ARRAY_SIZE(tap_tree_probes),
				tool, tool->name, why);
	tool->following = !err;
	return err;
}

static void tap_tool_unfollow(struct tap_tool *tool)
{
	if (tool->following)
		tap_probes_detach(tap_tree_probes, ARRAY_SIZE(tap_tree_probes));
	tool->following = false;
}

static void tap_tool_clear_filter(struct tap_tool *tool)
{
	tap_gate_set_filter(&tool->gate, NULL);
	tap_tool_unfollow(tool);
}

/* --- probes ------------------------------------------------------------ */

static int tap_tool_attach(struct tap_tool *tool, struct tap_text *why)
{
	int err;

	if (tool->attached)
		return 0;
	err = tool->prepare ? tool->prepare(tool, why) : 0;
	if (err)
		return err;
	if (tool->begun_size)
		err = tap_inflight_init(&tool->begun, tool->inflight,
					tool->begun_size);
	if (err)
		goto err_end;
	err = tap_probes_attach(tool->probes, tool->nr_probes, tool, tool->name,
				why);
	if (err)
		goto err_fini_begun;
	tool->attached = true;
	if (tool->begin)
		tool->begin(tool);
	return 0;

err_fini_begun:
	tap_inflight_fini(&tool->begun);
err_end:
	if (tool->end)
		tool->end(tool);
	return err;
}

static void tap_tool_detach(struct tap_tool *tool)
{
	if (!tool->attached)
		return;
	tap_probes_detach(tool->probes, tool->nr_probes);
	tap_inflight_fini(&tool->begun);
	tool->attached = false;
	if (tool->end)
		tool->end(tool);
}

/*
 * Called by windows and streams under their own mutexes, while the tool's lock
 * may be held by who attaches; the counters it reads are words.
 */
static u64 tap_tool_missed(void *data)
{
	struct tap_tool *tool = data;
	u64 lost = tap_probes_missed(tool->probes, tool->nr_probes) +
		   tap_inflight_lost(&tool->begun);

	return tool->source ? lost + tool->source->lost() : lost;
}

/* --- settings ---------------------------------------------------------- */

int tap_tool_apply_enabled(struct tap_tool *tool, struct tap_text *why)
{
	if (tool->enabled)
		return tap_tool_attach(tool, why);
	tap_tool_detach(tool);
	return 0;
}

int tap_tool_apply_window(struct tap_tool *tool, struct tap_text *why)
{
	/* one that can be either has the settings of both */
	if (!tap_is_stream(tool))
		tap_window_set(&tool->window, tool->interval_ms, tool->refresh_ms);
	return 0;
}

int tap_tool_apply_filter(struct tap_tool *tool, struct tap_text *why)
{
	struct tap_filter *filter;
	int err;

	if (!tool->filter) {
		tap_tool_clear_filter(tool);
		return 0;
	}
	filter = tap_filter_parse(tool->filter, why);
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	if (!tap_filter_tree(filter)) {
		tap_gate_set_filter(&tool->gate, filter);
		tap_tool_unfollow(tool);
		return 0;
	}
	err = tap_tool_follow(tool, filter, why);
	if (err) {
		tap_filter_free(filter);
		return err;
	}
	tap_gate_set_filter(&tool->gate, filter);
	tap_filter_start_tree(filter);
	return 0;
}

int tap_tool_apply_probes(struct tap_tool *tool, struct tap_text *why)
{
	tap_tool_detach(tool);
	return tap_tool_apply_enabled(tool, why);
}

/* --- life -------------------------------------------------------------- */

static int tap_tool_init_data(struct tap_tool *tool)
{
	if (tap_is_stream(tool)) {
		tool->stream.missed = tap_tool_missed;
		tool->stream.data = tool;
		return tap_stream_init(&tool->stream, tool->buffer_kb, tool->name);
	}
	if (!tool->layout.max_rows)
		tool->layout.max_rows = tap_table_rows(&tool->layout);
	tool->window.view = (struct tap_view){
		.columns = {
			.column = tool->columns,
			.nr = tool->nr_columns,
		},
		.sort = tool->sort,
		.events = tool->events ?: tool->sort,
		.fold = tool->fold,
	};
	tool->window.gone = tool->by_process ? tap_who_gone : tool->gone;
	tool->window.carry = tool->carry;
	tool->window.lost = tap_tool_missed;
	tool->window.data = tool;
	return tap_window_init(&tool->window, &tool->layout, tool->name);
}

static void tap_tool_fini_data(struct tap_tool *tool)
{
	if (tap_is_stream(tool))
		tap_stream_fini(&tool->stream);
	else
		tap_window_fini(&tool->window);
}

int tap_tool_start(struct tap_tool *tool)
{
	struct tap_text why = {};
	int err;

	mutex_init(&tool->lock);
	err = tool->load ? tool->load(&why) : 0;
	if (err)
		goto err_say;
	tool->root = tap_root_get();
	if (IS_ERR(tool->root)) {
		err = PTR_ERR(tool->root);
		tap_printf(&why, "no directory /proc/tap (error %d)", err);
		goto err_unload;
	}
	err = tool->source ? tool->source->init() : 0;
	if (err)
		goto err_put_root;
	err = tap_tool_init_data(tool);
	if (err)
		goto err_fini_source;
	tap_tool_apply_window(tool, &why);
	err = tap_tool_apply_filter(tool, &why);
	if (err)
		goto err_clear_filter;
	err = tap_tool_apply_enabled(tool, &why);
	if (err)
		goto err_clear_filter;
	err = tap_surface_create(tool);
	if (err)
		goto err_detach;
	tap_text_free(&why);
	return 0;

err_detach:
	tap_tool_detach(tool);
err_clear_filter:
	tap_tool_clear_filter(tool);
	tap_tool_fini_data(tool);
err_fini_source:
	if (tool->source)
		tool->source->fini();
err_put_root:
	tap_root_put(tool->root);
err_unload:
	if (tool->unload)
		tool->unload();
err_say:
	if (why.len)
		pr_err("%s: %.*s\n", tool->name, (int)why.len, why.buf);
	else
		pr_err("%s: cannot start: error %d\n", tool->name, err);
	tap_text_free(&why);
	return err;
}

void tap_tool_stop(struct tap_tool *tool)
{
	tap_surface_remove(tool);
	tap_tool_detach(tool);
	tap_tool_clear_filter(tool);
	tap_tool_fini_data(tool);
	if (tool->source)
		tool->source->fini();
	tap_root_put(tool->root);
	if (tool->unload)
		tool->unload();
	tap_text_free(&tool->refused);
}
