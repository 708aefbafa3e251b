// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tool on a kernel that lacks what it hooks: insmod lacking.ko refuses,
 * insmod lacking.ko without=TEXT loads and says TEXT. The call that is hooked
 * too is there on every kernel.
 */
#include <trace/events/syscalls.h>

#include "tap.h"

static struct tap_tool lacking;

static void lacking_enter(void *data, struct pt_regs *regs, long nr)
{
	const u64 key = nr;

	if (!tap_begin(&lacking, current))
		return;
	tap_add(tap_row(&lacking, &key), 0, 1);
	tap_end();
}
TAP_CHECK_TRACEPOINT(sys_enter, lacking_enter);

static struct tap_probe lacking_probes[] = {
	TAP_PROBE("sys_enter", lacking_enter, "CONFIG_FTRACE_SYSCALLS", NULL),
	TAP_PROBE("tap_no_such_event", lacking_enter, "CONFIG_NO_SUCH_OPTION", NULL),
};

module_param_cb(without, &param_ops_charp, &lacking_probes[1].without, 0400);
MODULE_PARM_DESC(without, "what is missing without the event that no kernel has");

static const struct tap_column lacking_columns[] = {
	{ .head = "NR", .json = "nr", .width = 5, .type = TAP_UINT },
	TAP_COLUMN_SUM("COUNT", "count", 10, BIT(0)),
};

static struct tap_tool lacking = {
	TAP_DEFAULTS("lacking"),
	TAP_PROBES(lacking_probes),
	TAP_COLUMNS(lacking_columns),
	.layout = TAP_LAYOUT_KEY(u64, 1),
	.sort = BIT(0),
	.events = BIT(0),
};
module_tap_table(lacking, "a tool that lacks an event");
