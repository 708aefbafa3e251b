/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * module - how a tool is declared: its module, its usual parameters, the parts
 * that descriptors have in common. Part of tap.h, and included by nothing else.
 */
#ifndef TAP_MODULE_H
#define TAP_MODULE_H

#define TAP_MODULE(tool, description, filter_check)			\
	TAP_PARAM(enabled, "the probes are attached: 0 or 1",			\
		  .type = TAP_PARAM_BOOL, .value = &(tool).enabled,		\
		  .apply = tap_tool_apply_enabled);				\
	TAP_PARAM(filter,							\
		  "whose events: pid=, tid=, uid=, comm=, cgroup=, tree=, joined with commas", \
		  .type = TAP_PARAM_TEXT, .value = &(tool).filter,		\
		  .check = (filter_check), .apply = tap_tool_apply_filter);	\
	TAP_PARAM(escape, "names show blanks and unprintable bytes as octal escapes: 0 or 1", \
		  .type = TAP_PARAM_BOOL, .value = &(tool).escape);		\
	static int __init tool##_init(void)					\
	{									\
		return tap_tool_start(&(tool));					\
	}									\
	module_init(tool##_init);						\
	static void __exit tool##_exit(void)					\
	{									\
		tap_tool_stop(&(tool));						\
	}									\
	module_exit(tool##_exit);						\
	MODULE_DESCRIPTION("tap: " description);					\
	MODULE_VERSION(TAP_VERSION);						\
	MODULE_LICENSE("GPL")

/* The parameters of a table: its windows, its size. */
#define TAP_TABLE_PARAMS(tool)						\
	TAP_PARAM(interval_ms, "length of a window, 100 to 3600000; 0: since load or reset", \
		  .type = TAP_PARAM_UINT, .value = &(tool).interval_ms,		\
		  .zero = true, .min = 100, .max = 3600000,			\
		  .apply = tap_tool_apply_window);				\
	TAP_PARAM(refresh_ms, "how often poll() reports data with interval_ms=0", \
		  .type = TAP_PARAM_UINT, .value = &(tool).refresh_ms,		\
		  .min = 100, .max = 3600000, .apply = tap_tool_apply_window);	\
	TAP_PARAM(limit, "rows shown; 0: all",					\
		  .type = TAP_PARAM_UINT, .value = &(tool).limit,		\
		  .max = 1000000);						\
	TAP_PARAM(max_rows, "rows the table has; 0: what fits 8 MiB and 128 KiB per CPU", \
		  .type = TAP_PARAM_UINT, .value = &(tool).layout.max_rows,	\
		  .zero = true, .min = 16, .max = 1 << 20, .load_only = true)

#define TAP_TABLE_MODULE(tool, description, filter_check)		\
	TAP_TABLE_PARAMS(tool);							\
	TAP_MODULE(tool, description, filter_check)

/* The module of a table tool: its parameters, init, exit and what it is. */
#define module_tap_table(tool, description)				\
	TAP_TABLE_MODULE(tool, description, tap_filter_check)

/* ... whose events belong to no process, so that it has no use for a filter. */
#define module_tap_table_of_nobody(tool, description)			\
	TAP_TABLE_MODULE(tool, description, tap_filter_check_nobody)

#define TAP_STREAM_MODULE(tool, description, filter_check)		\
	TAP_PARAM(buffer_kb, "history of events, KiB",				\
		  .type = TAP_PARAM_UINT, .value = &(tool).buffer_kb,		\
		  .min = 16, .max = 1 << 20, .load_only = true);		\
	TAP_MODULE(tool, description, filter_check)

/* The module of a stream tool. */
#define module_tap_stream(tool, description)				\
	TAP_STREAM_MODULE(tool, description, tap_filter_check)

/* ... whose events belong to no process, so that it has no use for a filter. */
#define module_tap_stream_of_nobody(tool, description)			\
	TAP_STREAM_MODULE(tool, description, tap_filter_check_nobody)

/* For tools with by_process: `names`. */
#define TAP_PARAM_NAMES(tool)						\
	TAP_PARAM(names, "process: a row for each process; thread: for each name of a thread", \
		  .type = TAP_PARAM_CHOICE, .value = &(tool).by_thread,		\
		  .choices = tap_name_choices)

/* For tools that leave out what their readers do: `self`. */
#define TAP_PARAM_SELF(tool)						\
	TAP_PARAM(self, "count what a reader of this tool does like everything else: 0 or 1", \
		  .type = TAP_PARAM_BOOL, .value = &(tool).gate.count_readers)

/* For tools with begun_size: `inflight`. */
#define TAP_PARAM_INFLIGHT(tool, what)					\
	TAP_PARAM(inflight, what " that are followed at once: 16 to 65536",	\
		  .type = TAP_PARAM_UINT, .value = &(tool).inflight,		\
		  .min = 16, .max = 65536, .load_only = true)

/* What all tools have in common. */
#define TAP_DEFAULTS(tool_name)						\
	.name = (tool_name),							\
	.owner = THIS_MODULE,							\
	.enabled = true,							\
	.escape = true,								\
	.refresh_ms = 1000,							\
	.buffer_kb = 4096

#define TAP_PROBES(array)						\
	.probes = (array), .nr_probes = ARRAY_SIZE(array)

#define TAP_COLUMNS(array)						\
	.columns = (array), .nr_columns = ARRAY_SIZE(array)

/* The layout of a table whose key and attributes are structures. */
#define TAP_LAYOUT(key_type, attr_type, sums)				\
{									\
	.key_size = sizeof(key_type),						\
	.attr_size = sizeof(attr_type),						\
	.nr_sums = (sums),							\
}

/* The layout of a table whose last sums are times, see tap_add_time(). */
#define TAP_LAYOUT_TIMES(key_type, attr_type, sums)			\
{									\
	.key_size = sizeof(key_type),						\
	.attr_size = sizeof(attr_type),						\
	.nr_sums = (sums) + TAP_TIMES_SUMS,					\
	.nr_maxima = 2,								\
}

/* The layout of a table without attributes. */
#define TAP_LAYOUT_KEY(key_type, sums)					\
{									\
	.key_size = sizeof(key_type),						\
	.nr_sums = (sums),							\
}

/* Columns of tools with by_process. */
#define TAP_COLUMN_PID(heading, columns)				\
	{ .head = (heading), .json = "pid", .width = (columns),			\
	  TAP_AT(TAP_INT, struct tap_who, pid) }
#define TAP_COLUMN_UID(heading, columns)				\
	{ .head = (heading), .json = "uid", .width = (columns),			\
	  TAP_AT(TAP_UINT, struct tap_who, uid) }
#define TAP_COLUMN_COMM(heading, columns)				\
	{ .head = (heading), .width = (columns), .name = 1, .type = TAP_FN,	\
	  .fn = tap_who_name }

/* A column of sums, in text and JSON, or in one of them. */
#define TAP_COLUMN_SUM(heading, json_name, columns, mask)		\
	{ .head = (heading), .json = (json_name), .width = (columns),		\
	  .type = TAP_SUM, .sums = (mask) }
#define TAP_COLUMN_KB(heading, columns, mask)				\
	{ .head = (heading), .width = (columns), .type = TAP_SUM,		\
	  .sums = (mask), .shift = 10 }

/* A column of times: TOTAL, MEAN, MIN, MAX or HIST. */
#define TAP_COLUMN_US(heading, json_name, columns, what, first, ...)	\
	{ .head = (heading), .json = (json_name), .width = (columns),		\
	  .type = TAP_US_##what, .offset = (first), __VA_ARGS__ }

/*
 * JSON of a struct tap_names that the attributes begin with, or the event if
 * @is_attr is 0.
 */
#define TAP_JSON_NAMES(is_attr)						\
	{ .json = "comm", .attr = (is_attr), .name = 1,				\
	  TAP_AT(TAP_STR, struct tap_names, comm) },				\
	{ .json = "thread", .attr = (is_attr), .name = 1,			\
	  TAP_AT(TAP_STR, struct tap_names, thread) },				\
	{ .json = "tid", .attr = (is_attr),					\
	  TAP_AT(TAP_INT, struct tap_names, tid) },				\
	{ .json = "ns_pid", .attr = (is_attr),					\
	  TAP_AT(TAP_INT, struct tap_names, ns_pid) }

#endif /* TAP_MODULE_H */
