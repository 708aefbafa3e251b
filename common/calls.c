// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: calls - entry and return of a set of functions, nested by thread
 *
 * Each function has a kretprobe: nothing else that a module can use sees a
 * return on every kernel. Its weak point is that a call takes an instance from
 * a fixed pool until it returns, and that a call which finds the pool empty is
 * not even reported at its entry. So the pool never gets empty: the calls in
 * flight are counted here, and the entry handler that finds as many as are to
 * be followed reports the entry, says that its return will not be seen, and
 * refuses the instance, which goes back at once. What the pool holds more than
 * that is for handlers that run at the same time on different CPUs.
 *
 * A thread that is in a call has a record with its depth and the time of its
 * outermost entry. Only the thread itself uses it; a softirq and a hard
 * interrupt have one for each CPU. A return takes depth and time from the
 * instance, so it says the same as its entry, and sets the record by them. A
 * call that is not followed does not count for the depth, so nothing drifts.
 * What can still leave a record behind is a thread that never returns (an oops
 * ends it), whose record is not taken for a later thread's (@born), and a
 * function that is left out while a thread is in it (@epoch).
 *
 * A kprobe that hits while another's handler runs on the same CPU is missed
 * and counted (kprobe_ftrace_handler()). That takes an interrupt at that very
 * moment. Functions that softirqs call are hooked by the function tracer, which
 * misses nothing, but sees no returns.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "calls.h"
#include "compat.h"
#include "ftrace.h"

/* A thread that is in a call, or an interrupt. */
struct tap_calls_thread {
	u64 born;	/* when the task began, ns since boot */
	u64 since;	/* the outermost entry */
	u32 depth;
	u32 epoch;
};

/* What an instance keeps between entry and return. */
struct tap_calls_data {
	struct tap_calls_thread *thread;
	u64 since;
	u32 depth;
	u32 epoch;
};

/* --- handlers ---------------------------------------------------------- */

static u64 tap_calls_key(const struct task_struct *task)
{
	/* nobody is a task at such an address */
	return task ? (uintptr_t)task :
		      smp_processor_id() * 2 + !!in_hardirq();
}

/*
 * The record of who runs, or NULL without room. It stays where it is until its
 * owner gives it back, which is at the return of its outermost call.
 */
static struct tap_calls_thread *
tap_calls_enter(struct tap_calls *calls, struct task_struct *task, u64 now)
{
	struct tap_calls_thread *thread;
	u64 born = task ? task->start_time : 0;

	thread = tap_inflight_own(&calls->threads, tap_calls_key(task));
	if (!thread)
		return NULL;
	if (thread->born != born || thread->epoch != READ_ONCE(calls->epoch))
		*thread = (struct tap_calls_thread){
			.born = born,
			.epoch = READ_ONCE(calls->epoch),
		};
	if (!thread->depth)
		thread->since = now;
	return thread;
}

static void tap_calls_leave(struct tap_calls *calls, struct task_struct *task,
			    struct tap_calls_thread *thread)
{
	struct tap_calls_thread gone;

	if (!thread->depth)
		tap_inflight_take(&calls->threads, tap_calls_key(task), &gone);
}

static bool tap_function_take(struct tap_function *function)
{
	if (atomic_inc_return(&function->open) <= function->room)
		return true;
	atomic_dec(&function->open);
	return false;
}

static struct tap_function *tap_function(struct kretprobe_instance *ri)
{
	return container_of(get_kretprobe(ri), struct tap_function, rp);
}
NOKPROBE_SYMBOL(tap_function);

/*
 * A call begins. With @data its return can be followed, and is if this returns
 * true.
 */
static bool tap_calls_begin(struct tap_function *function,
			    struct tap_calls_data *data)
{
	struct tap_calls *calls = function->calls;
	struct task_struct *task = tap_current();
	struct tap_calls_thread *thread;
	struct tap_call call = {
		.function = function - calls->functions,
		.depth = 1,
	};
	u64 now;

