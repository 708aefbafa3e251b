// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: column - a row as text and as JSON, from one declaration
 *
 * Text has the widths and headings of the documented scripts; JSON has names
 * that never change, with the unit in the name, and one object a line.
 */
#include <linux/bitops.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "addr.h"
#include "column.h"
#include "table.h"
#include "times.h"

/* Longest value of a TAP_FN column, and in text of a TAP_STR one, bytes. */
#define TAP_CELL 128

u64 tap_row_sum(const struct tap_row *row, u32 mask)
{
	u64 sum = 0;

	for (; mask; mask &= mask - 1)
		sum += row->sums[__ffs(mask)];
	return sum;
}

const char *tap_row_mark(const struct tap_row *row)
{
	switch (row->id) {
	case TAP_ROW_OTHER:
		return "(other)";
	case TAP_ROW_EXITED:
		return "(exited)";
	default:
		return NULL;
	}
}

static bool tap_column_is_text(const struct tap_column *column)
{
	return column->type >= TAP_STR && column->type <= TAP_FN;
}

static const void *tap_column_at(const struct tap_column *column,
				 const struct tap_row *row)
{
	return (column->attr ? row->attr : row->key) + column->offset;
}

/* The value of a column that is a number; a negative one is sign-extended. */
static u64 tap_column_number(const struct tap_column *column,
			     const struct tap_row *row)
{
	const void *at;

	switch (column->type) {
	case TAP_SUM:
		return tap_row_sum(row, column->sums) >> column->shift;
	case TAP_US_TOTAL:
		return tap_times_total_us(row->sums + column->offset);
	case TAP_US_MEAN:
		return tap_times_mean_us(row->sums + column->offset);
	case TAP_US_MIN:
		return tap_times_min_us(row->sums + column->offset);
	case TAP_US_MAX:
		return tap_times_max_us(row->sums + column->offset);
	}
	at = tap_column_at(column, row);
	switch (column->type) {
	case TAP_INT:
		return *(const s32 *)at;
	case TAP_UINT:
		return *(const u32 *)at;
	case TAP_U8:
		return *(const u8 *)at;
	case TAP_BIT:
		return *(const u8 *)at >> column->shift & 1;
	case TAP_U16:
		return *(const u16 *)at;
	default:
		return *(const u64 *)at;
	}
}

/* The value of a column that is text; TAP_CELL bytes, perhaps not terminated. */
static void tap_column_string(const struct tap_column *column,
			      const struct tap_row *row, char *cell)
{
	const char *mark = tap_row_mark(row);

	if (mark) {
		strscpy(cell, column->name ? mark : "-", TAP_CELL);
		return;
	}
	memset(cell, 0, TAP_CELL);
	if (column->type == TAP_FN) {
		column->fn(row, cell, TAP_CELL);
	} else if (column->type == TAP_ADDR) {
		const struct tap_addr *addr = tap_column_at(column, row);

		scnprintf(cell, TAP_CELL, addr->version == 4 ? "%pI4" : "%pI6c",
			  addr->word);
	} else if (column->type == TAP_DEV) {
		const dev_t *dev = tap_column_at(column, row);

		scnprintf(cell, TAP_CELL, "%u:%u", MAJOR(*dev), MINOR(*dev));
	} else if (column->type == TAP_ERRNO) {
		tap_errno(cell, TAP_CELL, *(const int *)tap_column_at(column, row));
	} else {
		const char *at = tap_column_at(column, row);

		/* old kernels leave bytes of an older name after the end */
		memcpy(cell, at, strnlen(at, min_t(size_t, column->size, TAP_CELL)));
	}
}

/* The documented scripts' humanreadable(): a whole number and its unit. */
static void tap_column_bytes(const struct tap_column *column,
			     const struct tap_row *row, char *cell)
{
	static const char *const units[] = { "  B", "KiB", "MiB", "GiB" };
	u64 bytes = tap_row_sum(row, column->sums);
	unsigned int unit = ARRAY_SIZE(units) - 1;

	while (unit && bytes <= 1ull << 10 * unit)
		unit--;
	scnprintf(cell, TAP_CELL, "%llu %s", bytes >> 10 * unit, units[unit]);
}

/* Blanks would make it columns. */
void tap_hist_text(const u64 *times, struct tap_text *text)
{
	const char *gap = "";
	unsigned int i;

	for (i = 0; i < TAP_TIMES_BUCKETS; i++) {
		if (!times[TAP_TIMES_BUCKET + i])
			continue;
		tap_printf(text, "%s%u:%llu", gap, tap_times_bucket_us(i),
			   times[TAP_TIMES_BUCKET + i]);
		gap = ",";
	}
}

