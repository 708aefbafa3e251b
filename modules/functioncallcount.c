// SPDX-License-Identifier: GPL-2.0-only
/*
 * functioncallcount - how often functions of the kernel are called
 *
 * A line is one function of those that were asked for, and how often it was
 * called since load or reset, by whoever it was. Functions that were not called
 * are not shown. A copy that the compiler inlined is no call. Nor are calls
 * counted that are made where RCU does not watch, on the way into idle, since
 * filters live by RCU.
 */
#include "functioncallcount.h"

struct functioncallcount_set functioncallcount_set;
static unsigned int functioncallcount_sort;	/* 0: count, 1: name */

static int functioncallcount_load(struct tap_text *why)
{
	struct functioncallcount_set *set = &functioncallcount_set;
	int err;

	functioncallcount.sort = functioncallcount_sort ? 0 : BIT(0);
	err = functioncallcount_set_init(set, why);
	set->fresh = functioncallcount.enabled;
	if (!err && !functioncallcount.layout.max_rows)
		functioncallcount.layout.max_rows = max(set->nr + 1, 16u);
	return err;
}

static void functioncallcount_unload(void)
{
	functioncallcount_set_fini(&functioncallcount_set);
}

static int functioncallcount_apply_sort(struct tap_tool *tool,
					struct tap_text *why)
{
	tap_window_sort(&tool->window, functioncallcount_sort ? 0 : BIT(0));
	return 0;
}

struct tap_tool functioncallcount = {
	TAP_DEFAULTS("functioncallcount"),
	TAP_COLUMNS(functioncallcount_columns),
	.layout = {
		.key_size = sizeof(u64),
		.attr_size = sizeof(struct functioncallcount_attr),
		.nr_sums = 1,
		.stays = true,
	},
	.events = BIT(0),
	.load = functioncallcount_load,
	.unload = functioncallcount_unload,
	.prepare = functioncallcount_prepare,
	.end = functioncallcount_end,
	.stats = functioncallcount_stats,
	.header = functioncallcount_header,
	.show = functioncallcount_show,
	.keep_readers = true,
};

static const char *const functioncallcount_sorts[] = { "count", "name", NULL };
TAP_PARAM(functions,
	  "what is counted: names with * ? [] as in a shell, or name@address from tapsym, joined with commas",
	  .type = TAP_PARAM_TEXT, .value = &functioncallcount_set.text,
	  .check = functioncallcount_check, .load_only = true);
TAP_PARAM(force, "1 allows more functions than 10000, which slow the machine down",
	  .type = TAP_PARAM_BOOL, .value = &functioncallcount_set.force,
	  .load_only = true);
TAP_PARAM(sort, "count: the most called first; name: in order of names",
	  .type = TAP_PARAM_CHOICE, .value = &functioncallcount_sort,
	  .choices = functioncallcount_sorts,
	  .apply = functioncallcount_apply_sort);
module_tap_table(functioncallcount, "how often functions of the kernel are called");
