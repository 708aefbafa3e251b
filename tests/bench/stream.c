// SPDX-License-Identifier: GPL-2.0-only
/*
 * record - an event of 64 bytes at every system call
 *
 * What a stream tool pays for writing an event, without what it pays for
 * finding out what to write.
 */
#include <linux/types.h>
#include <trace/events/syscalls.h>

#include "tap.h"

struct record_event {
	u64 words[8];
};

static struct tap_tool record;
static struct record_event record_event;

static void record_enter(void *data, struct pt_regs *regs, long nr)
{
	if (!tap_begin(&record, current))
		return;
	tap_event(&record, &record_event);
	tap_end();
}
TAP_CHECK_TRACEPOINT(sys_enter, record_enter);

static struct tap_probe record_probes[] = {
	{
		.type = TAP_TRACEPOINT,
		.name = { "sys_enter" },
		.needs = "CONFIG_FTRACE_SYSCALLS",
		.tracepoint = record_enter,
	},
};

static const struct tap_column record_columns[] = {
	{ .json = "word", TAP_AT(TAP_U64, struct record_event, words[0]) },
};

static struct tap_tool record = {
	TAP_DEFAULTS("record"),
	TAP_PROBES(record_probes),
	TAP_COLUMNS(record_columns),
	.event_size = sizeof(struct record_event),
};
module_tap_stream(record, "an event at every system call, to measure what writing costs");