	if (unlikely(in_nmi()) || !calls->wanted(calls->tool, task))
		return false;
	now = ktime_get_mono_fast_ns();
	thread = tap_calls_enter(calls, task, now);
	if (likely(thread)) {
		call.elapsed_ns = now - thread->since;
		call.depth = thread->depth + 1;
		call.followed = data && tap_function_take(function);
	}
	if (likely(call.followed)) {
		thread->depth++;
		*data = (struct tap_calls_data){
			.thread = thread,
			.since = thread->since,
			.depth = thread->depth,
			.epoch = thread->epoch,
		};
	} else {
		if (data)
			atomic64_inc(&calls->unfollowed);
		if (thread)
			tap_calls_leave(calls, task, thread);
	}
	calls->event(calls->tool, task, &call);
	return call.followed;
}
NOKPROBE_SYMBOL(tap_calls_begin);

static void notrace tap_calls_entry_only(unsigned long ip, unsigned long parent,
					 struct ftrace_ops *ops,
					 struct tap_ftrace_regs *fregs)
{
	tap_calls_begin(ops->private, NULL);
}

static int tap_calls_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return !tap_calls_begin(tap_function(ri), (void *)ri->data);
}
NOKPROBE_SYMBOL(tap_calls_entry);

static int tap_calls_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tap_function *function = tap_function(ri);
	struct tap_calls *calls = function->calls;
	const struct tap_calls_data *data = (void *)ri->data;
	struct task_struct *task = tap_current();
	const struct tap_call call = {
		.elapsed_ns = ktime_get_mono_fast_ns() - data->since,
		.value = regs_return_value(regs),
		.function = function - calls->functions,
		.depth = data->depth,
		.returns = 1,
		.followed = 1,
	};

	atomic_dec(&function->open);
	/* else it is no longer this call's: functions were left out since */
	if (likely(data->thread->epoch == data->epoch)) {
		data->thread->depth = data->depth - 1;
		tap_calls_leave(calls, task, data->thread);
	}
	calls->event(calls->tool, task, &call);
	return 0;
}
NOKPROBE_SYMBOL(tap_calls_return);

/* --- which functions --------------------------------------------------- */

/* The next name of a list, and where the list goes on; its length. */
static size_t tap_calls_next(const char **list, const char **name)
{
	size_t len = strcspn(*list, ",");

	*name = *list;
	*list += len + ((*list)[len] == ',');
	return len;
}

static bool tap_calls_is(const struct tap_function *function, const char *name,
			 size_t len)
{
	if (!strncmp(function->name, name, len) && !function->name[len])
		return true;
	return function->alias && !strncmp(function->alias, name, len) &&
	       !function->alias[len];
}

static bool tap_calls_selected(const struct tap_calls *calls,
			       const struct tap_function *function)
{
	const char *list = calls->only;
	const char *name;
	size_t len;

	while (list && *list) {
		len = tap_calls_next(&list, &name);
		if (tap_calls_is(function, name, len))
			return true;
	}
	return !calls->only;
}

bool tap_calls_known(const struct tap_calls *calls, const char *only)
{
	const char *list = only;
	bool known = false;
	const char *name;
	size_t len, n;
	unsigned int i;

	do {
		len = tap_calls_next(&list, &name);
		for (n = 0; n < len; n++)
			if (!isalnum(name[n]) && name[n] != '_' && name[n] != '.')
				return false;
		for (i = 0; len && i < calls->nr; i++)
			known |= tap_calls_is(&calls->functions[i], name, len);
	} while (len && *list);
	/* each comma stands between two names */
	return known && len && list[-1] != ',';
}

/* Name those that this kernel lacks, or that were never in the set. */
static void tap_calls_warn(const struct tap_calls *calls)
{
	const char *list = calls->only;
	const char *name;
	unsigned int i;
	size_t len;

	while (list && *list) {
		len = tap_calls_next(&list, &name);
		for (i = 0; i < calls->nr; i++)
			if (calls->functions[i].attached &&
			    tap_calls_is(&calls->functions[i], name, len))
				break;
		if (i == calls->nr)
			pr_warn("%s: %.*s is no function that can be followed on this kernel: left out\n",
				calls->tool_name, (int)min_t(size_t, len, 64),
				name);
	}
}

