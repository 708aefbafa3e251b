// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: ftrace - the entry of one function, hooked by the function tracer
 *
 * The tracer is given an address. A name is looked for in all functions, and if
 * there is no memory for the one that is found, ftrace_set_filter() succeeds
 * with a filter that is empty, which stands for every function of the kernel
 * (match_records() in kernel/trace/ftrace.c, 6.1).
 */
#include <linux/kprobes.h>

#include "compat.h"
#include "ftrace.h"

/* Where a function begins, as a kprobe that is never armed finds it. */
static int tap_function_address(const char *name, unsigned long *address)
{
	struct kprobe kp = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	int err = register_kprobe(&kp);

	if (err)
		return err;
	*address = (unsigned long)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

int tap_ftrace_attach(struct ftrace_ops *ops, const char *name,
		      ftrace_func_t func, void *private, bool guarded)
{
	unsigned long address;
	int err;

	err = tap_function_address(name, &address);
	if (err)
		return err;
	*ops = (struct ftrace_ops){
		.func = func,
		.private = private,
		/* permanent: kernel.ftrace_enabled=0 is refused while it is on */
		.flags = TAP_FTRACE_FLAGS | FTRACE_OPS_FL_PERMANENT |
			 (guarded ? TAP_FTRACE_RECURSION | FTRACE_OPS_FL_RCU :
				    TAP_FTRACE_UNGUARDED),
	};
	err = ftrace_set_filter_ip(ops, address, 0, 1);
	if (err)
		return err;
	err = register_ftrace_function(ops);
	if (err)
		tap_ftrace_free_filter(ops);
	return err;
}

void tap_ftrace_detach(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	tap_ftrace_free_filter(ops);
}

int tap_ftrace_start(struct ftrace_ops *ops)
{
	/* permanent: kernel.ftrace_enabled=0 is refused while it is on */
	ops->flags |= FTRACE_OPS_FL_PERMANENT | TAP_FTRACE_UNGUARDED;
	return register_ftrace_function(ops);
}

void tap_ftrace_stop(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
}
