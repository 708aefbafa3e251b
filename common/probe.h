/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_PROBE_H
#define TAP_PROBE_H

#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/types.h>

#include "compat.h"
#include "fmt.h"

struct tap_calls;
struct tap_tool;
struct tracepoint;

/**
 * struct tap_args - the arguments of a probed function
 * @fregs: where they are, if the function tracer called
 * @regs: where they are, if a kprobe called
 */
struct tap_args {
	struct tap_ftrace_regs *fregs;
	struct pt_regs *regs;
};

/**
 * tap_arg() - one argument of a probed function
 * @args: the arguments
 * @n: which one, 0 to 5
 *
 * Context: in the handler.
 * Return: the argument, as wide as a register.
 */
static __always_inline unsigned long tap_arg(const struct tap_args *args,
					     unsigned int n)
{
	if (args->fregs)
		return tap_ftrace_argument(args->fregs, n);
	return regs_get_kernel_argument(args->regs, n);
}

/**
 * enum tap_probe_type - what is hooked
 * @TAP_TRACEPOINT: a tracepoint of the kernel, called @name
 * @TAP_FUNCTION: the entry of a function; the function tracer where it can, a
 *                kprobe where it cannot
 * @TAP_RETURN: entry and return of a function, by a kretprobe. Its pool is
 *              limited: a function that sleeps wants other means
 * @TAP_CALLS: entry and return of a set of functions, see struct tap_calls
 * @TAP_TIMER: a timer on each online CPU
 */
enum tap_probe_type {
	TAP_TRACEPOINT,
	TAP_FUNCTION,
	TAP_RETURN,
	TAP_CALLS,
	TAP_TIMER,
};

/* How many names of a function or tracepoint are tried. */
#define TAP_PROBE_NAMES 4

/**
 * struct tap_probe - one hook
 * @type: what is hooked
 * @name: its names on the kernels that tap knows, the first that there is
 * @needs: the kernel option without which there is none
 * @without: NULL if the tool is no use without it, else what is then missing;
 *           empty if it is only on kernels that need it
 * @bare: TAP_FUNCTION: @function as TAP_BARE() makes it for the function tracer.
 *        NULL: with the tracer's guards
 * @when: attached only if this setting is on; NULL: always
 * @tracepoint: TAP_TRACEPOINT: gets the tool and the tracepoint's arguments;
 *              checked by TAP_CHECK_TRACEPOINT()
 * @function: TAP_FUNCTION: called at entry
 * @entry: TAP_RETURN: called at entry with @data_size bytes that are kept for
 *         @ret; false: this call is of no interest. May be NULL
 * @ret: TAP_RETURN: called at return
 * @data_size: TAP_RETURN: bytes that @entry and @ret share
 * @maxactive: TAP_RETURN: calls that can be followed at the same time
 * @calls: TAP_CALLS: the set, which @name stands for
 * @timer: TAP_TIMER: called with the interrupted registers and the number of
 *         periods since the last call on this CPU
 * @hz: TAP_TIMER: how often
 *
 * Handlers run in the context of what they hook, in NMIs too, and must not
 * sleep, allocate or take sleeping locks; the CPU may or may not be pinned, so
 * they use what is per CPU between tap_begin() and tap_end().
 */
struct tap_probe {
	enum tap_probe_type type;
	const char *name[TAP_PROBE_NAMES];
	const char *needs;
	const char *without;
	ftrace_func_t bare;
	const bool *when;
	union {
		void *tracepoint;
		void (*function)(struct tap_tool *tool, const struct tap_args *args);
		struct {
			bool (*entry)(struct tap_tool *tool,
				      const struct tap_args *args, void *data);
			void (*ret)(struct tap_tool *tool, void *data,
				    unsigned long value);
			size_t data_size;
			int maxactive;
		};
		struct tap_calls *calls;
		struct {
			void (*timer)(struct tap_tool *tool, struct pt_regs *regs,
				      u64 periods);
			const unsigned int *hz;
		};
	};
	/* private: */
	struct tap_tool *tool;
	const char *bound;	/* the name that was hooked, NULL: not attached */
	bool by_kprobe;
	u64 missed;		/* hits missed by kprobes that are gone */
	union {
		struct tracepoint *tp;
		struct ftrace_ops ops;
		struct kprobe kp;
		struct kretprobe rp;
		struct {
			struct tap_timer __percpu *timers;
			int cpuhp_state;
		};
	};
};

