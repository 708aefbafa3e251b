// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions are counted.
 *
 * A name, or a pattern, is one pass of the function tracer over all functions
 * (155 million instructions on 6.1, since it looks up each one's name), so there
 * are at most a few. A long list has addresses, as tapsym prints it, which are
 * set at once. They are the running kernel's: what is not where the list says is
 * left out.
 */
#include <linux/ctype.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "functioncallcount.h"

/* More functions than this slow the whole machine down, and want force=1. */
#define FUNCTIONCALLCOUNT_MANY 10000
/* Lines in the log about what is left out. */
#define FUNCTIONCALLCOUNT_LINES 8

/* The beginning of a message, as tap_param_set() writes it. */
static void functioncallcount_begin_why(const char *text, struct tap_text *why)
{
	tap_printf(why, "functions=%.64s%s: ", text,
		   strlen(text) > 64 ? "..." : "");
}

/* --- finding ----------------------------------------------------------- */

/* What is left out is said, but not a thousand times. */
static void functioncallcount_skip(struct functioncallcount_set *set,
				   const char *name, const char *why)
{
	if (set->skipped++ < FUNCTIONCALLCOUNT_LINES)
		pr_warn("functioncallcount: %s: %s: left out\n", name, why);
}

static u32 functioncallcount_found(const struct functioncallcount_set *set)
{
	const struct ftrace_hash *filter = tap_ftrace_filter(&set->ops);

	return filter ? filter->count : 0;
}

/* Names and patterns; the tracer writes into them. */
static int functioncallcount_set_names(struct functioncallcount_set *set,
				       char *list)
{
	bool reset = true;
	char *item;
	int err;

	while ((item = strsep(&list, ","))) {
		if (strchr(item, '@'))
			continue;
		err = ftrace_set_filter(&set->ops, item, strlen(item), reset);
		if (err == -EINVAL) {
			functioncallcount_skip(set, item,
					       "no function that can be traced");
			continue;
		}
		if (err)
			return err;
		/* when it runs out of memory it does not say so */
		if (!functioncallcount_found(set))
			return -ENOMEM;
		reset = false;
		cond_resched();
	}
	return 0;
}

/* The items with addresses: those that are where the list says. */
static u32 functioncallcount_find(struct functioncallcount_set *set, char *list,
				  unsigned long *ips)
{
	struct tap_symbol symbol;
	unsigned long last = 0;
	u32 nr = 0;
	char *item;

	while ((item = strsep(&list, ","))) {
		char *name = strsep(&item, "@");
		u64 address;

		if (!item)
			continue;
		if (kstrtou64(item + (*item == '+'), 16, &address))
			continue;
		if (*item == '+')
			address += last;
		last = address;
		memset(&symbol, 0, sizeof(symbol));
		tap_symbol_set(&symbol, address);
		if (strncmp(symbol.name, name, sizeof(symbol.name) - 1) ||
		    strcmp(symbol.offset, "0x0"))
			functioncallcount_skip(set, name,
					       "the running kernel has it somewhere else (tapsym finds it)");
		else
			ips[nr++] = address;
		cond_resched();
	}
	return nr;
}

/* One of them cannot be traced: try each. */
static u32 functioncallcount_try(struct functioncallcount_set *set,
				 unsigned long *ips, u32 nr)
{
	struct ftrace_ops ops = {};
	struct tap_symbol symbol;
	u32 i, good = 0;

	for (i = 0; i < nr; i++) {
		if (!ftrace_set_filter_ip(&ops, ips[i], 0, 1)) {
			ips[good++] = ips[i];
		} else {
			memset(&symbol, 0, sizeof(symbol));
			tap_symbol_set(&symbol, ips[i]);
			functioncallcount_skip(set, symbol.name,
					       "cannot be traced");
		}
		cond_resched();
	}
	tap_ftrace_free_filter(&ops);
	return good;
}

static int functioncallcount_set_addresses(struct functioncallcount_set *set,
					   char *list, bool reset)
{
	unsigned long *ips;
	u32 nr = 0;
	char *at;
	int err = 0;

	for (at = list; (at = strchr(at, '@')); at++)
		nr++;
	if (!nr)
		return 0;
	ips = kvcalloc(nr, sizeof(*ips), GFP_KERNEL);
	if (!ips)
		return -ENOMEM;
	nr = functioncallcount_find(set, list, ips);
	if (nr)
		err = tap_ftrace_set_filter_ips(&set->ops, ips, nr, reset);
	if (err && err != -ENOMEM && err != -ENODEV) {
		nr = functioncallcount_try(set, ips, nr);
		err = nr ? tap_ftrace_set_filter_ips(&set->ops, ips, nr, reset) : 0;
	}
	kvfree(ips);
	return err;
}

/* Fill the filter. It is not registered if it is empty: that means all functions. */
static int functioncallcount_set_filter(struct functioncallcount_set *set)
{
	size_t size = strlen(set->text) + 1;
	char *list = kvmalloc(size, GFP_KERNEL);
	int err;

	if (!list)
		return -ENOMEM;
	memcpy(list, set->text, size);
	err = functioncallcount_set_names(set, list);
	memcpy(list, set->text, size);
	if (!err)
		err = functioncallcount_set_addresses(set, list,
						      !functioncallcount_found(set));
	kvfree(list);
	if (set->skipped > FUNCTIONCALLCOUNT_LINES)
		pr_warn("functioncallcount: %u left out, all in all\n",
			set->skipped);
	return err;
}

/* --- names ------------------------------------------------------------- */

static int functioncallcount_compare(const void *a, const void *b,
				     const void *names)
{
	const struct functioncallcount_function *x = a;
	const struct functioncallcount_function *y = b;
	int diff = strcmp(names + x->name, names + y->name);

	return diff ?: (x->ip > y->ip) - (x->ip < y->ip);
}

static void functioncallcount_name(struct functioncallcount_set *set,
				   struct functioncallcount_function *function)
{
	struct tap_symbol symbol = {};

	tap_symbol_set(&symbol, function->ip);
	if (kstrtou8(symbol.offset, 0, &function->offset))
		function->offset = 0;
	function->name = set->names.len;
	tap_printf(&set->names, "%s%c%s%c", symbol.name, 0, symbol.module, 0);
}

/* What the tracer has found, in order of names. */
static int functioncallcount_set_list(struct functioncallcount_set *set)
{
	const struct ftrace_hash *filter = tap_ftrace_filter(&set->ops);
	struct ftrace_func_entry *entry;
	unsigned long i;
	u32 nr = 0;

	set->nr = filter->count;
	set->functions = kvcalloc(set->nr, sizeof(*set->functions), GFP_KERNEL);
	if (!set->functions)
		return -ENOMEM;
	tap_putc(&set->names, '\0');
	for (i = 0; i < 1ul << filter->size_bits; i++) {
		hlist_for_each_entry(entry, &filter->buckets[i], hlist) {
			if (nr == set->nr)
				return -EOPNOTSUPP;
			set->functions[nr].ip = entry->ip;
			functioncallcount_name(set, &set->functions[nr++]);
		}
		cond_resched();
	}
	if (set->names.failed)
		return -ENOMEM;
	if (nr != set->nr)
		return -EOPNOTSUPP;
	sort_r(set->functions, nr, sizeof(*set->functions),
	       functioncallcount_compare, NULL, set->names.buf);
	return 0;
}

int functioncallcount_set_shrink(struct functioncallcount_set *set)
{
	struct tap_text names = {};
	u32 i;

	tap_putc(&names, '\0');
	for (i = 0; i < set->nr; i++) {
		struct functioncallcount_function *function = &set->functions[i];
		const char *name = set->names.buf + function->name;
		const char *module = name + strlen(name) + 1;

		function->name = 0;
		if (!*module)
			continue;
		function->name = names.len;
		tap_printf(&names, "%s%c%s%c", name, 0, module, 0);
	}
	swap(set->names, names);
	tap_text_free(&names);
	return set->names.failed ? -ENOMEM : 0;
}

int functioncallcount_set_init(struct functioncallcount_set *set,
			       struct tap_text *why)
{
	int err;

	if (!set->text) {
		tap_printf(why, "functions=: it is needed, and %s",
			   functioncallcount_allowed);
		return -EINVAL;
	}
	err = functioncallcount_set_filter(set);
	if (err)
		goto err_fini;
	set->nr = functioncallcount_found(set);
	if (!set->nr) {
		functioncallcount_begin_why(set->text, why);
		tap_printf(why, "the running kernel has no such function that can be traced");
		err = -EINVAL;
	} else if (set->nr > FUNCTIONCALLCOUNT_MANY && !set->force) {
		functioncallcount_begin_why(set->text, why);
		tap_printf(why,
			   "these are %u functions, and to count so many slows the whole machine down: allowed with force=1",
			   set->nr);
		err = -EINVAL;
	} else {
		err = functioncallcount_set_list(set);
	}
	if (!err)
		err = functioncallcount_set_shrink(set);
	if (!err)
		return 0;
	if (err == -EOPNOTSUPP)
		tap_printf(why, "this kernel's function tracer keeps its filters in another way");

err_fini:
	if (err == -ENODEV)
		tap_printf(why,
			   "the kernel's function tracer is not there, or has switched itself off: needs CONFIG_DYNAMIC_FTRACE");
	functioncallcount_set_fini(set);
	return err == -ENODEV ? -EOPNOTSUPP : err;
}

/* The addresses in the filter, or those of them that stay. Returns how many. */
static u32 functioncallcount_ips(const struct ftrace_hash *filter,
				 bool (*stays)(unsigned long ip),
				 unsigned long *ips, u32 max)
{
	struct ftrace_func_entry *entry;
	unsigned long i;
	u32 nr = 0;

	for (i = 0; i < 1ul << filter->size_bits; i++) {
		hlist_for_each_entry(entry, &filter->buckets[i], hlist)
			/* 0: of a module that has gone while it was hooked */
			if (nr < max && entry->ip && stays(entry->ip))
				ips[nr++] = entry->ip;
		cond_resched();
	}
	return nr;
}

int functioncallcount_set_again(struct functioncallcount_set *set,
				bool (*stays)(unsigned long ip),
				struct tap_text *why)
{
	u32 nr = functioncallcount_found(set);
	unsigned long *ips;
	int err = 0;

	/* the kernel's own stay */
	if (set->names.len == 1)
		return 0;
	ips = kvcalloc(nr, sizeof(*ips), GFP_KERNEL);
	if (!ips)
		return -ENOMEM;
	set->nr = functioncallcount_ips(tap_ftrace_filter(&set->ops), stays, ips,
					nr);
	if (!set->nr) {
		tap_printf(why, "enabled=1: the modules whose functions were counted are gone");
		err = -EINVAL;
	} else {
		err = tap_ftrace_set_filter_ips(&set->ops, ips, set->nr, 1);
	}
	kvfree(ips);
	return err;
}

void functioncallcount_set_fini(struct functioncallcount_set *set)
{
	kvfree(set->functions);
	set->functions = NULL;
	tap_text_free(&set->names);
	tap_ftrace_free_filter(&set->ops);
}
