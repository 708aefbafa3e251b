// SPDX-License-Identifier: GPL-2.0-only
/*
 * dropwatch - where the kernel drops packets, and why
 *
 * A line is one place in the kernel's code and one reason, with the number of
 * packets dropped there in the last window. Counted is every packet that the
 * kernel frees as dropped; it frees some that way which nobody misses (see the
 * man page). The place is where the kernel says it is: the caller of
 * kfree_skb(), or its caller where the compiler made that call a jump.
 */
#include <linux/kernel.h>
#include <trace/events/skb.h>

#include "symbol.h"
#include "tap.h"

struct dropwatch_key {
	u64 location;
	u32 reason;
	u32 pad;
};

struct dropwatch_attr {
	u32 known;		/* 1: all below is there */
	struct tap_symbol symbol;
	char reason[40];
} __aligned(8);

/*
 * Names are looked up at a row's first drop: now the module that dropped the
 * packet and the one that named the reason are there, later they may be gone.
 */
static noinline void dropwatch_name(struct dropwatch_attr *attr,
				    const struct dropwatch_key *key)
{
	tap_symbol_set(&attr->symbol, key->location);
	tap_drop_reason_name(key->reason, attr->reason, sizeof(attr->reason));
	/* pairs with dropwatch_drop(): who finds them here need not look */
	smp_store_release(&attr->known, 1);
}

/* Context: process, softirq, or an interrupt. */
static void dropwatch_drop(void *data, TAP_KFREE_SKB_ARGS)
{
	const struct dropwatch_key key = { .location = (unsigned long)location,
					   .reason = TAP_KFREE_SKB_REASON };
	struct tap_tool *tool = data;
	struct dropwatch_attr *attr;
	struct tap_sums row;

	if (tap_drop_is_consumed(key.reason) || !tap_begin(tool, tap_current()))
		return;
	row = tap_row(tool, &key);
	attr = row.attr;
	/* pairs with dropwatch_name() */
	if (unlikely(!smp_load_acquire(&attr->known)))
		dropwatch_name(attr, &key);
	tap_add(row, 0, 1);
	tap_end();
}
TAP_CHECK_TRACEPOINT(kfree_skb, dropwatch_drop);

static struct tap_probe dropwatch_probes[] = {
	TAP_PROBE("kfree_skb", dropwatch_drop, "CONFIG_NET and CONFIG_TRACEPOINTS",
		  NULL),
};

static void dropwatch_address(const struct tap_row *row, char *buf, size_t size)
{
	const struct dropwatch_key *key = row->key;

	scnprintf(buf, size, "%pK", (void *)(unsigned long)key->location);
}

static void dropwatch_show(struct tap_text *text, const struct tap_row *row,
			   const struct tap_snapshot *snapshot)
{
	const struct dropwatch_attr *attr = row->attr;

	tap_printf(text, "%llu packets dropped at %s", row->sums[0],
		   tap_row_mark(row) ?: attr->symbol.name);
	if (*attr->reason)
		tap_printf(text, " (%s)", attr->reason);
	tap_putc(text, '\n');
}

#define AT(member) .attr = 1, TAP_AT(TAP_STR, struct dropwatch_attr, member)

/* The headings are never shown: they say what rows are sorted by. */
static const struct tap_column dropwatch_columns[] = {
	TAP_COLUMN_SUM(NULL, "count", 0, BIT(0)),
	{ .head = "SYMBOL", .json = "symbol", .name = 1, AT(symbol.name) },
	{ .head = "REASON", .json = "reason", AT(reason) },
	{ .json = "reason_number", TAP_AT(TAP_UINT, struct dropwatch_key, reason) },
	{ .json = "offset", AT(symbol.offset) },
	{ .json = "module", AT(symbol.module) },
	{ .json = "address", .type = TAP_FN, .fn = dropwatch_address },
};

static struct tap_tool dropwatch = {
	TAP_DEFAULTS("dropwatch"),
	TAP_PROBES(dropwatch_probes),
	TAP_COLUMNS(dropwatch_columns),
	.layout = TAP_LAYOUT(struct dropwatch_key, struct dropwatch_attr, 1),
	.sort = BIT(0),
	.show = dropwatch_show,
	.keep_readers = true,
	.interval_ms = 5000,
};
module_tap_table(dropwatch, "where the kernel drops packets, and why");