/* A hook on a tracepoint; see struct tap_probe for the last two. */
#define TAP_PROBE(event, handler, option, otherwise)			\
	{ .type = TAP_TRACEPOINT, .name = { event }, .tracepoint = (handler),	\
	  .needs = (option), .without = (otherwise) }

/*
 * Let the compiler compare a handler with the tracepoint's prototype. The
 * check is the kernel's own, from trace/events/, and costs nothing.
 */
#define TAP_CHECK_TRACEPOINT(event, handler)				\
	static void __maybe_unused tap_check_##event##_##handler(void)		\
	{									\
		check_trace_callback_type_##event(handler);			\
	}									\
	static void __maybe_unused tap_check_##event##_##handler(void)

/*
 * A handler of a function's entry, called NAME, for where there are many calls:
 * NAME_bare is what the function tracer calls, without its guards and with
 * @body inlined, 90 instructions less. Nobody may call the function from an
 * NMI or where RCU does not watch, and the handler nothing that leads to it.
 */
#define TAP_BARE(name, body)						\
	void name(struct tap_tool *tool, const struct tap_args *args)		\
	{									\
		body(tool, args);							\
	}									\
	void notrace name##_bare(unsigned long ip, unsigned long parent,	\
				 struct ftrace_ops *ops,			\
				 struct tap_ftrace_regs *fregs)			\
	{									\
		const struct tap_probe *probe = ops->private;			\
		const struct tap_args args = { .fregs = fregs };		\
										\
		body(probe->tool, &args);					\
	}									\
	void notrace name##_bare(unsigned long ip, unsigned long parent,	\
				 struct ftrace_ops *ops,			\
				 struct tap_ftrace_regs *fregs)

/* Its declaration. */
#define TAP_BARE_HANDLER(name)						\
	void name(struct tap_tool *tool, const struct tap_args *args);		\
	void name##_bare(unsigned long ip, unsigned long parent,		\
			 struct ftrace_ops *ops, struct tap_ftrace_regs *fregs)

/**
 * tap_probes_attach() - hook everything in a list
 * @probes: the list
 * @nr: how many
 * @tool: what handlers get
 * @name: the tool's name, for the log
 * @why: gets one line if something required is missing
 *
 * What is optional and missing is named in the log. After an error nothing is
 * attached.
 *
 * Context: process context, may sleep.
 * Return: 0, -EOPNOTSUPP if this kernel lacks something, or another error.
 */
int tap_probes_attach(struct tap_probe *probes, unsigned int nr,
		      struct tap_tool *tool, const char *name,
		      struct tap_text *why);

/**
 * tap_probes_detach() - unhook everything, and wait until no handler runs
 * @probes: the list, attached or not
 * @nr: how many
 *
 * Context: process context, may sleep.
 */
void tap_probes_detach(struct tap_probe *probes, unsigned int nr);

/**
 * tap_probes_missed() - hits that a kprobe or kretprobe could not report
 * @probes: the list
 * @nr: how many
 *
 * While hooks are being detached the number may be too small.
 *
 * Context: process context.
 * Return: the number since load.
 */
u64 tap_probes_missed(const struct tap_probe *probes, unsigned int nr);

/**
 * tap_probes_show() - one line for each hook: what, and how on this kernel
 * @probes: the list
 * @nr: how many
 * @text: where to
 *
 * Context: process context, may sleep, not at the same time as attach and
 * detach.
 */
void tap_probes_show(const struct tap_probe *probes, unsigned int nr,
		     struct tap_text *text);

#endif /* TAP_PROBE_H */