/* --- attach and detach ------------------------------------------------- */

static int tap_function_attach_return(struct tap_function *function)
{
	unsigned int inflight = function->calls->inflight;
	int err;

	function->room = function->sleeps ? inflight : max(inflight / 4, 16u);
	atomic_set(&function->open, 0);
	function->rp = (struct kretprobe){
		.kp.symbol_name = function->name,
		.handler = tap_calls_return,
		.entry_handler = tap_calls_entry,
		.data_size = sizeof(struct tap_calls_data),
		/* a CPU is in one handler, or has one put back */
		.maxactive = function->room + 2 * num_possible_cpus(),
	};
	err = register_kretprobe(&function->rp);
	/*
	 * On x86 a breakpoint is entered like an NMI (exc_int3()), in which
	 * nothing can be told.
	 */
	if (!err && IS_ENABLED(CONFIG_KPROBES_ON_FTRACE) &&
	    !kprobe_ftrace(&function->rp.kp)) {
		unregister_kretprobe(&function->rp);
		err = -EOPNOTSUPP;
	}
	return err;
}

static int tap_function_attach(struct tap_calls *calls,
			       struct tap_function *function)
{
	int err;

	function->calls = calls;
	if (function->softirq)
		err = tap_ftrace_attach(&function->ops, function->name,
					tap_calls_entry_only, function, true);
	else
		err = tap_function_attach_return(function);
	if (err && err != -ENOENT && err != -ENOMEM)
		pr_warn("%s: %s cannot be probed on this kernel (error %d)\n",
			calls->tool_name, function->name, err);
	function->fresh = !err;
	WRITE_ONCE(function->attached, !err);
	return err;
}

static u64 tap_function_missed(const struct tap_function *function)
{
	if (function->softirq)
		return 0;
	return 2ull * (function->rp.nmissed + function->rp.kp.nmissed);
}

/* Detach all that are marked, with one grace period. */
static void tap_calls_leave_out(struct tap_calls *calls)
{
	struct tap_function *function, *end = calls->functions + calls->nr;
	unsigned int nr = 0;
	bool any = false;

	for (function = calls->functions; function < end; function++) {
		function->leaving &= function->attached;
		if (!function->leaving)
			continue;
		any = true;
		/* tap_calls_missed() may say too little, never too much */
		WRITE_ONCE(function->attached, false);
		if (function->softirq)
			tap_ftrace_detach(&function->ops);
		else
			calls->leaving[nr++] = &function->rp;
	}
	if (nr)
		unregister_kretprobes(calls->leaving, nr);
	for (function = calls->functions; function < end; function++)
		if (function->leaving)
			calls->missed += tap_function_missed(function);
	if (any)
		WRITE_ONCE(calls->epoch, calls->epoch + 1);
}

int tap_calls_select(struct tap_calls *calls, struct tap_text *why)
{
	unsigned int i, nr = 0;
	int err = 0;

	if (!calls->tool)
		return 0;
	for (i = 0; i < calls->nr && err != -ENOMEM; i++) {
		struct tap_function *function = &calls->functions[i];

		function->fresh = false;
		function->leaving = !tap_calls_selected(calls, function);
		if (!function->leaving && !function->attached)
			err = tap_function_attach(calls, function);
		nr += !function->leaving && function->attached;
	}
	if (err != -ENOMEM && nr) {
		tap_calls_warn(calls);
		tap_calls_leave_out(calls);
		return 0;
	}
	/* back to what it was; those behind the failure were not looked at */
	while (i--) {
		calls->functions[i].leaving = calls->functions[i].fresh;
		calls->functions[i].fresh = false;
	}
	tap_calls_leave_out(calls);
	if (err == -ENOMEM || !calls->only)
		return err ?: -ENOENT;
	tap_printf(why, "%.64s: there is no such function on this kernel",
		   calls->only);
	return -EINVAL;
}

static void tap_calls_free(struct tap_calls *calls)
{
	calls->tool = NULL;
	tap_inflight_fini(&calls->threads);
	kvfree(calls->leaving);
}

