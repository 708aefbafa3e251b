// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which process a socket belongs to.
 *
 * A socket may be held by many processes (fork, SCM_RIGHTS) and by none, and
 * says nothing of them. Its owner is who used it last, so all ways to use one
 * are hooked: the functions by which the kernel asks security modules, which
 * are real functions on all kernels, called by system calls, io_uring, splice
 * and kernel threads alike; and the two ways around them.
 *
 *	made		security_socket_post_create, security_sk_clone
 *	used		security_socket_{connect,accept,sendmsg,recvmsg}, ...
 *	gone		security_sk_free, from where its memory is freed
 *	received	sk_filter_trim_cap: each packet passes here once its
 *			socket is found, whatever the protocol, before it waits
 *			for whoever has locked the socket
 *
 * A TCP socket in TIME_WAIT is no full socket and may live for a minute: what
 * comes then is looked up by its addresses among the last ones that went there.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/inet_timewait_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "nettop.h"
#include "nettop_socket.h"

/* Sockets in TIME_WAIT that are remembered; a newer one takes an older's place. */
#define NETTOP_CLOSED 1024

struct tap_owners nettop_owners;
static struct tap_inflight nettop_closed;	/* of those in TIME_WAIT, the last ones */

DEFINE_PER_CPU(const void *, nettop_socket_last);

/* --- users ------------------------------------------------------------- */

/* Those of the others that there are many of send nothing through devices. */
static bool nettop_socket_matters(const struct sock *sk)
{
	return sk->sk_family != AF_UNIX && sk->sk_family != AF_NETLINK;
}

static noinline void nettop_socket_taken(struct tap_tool *tool,
					 const struct sock *sk)
{
	preempt_disable_notrace();
	tap_owner_use(&nettop_owners, sk, current, READ_ONCE(tool->by_thread),
		      &tool->gate);
	preempt_enable_notrace();
}

/* int security_socket_sendmsg(sock, ...) and others */
static __always_inline void nettop_handle_used(struct tap_tool *tool,
					       const struct tap_args *args)
{
	const struct socket *sock = (void *)tap_arg(args, 0);
	const struct sock *sk = READ_ONCE(sock->sk);
	bool same;

	/* what a softirq uses is not used by who is interrupted */
	if (unlikely(!in_task()) || unlikely(!sk) || !nettop_socket_matters(sk))
		return;
	preempt_disable_notrace();
	same = tap_owner_is(&nettop_owners, sk, current,
			    READ_ONCE(tool->by_thread), &tool->gate);
	preempt_enable_notrace();
	if (unlikely(!same))
		nettop_socket_taken(tool, sk);
}
TAP_BARE(nettop_socket_used, nettop_handle_used);

/* int security_socket_post_create(sock, family, type, protocol, kern) */
void nettop_socket_made(struct tap_tool *tool, const struct tap_args *args)
{
	const struct socket *sock = (void *)tap_arg(args, 0);
	const struct sock *sk = READ_ONCE(sock->sk);
	struct task_struct *task = tap_current();

	/* what the kernel makes (kern) is whose who happens to need it first */
	if (!task || (int)tap_arg(args, 4) || !sk || !nettop_socket_matters(sk))
		return;
	preempt_disable_notrace();
	tap_owner_first(&nettop_owners, sk, task, READ_ONCE(tool->by_thread),
			&tool->gate);
	preempt_enable_notrace();
}

/* void security_sk_clone(sk, newsk) */
void nettop_socket_cloned(struct tap_tool *tool, const struct tap_args *args)
{
	preempt_disable_notrace();
	tap_owner_inherit(&nettop_owners, (void *)tap_arg(args, 1),
			  (void *)tap_arg(args, 0));
	preempt_enable_notrace();
}

/* void security_sk_free(sk) */
void nettop_socket_freed(struct tap_tool *tool, const struct tap_args *args)
{
	preempt_disable_notrace();
	tap_owner_forget(&nettop_owners, (void *)tap_arg(args, 0));
	preempt_enable_notrace();
}

/* --- TIME_WAIT --------------------------------------------------------- */

static u64 nettop_flow_mix(u64 hash, u64 word)
{
	return (hash ^ (hash >> 32) ^ word) * 0x9e3779b97f4a7c15ull;
}

/* One number for a connection, seen from here. IPv4 addresses as IPv6 maps them. */
static u64 nettop_flow(const struct net *net, const struct in6_addr *here,
		       const struct in6_addr *there, __be16 port_here,
		       __be16 port_there)
{
	u64 hash = (unsigned long)net;
	int i;

	for (i = 0; i < 4; i++)
		hash = nettop_flow_mix(hash,
				       (u64)be32_to_cpu(here->s6_addr32[i]) << 32 |
				       be32_to_cpu(there->s6_addr32[i]));
	return nettop_flow_mix(hash, (u32)be16_to_cpu(port_here) << 16 |
			       be16_to_cpu(port_there));
}

