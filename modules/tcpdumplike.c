// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcpdumplike - received TCP packets
 *
 * A line is one TCP packet for this machine, IPv4 or IPv6, with what stands in
 * its headers; with udp=1 UDP packets, too, whose flags are all 0. Hooked is
 * where IP hands them on: before a socket is looked for, so a packet for none
 * has a line; behind GRO, NAT and defragmentation: merged segments are one.
 */
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/tcp.h>

#include "addr.h"
#include "tap.h"

struct tcpdumplike_event {
	struct tap_addr saddr;
	struct tap_addr daddr;
	char dev[IFNAMSIZ];
	u32 netns;
	int ifindex;
	u32 length;		/* bytes, IP header included */
	u16 segments;		/* that GRO merged into it */
	u16 sport;
	u16 dport;
	u8 protocol;
	u8 flags;
};

static unsigned int tcpdumplike_port;
static char *tcpdumplike_addr;
static bool tcpdumplike_udp;
static struct tap_prefix tcpdumplike_prefix;	/* what tcpdumplike_addr says */

static bool tcpdumplike_wanted(const struct tcpdumplike_event *event)
{
	unsigned int port = READ_ONCE(tcpdumplike_port);

	if (port && port != event->sport && port != event->dport)
		return false;
	return tap_prefix_contains(&tcpdumplike_prefix, &event->saddr) ||
	       tap_prefix_contains(&tcpdumplike_prefix, &event->daddr);
}

/* Context: softirq. The IP header is linear, what follows may not be. */
static __always_inline void tcpdumplike_packet(struct tap_tool *tool,
					       const struct tap_args *args,
					       u8 protocol, size_t header)
{
	const struct sk_buff *skb = (void *)tap_arg(args, 0);
	struct tcpdumplike_event event = { .protocol = protocol };
	struct tcphdr copy;	/* UDP's ports stand where TCP's do */
	const struct tcphdr *th = skb_header_pointer(skb, 0, header, &copy);

	if (!th)
		return;
	event.sport = ntohs(th->source);
	event.dport = ntohs(th->dest);
	if (protocol == IPPROTO_TCP)
		event.flags = tcp_flag_byte(th);
	event.saddr.version = ip_hdr(skb)->version;
	event.daddr.version = ip_hdr(skb)->version;
	if (event.saddr.version == 4) {
		event.saddr.word[0] = ip_hdr(skb)->saddr;
		event.daddr.word[0] = ip_hdr(skb)->daddr;
	} else {
		memcpy(event.saddr.word, &ipv6_hdr(skb)->saddr, 16);
		memcpy(event.daddr.word, &ipv6_hdr(skb)->daddr, 16);
	}
	if (!tcpdumplike_wanted(&event) || !tap_begin(tool, NULL))
		return;
	memcpy(event.dev, skb->dev->name, sizeof(event.dev));
	event.netns = dev_net(skb->dev)->ns.inum;
	event.ifindex = skb->dev->ifindex;
	event.length = skb->len - skb_network_offset(skb);
	event.segments = skb_shinfo(skb)->gso_segs ?: 1;
	tap_event(tool, &event);
	tap_end();
}

static void tcpdumplike_tcp_rcv(struct tap_tool *tool,
				const struct tap_args *args)
{
	tcpdumplike_packet(tool, args, IPPROTO_TCP, sizeof(struct tcphdr));
}

static void tcpdumplike_udp_rcv(struct tap_tool *tool,
				const struct tap_args *args)
{
	tcpdumplike_packet(tool, args, IPPROTO_UDP, sizeof(struct udphdr));
}

#define PROBE(what, handler, ...)					\
	{ .type = TAP_FUNCTION, .name = { what }, .function = (handler),	\
	  __VA_ARGS__ }
static struct tap_probe tcpdumplike_probes[] = {
	PROBE("tcp_v4_rcv", tcpdumplike_tcp_rcv, .needs = "CONFIG_INET"),
	PROBE("tcp_v6_rcv", tcpdumplike_tcp_rcv,
	      .without = "TCP over IPv6 is not shown"),
	PROBE("udp_rcv", tcpdumplike_udp_rcv, .when = &tcpdumplike_udp,
	      .without = "UDP over IPv4 is not shown"),
	PROBE("udpv6_rcv", tcpdumplike_udp_rcv, .when = &tcpdumplike_udp,
	      .without = "UDP over IPv6 is not shown"),
};

static int tcpdumplike_prepare(struct tap_tool *tool, struct tap_text *why)
{
	return tap_prefix_parse(&tcpdumplike_prefix, tcpdumplike_addr, why);
}

#define LINE "-----------------------------------------------------------------\n"
static void tcpdumplike_header(struct tap_text *text,
			       const struct tap_snapshot *snapshot)
{
	tap_printf(text, LINE "Source IP Dest IP SPort DPort U A P R S F \n" LINE);
}

#define AT(type, member) TAP_AT(type, struct tcpdumplike_event, member)
#define FLAG(letter, name, bit)						\
	{ .head = (letter), .json = (name), .shift = (bit), AT(TAP_BIT, flags) }

static const struct tap_column tcpdumplike_columns[] = {
	{ .head = "Source IP", .json = "saddr", .width = 15, AT(TAP_ADDR, saddr) },
	{ .head = "Dest IP", .json = "daddr", .width = 15, AT(TAP_ADDR, daddr) },
	{ .head = "SPort", .json = "sport", .width = 5, AT(TAP_U16, sport) },
	{ .head = "DPort", .json = "dport", .width = 5, AT(TAP_U16, dport) },
	FLAG("U", "urg", 5), FLAG("A", "ack", 4), FLAG("P", "psh", 3),
	FLAG("R", "rst", 2), FLAG("S", "syn", 1), FLAG("F", "fin", 0),
	{ .json = "protocol", AT(TAP_U8, protocol) },
	{ .json = "length_bytes", AT(TAP_UINT, length) },
	{ .json = "segments", AT(TAP_U16, segments) },
	{ .json = "dev", AT(TAP_STR, dev) },
	{ .json = "ifindex", AT(TAP_INT, ifindex) },
	{ .json = "netns", AT(TAP_UINT, netns) },
};

static struct tap_tool tcpdumplike = {
	TAP_DEFAULTS("tcpdumplike"),
	TAP_PROBES(tcpdumplike_probes),
	TAP_COLUMNS(tcpdumplike_columns),
	.event_size = sizeof(struct tcpdumplike_event),
	.prepare = tcpdumplike_prepare,
	.header = tcpdumplike_header,
	.header_ms = 1000,
	.keep_readers = true,
};
TAP_PARAM(port, "packets from or to this port; 0: all", .type = TAP_PARAM_UINT,
	  .value = &tcpdumplike_port, .max = 65535);
TAP_PARAM(addr, "packets from or to this address or prefix, 10.0.0.0/8, fd00::/64",
	  .type = TAP_PARAM_TEXT, .value = &tcpdumplike_addr,
	  .check = tap_prefix_check, .apply = tap_tool_apply_probes);
TAP_PARAM(udp, "UDP packets, too: 0 or 1", .type = TAP_PARAM_BOOL,
	  .value = &tcpdumplike_udp, .apply = tap_tool_apply_probes);
TAP_PARAM(header_ms, "the header comes again in each later period; 0: it does not",
	  .type = TAP_PARAM_UINT, .value = &tcpdumplike.header_ms, .zero = true,
	  .min = 100, .max = 3600000);
module_tap_stream_of_nobody(tcpdumplike, "received TCP packets");
