// SPDX-License-Identifier: GPL-2.0-only
/*
 * floor - empty handlers where a tool has its own
 *
 * What an event costs with this module is the least that any module pays which
 * hooks the same places. It has no code in common with the tools. The number
 * of calls is not even counted.
 */
#include <linux/blkdev.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>	/* trace/events/block.h needs struct folio (7.x) */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>
#include <trace/events/net.h>
#include <trace/events/sched.h>
#include <trace/events/skb.h>
#include <trace/events/syscalls.h>
#include <trace/events/task.h>

#include "compat.h"

static char *hook;
module_param(hook, charp, 0400);
MODULE_PARM_DESC(hook, "sys_enter, sys_exit, sys_both: system calls; net: packets, and the sockets they come from and go to; drop: packets dropped; block: block I/O; accept: accepted connections; getppid: this system call's function; tcp: received TCP packets; getsockopt, notify_change: entry and return; fork: the stages of kernel_clone(); timer: 10000 times a second");

/* --- tracepoints ------------------------------------------------------- */

static void floor_sys_enter(void *data, struct pt_regs *regs, long nr)
{
}

static void floor_sys_exit(void *data, struct pt_regs *regs, long ret)
{
}

static void floor_xmit(void *data, struct sk_buff *skb, int rc,
		       struct net_device *dev, unsigned int len)
{
}

static void floor_recv(void *data, const struct sk_buff *skb)
{
}

static void floor_drop(void *data, TAP_KFREE_SKB_ARGS)
{
}

static void floor_request(void *data, struct request *rq)
{
}

static void floor_request_end(void *data, struct request *rq,
			      blk_status_t error, unsigned int bytes)
{
}

static void floor_bio(void *data, struct bio *bio)
{
}

static void floor_bio_split(void *data, struct bio *bio, unsigned int sector)
{
}

static void floor_bio_remap(void *data, struct bio *bio, dev_t dev, sector_t from)
{
}

static void floor_bio_end(void *data, struct request_queue *q, struct bio *bio)
{
}

static void floor_start(void *data, const struct sk_buff *skb,
			const struct net_device *dev)
{
}

static TAP_TASK_NEWTASK(floor_newtask)
{
}

static void floor_process(void *data, struct task_struct *parent,
			  struct task_struct *child)
{
}

struct floor_point {
	const char *hook;
	const char *name;
	void *handler;
	struct tracepoint *tp;
};

static struct floor_point floor_points[] = {
	{ "sys_enter", "sys_enter", floor_sys_enter },
	{ "sys_exit", "sys_exit", floor_sys_exit },
	{ "net", "net_dev_start_xmit", floor_start },
	{ "sys_both", "sys_enter", floor_sys_enter },
	{ "sys_both", "sys_exit", floor_sys_exit },
	{ "net", "net_dev_xmit", floor_xmit },
	{ "net", "napi_gro_receive_entry", floor_recv },
	{ "net", "napi_gro_frags_entry", floor_recv },
	{ "net", "netif_receive_skb_entry", floor_recv },
	{ "net", "netif_receive_skb_list_entry", floor_recv },
	{ "net", "netif_rx_entry", floor_recv },
	{ "drop", "kfree_skb", floor_drop },
	{ "fork", "task_newtask", floor_newtask },
	{ "fork", "sched_process_fork", floor_process },
	{ "block", "block_rq_issue", floor_request },
	{ "block", "block_rq_complete", floor_request_end },
	{ "block", "block_bio_queue", floor_bio },
	{ "block", "block_split", floor_bio_split },
	{ "block", "block_bio_remap", floor_bio_remap },
	{ "block", "block_bio_complete", floor_bio_end },
};

static void floor_find(struct tracepoint *tp, void *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(floor_points); i++)
		if (!strcmp(floor_points[i].hook, hook) &&
		    !strcmp(floor_points[i].name, tp->name))
			floor_points[i].tp = tp;
}

