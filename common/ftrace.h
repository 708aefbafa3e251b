/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_FTRACE_H
#define TAP_FTRACE_H

#include <linux/ftrace.h>

/**
 * tap_ftrace_attach() - hook the entry of a function with the function tracer
 * @ops: filled in
 * @name: the function
 * @func: what is called, with the CPU pinned if @guarded
 * @private: for @func, as @private of its @ops
 * @guarded: called neither inside itself in one context nor where RCU does not
 *           watch; the tracer sees to it, with some 65 instructions a call
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOENT if there is no such function; another error if it cannot
 * be traced.
 */
int tap_ftrace_attach(struct ftrace_ops *ops, const char *name,
		      ftrace_func_t func, void *private, bool guarded);

/**
 * tap_ftrace_detach() - unhook it, and wait until nobody is in the function called
 * @ops: what tap_ftrace_attach() filled in
 *
 * Context: process context, may sleep.
 */
void tap_ftrace_detach(struct ftrace_ops *ops);

/**
 * tap_ftrace_start() - hook all functions of a filter
 * @ops: with a filter that is not empty, which would mean all functions, and a
 *       function that guards itself, as without @guarded above
 *
 * Context: process context, may sleep.
 * Return: 0, or an error: the tracer is switched off.
 */
int tap_ftrace_start(struct ftrace_ops *ops);

/**
 * tap_ftrace_stop() - unhook them, and wait until nobody is in the function called
 * @ops: what tap_ftrace_start() hooked; the filter stays
 *
 * Context: process context, may sleep.
 */
void tap_ftrace_stop(struct ftrace_ops *ops);

#endif /* TAP_FTRACE_H */
