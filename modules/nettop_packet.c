// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets as their device counts them.
 *
 * The stack's packets are not the device's. GSO cuts a packet that is sent in
 * pieces before the driver has it, unless the device can; GRO merges what was
 * received, each piece with headers of its own, so that a socket gets one; on
 * lo and veth what was never cut arrives in one piece, counts as one, and looks
 * like the other kind. So what arrives as one piece of many segments is
 * remembered until it comes to its socket.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "nettop_packet.h"

/*
 * What arrived in one piece and did not come to its socket yet, by flow: how
 * many packets more it is than the device counted. GRO merges packets of one
 * flow, so it makes no difference which of them were such pieces. All CPUs
 * share it: a device, GRO and sockets may be on different ones. Two flows that
 * meet here forget one another's, and the device's packets then seem to be as
 * many as on the wire. The flow's number is the sender's, or the device's; GRO
 * asks for it, too.
 */
#define NETTOP_WHOLE_BITS 9
static struct {
	u32 flow;
	atomic_t more;
} nettop_whole[1 << NETTOP_WHOLE_BITS];

/* A UDP packet has come in one piece, ever. */
bool nettop_whole_udp;

void nettop_whole_arrived(const struct sk_buff *skb, u32 more)
{
	u32 i = hash_32(skb->hash, NETTOP_WHOLE_BITS);

	if (skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4)
		WRITE_ONCE(nettop_whole_udp, true);
	if (READ_ONCE(nettop_whole[i].flow) != skb->hash) {
		WRITE_ONCE(nettop_whole[i].flow, skb->hash);
		atomic_set(&nettop_whole[i].more, 0);
	}
	atomic_add(more, &nettop_whole[i].more);
}

/* How many of @more packets the device did not count. */
static u32 nettop_whole_take(u32 flow, u32 more)
{
	u32 i = hash_32(flow, NETTOP_WHOLE_BITS);

	if (READ_ONCE(nettop_whole[i].flow) != flow)
		return 0;
	more = clamp_t(int, atomic_read(&nettop_whole[i].more), 0, more);
	atomic_sub(more, &nettop_whole[i].more);
	return more;
}

/* From the link header to the end of the transport header. */
static u32 nettop_packet_headers(const struct sk_buff *skb, bool udp)
{
	return nettop_packet_link(skb) +
	       skb_transport_offset(skb) - skb_network_offset(skb) +
	       (udp ? sizeof(struct udphdr) : tcp_hdrlen(skb));
}

/* What a device counted of a packet that came to a socket. */
void nettop_whole_delivered(const struct sk_buff *skb, bool udp,
			    struct nettop_packets *packets)
{
	u32 merged = nettop_packet_more(skb);

	packets->packets = 1;
	packets->bytes = nettop_packet_delivered(skb);
	packets->more = 0;
	if (merged) {
		packets->more = nettop_whole_take(skb->hash, merged);
		merged -= packets->more;
		packets->packets += merged;
		/* each had its headers */
		packets->bytes += merged * nettop_packet_headers(skb, udp);
	} else if (udp && nettop_whole_take(skb->hash, 1)) {
		/* cut for a socket that did not ask for UDP_GRO, udp_rcv_segment() */
		packets->packets = 0;
		packets->bytes -= nettop_packet_headers(skb, udp);
		packets->more = 1;
	}
}