static void floor_detach_points(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(floor_points); i++)
		if (floor_points[i].tp)
			tracepoint_probe_unregister(floor_points[i].tp,
						    floor_points[i].handler, NULL);
	tracepoint_synchronize_unregister();
}

static int floor_attach_points(void)
{
	int i, err;

	for_each_kernel_tracepoint(floor_find, NULL);
	for (i = 0; i < ARRAY_SIZE(floor_points); i++) {
		struct floor_point *point = &floor_points[i];

		if (!point->tp)
			continue;
		err = tracepoint_probe_register(point->tp, point->handler, NULL);
		if (err) {
			point->tp = NULL;
			floor_detach_points();
			return err;
		}
	}
	return 0;
}

/* --- the entry of a function ------------------------------------------- */

static void notrace floor_function(unsigned long ip, unsigned long parent,
				   struct ftrace_ops *ops,
				   struct tap_ftrace_regs *fregs)
{
}

static struct ftrace_ops floor_ops = {
	.func = floor_function,
	.flags = TAP_FTRACE_FLAGS | TAP_FTRACE_RECURSION | FTRACE_OPS_FL_RCU,
};

static struct ftrace_ops floor_socket_ops = {
	.func = floor_function,
	.flags = TAP_FTRACE_FLAGS | TAP_FTRACE_UNGUARDED,
};

/* What a datagram passes: one that sends, one that receives, its socket. */
static int floor_attach_sockets(void)
{
	char send[] = "security_socket_sendmsg", recv[] = "security_socket_recvmsg";
	char filter[] = "sk_filter_trim_cap";
	int err = ftrace_set_filter(&floor_socket_ops, send, strlen(send), 1);

	err = err ?: ftrace_set_filter(&floor_socket_ops, recv, strlen(recv), 0);
	err = err ?: ftrace_set_filter(&floor_socket_ops, filter, strlen(filter), 0);
	return err ?: register_ftrace_function(&floor_socket_ops);
}

/* What that system call calls, without guards, too. */
static int floor_attach_getppid(void)
{
	char name[] = "__do_sys_getppid";
	int err = ftrace_set_filter(&floor_socket_ops, name, strlen(name), 1);

	return err ?: register_ftrace_function(&floor_socket_ops);
}

static int floor_attach_net(void)
{
	int err = floor_attach_sockets();

	if (err)
		return err;
	err = floor_attach_points();
	if (err)
		unregister_ftrace_function(&floor_socket_ops);
	return err;
}

static int floor_attach_function(void)
{
	/* the tracer writes into the name while it parses it */
	char accept[] = "__inet_accept", tcp[] = "tcp_v4_rcv";
	char copy[] = "setattr_copy";
	char *name = !strcmp(hook, "tcp") ? tcp :
		     !strcmp(hook, "notify_change") ? copy : accept;
	int err = ftrace_set_filter(&floor_ops, name, strlen(name), 1);

	return err ?: register_ftrace_function(&floor_ops);
}

/* --- entry and return of a function ------------------------------------ */

static int floor_kretprobe(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}
NOKPROBE_SYMBOL(floor_kretprobe);

static struct kretprobe floor_call = {
	.entry_handler = floor_kretprobe,
	.handler = floor_kretprobe,
	.maxactive = 16,
};

/* notify_change() calls setattr_copy(). */
static int floor_attach_call(void)
{
	bool both = !strcmp(hook, "notify_change");
	int err;

	floor_call.kp.symbol_name = both ? hook : !strcmp(hook, "fork") ?
				    "kernel_clone" : "__sys_getsockopt";
	err = register_kretprobe(&floor_call);
	if (err || !both)
		return err;
	err = floor_attach_function();
	if (err)
		unregister_kretprobe(&floor_call);
	return err;
}

static void floor_detach_call(void)
{
	if (!strcmp(hook, "notify_change"))
		unregister_ftrace_function(&floor_ops);
	unregister_kretprobe(&floor_call);
}

/* --- fork -------------------------------------------------------------- */

static struct ftrace_ops floor_fork_ops = {
	.func = floor_function,
	.flags = TAP_FTRACE_FLAGS | TAP_FTRACE_UNGUARDED,
};

