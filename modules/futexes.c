// SPDX-License-Identifier: GPL-2.0-only
/*
 * futexes - who waits for user-space locks, and how long
 *
 * A line is one process and one lock: how many calls of it waited, and how long
 * on average. Counted are calls of futex(2) and its newer forms that really
 * waited, by whichever way they ended; one that finds the lock's value changed
 * returns at once and is none. What waited when the tool was loaded is not
 * counted.
 */
#include "futexes.h"

static struct tap_tool futexes;

static struct tap_probe futexes_probes[] = {
	TAP_PROBE("sys_enter", futexes_sys_enter, "CONFIG_FTRACE_SYSCALLS", NULL),
	TAP_PROBE("sys_exit", futexes_sys_exit, "CONFIG_FTRACE_SYSCALLS", NULL),
	TAP_PROBE("sched_process_free", tap_forget_task, "CONFIG_TRACEPOINTS", NULL),
};

/* The documented output has none. */
static void futexes_header(struct tap_text *text,
			   const struct tap_snapshot *snapshot)
{
}

static void futexes_show(struct tap_text *text, const struct tap_row *row,
			 const struct tap_snapshot *snapshot)
{
	const char *mark = tap_row_mark(row);
	const struct futexes_key *key = row->key;
	const u64 *times = row->sums + FUTEXES_TIMES;
	char name[TAP_ESCAPED(TASK_COMM_LEN)], comm[TASK_COMM_LEN];

	if (mark) {
		strscpy(name, mark, sizeof(name));
	} else {
		tap_who_name(row, comm, sizeof(comm));
		if (READ_ONCE(futexes.escape))
			tap_escape(name, sizeof(name), comm, sizeof(comm));
		else
			strscpy(name, comm, sizeof(name));
	}
	tap_printf(text, "%s[%d] lock 0x%llx contended %llu times, %llu avg us",
		   name, mark ? 0 : key->who.pid, mark ? 0 : key->lock,
		   row->sums[FUTEXES_COUNT], tap_times_mean_us(times));
	if (READ_ONCE(futexes.verbose))
		tap_printf(text, ", %llu min us, %llu max us",
			   tap_times_min_us(times), tap_times_max_us(times));
	tap_putc(text, '\n');
}

static void futexes_lock(const struct tap_row *row, char *buf, size_t size)
{
	const struct futexes_key *key = row->key;

	scnprintf(buf, size, "0x%llx", key->lock);
}

#define US(json, what) TAP_COLUMN_US(NULL, json, 0, what, FUTEXES_TIMES)

static const struct tap_column futexes_columns[] = {
	TAP_COLUMN_PID("PID", 0),
	{ .head = "lock", TAP_AT(TAP_U64, struct futexes_key, lock) },
	{ .json = "lock", .type = TAP_FN, .fn = futexes_lock },
	TAP_COLUMN_SUM(NULL, "count", 0, BIT(FUTEXES_COUNT)),
	US("avg_us", MEAN),
	US("total_us", TOTAL),
	US("min_us", MIN),
	US("max_us", MAX),
	US("hist_us", HIST),
	TAP_COLUMN_UID(NULL, 0),
	TAP_JSON_NAMES(1),
};

static struct tap_tool futexes = {
	TAP_DEFAULTS("futexes"),
	TAP_PROBES(futexes_probes),
	TAP_COLUMNS(futexes_columns),
	.layout = TAP_LAYOUT_TIMES(struct futexes_key, struct tap_names,
				   FUTEXES_TIMES),
	.by_process = true,
	.header = futexes_header,
	.show = futexes_show,
	.events = BIT(FUTEXES_COUNT),
	.inflight = 4096,
	.begun_size = sizeof(struct futexes_begun),
};
TAP_PARAM(hist, "text has shortest and longest, too: 0 or 1",
	  .type = TAP_PARAM_BOOL, .value = &futexes.verbose);
TAP_PARAM_INFLIGHT(futexes, "waits");
TAP_PARAM_NAMES(futexes);
TAP_PARAM_SELF(futexes);
module_tap_table(futexes, "who waits for user-space locks");
