// SPDX-License-Identifier: GPL-2.0-only
/*
 * do_fork as a table: a row is what lies between two marks.
 */
#include "do_fork.h"

static void do_fork_add(struct tap_tool *tool, const struct do_fork_key *key,
			u64 ns, bool refused)
{
	struct tap_sums row = tap_row(tool, key);

	tap_add(row, key->first == DO_FORK_TOTAL ? DO_FORK_COUNT : DO_FORK_PART, 1);
	if (refused)
		tap_add(row, DO_FORK_REFUSED, 1);
	tap_add_time(row, DO_FORK_TIMES, ns, 1);
}

void do_fork_count_first(struct tap_tool *tool, u64 ns)
{
	const struct do_fork_key key = { .first = DO_FORK_FIRST_RUN };

	do_fork_add(tool, &key, ns, false);
}

void do_fork_count(struct tap_tool *tool, const struct do_fork_event *event)
{
	const struct do_fork_key total = { .first = DO_FORK_TOTAL };
	bool refused = event->result < 0;
	u32 shown = READ_ONCE(do_fork_shown);
	struct do_fork_key key = { .part = 1 };
	u64 copy = 0;
	u32 rest;

	for (rest = event->stages; rest; rest &= rest - 1) {
		key.first = __ffs(rest);
		key.next = do_fork_next(event, key.first);
		if (key.first >= DO_FORK_COPY_PROCESS && key.first <= DO_FORK_NEWTASK)
			copy += event->ns[key.first];
		if (shown & GENMASK(key.next - 1, key.first))
			do_fork_add(tool, &key, event->ns[key.first],
				    refused && !(rest & (rest - 1)));
	}
	if (event->stages & BIT(DO_FORK_COPY_PROCESS)) {
		key = (struct do_fork_key){
			.first = DO_FORK_COPY_PROCESS,
			.next = DO_FORK_NEWTASK + 1,
		};
		do_fork_add(tool, &key, copy, false);
	}
	do_fork_add(tool, &total, event->total_ns, refused);
}

static void do_fork_row_name(const struct tap_row *row, char *buf, size_t size)
{
	const struct do_fork_key *key = row->key;
	const char *mark = tap_row_mark(row);

	if (mark)
		strscpy(buf, mark, size);
	else if (key->first == DO_FORK_TOTAL)
		strscpy(buf, "total", size);
	else if (key->first == DO_FORK_FIRST_RUN)
		strscpy(buf, "first_run", size);
	else if (!key->part)
		strscpy(buf, "copy_process", size);
	else
		do_fork_name(buf, size, key->first, key->next);
}

static void do_fork_summary_header(struct tap_text *text,
				   const struct tap_snapshot *snapshot)
{
	tap_printf(text, "%-44s %10s %14s %14s us:count\n", "stage", "count",
		   "avg (us)", "max (us)");
}

/* Nanoseconds as microseconds. */
static void do_fork_us(struct tap_text *text, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, NSEC_PER_USEC, &rest);

	tap_printf(text, " %10llu.%03u", us, rest);
}

static void do_fork_summary_show(struct tap_text *text, const struct tap_row *row,
				 const struct tap_snapshot *snapshot)
{
	u64 count = tap_row_sum(row, BIT(DO_FORK_COUNT) | BIT(DO_FORK_PART));
	const u64 *times = row->sums + DO_FORK_TIMES;
	char name[128];

	do_fork_row_name(row, name, sizeof(name));
	tap_printf(text, "%-44s %10llu", name, count);
	do_fork_us(text, div64_u64(times[TAP_TIMES_TOTAL], count));
	do_fork_us(text, times[TAP_TIMES_MAX]);
	tap_putc(text, ' ');
	tap_hist_text(times, text);
	tap_putc(text, '\n');
}

#define US(name, what) TAP_COLUMN_US(NULL, name, 0, what, DO_FORK_TIMES)

static const struct tap_column do_fork_summary_columns[] = {
	/* what rows are ordered by; the one with all that is in it comes first */
	{ .head = "first", TAP_AT(TAP_U16, struct do_fork_key, first) },
	{ .head = "part", TAP_AT(TAP_U16, struct do_fork_key, part) },
	{ .json = "stage", .type = TAP_FN, .name = 1, .fn = do_fork_row_name },
	TAP_COLUMN_SUM(NULL, "count", 0, BIT(DO_FORK_COUNT) | BIT(DO_FORK_PART)),
	TAP_COLUMN_SUM(NULL, "refused", 0, BIT(DO_FORK_REFUSED)),
	US("avg_us", MEAN),
	TAP_COLUMN_SUM(NULL, "total_ns", 0, BIT(DO_FORK_TIMES + TAP_TIMES_TOTAL)),
	TAP_COLUMN_SUM(NULL, "max_ns", 0, BIT(DO_FORK_TIMES + TAP_TIMES_MAX)),
	US("hist_us", HIST),
};

void do_fork_use_summary(struct tap_tool *tool)
{
	tool->event_size = 0;
	tool->columns = do_fork_summary_columns;
	tool->nr_columns = ARRAY_SIZE(do_fork_summary_columns);
	tool->header = do_fork_summary_header;
	tool->show = do_fork_summary_show;
}
