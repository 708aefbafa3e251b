/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tap - what a tool is made of
 *
 * A tool is one struct tap_tool and its handlers. A table tool counts: a
 * handler finds the row of a key and adds to its sums. A stream tool tells: a
 * handler writes an event. Everything else is in common/ and driven by the
 * descriptor: attaching the hooks, windows, files, controls, JSON, filters.
 */
#ifndef TAP_H
#define TAP_H

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "column.h"
#include "compat.h"
#include "filter.h"
#include "fmt.h"
#include "gate.h"
#include "inflight.h"
#include "param.h"
#include "probe.h"
#include "stream.h"
#include "table.h"
#include "times.h"
#include "who.h"
#include "window.h"

struct dentry;
struct file;
struct inode;
struct proc_dir_entry;
struct tap_io;
struct tap_root;

/**
 * struct tap_source - what handlers of common/ need that several tools share
 * @init: called before any probe is attached; may sleep. 0 or -ENOMEM
 * @fini: called when no handler runs any more; may sleep
 * @lost: events that these handlers lost since @init; may sleep
 */
struct tap_source {
	int (*init)(void);
	void (*fini)(void);
	u64 (*lost)(void);
};

/**
 * struct tap_tool - a tool: what it hooks, what it counts or tells, how it
 * looks
 * @name: the module's and the file's name
 * @owner: THIS_MODULE
 * @probes: what is hooked
 * @nr_probes: how many
 * @source: what the probes' handlers need, if they are not the tool's own
 * @io: tools with TAP_FILE_IO: called for each transfer that is wanted, between
 *      tap_begin() and tap_end()
 * @io_wanted: tools with TAP_FILE_IO_FILES: are transfers on this file wanted?
 *             Called with the CPU pinned
 * @io_open: tools with TAP_FILE_IO_OPENS, instead: are transfers on this open
 *           file wanted? Called with the CPU pinned; the file need not be held.
 *           Whoever's they are, and if nothing is transferred, too, @io follows
 * @io_calls: tools with TAP_FILE_IO_CALLS: @io is called for calls that moved
 *            nothing, too, unless there was no file (EBADF)
 * @io_stacked: parameter, for who has @io_wanted: @io is called for what a
 *              stacked file system does to the file below, too
 * @columns: what a line shows
 * @nr_columns: how many
 * @layout: table tools: what a row holds. @layout.max_rows is the parameter
 *          max_rows; 0 takes what fits the memory a tool may hold
 * @by_process: the key begins with a struct tap_who and the attributes with a
 *              struct tap_names; see tap_row_who()
 * @gone: as in struct tap_window, for other keys of processes
 * @sort: as in struct tap_view
 * @events: as in struct tap_view; 0: those of @sort
 * @fold: as in struct tap_view
 * @carry: as in struct tap_window
 * @event_size: stream tools: bytes of an event; 0 makes it a table tool
 * @inflight: parameter, for who has @begun_size: how many can have begun and not
 *            ended
 * @begun_size: bytes that are kept of each from its beginning to its end, in
 *              @begun; a multiple of 8
 * @header: writes the first line or lines; NULL: the columns' headings, if the
 *          first one has any. @snapshot is NULL in a stream tool
 * @load: works out what the parameters of insmod mean, before all else and with
 *        no lock held. An error, and a line at @why, refuses. NULL: nothing to do
 * @unload: frees what @load has allocated, after all else. NULL: nothing to do
 * @prepare: works out from the settings what handlers use; called before the
 *           probes are attached, with the tool's lock held. An error, and a line
 *           at @why, refuses. NULL: nothing to do
 * @begin: called when the probes are attached, with the tool's lock held: for
 *         what is there already. NULL: nothing to do
 * @end: called when they are detached, or could not be attached: for what
 *       @prepare has allocated. NULL: nothing to do
 * @stats: adds lines to `stats` while the probes are attached. NULL: none
 * @show: writes a row's or an event's line; NULL: the columns
 * @keep_readers: the tool counts what its readers do like everything else: it
 *                is about neither files nor system calls nor sockets
 * @enabled: parameter: the probes are attached
 * @interval_ms: parameter: length of a window, 0: none
 * @refresh_ms: parameter: how often poll() reports data without windows
 * @limit: parameter: rows shown, 0: all
 * @buffer_kb: parameter: history of a stream
 * @header_ms: parameter: a stream's header comes again before the first event of
 *             each later period of so long; 0: it does not
 * @escape: parameter: names are escaped
 * @verbose: parameter: text has the verbose columns too
 * @by_thread: parameter names: 0 process, 1 thread
 * @filter: parameter: the text of the filter
 * @begun: what has begun since the probes were attached and has not ended
 *
 * @header, @show, @load, @unload, @prepare, @begin, @end and @stats are called in
 * process context and may sleep.
 */
