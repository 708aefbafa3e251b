/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets as their device counts them, whatever GSO and GRO make of them.
 */
#ifndef TAP_NETTOP_PACKET_H
#define TAP_NETTOP_PACKET_H

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>

extern bool nettop_whole_udp;

/* What a packet of the stack is to its device. */
struct nettop_packets {
	u32 packets;	/* that the device counted */
	u32 bytes;	/* of those, with link header except on lo */
	u32 more;	/* packets more on the wire: TSO or GSO that is not cut yet */
};

void nettop_whole_arrived(const struct sk_buff *skb, u32 more);
void nettop_whole_delivered(const struct sk_buff *skb, bool udp,
			    struct nettop_packets *packets);

static __always_inline u32 nettop_packet_more(const struct sk_buff *skb)
{
	u32 segments = skb_shinfo(skb)->gso_segs;

	return segments ? segments - 1 : 0;
}

/* Size of the link header that a packet came with; loopback_xmit() counts none. */
static __always_inline u32 nettop_packet_link(const struct sk_buff *skb)
{
	if (skb->dev->flags & IFF_LOOPBACK || !skb_mac_header_was_set(skb))
		return 0;
	return skb_network_offset(skb) - skb_mac_offset(skb);
}

/* Bytes of a packet that goes to a driver. */
static __always_inline u32 nettop_packet_sent(const struct sk_buff *skb,
					      const struct net_device *dev)
{
	return dev->flags & IFF_LOOPBACK ? skb->len - ETH_HLEN : skb->len;
}

/* Of one that a driver hands up, its data behind the link header, before GRO. */
static __always_inline u32 nettop_packet_arrived(const struct sk_buff *skb)
{
	if (skb->dev->flags & IFF_LOOPBACK || !skb_mac_header_was_set(skb))
		return skb->len;
	return skb->len + (skb->data - skb_mac_header(skb));
}

/*
 * Of one that came to a socket, with headers still in front: what of
 * nettop_packet_arrived() went into it. A datagram that came in fragments is one
 * packet with one link header.
 */
static __always_inline u32 nettop_packet_delivered(const struct sk_buff *skb)
{
	return skb->len - skb_network_offset(skb) + nettop_packet_link(skb);
}

/* Is nettop_whole_delivered() to be asked about it? */
static __always_inline bool nettop_is_whole(const struct sk_buff *skb)
{
	return nettop_packet_more(skb) || READ_ONCE(nettop_whole_udp);
}

#endif /* TAP_NETTOP_PACKET_H */
