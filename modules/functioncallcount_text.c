// SPDX-License-Identifier: GPL-2.0-only
/* What is seen of functioncallcount's rows. */
#include <linux/string.h>

#include "functioncallcount.h"

static void functioncallcount_symbol(const struct tap_row *row,
				     const char **name, const char **module,
				     struct tap_symbol *symbol)
{
	const struct functioncallcount_attr *attr = row->attr;
	const u64 *ip = row->key;

	if (attr->name) {
		*name = functioncallcount_set.names.buf + attr->name;
		*module = *name + strlen(*name) + 1;
		return;
	}
	memset(symbol, 0, sizeof(*symbol));
	tap_symbol_set(symbol, *ip);
	*name = symbol->name;
	*module = symbol->module;
}

static void functioncallcount_name(const struct tap_row *row, char *buf, size_t size)
{
	const char *name, *module;
	struct tap_symbol symbol;

	functioncallcount_symbol(row, &name, &module, &symbol);
	strscpy(buf, name, size);
}

static void functioncallcount_module(const struct tap_row *row, char *buf,
				     size_t size)
{
	const char *name, *module;
	struct tap_symbol symbol;

	functioncallcount_symbol(row, &name, &module, &symbol);
	strscpy(buf, module, size);
}

/* Where it begins, as /proc/kallsyms has it. */
static void functioncallcount_address(const struct tap_row *row, char *buf,
				      size_t size)
{
	const struct functioncallcount_attr *attr = row->attr;
	const u64 *ip = row->key;

	scnprintf(buf, size, "%pK", (void *)(unsigned long)(*ip - attr->offset));
}

/* The documented output has none. */
void functioncallcount_header(struct tap_text *text,
			      const struct tap_snapshot *snapshot)
{
}

void functioncallcount_show(struct tap_text *text, const struct tap_row *row,
			    const struct tap_snapshot *snapshot)
{
	const char *name = tap_row_mark(row), *module;
	struct tap_symbol symbol;

	if (!name)
		functioncallcount_symbol(row, &name, &module, &symbol);
	tap_printf(text, "%s %llu\n", name, row->sums[0]);
}

void functioncallcount_stats(struct tap_tool *tool, struct tap_text *text)
{
	tap_printf(text, "functions %u\nskipped %u\n", functioncallcount_set.nr,
		   functioncallcount_set.skipped);
	tap_printf(text,
		   "unwatched %lu (calls made where RCU does not watch, around idle, are not counted)\n",
		   functioncallcount_unwatched());
	tap_printf(text, "hook functions: ftrace\n");
}

/* The heading is never shown: it says what rows are sorted by. */
const struct tap_column functioncallcount_columns[FUNCTIONCALLCOUNT_COLUMNS] = {
	{ .head = "rank", .attr = 1,
	  TAP_AT(TAP_UINT, struct functioncallcount_attr, rank) },
	{ .json = "function", .name = 1, .type = TAP_FN,
	  .fn = functioncallcount_name },
	TAP_COLUMN_SUM(NULL, "count", 0, BIT(0)),
	{ .json = "module", .type = TAP_FN, .fn = functioncallcount_module },
	{ .json = "address", .type = TAP_FN, .fn = functioncallcount_address },
};