struct tap_tool {
	const char *name;
	struct module *owner;
	struct tap_probe *probes;
	unsigned int nr_probes;
	const struct tap_source *source;
	void (*io)(struct tap_tool *tool, const struct tap_io *io);
	bool (*io_wanted)(const struct inode *inode);
	bool (*io_open)(struct tap_tool *tool, const struct file *file);
	bool io_calls;
	bool io_stacked;
	const struct tap_column *columns;
	unsigned int nr_columns;

	struct tap_table_layout layout;
	bool by_process;
	bool (*gone)(const void *key);
	u32 sort;
	u32 events;
	void (*fold)(struct tap_row *row);
	bool carry;

	size_t event_size;

	unsigned int inflight;
	size_t begun_size;

	void (*header)(struct tap_text *text, const struct tap_snapshot *snapshot);
	void (*show)(struct tap_text *text, const struct tap_row *row,
		     const struct tap_snapshot *snapshot);
	int (*load)(struct tap_text *why);
	void (*unload)(void);
	int (*prepare)(struct tap_tool *tool, struct tap_text *why);
	void (*begin)(struct tap_tool *tool);
	void (*end)(struct tap_tool *tool);
	void (*stats)(struct tap_tool *tool, struct tap_text *text);
	bool keep_readers;

	bool enabled;
	unsigned int interval_ms;
	unsigned int refresh_ms;
	unsigned int limit;
	unsigned int buffer_kb;
	unsigned int header_ms;
	bool escape;
	bool verbose;
	unsigned int by_thread;
	char *filter;

	struct tap_inflight begun;
	/* private: */
	struct tap_gate gate;
	struct tap_window window;
	struct tap_stream stream;
	struct mutex lock;		/* settings, gate, attach and detach */
	bool attached;			/* under lock */
	bool following;			/* under lock: the filter's tree is fed */
	struct tap_text refused;	/* under lock: last refused write and why */
	struct tap_names changed_by;	/* under lock: who changed a setting last */
	struct tap_root *root;
	struct proc_dir_entry *proc;
	struct proc_dir_entry *proc_json;
	struct dentry *debugfs;
};

/**
 * tap_is_stream() - is it a stream tool?
 * @tool: the tool
 *
 * Return: true for a stream tool, false for a table tool.
 */
static inline bool tap_is_stream(const struct tap_tool *tool)
{
	return tool->event_size;
}

/**
 * tap_gate_slow() - tap_begin() when there is a filter or a reader
 * @tool: the tool
 * @task: whose event it is
 *
 * Context: any, CPU pinned.
 * Return: true if the event is counted.
 */
bool tap_gate_slow(struct tap_tool *tool, struct task_struct *task);

/**
 * tap_begin() - an event has happened: is it wanted?
 * @tool: the tool
 * @task: whose event it is: current; tap_current() where the hook may run in an
 *        interrupt on another task's back; or one that cannot go away
 *
 * Pins the CPU, which is what tables, streams and filters live by.
 *
 * Context: any.
 * Return: true: count it and call tap_end(). False: do neither.
 */
static __always_inline bool tap_begin(struct tap_tool *tool,
				      struct task_struct *task)
{
	preempt_disable_notrace();
	if (tap_gate_is_open(&tool->gate) || tap_gate_slow(tool, task))
		return true;
	preempt_enable_notrace();
	return false;
}

/**
 * tap_end() - the event is counted
 *
 * Context: after tap_begin() returned true.
 */
static __always_inline void tap_end(void)
{
	preempt_enable_notrace();
}

/**
 * tap_wanted() - tap_begin() and tap_end() at once
 * @tool: the tool
 * @task: as for tap_begin()
 *
 * For who has the CPU pinned anyway, and writes an event later or elsewhere.
 *
 * Context: any.
 * Return: true if the event is wanted.
 */
static inline bool tap_wanted(struct tap_tool *tool, struct task_struct *task)
{
	if (!tap_begin(tool, task))
		return false;
	tap_end();
	return true;
}

