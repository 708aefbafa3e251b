/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_COLUMN_H
#define TAP_COLUMN_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include "fmt.h"

/**
 * struct tap_row - one row of a table, or one event, on its way to the reader
 * @id: TAP_ROW_OTHER, TAP_ROW_EXITED, or TAP_ROW_FIRST and more for a key
 * @key: the key, or the event; all zero in a row that has no key
 * @attr: what stands beside the key
 * @sums: the sums over all CPUs
 */
struct tap_row {
	u32 id;
	void *key;
	void *attr;
	u64 *sums;
};

/**
 * enum tap_column_type - what a column holds
 * @TAP_INT: a signed 32-bit number
 * @TAP_UINT: an unsigned 32-bit number
 * @TAP_U8: an unsigned 8-bit number
 * @TAP_BIT: one bit of that, the one @shift says
 * @TAP_U16: an unsigned 16-bit number
 * @TAP_U64: an unsigned 64-bit number
 * @TAP_STR: a name of @size bytes, escaped in text
 * @TAP_ADDR: a struct tap_addr
 * @TAP_DEV: a dev_t, as 8:5
 * @TAP_ERRNO: an int, which is an error if below 0, as tap_errno() names it
 * @TAP_FN: what @fn writes
 * @TAP_SUM: some of the sums added up
 * @TAP_PERCENT: the same in per cent of all events, as "  0.00%"; text only
 * @TAP_BYTES: the same in the unit that it fits, as "1 MiB", behind the heading,
 *             which stands in each line; text only
 * @TAP_US_TOTAL: of times (see times.h): how long in all, in microseconds
 * @TAP_US_MEAN: their mean
 * @TAP_US_MIN: the shortest
 * @TAP_US_MAX: the longest
 * @TAP_US_HIST: how many were how long; as 1:20,4:3 in text, an array in JSON
 */
enum tap_column_type {
	TAP_INT,
	TAP_UINT,
	TAP_U8,
	TAP_BIT,
	TAP_U16,
	TAP_U64,
	/* text, up to TAP_FN */
	TAP_STR,
	TAP_ADDR,
	TAP_DEV,
	TAP_ERRNO,
	TAP_FN,
	/* from here on: what was counted, no part of a key */
	TAP_SUM,
	TAP_PERCENT,
	TAP_BYTES,
	TAP_US_TOTAL,
	TAP_US_MEAN,
	TAP_US_MIN,
	TAP_US_MAX,
	TAP_US_HIST,
};

/**
 * struct tap_column - one column: declared once, for text and for JSON
 * @head: its heading in text; NULL if only JSON has it
 * @json: its name in JSON, with unit; NULL if only text has it
 * @width: as in printf, negative if left-aligned. A wider value pushes the
 *         column out, it is never cut
 * @type: what it holds
 * @attr: it stands in the row's attributes, else in the key
 * @name: it is the name column, which shows what a row without key stands for
 * @verbose: text has it only with verbose=1
 * @shift: TAP_SUM: shown divided by 2^shift; TAP_BIT: which bit
 * @offset: where in the key or the attributes, bytes; TAP_US_: the first sum of
 *          the times
 * @size: TAP_STR: bytes
 * @sums: TAP_SUM, TAP_PERCENT and TAP_BYTES: which sums, a mask
 * @fn: TAP_FN: writes the terminated text at @buf, shown escaped
 */
struct tap_column {
	const char *head;
	const char *json;
	s8 width;
	u8 type;
	u8 attr:1;
	u8 name:1;
	u8 verbose:1;
	u8 shift;
	u16 offset;
	u16 size;
	u32 sums;
	void (*fn)(const struct tap_row *row, char *buf, size_t size);
};

/* The members that say where a column's value is; the rest is up to the tool. */
#define TAP_AT(column_type, structure, member)		\
	.type = (column_type),				\
	.offset = offsetof(structure, member),		\
	.size = sizeof_field(structure, member)

/**
 * struct tap_columns - the columns of a tool
 * @column: the columns, in the order of the text
 * @nr: how many
 * @verbose: text shows the verbose ones too
 * @raw: text shows names as they are (escape=0)
 * @events: what TAP_PERCENT is relative to
 */
struct tap_columns {
	const struct tap_column *column;
	unsigned int nr;
	bool verbose;
	bool raw;
	u64 events;
};

/**
 * tap_columns_head() - write the headings, one line
 * @columns: the columns
 * @text: where to
 *
 * Context: process context, may sleep.
 */
void tap_columns_head(const struct tap_columns *columns, struct tap_text *text);

/**
 * tap_hist_text() - write how many were how long, as TAP_US_HIST is in text
 * @times: the sums of the times (see times.h)
 * @text: gets it: 1:20,4:3, which is 20 of at least 1 us and 3 of at least 4
 *
 * Context: process context, may sleep.
 */
void tap_hist_text(const u64 *times, struct tap_text *text);

/**
 * tap_columns_text() - write a row, one line
 * @columns: the columns
 * @row: the row
 * @text: where to
 *
 * Context: process context, may sleep.
 */
void tap_columns_text(const struct tap_columns *columns,
		      const struct tap_row *row, struct tap_text *text);

/**
 * tap_columns_json() - write the members of a JSON object, braces not included
 * @columns: the columns
 * @row: the row
 * @text: where to
 *
 * Context: process context, may sleep.
 */
void tap_columns_json(const struct tap_columns *columns,
		      const struct tap_row *row, struct tap_text *text);

/**
 * tap_columns_cmp() - compare two rows by their keys, as sort() wants it
 * @columns: the columns
 * @a: a row
 * @b: a row
 *
 * Compares the key columns that text shows, from left to right.
 *
 * Return: below, equal or above 0.
 */
int tap_columns_cmp(const struct tap_columns *columns, const struct tap_row *a,
		    const struct tap_row *b);

/**
 * tap_row_mark() - what stands for the key of a row that has none
 * @row: the row
 *
 * Return: (other) or (exited); NULL for a row with a key.
 */
const char *tap_row_mark(const struct tap_row *row);

/**
 * tap_row_sum() - some of a row's sums added up
 * @row: the row
 * @mask: which ones
 *
 * Return: the sum.
 */
u64 tap_row_sum(const struct tap_row *row, u32 mask);

#endif /* TAP_COLUMN_H */
