// SPDX-License-Identifier: GPL-2.0-only
/* functioncallcount's handler, and what it needs before the first call. */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "ftrace.h"
#include "functioncallcount.h"

/* Calls that were not counted, each CPU's own. */
static DEFINE_PER_CPU(unsigned long, functioncallcount_not_watched);
/* A bit for each context in which the filter is asked, each CPU's own. */
static DEFINE_PER_CPU(u8, functioncallcount_asking);

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
		this_cpu_inc(functioncallcount_not_watched);
	else if (tap_gate_is_open(&functioncallcount.gate) ||
		 functioncallcount_wanted())
		tap_add(tap_row(&functioncallcount, &key), 0, 1);
	preempt_enable_notrace();
}

unsigned long functioncallcount_unwatched(void)
{
	unsigned long calls = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		calls += per_cpu(functioncallcount_not_watched, cpu);
	return calls;
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

int functioncallcount_prepare(struct tap_tool *tool, struct tap_text *why)
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
	err = tap_ftrace_start(&set->ops);
	if (err)
		tap_printf(why,
			   "the function tracer cannot be used (error %d), needs kernel.ftrace_enabled=1",
			   err);
	return err;
}

void functioncallcount_end(struct tap_tool *tool)
{
	tap_ftrace_stop(&functioncallcount_set.ops);
}
