// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: probe - hooks by name, required or optional, counted where they miss
 *
 * Tracepoints are found by name, since most are not exported; their handlers
 * are checked by the compiler all the same (TAP_CHECK_TRACEPOINT()).
 *
 * Functions are hooked by the function tracer where it can: 99 instructions
 * for an entry against 154 for a kprobe (Linux 6.1, x86-64; 34 without the
 * guards asked for here), and nothing is missed; a kprobe that hits inside
 * another kprobe's handler is only counted.
 * Handlers are kept out of places where RCU does not watch: the tables and
 * filters they use live by RCU.
 *
 * Detaching waits until no handler runs or can still be entered.
 */
#include <linux/cpuhotplug.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/irq_regs.h>

#include "calls.h"
#include "ftrace.h"
#include "probe.h"

struct tap_timer {
	struct hrtimer timer;
	struct tap_probe *probe;
	ktime_t base;	/* the last whole period; the CPU's own, interrupts off */
	u32 random;	/* likewise */
};

/* --- tracepoints ------------------------------------------------------- */

struct tap_tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void tap_tracepoint_compare(struct tracepoint *tp, void *data)
{
	struct tap_tracepoint_search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

static int tap_tracepoint_attach(struct tap_probe *probe, const char *name)
{
	struct tap_tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(tap_tracepoint_compare, &search);
	if (!search.found)
		return -ENOENT;
	probe->tp = search.found;
	return tracepoint_probe_register(probe->tp, probe->tracepoint, probe->tool);
}

/* --- functions --------------------------------------------------------- */

static void notrace tap_function_ftrace(unsigned long ip, unsigned long parent,
					struct ftrace_ops *ops,
					struct tap_ftrace_regs *fregs)
{
	struct tap_probe *probe = ops->private;
	const struct tap_args args = { .fregs = fregs };

	probe->function(probe->tool, &args);
}

static int tap_function_kprobe(struct kprobe *kp, struct pt_regs *regs)
{
	struct tap_probe *probe = container_of(kp, struct tap_probe, kp);
	const struct tap_args args = { .regs = regs };

	probe->function(probe->tool, &args);
	return 0;
}
NOKPROBE_SYMBOL(tap_function_kprobe);

static int tap_function_attach_ftrace(struct tap_probe *probe, const char *name)
{
	if (!TAP_FTRACE_ARGS)
		return -EOPNOTSUPP;
	return tap_ftrace_attach(&probe->ops, name,
				 probe->bare ?: tap_function_ftrace, probe,
				 !probe->bare);
}

static int tap_function_attach(struct tap_probe *probe, const char *name)
{
	int err;

	probe->by_kprobe = false;
	err = tap_function_attach_ftrace(probe, name);
	if (!err || err == -ENOMEM)
		return err;
	probe->by_kprobe = true;
	probe->kp = (struct kprobe){
		.symbol_name = name,
		.pre_handler = tap_function_kprobe,
	};
	return register_kprobe(&probe->kp);
}

static void tap_function_detach(struct tap_probe *probe)
{
	if (probe->by_kprobe) {
		unregister_kprobe(&probe->kp);
		probe->missed += probe->kp.nmissed;
	} else {
		tap_ftrace_detach(&probe->ops);
	}
}

/* --- returns ----------------------------------------------------------- */

static struct tap_probe *tap_return_probe(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct tap_probe, rp);
}
NOKPROBE_SYMBOL(tap_return_probe);

static int tap_return_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tap_probe *probe = tap_return_probe(ri);
	const struct tap_args args = { .regs = regs };

	return !probe->entry(probe->tool, &args, ri->data);
}
NOKPROBE_SYMBOL(tap_return_entry);

static int tap_return_ret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tap_probe *probe = tap_return_probe(ri);

	probe->ret(probe->tool, ri->data, regs_return_value(regs));
	return 0;
}
NOKPROBE_SYMBOL(tap_return_ret);

static int tap_return_attach(struct tap_probe *probe, const char *name)
{
	probe->rp = (struct kretprobe){
		.kp.symbol_name = name,
		.handler = tap_return_ret,
		.entry_handler = probe->entry ? tap_return_entry : NULL,
		.data_size = probe->data_size,
		.maxactive = probe->maxactive,
	};
	return register_kretprobe(&probe->rp);
}