static int floor_attach_fork(void)
{
	/* the tracer writes into the names while it parses them */
	static char names[][32] = {
		"arch_dup_task_struct", "copy_creds", "sched_fork", "perf_event_init_task",
		"security_task_alloc", "copy_semundo", "dup_fd", "copy_fs_struct",
		"dup_mmap", "copy_namespaces", "copy_thread", "alloc_pid",
		"cgroup_can_fork", "sched_cgroup_fork", "wake_up_new_task",
		"schedule_tail",
	};
	int i, err = 0;

	for (i = 0; i < ARRAY_SIZE(names) && !err; i++)
		err = ftrace_set_filter(&floor_fork_ops, names[i],
					strlen(names[i]), !i);
	err = err ?: register_ftrace_function(&floor_fork_ops);
	if (err)
		return err;
	err = floor_attach_call();
	if (err)
		goto err_unregister;
	err = floor_attach_points();
	if (err)
		goto err_detach_call;
	return 0;

err_detach_call:
	floor_detach_call();
err_unregister:
	unregister_ftrace_function(&floor_fork_ops);
	return err;
}

static void floor_detach_fork(void)
{
	floor_detach_points();
	floor_detach_call();
	unregister_ftrace_function(&floor_fork_ops);
}

/* --- timers ------------------------------------------------------------ */

#define FLOOR_PERIOD (NSEC_PER_SEC / 10000)

static DEFINE_PER_CPU(struct hrtimer, floor_timers);

static enum hrtimer_restart floor_fire(struct hrtimer *timer)
{
	hrtimer_add_expires_ns(timer, FLOOR_PERIOD);
	return HRTIMER_RESTART;
}

static void floor_start_timer(void *data)
{
	struct hrtimer *timer = this_cpu_ptr(&floor_timers);
	u64 now = ktime_get_ns();

	hrtimer_setup(timer, floor_fire, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
	/* half a period beside the kernel's tick, which would share the interrupt */
	hrtimer_start(timer, now - now % FLOOR_PERIOD + FLOOR_PERIOD * 3 / 2,
		      HRTIMER_MODE_ABS_PINNED_HARD);
}

static void floor_stop_timers(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		hrtimer_cancel(per_cpu_ptr(&floor_timers, cpu));
}

/* --- the one that was asked for ---------------------------------------- */

static int __init floor_init(void)
{
	unsigned int i;

	if (!hook)
		return -EINVAL;
	if (!strcmp(hook, "net"))
		return floor_attach_net();
	if (!strcmp(hook, "fork"))
		return floor_attach_fork();
	for (i = 0; i < ARRAY_SIZE(floor_points); i++)
		if (!strcmp(hook, floor_points[i].hook))
			return floor_attach_points();
	if (!strcmp(hook, "accept") || !strcmp(hook, "tcp"))
		return floor_attach_function();
	if (!strcmp(hook, "getppid"))
		return floor_attach_getppid();
	if (!strcmp(hook, "getsockopt") || !strcmp(hook, "notify_change"))
		return floor_attach_call();
	if (!strcmp(hook, "timer")) {
		on_each_cpu(floor_start_timer, NULL, 1);
		return 0;
	}
	return -EINVAL;
}
module_init(floor_init);

static void __exit floor_exit(void)
{
	if (!strcmp(hook, "accept") || !strcmp(hook, "tcp"))
		unregister_ftrace_function(&floor_ops);
	else if (!strcmp(hook, "getsockopt") || !strcmp(hook, "notify_change"))
		floor_detach_call();
	else if (!strcmp(hook, "timer"))
		floor_stop_timers();
	else if (!strcmp(hook, "fork"))
		floor_detach_fork();
	else
		floor_detach_points();
	if (!strcmp(hook, "net") || !strcmp(hook, "getppid"))
		unregister_ftrace_function(&floor_socket_ops);
}
module_exit(floor_exit);

MODULE_DESCRIPTION("empty handlers, to measure what hooks cost");
MODULE_LICENSE("GPL");