/* Of a TCP socket, or what is left of one in TIME_WAIT. */
static u64 nettop_flow_of_sock(const struct sock_common *c)
{
	struct in6_addr here, there;

#if IS_ENABLED(CONFIG_IPV6)
	if (c->skc_family == AF_INET6)
		return nettop_flow(read_pnet(&c->skc_net), &c->skc_v6_rcv_saddr,
				&c->skc_v6_daddr, htons(c->skc_num),
				c->skc_dport);
#endif
	ipv6_addr_set_v4mapped(c->skc_rcv_saddr, &here);
	ipv6_addr_set_v4mapped(c->skc_daddr, &there);
	return nettop_flow(read_pnet(&c->skc_net), &here, &there, htons(c->skc_num),
			c->skc_dport);
}

/* Of a packet that is sent. False: it is not TCP, or its headers are not there. */
static bool nettop_flow_of_sent(const struct sk_buff *skb, u64 *flow)
{
	const unsigned char *end = skb_tail_pointer(skb);
	const struct tcphdr *th = (void *)skb_transport_header(skb);
	struct in6_addr here, there;

	if (!skb->dev || !skb_transport_header_was_set(skb) ||
	    (unsigned char *)(th + 1) > end)
		return false;
	if (skb->protocol == htons(ETH_P_IP)) {
		if (ip_hdr(skb)->protocol != IPPROTO_TCP)
			return false;
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &here);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &there);
	} else if (skb->protocol == htons(ETH_P_IPV6)) {
		if (ipv6_hdr(skb)->nexthdr != IPPROTO_TCP)
			return false;
		here = ipv6_hdr(skb)->saddr;
		there = ipv6_hdr(skb)->daddr;
	} else {
		return false;
	}
	*flow = nettop_flow(dev_net(skb->dev), &here, &there, th->source, th->dest);
	return true;
}

/* void tcp_time_wait(sk, state, timeo) */
void nettop_socket_closed(struct tap_tool *tool, const struct tap_args *args)
{
	const struct sock *sk = (void *)tap_arg(args, 0);
	struct tap_owned owned;

	preempt_disable_notrace();
	if (tap_owner_get(&nettop_owners, sk, &tool->gate, &owned)) {
		owned.tag = nettop_flow_of_sock(&sk->__sk_common);
		tap_inflight_put(&nettop_closed, owned.tag % NETTOP_CLOSED, &owned);
	}
	preempt_enable_notrace();
}

/* A filter that is newer than the socket's last use cannot be asked any more. */
static bool nettop_late(struct tap_tool *tool, u64 flow, struct tap_owned *owned)
{
	if (!tap_inflight_peek(&nettop_closed, flow % NETTOP_CLOSED, owned) ||
	    owned->tag != flow)
		return false;
	if (owned->round != tap_gate_round(&tool->gate))
		owned->wanted = tap_gate_is_open(&tool->gate);
	return true;
}

bool nettop_late_sender(struct tap_tool *tool, const struct sk_buff *skb,
			struct tap_owned *owned)
{
	u64 flow;

	return nettop_flow_of_sent(skb, &flow) && nettop_late(tool, flow, owned);
}

bool nettop_late_receiver(struct tap_tool *tool, const struct sock *sk,
			  struct tap_owned *owned)
{
	return nettop_late(tool, nettop_flow_of_sock(&sk->__sk_common), owned);
}

/* --- life -------------------------------------------------------------- */

void nettop_sockets_fini(void)
{
	tap_inflight_fini(&nettop_closed);
	tap_owners_fini(&nettop_owners);
}

int nettop_sockets_init(unsigned int max)
{
	int err = tap_owners_init(&nettop_owners, max);

	if (!err)
		err = tap_inflight_init(&nettop_closed, NETTOP_CLOSED,
					sizeof(struct tap_owned));
	if (err)
		nettop_sockets_fini();
	return err;
}

struct nettop_walk {
	struct tap_tool *tool;
	struct task_struct *task;
};

static int nettop_walk_file(const void *data, struct file *file, unsigned int fd)
{
	const struct nettop_walk *walk = data;
	struct socket *sock = tap_sock_from_file(file);
	const struct sock *sk = sock ? READ_ONCE(sock->sk) : NULL;

	if (sk && nettop_socket_matters(sk)) {
		preempt_disable_notrace();
		tap_owner_first(&nettop_owners, sk, walk->task,
				READ_ONCE(walk->tool->by_thread),
				&walk->tool->gate);
		preempt_enable_notrace();
	}
	return 0;
}

/*
 * One look at the open files of all processes. A socket that several have open
 * is the oldest process's until one uses it. Threads may have files of their
 * own, and a first thread that has ended has none.
 */
void nettop_sockets_walk(struct tap_tool *tool)
{
	struct nettop_walk walk = { .tool = tool };
	struct task_struct *process;

	/* the locks keep the tables of files, and their files from being freed */
	rcu_read_lock();
	for_each_process_thread(process, walk.task) {
		if (walk.task != process &&
		    READ_ONCE(walk.task->files) == READ_ONCE(process->files))
			continue;
		task_lock(walk.task);
		iterate_fd(walk.task->files, 0, nettop_walk_file, &walk);
		task_unlock(walk.task);
	}
	rcu_read_unlock();
}

void nettop_sockets_stats(struct tap_text *text)
{
	tap_printf(text, "sockets %u\nsockets_untracked %llu\nsockets_bytes %zu\n",
		   tap_owners_used(&nettop_owners),
		   tap_owners_untracked(&nettop_owners),
		   tap_owners_bytes(&nettop_owners) +
		   tap_inflight_bytes(&nettop_closed));
}
