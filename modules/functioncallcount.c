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
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "functioncallcount.h"

static struct tap_tool functioncallcount;
static struct functioncallcount_set functioncallcount_set;
static unsigned int functioncallcount_sort;	/* 0: count, 1: name */
/* Calls that were not counted, each CPU's own. */
static DEFINE_PER_CPU(unsigned long, functioncallcount_unwatched);
/* A bit for each context in which the filter is asked, each CPU's own. */
static DEFINE_PER_CPU(u8, functioncallcount_asking);

/* --- handler ----------------------------------------------------------- */

/*
 * Does the filter want it? It may call what is counted, and that is not the
 * workload's: one such call in each context is answered, those within are not.
 */
static noinline notrace bool functioncallcount_wanted(void)
{
	u8 context = in_nmi() ? 8 : in_hardirq() ? 4 : in_serving_softirq() ? 2 : 1;
	bool wanted;

	if (__this_cpu_read(functioncallcount_asking) & context)
		return false;
	__this_cpu_or(functioncallcount_asking, context);
	barrier();
	wanted = tap_gate_slow(&functioncallcount, tap_current());
	barrier();
	__this_cpu_and(functioncallcount_asking, ~context);
	return wanted;
}

/*
 * The tracer's own guards would cost as much as all else. Without a filter
 * nothing is called here that could be traced.
 *
 * Context: any, NMI too; RCU may not watch.
 */
static void notrace functioncallcount_call(unsigned long ip, unsigned long parent,
					   struct ftrace_ops *ops,
					   struct tap_ftrace_regs *fregs)
{
	const u64 key = ip;

	preempt_disable_notrace();
	if (unlikely(!rcu_is_watching()))
		this_cpu_inc(functioncallcount_unwatched);
	else if (tap_gate_is_open(&functioncallcount.gate) ||
		 functioncallcount_wanted())
		tap_add(tap_row(&functioncallcount, &key), 0, 1);
	preempt_enable_notrace();
}

/* --- attach and detach ------------------------------------------------- */

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

/* Each function gets its row, before it is called. */
static void functioncallcount_rows(struct functioncallcount_set *set)
{
	u32 i, nr = min(set->nr, functioncallcount.layout.max_rows);

	for (i = 0; i < nr; i++) {
		const struct functioncallcount_function *function =
			&set->functions[i];
		const u64 key = function->ip;
		struct functioncallcount_attr *attr;

		preempt_disable_notrace();
		attr = tap_row(&functioncallcount, &key).attr;
		preempt_enable_notrace();
		*attr = (struct functioncallcount_attr){
			.rank = i,
			.name = function->name,
			.offset = function->offset,
		};
		cond_resched();
	}
	kvfree(set->functions);
	set->functions = NULL;
}

/* Is the function at an address still the one that the set was made with? */
static bool functioncallcount_stays(unsigned long ip)
{
	const u64 key = ip;
	struct functioncallcount_attr *attr;
	struct tap_symbol symbol = {};
	const char *name;

	tap_symbol_set(&symbol, ip);
	/* without an offset there is no symbol: the module is gone */
	if (!*symbol.module)
		return *symbol.offset;
	preempt_disable_notrace();
	attr = tap_row(&functioncallcount, &key).attr;
	preempt_enable_notrace();
	name = functioncallcount_set.names.buf + attr->name;
	return attr->name && !strcmp(symbol.name, name) &&
	       !strcmp(symbol.module, name + strlen(name) + 1);
}

static int functioncallcount_prepare(struct tap_tool *tool, struct tap_text *why)
{
	struct functioncallcount_set *set = &functioncallcount_set;
	int err;

	if (set->functions)
		functioncallcount_rows(set);
	err = set->fresh ? 0 :
	      functioncallcount_set_again(set, functioncallcount_stays, why);
	if (err)
		return err;
	set->fresh = false;
	set->ops.func = functioncallcount_call;
	/* permanent: kernel.ftrace_enabled=0 is refused while it is on */
	set->ops.flags |= FTRACE_OPS_FL_PERMANENT | TAP_FTRACE_UNGUARDED;
	err = register_ftrace_function(&set->ops);
	if (err)
		tap_printf(why,
			   "the function tracer cannot be used (error %d), needs kernel.ftrace_enabled=1",
			   err);
	return err;
}

static void functioncallcount_end(struct tap_tool *tool)
{
	/* waits until nobody is in the handler */
	unregister_ftrace_function(&functioncallcount_set.ops);
}

/* --- what is seen ------------------------------------------------------ */

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
static void functioncallcount_header(struct tap_text *text,
				     const struct tap_snapshot *snapshot)
{
}

static void functioncallcount_show(struct tap_text *text,
				   const struct tap_row *row,
				   const struct tap_snapshot *snapshot)
{
	const char *name = tap_row_mark(row), *module;
	struct tap_symbol symbol;

	if (!name)
		functioncallcount_symbol(row, &name, &module, &symbol);
	tap_printf(text, "%s %llu\n", name, row->sums[0]);
}

static void functioncallcount_stats(struct tap_tool *tool, struct tap_text *text)
{
	unsigned long unwatched = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		unwatched += per_cpu(functioncallcount_unwatched, cpu);
	tap_printf(text, "functions %u\nskipped %u\n", functioncallcount_set.nr,
		   functioncallcount_set.skipped);
	tap_printf(text,
		   "unwatched %lu (calls made where RCU does not watch, around idle, are not counted)\n",
		   unwatched);
	tap_printf(text, "hook functions: ftrace\n");
}

/* The heading is never shown: it says what rows are sorted by. */
static const struct tap_column functioncallcount_columns[] = {
	{ .head = "rank", .attr = 1,
	  TAP_AT(TAP_UINT, struct functioncallcount_attr, rank) },
	{ .json = "function", .name = 1, .type = TAP_FN,
	  .fn = functioncallcount_name },
	TAP_COLUMN_SUM(NULL, "count", 0, BIT(0)),
	{ .json = "module", .type = TAP_FN, .fn = functioncallcount_module },
	{ .json = "address", .type = TAP_FN, .fn = functioncallcount_address },
};

static int functioncallcount_apply_sort(struct tap_tool *tool,
					struct tap_text *why)
{
	tap_window_sort(&tool->window, functioncallcount_sort ? 0 : BIT(0));
	return 0;
}

static struct tap_tool functioncallcount = {
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