/**
 * tap_forget_task() - a task is gone, and with it what it had begun
 * @data: the tool
 * @task: the task, which is the key in @begun
 *
 * Handler of sched_process_free, for tools that keep what has begun after a
 * system call has returned: one that is interrupted, and goes on only if the
 * task does.
 *
 * Context: any but NMIs.
 */
void tap_forget_task(void *data, struct task_struct *task);

/**
 * struct tap_sums - this CPU's sums of a row, and what stands beside its key
 * @sums: the sums
 * @attr: the attributes
 */
struct tap_sums {
	local64_t *sums;
	void *attr;
};

/**
 * tap_row() - the row of a key, to be counted in
 * @tool: a table tool
 * @key: the key; its type is the table's key, all its bytes are set
 *
 * Context: between tap_begin() and tap_end().
 * Return: the row; that of (other) when the table is full.
 */
#define tap_row(tool, key)						\
({									\
	BUILD_BUG_ON(sizeof(*(key)) % sizeof(u64));			\
	__tap_row(tool, (const u64 *)(key), sizeof(*(key)) / sizeof(u64));	\
})

static __always_inline struct tap_sums __tap_row(struct tap_tool *tool,
						 const u64 *key,
						 unsigned int words)
{
	/* pairs with smp_store_release() in tap_window_exchange() */
	struct tap_table *table = READ_ONCE(tool->window.active);
	u32 id = tap_table_find(table, key, words);

	return (struct tap_sums){
		.sums = tap_table_sums(table, id),
		.attr = tap_table_attr(table, id),
	};
}

/**
 * tap_row_again() - the row of a key that is likely to be where it was
 * @tool: a table tool
 * @key: as for tap_row()
 * @slot: where it was last, 0 at first. Any other key's will do, and costs a
 *        search
 *
 * Context: between tap_begin() and tap_end().
 * Return: the row; @sums are NULL if it is not there.
 */
#define tap_row_again(tool, key, slot)					\
({									\
	BUILD_BUG_ON(sizeof(*(key)) % sizeof(u64));			\
	__tap_row_again(tool, (const u64 *)(key),			\
			sizeof(*(key)) / sizeof(u64), slot);		\
})

static __always_inline struct tap_sums __tap_row_again(struct tap_tool *tool,
						       const u64 *key,
						       unsigned int words,
						       u32 slot)
{
	struct tap_table *table = READ_ONCE(tool->window.active);
	u32 id = tap_table_look(table, key, words, slot);
	struct tap_sums row = {};

	if (likely(id)) {
		row.sums = tap_table_sums(table, id);
		row.attr = tap_table_attr(table, id);
	}
	return row;
}

/**
 * tap_row_search() - the row of a key, and where it is
 * @tool: a table tool
 * @key: as for tap_row()
 * @slot: gets what tap_row_again() wants
 *
 * Context: between tap_begin() and tap_end().
 * Return: as for tap_row().
 */
#define tap_row_search(tool, key, slot)					\
({									\
	BUILD_BUG_ON(sizeof(*(key)) % sizeof(u64));			\
	__tap_row_search(tool, (const u64 *)(key),			\
			 sizeof(*(key)) / sizeof(u64), slot);		\
})

static __always_inline struct tap_sums __tap_row_search(struct tap_tool *tool,
							const u64 *key,
							unsigned int words,
							u32 *slot)
{
	struct tap_table *table = READ_ONCE(tool->window.active);
	u32 id = tap_table_find(table, key, words);

	*slot = tap_table_found(table, id, tap_table_slot(table, key, words));
	return (struct tap_sums){
		.sums = tap_table_sums(table, id),
		.attr = tap_table_attr(table, id),
	};
}

/**
 * tap_row_who() - the row of a process and whatever else is in the key
 * @tool: a table tool with @by_process
 * @key: the key, all its bytes are set but those of its struct tap_who, which
 *       are zero
 * @task: the process, as for tap_begin()
 *
 * Context: between tap_begin() and tap_end().
 * Return: the row.
 */
#define tap_row_who(tool, key, task)					\
({									\
	BUILD_BUG_ON(sizeof(*(key)) % sizeof(u64));			\
	__tap_row_who(tool, (u64 *)(key), sizeof(*(key)) / sizeof(u64), task);	\
})