static void tap_column_hist_json(const u64 *times, struct tap_text *text)
{
	unsigned int i, nr = TAP_TIMES_BUCKETS;

	while (nr && !times[TAP_TIMES_BUCKET + nr - 1])
		nr--;
	tap_putc(text, '[');
	for (i = 0; i < nr; i++)
		tap_printf(text, "%s%llu", i ? "," : "",
			   times[TAP_TIMES_BUCKET + i]);
	tap_putc(text, ']');
}

static bool tap_column_shown(const struct tap_columns *columns,
			     const struct tap_column *column)
{
	return column->head && (columns->verbose || !column->verbose);
}

void tap_columns_head(const struct tap_columns *columns, struct tap_text *text)
{
	const char *gap = "";
	unsigned int i;

	for (i = 0; i < columns->nr; i++) {
		const struct tap_column *column = &columns->column[i];

		if (!tap_column_shown(columns, column))
			continue;
		tap_printf(text, "%s%*s", gap, column->width, column->head);
		gap = " ";
	}
	tap_putc(text, '\n');
}

void tap_columns_text(const struct tap_columns *columns,
		      const struct tap_row *row, struct tap_text *text)
{
	char escaped[TAP_ESCAPED(TAP_CELL)];
	char cell[TAP_CELL + 1] = {};
	const char *gap = "";
	unsigned int i;

	for (i = 0; i < columns->nr; i++) {
		const struct tap_column *column = &columns->column[i];

		if (!tap_column_shown(columns, column))
			continue;
		if (tap_column_is_text(column)) {
			tap_column_string(column, row, cell);
			tap_escape(escaped, sizeof(escaped), cell, TAP_CELL);
			tap_printf(text, "%s%*s", gap, column->width,
				   columns->raw ? cell : escaped);
		} else if (column->type == TAP_PERCENT) {
			u64 part = div64_u64(tap_row_sum(row, column->sums) * 10000,
					     columns->events);

			tap_printf(text, "%s%3llu.%02llu%%", gap, part / 100,
				   part % 100);
		} else if (column->type == TAP_BYTES) {
			tap_column_bytes(column, row, cell);
			tap_printf(text, "%s%s %*s", gap, column->head,
				   column->width, cell);
		} else if (column->type == TAP_US_HIST) {
			tap_printf(text, "%s", gap);
			tap_hist_text(row->sums + column->offset, text);
		} else {
			tap_printf(text, column->type == TAP_INT ? "%s%*lld" : "%s%*llu",
				   gap, column->width,
				   tap_column_number(column, row));
		}
		gap = " ";
	}
	tap_putc(text, '\n');
}

void tap_columns_json(const struct tap_columns *columns,
		      const struct tap_row *row, struct tap_text *text)
{
	const char *gap = "";
	char cell[TAP_CELL];
	unsigned int i;

	for (i = 0; i < columns->nr; i++) {
		const struct tap_column *column = &columns->column[i];

		if (!column->json)
			continue;
		tap_printf(text, "%s\"%s\":", gap, column->json);
		if (column->type == TAP_STR && !tap_row_mark(row)) {
			tap_json_string(text, tap_column_at(column, row),
					column->size);
		} else if (tap_column_is_text(column)) {
			tap_column_string(column, row, cell);
			tap_json_string(text, cell, TAP_CELL);
		} else if (column->type == TAP_US_HIST) {
			tap_column_hist_json(row->sums + column->offset, text);
		} else if (column->type == TAP_INT) {
			tap_printf(text, "%lld", tap_column_number(column, row));
		} else {
			tap_printf(text, "%llu", tap_column_number(column, row));
		}
		gap = ",";
	}
}

int tap_columns_cmp(const struct tap_columns *columns, const struct tap_row *a,
		    const struct tap_row *b)
{
	char x[TAP_CELL], y[TAP_CELL];
	unsigned int i;
	int diff;

	for (i = 0; i < columns->nr; i++) {
		const struct tap_column *column = &columns->column[i];

		if (!column->head || column->type >= TAP_SUM)
			continue;
		if (tap_column_is_text(column)) {
			tap_column_string(column, a, x);
			tap_column_string(column, b, y);
			diff = memcmp(x, y, TAP_CELL);
		} else if (column->type == TAP_INT) {
			s64 m = tap_column_number(column, a);
			s64 n = tap_column_number(column, b);

			diff = m < n ? -1 : m > n;
		} else {
			u64 m = tap_column_number(column, a);
			u64 n = tap_column_number(column, b);

			diff = m < n ? -1 : m > n;
		}
		if (diff)
			return diff;
	}
	return 0;
}