int tap_calls_attach(struct tap_calls *calls, struct tap_tool *tool,
		     const char *name, struct tap_text *why)
{
	int err = -ENOMEM;

	calls->tool = tool;
	calls->tool_name = name;
	memset(&calls->threads, 0, sizeof(calls->threads));
	calls->leaving = kvcalloc(calls->nr, sizeof(*calls->leaving), GFP_KERNEL);
	if (calls->leaving)
		err = tap_inflight_init(&calls->threads, 4 * calls->inflight,
					sizeof(struct tap_calls_thread));
	if (!err)
		err = tap_calls_select(calls, why);
	if (err)
		tap_calls_free(calls);
	return err;
}

void tap_calls_detach(struct tap_calls *calls)
{
	unsigned int i;

	for (i = 0; i < calls->nr; i++)
		calls->functions[i].leaving = true;
	tap_calls_leave_out(calls);
	tap_calls_free(calls);
}

/* --- what is seen of it ------------------------------------------------ */

u64 tap_calls_missed(const struct tap_calls *calls)
{
	u64 missed = calls->missed;
	unsigned int i;

	for (i = 0; i < calls->nr; i++)
		if (READ_ONCE(calls->functions[i].attached))
			missed += tap_function_missed(&calls->functions[i]);
	return missed;
}

void tap_calls_show(const struct tap_calls *calls, struct tap_text *text)
{
	size_t bytes = (size_t)calls->threads.nr * calls->threads.entry_size;
	unsigned int i;

	for (i = 0; i < calls->nr; i++) {
		const struct tap_function *function = &calls->functions[i];

		if (!function->attached)
			continue;
		tap_printf(text, "hook %s: %s\n", function->name,
			   function->softirq ? "ftrace" : "kretprobe");
		if (!function->softirq)
			bytes += function->rp.maxactive *
				 (sizeof(struct kretprobe_instance) +
				  function->rp.data_size);
	}
	tap_printf(text, "unfollowed %lld\ncalls_bytes %zu\n",
		   (s64)atomic64_read(&calls->unfollowed), bytes);
}

static bool tap_call_error(const struct tap_function *function,
			   const struct tap_call *call, long *number)
{
	*number = function->value == TAP_VALUE_INT ? (int)call->value :
						     (long)call->value;
	return call->returns && IS_ERR_VALUE(*number) &&
	       (function->value == TAP_VALUE_INT ||
		function->value == TAP_VALUE_LONG ||
		function->value == TAP_VALUE_POINTER);
}

void tap_call_value(const struct tap_function *function,
		    const struct tap_call *call, char *buf, size_t size)
{
	long number;

	*buf = '\0';
	if (!call->returns || function->value == TAP_VALUE_VOID)
		return;
	if (tap_call_error(function, call, &number))
		scnprintf(buf, size, "%ld", number);
	else if (function->value == TAP_VALUE_MASK)
		scnprintf(buf, size, "0x%x", (u32)number);
	else if (function->value == TAP_VALUE_BOOL)
		scnprintf(buf, size, "%d", (u8)number);
	else if (function->value == TAP_VALUE_POINTER && number)
		scnprintf(buf, size, "0x%pK", (void *)number);
	else
		scnprintf(buf, size, "%ld", number);
}

void tap_call_errno(const struct tap_function *function,
		    const struct tap_call *call, char *buf, size_t size)
{
	long number = 0;

	tap_errno(buf, size, tap_call_error(function, call, &number) ? number : 0);
	/* the number is there already */
	if (!isalpha(buf[0]))
		buf[0] = '\0';
}

void tap_call_text(struct tap_text *text, const struct tap_call *call,
		   const struct tap_names *names, bool escape)
{
	char name[TAP_ESCAPED(TASK_COMM_LEN)];

	if (escape)
		tap_escape(name, sizeof(name), names->thread, TASK_COMM_LEN);
	else
		strscpy(name, names->thread, TASK_COMM_LEN);
	tap_printf(text, "%6llu %s(%d):%*s",
		   div_u64(call->elapsed_ns, NSEC_PER_USEC), name, names->tid,
		   call->depth - 1, "");
}