static __always_inline struct tap_sums __tap_row_who(struct tap_tool *tool,
						     u64 *key, unsigned int words,
						     struct task_struct *task)
{
	struct tap_sums row;

	tap_who_set((struct tap_who *)key, task, READ_ONCE(tool->by_thread));
	row = __tap_row(tool, key, words);
	if (unlikely(tap_names_stale(row.attr, task)))
		tap_names_set(row.attr, task);
	return row;
}

/**
 * tap_add() - add to one sum of a row
 * @row: what tap_row() returned
 * @sum: which sum
 * @n: how much
 *
 * Context: between tap_begin() and tap_end().
 */
static __always_inline void tap_add(struct tap_sums row, u32 sum, u64 n)
{
	local64_add(n, row.sums + sum);
}

/**
 * tap_add_time() - add to the times of a row
 * @row: what tap_row() returned
 * @first: the first sum of the times; the last two of them are the last of the
 *         row's, and @nr_maxima is 2
 * @ns: how long
 * @n: how many took so long
 *
 * Context: between tap_begin() and tap_end().
 */
static __always_inline void tap_add_time(struct tap_sums row, u32 first, u64 ns,
					 u64 n)
{
	tap_add(row, first + TAP_TIMES_TOTAL, ns * n);
	tap_add(row, first + TAP_TIMES_BUCKET + tap_times_bucket(ns), n);
	tap_table_raise(row.sums + first + TAP_TIMES_MAX, ns);
	tap_table_raise(row.sums + first + TAP_TIMES_MIN, ~ns);
}

/**
 * tap_event() - write an event
 * @tool: a stream tool
 * @event: the event, @event_size bytes, no byte of it uninitialised; its type
 *         is the event's
 *
 * Context: between tap_begin() and tap_end(), or with the CPU pinned after
 * tap_wanted().
 */
#define tap_event(tool, event)						\
	tap_stream_write(&(tool)->stream, event, sizeof(*(event)))

/**
 * tap_tool_start() - bring a tool to life: init of its module
 * @tool: the tool
 *
 * Context: process context, may sleep.
 * Return: 0, or an error after which nothing is held; the log says why.
 */
int tap_tool_start(struct tap_tool *tool);

/**
 * tap_tool_stop() - exit of its module
 * @tool: the tool
 *
 * Context: process context, may sleep.
 */
void tap_tool_stop(struct tap_tool *tool);

/**
 * tap_tool_apply_enabled() - attach or detach the probes, as @enabled says
 * @tool: the tool
 * @why: gets a line about what is refused
 *
 * What a parameter's @apply does. Context: process context, may sleep, tool's
 * lock held.
 * Return: 0, or what tap_probes_attach() returns.
 */
int tap_tool_apply_enabled(struct tap_tool *tool, struct tap_text *why);

/**
 * tap_tool_apply_window() - begin new windows, as @interval_ms and @refresh_ms say
 * @tool: the tool
 * @why: gets a line about what is refused
 *
 * What a parameter's @apply does. Context: process context, may sleep, tool's
 * lock held.
 * Return: 0.
 */
int tap_tool_apply_window(struct tap_tool *tool, struct tap_text *why);

/**
 * tap_tool_apply_filter() - use the filter that @filter describes
 * @tool: the tool
 * @why: gets a line about what is refused
 *
 * What a parameter's @apply does. Context: process context, may sleep, tool's
 * lock held.
 * Return: 0, -EINVAL if it is refused, -ENOMEM, -EOPNOTSUPP.
 */
int tap_tool_apply_filter(struct tap_tool *tool, struct tap_text *why);

/**
 * tap_tool_apply_probes() - attach the probes again, for a setting that they copied
 * @tool: the tool
 * @why: gets a line about what is refused
 *
 * What a parameter's @apply does. Context: process context, may sleep, tool's
 * lock held.
 * Return: 0, or what tap_probes_attach() returns.
 */
int tap_tool_apply_probes(struct tap_tool *tool, struct tap_text *why);

extern const char *const tap_name_choices[];

/**
 * tap_who_name() - the name that text shows of a row of a tool with by_process
 * @row: the row
 * @buf: gets the name
 * @size: bytes at @buf
 *
 * The thread's name with names=thread, else the process's.
 */
void tap_who_name(const struct tap_row *row, char *buf, size_t size);

#include "module.h"

#endif /* TAP_H */
