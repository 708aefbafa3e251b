// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets are counted in rows.
 *
 * A packet that is sent is its socket's owner's. One that a device hands up is
 * nobody's at first and is taken from there when it comes to a socket. A row is
 * found where it was last: its place is remembered with the socket, and each CPU
 * remembers that of what is nobody's.
 */
#include <linux/percpu.h>
#include <linux/tcp.h>
#include <trace/events/net.h>

#include "nettop.h"
#include "nettop_packet.h"
#include "nettop_socket.h"

static __always_inline u64 nettop_device(const struct net_device *dev)
{
	u64 netns = dev_net(dev)->ns.inum;
	u64 ifindex = dev->ifindex;

	return IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ? netns << 32 | ifindex :
						   ifindex << 32 | netns;
}

static __always_inline bool nettop_is_wanted(const struct net_device *dev)
{
	return likely(!nettop_netns) || dev_net(dev)->ns.inum == nettop_netns;
}

static __always_inline void nettop_add(local64_t *sums, u64 packets, u64 bytes,
				       u64 more)
{
	local64_add(packets, sums + NETTOP_PK);
	local64_add(bytes, sums + NETTOP_BYTES);
	if (unlikely(more))
		local64_add(more, sums + NETTOP_MORE);
}

/* --- rows: CPU pinned; NULL: not counted -------------------------------- */

static void nettop_set_dev(struct tap_sums row, const struct net_device *dev)
{
	struct nettop_attr *attr = row.attr;

	if (unlikely(!attr->dev[0]))
		memcpy(attr->dev, dev->name, sizeof(attr->dev));
}

static noinline local64_t *nettop_current(struct tap_tool *tool,
					  const struct net_device *dev)
{
	struct nettop_key key = { .device = nettop_device(dev) };
	struct task_struct *task = tap_current();
	struct tap_sums row;

	if (!tap_wanted(tool, task))
		return NULL;
	row = tap_row_who(tool, &key, task);
	nettop_set_dev(row, dev);
	return row.sums;
}

static DEFINE_PER_CPU(u32, nettop_nobody_slot);

static noinline local64_t *nettop_nobody_search(struct tap_tool *tool,
						const struct net_device *dev)
{
	struct nettop_key key = { .device = nettop_device(dev) };
	struct nettop_attr *attr;
	struct tap_sums row;

	if (!tap_gate_is_open(&tool->gate))
		return NULL;
	row = tap_row_search(tool, &key, this_cpu_ptr(&nettop_nobody_slot));
	attr = row.attr;
	strscpy(attr->names.comm, TAP_UNATTRIBUTED, sizeof(attr->names.comm));
	strscpy(attr->names.thread, TAP_UNATTRIBUTED, sizeof(attr->names.thread));
	nettop_set_dev(row, dev);
	return row.sums;
}

/* A filter leaves out what is nobody's. */
static __always_inline local64_t *nettop_nobody(struct tap_tool *tool,
						const struct net_device *dev)
{
	const struct nettop_key key = { .device = nettop_device(dev) };
	struct tap_sums row;

	row = tap_row_again(tool, &key, __this_cpu_read(nettop_nobody_slot));
	return likely(row.sums) && tap_gate_is_open(&tool->gate) ?
	       row.sums : nettop_nobody_search(tool, dev);
}

static local64_t *nettop_owned(struct tap_tool *tool, const struct net_device *dev,
			       const struct tap_owned *owned, u32 *slot)
{
	struct nettop_key key = { .device = nettop_device(dev) };
	struct nettop_attr *attr;
	struct tap_sums row;

	if (!tap_gate_is_open(&tool->gate) && !owned->wanted)
		return NULL;
	key.who = owned->who;
	row = tap_row_search(tool, &key, slot);
	attr = row.attr;
	if (memcmp(attr->names.comm, owned->names.comm, sizeof(attr->names.comm)))
		attr->names = owned->names;
	nettop_set_dev(row, dev);
	return row.sums;
}

/* @known: the socket has an owner. */
static local64_t *nettop_owner_search(struct tap_tool *tool,
				      const struct net_device *dev,
				      const struct sock *sk, bool *known)
{
	struct tap_owned owned;
	local64_t *sums;
	u32 slot;

	*known = tap_owner_get(&nettop_owners, sk, &tool->gate, &owned);
	if (!*known)
		return NULL;
	sums = nettop_owned(tool, dev, &owned, &slot);
	if (sums)
		tap_owner_set_slot(&nettop_owners, sk, slot);
	return sums;
}

