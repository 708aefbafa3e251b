/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_CALLS_H
#define TAP_CALLS_H

#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/types.h>

#include "fmt.h"
#include "inflight.h"
#include "who.h"

struct tap_calls;
struct tap_tool;

/**
 * enum tap_value - what a function returns
 * @TAP_VALUE_VOID: nothing
 * @TAP_VALUE_INT: an int, an error if negative
 * @TAP_VALUE_LONG: a long or ssize_t, an error if negative
 * @TAP_VALUE_POINTER: a pointer, or an ERR_PTR()
 * @TAP_VALUE_MASK: an unsigned int of bits
 * @TAP_VALUE_BOOL: a bool
 */
enum tap_value {
	TAP_VALUE_VOID,
	TAP_VALUE_INT,
	TAP_VALUE_LONG,
	TAP_VALUE_POINTER,
	TAP_VALUE_MASK,
	TAP_VALUE_BOOL,
};

/**
 * struct tap_function - a function whose calls are followed
 * @name: what the running kernel calls it
 * @alias: what it is known as whatever the kernel; NULL: @name
 * @value: what it returns, of enum tap_value
 * @sleeps: many threads can be in it at once, for any time
 * @softirq: softirqs call it; only its entry is told
 */
struct tap_function {
	const char *name;
	const char *alias;
	u8 value;
	bool sleeps;
	bool softirq;
	/* private: */
	union {
		struct kretprobe rp;
		struct ftrace_ops ops;	/* @softirq */
	};
	struct tap_calls *calls;
	atomic_t open;		/* calls in flight that are followed */
	int room;		/* how many may be */
	bool attached;
	bool fresh;		/* attached by the change that is being made */
	bool leaving;		/* to be detached */
};

/**
 * struct tap_call - a call begins or returns
 * @elapsed_ns: since the outermost entry of the thread
 * @value: what is returned, as wide as a register; 0 at entry
 * @function: index of the function
 * @depth: calls that the thread is in, this one included
 * @returns: 0: it begins, 1: it returns
 * @followed: 0: there will be no event of its return
 */
struct tap_call {
	u64 elapsed_ns;
	u64 value;
	u16 function;
	u16 depth;
	u16 returns;
	u16 followed;
};

/**
 * struct tap_calls - a set of functions whose entries and returns are followed
 * @functions: the functions, of which a kernel may lack some
 * @nr: how many, at most 65536
 * @wanted: a call begins: is it wanted? @task is current, or NULL in interrupt
 *          context
 * @event: tell it. Its return is told whatever @wanted would say by then
 * @inflight: calls that are followed at the same time in each function that
 *            @sleeps; a quarter of it, but at least 16, in others
 * @only: names or aliases joined with commas; NULL: all functions
 *
 * Handlers run with the CPU pinned, in any context but an NMI.
 */
struct tap_calls {
	struct tap_function *functions;
	unsigned int nr;
	bool (*wanted)(struct tap_tool *tool, struct task_struct *task);
	void (*event)(struct tap_tool *tool, struct task_struct *task,
		      const struct tap_call *call);
	unsigned int inflight;
	char *only;
	/* private: */
	struct tap_tool *tool;		/* NULL: not attached */
	const char *tool_name;
	struct kretprobe **leaving;	/* room for detaching them all at once */
	struct tap_inflight threads;	/* those that are in a call */
	u32 epoch;			/* changes when functions are left out */
	atomic64_t unfollowed;
	u64 missed;			/* by probes that are gone */
};

/**
 * tap_calls_known() - is this a list of functions with at least one of the set?
 * @calls: the set
 * @only: names or aliases joined with commas
 *
 * Return: false if not, or if it is no such list at all.
 */
bool tap_calls_known(const struct tap_calls *calls, const char *only);

/**
 * tap_calls_attach() - follow the functions that @only names
 * @calls: the set
 * @tool: what handlers get
 * @name: the tool's name, for the log
 * @why: gets a line if none of them is on this kernel
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if @only has none of this kernel; -ENOENT if the set has
 * none; -ENOMEM. After an error nothing is attached.
 */
int tap_calls_attach(struct tap_calls *calls, struct tap_tool *tool,
		     const char *name, struct tap_text *why);

/**
 * tap_calls_detach() - follow nothing, and wait until no handler runs
 * @calls: the set, attached
 *
 * A thread that is in a call returns as if it had never been followed.
 *
 * Context: process context, may sleep.
 */
void tap_calls_detach(struct tap_calls *calls);

/**
 * tap_calls_select() - @only has changed
 * @calls: the set, attached or not
 * @why: gets a line if it is refused
 *
 * What stays is followed without a gap.
 *
 * Context: process context, may sleep.
 * Return: 0, or what tap_calls_attach() returns, and then nothing has changed.
 */
int tap_calls_select(struct tap_calls *calls, struct tap_text *why);

/**
 * tap_calls_missed() - events that a probe could not report
 * @calls: the set
 *
 * While functions are being detached the number may be too small.
 *
 * Context: process context.
 * Return: two for each call that a probe missed, since load.
 */
u64 tap_calls_missed(const struct tap_calls *calls);

/**
 * tap_calls_show() - what is followed on this kernel
 * @calls: the set, attached
 * @text: where to
 *
 * Context: process context, may sleep, not at the same time as attach and
 * detach.
 */
void tap_calls_show(const struct tap_calls *calls, struct tap_text *text);

/**
 * tap_call_value() - write what a function returned
 * @function: the function
 * @call: the call
 * @buf: gets a number, an address as the reader may see it, or nothing
 * @size: bytes at @buf
 */
void tap_call_value(const struct tap_function *function,
		    const struct tap_call *call, char *buf, size_t size);

/**
 * tap_call_errno() - write the name of the error that a function returned
 * @function: the function
 * @call: the call
 * @buf: gets the name, or nothing
 * @size: bytes at @buf
 */
void tap_call_errno(const struct tap_function *function,
		    const struct tap_call *call, char *buf, size_t size);

/**
 * tap_call_text() - begin a line: the time, the thread, and a blank for each
 * call that it was in already
 * @text: where to
 * @call: the call
 * @names: of the thread
 * @escape: names are escaped
 *
 * Context: process context, may sleep.
 */
void tap_call_text(struct tap_text *text, const struct tap_call *call,
		   const struct tap_names *names, bool escape);

#endif /* TAP_CALLS_H */