static u64 tap_return_missed(const struct tap_probe *probe)
{
	return probe->rp.nmissed + probe->rp.kp.nmissed;
}

/* The return probes of a list: a grace period for each sixteen. */
static void tap_returns_detach(struct tap_probe *probes, unsigned int nr)
{
	struct kretprobe *rps[16];
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		if (probes[i].type == TAP_RETURN && probes[i].bound) {
			WRITE_ONCE(probes[i].bound, NULL);
			rps[n++] = &probes[i].rp;
		}
		if (n < ARRAY_SIZE(rps) && i < nr - 1)
			continue;
		unregister_kretprobes(rps, n);
		while (n) {
			struct tap_probe *probe = container_of(rps[--n],
							       struct tap_probe, rp);

			probe->missed += tap_return_missed(probe);
		}
	}
}

/* --- timers ------------------------------------------------------------ */

/* The hotplug callbacks get no pointer; a tool has at most one timer. */
static struct tap_probe *tap_timer_probe;

/*
 * Up to a quarter of a period later than due, by chance: a sampler in step
 * with the kernel's tick would see always or never what the tick wakes.
 */
static ktime_t tap_timer_due(struct tap_timer *timer, u64 period)
{
	timer->random = timer->random * 1664525 + 1013904223;
	return ktime_add_ns(timer->base, period + ((u64)(timer->random >> 16) *
						   (period / 4) >> 16));
}

static enum hrtimer_restart tap_timer_fire(struct hrtimer *hrtimer)
{
	struct tap_timer *timer = container_of(hrtimer, struct tap_timer, timer);
	struct tap_probe *probe = timer->probe;
	u64 period = NSEC_PER_SEC / *probe->hz;
	u64 periods = 1;
	s64 since = ktime_to_ns(ktime_sub(hrtimer_cb_get_time(hrtimer), timer->base));

	/* a CPU that was away has several periods to account for */
	if (unlikely(since >= 2 * period))
		periods = div64_u64(since, period);
	timer->base = ktime_add_ns(timer->base, periods * period);
	probe->timer(probe->tool, get_irq_regs(), periods);
	hrtimer_set_expires(hrtimer, tap_timer_due(timer, period));
	return HRTIMER_RESTART;
}

static int tap_timer_online(unsigned int cpu)
{
	struct tap_probe *probe = tap_timer_probe;
	struct tap_timer *timer = per_cpu_ptr(probe->timers, cpu);

	timer->base = ktime_get();
	hrtimer_start(&timer->timer,
		      tap_timer_due(timer, NSEC_PER_SEC / *probe->hz),
		      HRTIMER_MODE_ABS_PINNED_HARD);
	return 0;
}

static int tap_timer_offline(unsigned int cpu)
{
	hrtimer_cancel(&per_cpu_ptr(tap_timer_probe->timers, cpu)->timer);
	return 0;
}

static int tap_timer_attach(struct tap_probe *probe)
{
	int cpu, state;

	if (tap_timer_probe)
		return -EBUSY;
	probe->timers = alloc_percpu(struct tap_timer);
	if (!probe->timers)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct tap_timer *timer = per_cpu_ptr(probe->timers, cpu);

		timer->probe = probe;
		get_random_bytes(&timer->random, sizeof(timer->random));
		hrtimer_setup(&timer->timer, tap_timer_fire, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_HARD);
	}
	tap_timer_probe = probe;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "tap/timer:online",
				  tap_timer_online, tap_timer_offline);
	if (state < 0) {
		tap_timer_probe = NULL;
		free_percpu(probe->timers);
		return state;
	}
	probe->cpuhp_state = state;
	return 0;
}

static void tap_timer_detach(struct tap_probe *probe)
{
	cpuhp_remove_state(probe->cpuhp_state);
	tap_timer_probe = NULL;
	free_percpu(probe->timers);
}

/* --- all of them ------------------------------------------------------- */

static int tap_probe_attach_name(struct tap_probe *probe, const char *name,
				 const char *tool_name, struct tap_text *why)
{
	switch (probe->type) {
	case TAP_TRACEPOINT:
		return tap_tracepoint_attach(probe, name);
	case TAP_FUNCTION:
		return tap_function_attach(probe, name);
	case TAP_RETURN:
		return tap_return_attach(probe, name);
	case TAP_CALLS:
		return tap_calls_attach(probe->calls, probe->tool, tool_name, why);
	case TAP_TIMER:
		return tap_timer_attach(probe);
	}
	return -EINVAL;
}

