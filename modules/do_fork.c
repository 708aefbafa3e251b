// SPDX-License-Identifier: GPL-2.0-only
/*
 * do_fork - how a process comes to be, stage by stage
 *
 * A group of lines is one process or thread that is created, or refused: the
 * system call, kernel_clone() (once do_fork()) with its arguments, how long each
 * stage took, and what is returned. With summary=1 it is a table of the stages.
 */
#include "do_fork.h"

bool do_fork_summary;
u32 do_fork_shown;
static char *do_fork_list;

/* --- settings ---------------------------------------------------------- */

static int do_fork_check_stages(const char *text, struct tap_text *why)
{
	return do_fork_parse(text, why) ? 0 : -EINVAL;
}

static int do_fork_apply_stages(struct tap_tool *tool, struct tap_text *why)
{
	WRITE_ONCE(do_fork_shown,
		   do_fork_list ? do_fork_parse(do_fork_list, why) : ~0u);
	return 0;
}

/* --- the tool ---------------------------------------------------------- */

/* Before all else: which kind of tool it is. */
static int do_fork_load(struct tap_text *why)
{
	struct tap_probe *probe;

	do_fork_apply_stages(&do_fork, why);
	for (probe = do_fork_probes;
	     probe < do_fork_probes + DO_FORK_PROBES; probe++)
		if (probe->type == TAP_RETURN)
			probe->maxactive = do_fork.inflight;
	if (do_fork_summary)
		do_fork_use_summary(&do_fork);
	else
		do_fork_use_events(&do_fork);
	return 0;
}

/* Children are many before they run, and their records small. */
static int do_fork_prepare(struct tap_tool *tool, struct tap_text *why)
{
	return tap_inflight_init(&do_fork_children, 4 * tool->inflight, 3 * sizeof(u64));
}

static void do_fork_attached(struct tap_tool *tool)
{
	WRITE_ONCE(do_fork_ready, true);
}

static void do_fork_end(struct tap_tool *tool)
{
	do_fork_ready = false;
	tap_inflight_fini(&do_fork_children);
}

static int do_fork_init_source(void)
{
	return 0;
}

static void do_fork_fini_source(void)
{
}

static u64 do_fork_lost(void)
{
	return tap_inflight_lost(&do_fork_children);
}

static const struct tap_source do_fork_source = {
	.init = do_fork_init_source,
	.fini = do_fork_fini_source,
	.lost = do_fork_lost,
};

struct tap_tool do_fork = {
	TAP_DEFAULTS("do_fork"),
	.probes = do_fork_probes,
	.nr_probes = DO_FORK_PROBES,
	.source = &do_fork_source,
	.layout = {
		.key_size = sizeof(struct do_fork_key),
		.nr_sums = DO_FORK_TIMES + TAP_TIMES_SUMS,
		.nr_maxima = 2,
	},
	.events = BIT(DO_FORK_COUNT),
	.inflight = 1024,
	.begun_size = sizeof(struct do_fork_begun),
	.load = do_fork_load,
	.prepare = do_fork_prepare,
	.begin = do_fork_attached,
	.end = do_fork_end,
	.keep_readers = true,
};
TAP_PARAM(summary, "1: a table of the stages: how many, how long; 0: events",
	  .type = TAP_PARAM_BOOL, .value = &do_fork_summary, .load_only = true);
TAP_PARAM(stages, "which stages are shown, names joined with commas; empty: all",
	  .type = TAP_PARAM_TEXT, .value = &do_fork_list,
	  .check = do_fork_check_stages, .apply = do_fork_apply_stages);
TAP_PARAM_INFLIGHT(do_fork, "creations");
TAP_TABLE_PARAMS(do_fork);
module_tap_stream(do_fork, "how a process comes to be, stage by stage");