/* The owner's of a socket, if it is where it was; else nettop_owner_search(). */
static __always_inline local64_t *nettop_owner(struct tap_tool *tool,
					       const struct net_device *dev,
					       const struct sock *sk)
{
	struct tap_inflight_look look;
	const struct tap_owned *owned = tap_owner_look(&nettop_owners, sk, &look);
	struct nettop_key key;
	struct tap_sums row;

	if (unlikely(!owned) || unlikely(!tap_owned_wanted(owned, &tool->gate)))
		return NULL;
	tap_owner_who(owned, &key.who);
	key.device = nettop_device(dev);
	row = tap_row_again(tool, &key, tap_owner_slot(owned));
	return likely(tap_inflight_looked(&look)) ? row.sums : NULL;
}

/* --- sent --------------------------------------------------------------- */

/*
 * The socket is known before the driver has the packet, which may free it;
 * whether it took it is known after: then what was counted is taken back. The
 * table stays what it is meanwhile: bottom halves are off, so no RCU grace
 * period ends. Devices on one another (VLAN, tunnels) send within each other.
 */
#define NETTOP_SENT 16
struct nettop_sent {
	const struct sk_buff *skb;
	local64_t *sums;		/* NULL: not counted */
	u32 bytes;
	u32 more;
};

static DEFINE_PER_CPU(struct nettop_sent, nettop_sent[NETTOP_SENT]);
static DEFINE_PER_CPU(u32, nettop_nr_sent);

/* Of a connection that is not accepted yet it is its listener's owner. */
static noinline local64_t *nettop_sender_search(struct tap_tool *tool,
						const struct sk_buff *skb,
						const struct net_device *dev)
{
	const struct sock *sk = sk_to_full_sk(skb->sk);
	struct tap_owned owned;
	local64_t *sums = NULL;
	bool known = false;
	u32 slot;

	if (!nettop_by_socket)
		return nettop_current(tool, dev);
	if (sk)
		sums = nettop_owner_search(tool, dev, sk, &known);
	if (known)
		return sums;
	if (nettop_late_sender(tool, skb, &owned))
		return nettop_owned(tool, dev, &owned, &slot);
	return nettop_nobody_search(tool, dev);
}

static __always_inline local64_t *nettop_sender(struct tap_tool *tool,
						const struct sk_buff *skb,
						const struct net_device *dev)
{
	local64_t *sums = NULL;

	if (unlikely(!nettop_is_wanted(dev)))
		return NULL;
	/* without sockets the map is empty, and a request's address not in it */
	if (likely(skb->sk) && likely(nettop_by_socket))
		sums = nettop_owner(tool, dev, skb->sk);
	return likely(sums) ? sums : nettop_sender_search(tool, skb, dev);
}