static int tap_probe_attach(struct tap_probe *probe, const char *tool_name,
			    struct tap_text *why)
{
	int err = -ENOENT;
	int i;

	for (i = 0; i < TAP_PROBE_NAMES && probe->name[i]; i++) {
		err = tap_probe_attach_name(probe, probe->name[i], tool_name, why);
		if (!err) {
			WRITE_ONCE(probe->bound, probe->name[i]);
			break;
		}
		if (err == -ENOMEM)
			break;
	}
	return err;
}

static void tap_probe_detach(struct tap_probe *probe)
{
	if (!probe->bound)
		return;
	/* tap_probes_missed() may count too little for a moment, never too much */
	WRITE_ONCE(probe->bound, NULL);
	switch (probe->type) {
	case TAP_TRACEPOINT:
		tracepoint_probe_unregister(probe->tp, probe->tracepoint,
					    probe->tool);
		break;
	case TAP_FUNCTION:
		tap_function_detach(probe);
		break;
	case TAP_RETURN:
		/* tap_returns_detach() came before */
		break;
	case TAP_CALLS:
		tap_calls_detach(probe->calls);
		break;
	case TAP_TIMER:
		tap_timer_detach(probe);
		break;
	}
}

int tap_probes_attach(struct tap_probe *probes, unsigned int nr,
		      struct tap_tool *tool, const char *name,
		      struct tap_text *why)
{
	unsigned int i;
	int err;

	for (i = 0; i < nr; i++) {
		struct tap_probe *probe = &probes[i];

		if (probe->when && !*probe->when)
			continue;
		probe->tool = tool;
		err = tap_probe_attach(probe, name, why);
		if (!err)
			continue;
		if (why->len) {
			/* it is the setting that is wrong, not the kernel */
			tap_probes_detach(probes, i);
			return err;
		}
		if (probe->without && err != -ENOMEM) {
			if (*probe->without)
				pr_warn("%s: %s cannot be probed on this kernel (error %d): %s\n",
					name, probe->name[0], err,
					probe->without);
			continue;
		}
		tap_printf(why, "%s cannot be probed on this kernel (error %d), needs %s",
			   probe->name[0], err, probe->needs);
		tap_probes_detach(probes, i);
		return err == -ENOMEM ? err : -EOPNOTSUPP;
	}
	return 0;
}

void tap_probes_detach(struct tap_probe *probes, unsigned int nr)
{
	tap_returns_detach(probes, nr);
	while (nr--)
		tap_probe_detach(&probes[nr]);
	/* the others have waited already; this one is for all tracepoints */
	tracepoint_synchronize_unregister();
}

u64 tap_probes_missed(const struct tap_probe *probes, unsigned int nr)
{
	u64 missed = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		missed += probes[i].missed;
		if (probes[i].type == TAP_CALLS)
			missed += tap_calls_missed(probes[i].calls);
		if (!READ_ONCE(probes[i].bound))
			continue;
		if (probes[i].type == TAP_RETURN)
			missed += tap_return_missed(&probes[i]);
		else if (probes[i].type == TAP_FUNCTION && probes[i].by_kprobe)
			missed += probes[i].kp.nmissed;
	}
	return missed;
}

void tap_probes_show(const struct tap_probe *probes, unsigned int nr,
		     struct tap_text *text)
{
	static const char *const types[] = {
		[TAP_TRACEPOINT] = "tracepoint",
		[TAP_FUNCTION] = "ftrace",
		[TAP_RETURN] = "kretprobe",
		[TAP_CALLS] = "kretprobes",
		[TAP_TIMER] = "hrtimer",
	};
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct tap_probe *probe = &probes[i];

		if (probe->bound && probe->type == TAP_CALLS)
			tap_calls_show(probe->calls, text);
		else if (probe->bound)
			tap_printf(text, "hook %s: %s\n", probe->bound,
				   probe->type == TAP_FUNCTION && probe->by_kprobe ?
				   "kprobe" : types[probe->type]);
		else if ((!probe->without || *probe->without) &&
			 (!probe->when || *probe->when))
			tap_printf(text, "hook %s: none\n", probe->name[0]);
	}
}