void nettop_start(void *data, const struct sk_buff *skb,
		  const struct net_device *dev)
{
	struct nettop_sent *sent;
	local64_t *sums;
	u32 nr;

	preempt_disable_notrace();
	sums = nettop_sender(data, skb, dev);
	nr = this_cpu_inc_return(nettop_nr_sent) % NETTOP_SENT;
	sent = this_cpu_ptr(&nettop_sent[nr]);
	sent->skb = skb;
	sent->sums = sums;
	if (likely(sums)) {
		sent->bytes = nettop_packet_sent(skb, dev);
		sent->more = nettop_packet_more(skb);
		nettop_add(sums + NETTOP_XMIT, 1, sent->bytes, sent->more);
	}
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(net_dev_start_xmit, nettop_start);

void nettop_xmit(void *data, struct sk_buff *skb, int rc,
		 struct net_device *dev, unsigned int len)
{
	u32 i, nr;

	if (likely(rc == NETDEV_TX_OK))
		return;
	preempt_disable_notrace();
	nr = __this_cpu_read(nettop_nr_sent);
	for (i = 0; i < NETTOP_SENT; i++, nr--) {
		struct nettop_sent *sent = this_cpu_ptr(&nettop_sent[nr % NETTOP_SENT]);

		if (sent->skb != skb)
			continue;
		if (sent->sums)
			nettop_add(sent->sums + NETTOP_XMIT, -1,
				   -(u64)sent->bytes, -(u64)sent->more);
		sent->sums = NULL;
		break;
	}
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(net_dev_xmit, nettop_xmit);

/* --- received ----------------------------------------------------------- */

void nettop_recv(void *data, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	u32 more = nettop_packet_more(skb);
	local64_t *sums;

	preempt_disable_notrace();
	nettop_socket_arrived();
	if (unlikely(more))
		nettop_whole_arrived(skb, more);
	if (likely(nettop_is_wanted(dev))) {
		sums = likely(nettop_by_socket) ? nettop_nobody(data, dev) :
						  nettop_current(data, dev);
		if (likely(sums))
			nettop_add(sums + NETTOP_RECV, 1,
				   nettop_packet_arrived(skb), more);
	}
	preempt_enable_notrace();
}
TAP_CHECK_TRACEPOINT(napi_gro_receive_entry, nettop_recv);

/* From nobody to the owner. */
static __always_inline void nettop_give(struct tap_tool *tool,
					const struct sk_buff *skb, local64_t *sums,
					u64 packets, u64 bytes, u64 more)
{
	nettop_add(sums + NETTOP_RECV, packets, bytes, more);
	sums = nettop_nobody(tool, skb->dev);
	if (likely(sums))
		nettop_add(sums + NETTOP_RECV, -packets, -bytes, -more);
}

static noinline void nettop_give_whole(struct tap_tool *tool,
				       const struct sk_buff *skb, bool udp,
				       local64_t *sums)
{
	struct nettop_packets packets;

	nettop_whole_delivered(skb, udp, &packets);
	nettop_give(tool, skb, sums, packets.packets, packets.bytes, packets.more);
}

static noinline local64_t *nettop_receiver_search(struct tap_tool *tool,
						  const struct sk_buff *skb,
						  const struct sock *sk)
{
	bool known;

	return nettop_owner_search(tool, skb->dev, sk, &known);
}

/*
 * int sk_filter_trim_cap(sk, skb, cap): each packet passes here once its socket
 * is found, whatever the protocol, before it waits for whoever has locked the
 * socket. Its data begins at the transport header, or the network header if the
 * socket is raw. Other sockets than these two families' get copies.
 */
static __always_inline void nettop_handle_received(struct tap_tool *tool,
						   const struct tap_args *args)
{
	const struct sock *sk = (void *)tap_arg(args, 0);
	const struct sk_buff *skb = (void *)tap_arg(args, 1);
	const struct net_device *dev = skb->dev;
	local64_t *sums;

	if ((sk->sk_family != AF_INET && sk->sk_family != AF_INET6) || !dev ||
	    !nettop_is_wanted(dev))
		return;
	preempt_disable_notrace();
	sums = nettop_owner(tool, dev, sk);
	if (unlikely(!sums))
		sums = nettop_receiver_search(tool, skb, sk);
	if (likely(sums) && likely(nettop_socket_first(skb))) {
		if (unlikely(nettop_is_whole(skb)))
			nettop_give_whole(tool, skb,
					  sk->sk_protocol == IPPROTO_UDP, sums);
		else
			nettop_give(tool, skb, sums, 1,
				    nettop_packet_delivered(skb), 0);
	}
	preempt_enable_notrace();
}
TAP_BARE(nettop_received, nettop_handle_received);

/* tcp_timewait_state_process(tw, skb, th, ...) */
void nettop_received_late(struct tap_tool *tool, const struct tap_args *args)
{
	const struct sock *sk = (void *)tap_arg(args, 0);
	const struct sk_buff *skb = (void *)tap_arg(args, 1);
	struct tap_owned owned;
	local64_t *sums = NULL;
	u32 slot;

	/* a new connection goes on to a listener from here */
	if (!skb->dev || !nettop_is_wanted(skb->dev) || tcp_hdr(skb)->syn)
		return;
	preempt_disable_notrace();
	if (nettop_late_receiver(tool, sk, &owned))
		sums = nettop_owned(tool, skb->dev, &owned, &slot);
	if (sums && nettop_socket_first(skb))
		nettop_give_whole(tool, skb, false, sums);
	preempt_enable_notrace();
}
