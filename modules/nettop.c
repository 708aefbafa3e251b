// SPDX-License-Identifier: GPL-2.0-only
/*
 * nettop - packets and bytes per process and network interface
 *
 * A line is one process on one device in one network namespace. Packets and
 * bytes are what the device counted: its rows add up to its counters in
 * /proc/net/dev. Sent packets are charged to the task that was at work, and
 * what a softirq or interrupt sends or receives to pid 0, (irq).
 */
#include <linux/netdevice.h>
#include <trace/events/net.h>

#include "tap.h"

struct nettop_key {
	struct tap_who who;
	u32 netns;		/* inode of the namespace, as in /proc/PID/ns/net */
	int ifindex;
};

struct nettop_attr {
	struct tap_names names;
	char dev[IFNAMSIZ];
};

enum nettop_sum {
	NETTOP_XMIT_PK,
	NETTOP_RECV_PK,
	NETTOP_XMIT_BYTES,
	NETTOP_RECV_BYTES,
	NETTOP_NR_SUMS,
};

/* Context: process, softirq or hardirq. */
static void nettop_count(struct tap_tool *tool, const struct net_device *dev,
			 enum nettop_sum packets, enum nettop_sum bytes,
			 unsigned int len)
{
	struct task_struct *task = tap_current();
	struct nettop_key key = { .netns = dev_net(dev)->ns.inum,
				  .ifindex = dev->ifindex };
	struct nettop_attr *attr;
	struct tap_sums row;

	if (!tap_begin(tool, task))
		return;
	row = tap_row_who(tool, &key, task);
	attr = row.attr;
	if (unlikely(!attr->dev[0]))
		memcpy(attr->dev, dev->name, sizeof(attr->dev));
	tap_add(row, packets, 1);
	tap_add(row, bytes, len);
	tap_end();
}

/* The whole frame's length; loopback_xmit() counts without the link header. */
static void nettop_xmit(void *data, struct sk_buff *skb, int rc,
			struct net_device *dev, unsigned int len)
{
	if (rc != NETDEV_TX_OK)
		return;
	if (dev->flags & IFF_LOOPBACK)
		len -= ETH_HLEN;
	nettop_count(data, dev, NETTOP_XMIT_PK, NETTOP_XMIT_BYTES, len);
}
TAP_CHECK_TRACEPOINT(net_dev_xmit, nettop_xmit);

/* A driver hands a packet up, behind its link header, before GRO merges any. */
static void nettop_recv(void *data, const struct sk_buff *skb)
{
	unsigned int len = skb->len;

	if (!(skb->dev->flags & IFF_LOOPBACK) && skb_mac_header_was_set(skb))
		len += skb->data - skb_mac_header(skb);
	nettop_count(data, skb->dev, NETTOP_RECV_PK, NETTOP_RECV_BYTES, len);
}
TAP_CHECK_TRACEPOINT(napi_gro_receive_entry, nettop_recv);

#define NEEDS "CONFIG_NET and CONFIG_TRACEPOINTS"
#define WITHOUT "RECV_ columns lack what is received that way"
static struct tap_probe nettop_probes[] = {
	TAP_PROBE("net_dev_xmit", nettop_xmit, NEEDS, NULL),
	TAP_PROBE("napi_gro_receive_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("napi_gro_frags_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_receive_skb_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_receive_skb_list_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_rx_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_rx_ni_entry", nettop_recv, NEEDS, ""),	/* before 5.18 */
};

static const struct tap_column nettop_columns[] = {
	TAP_COLUMN_PID("PID", 5),
	TAP_COLUMN_UID("UID", 5),
	{ .head = "DEV", .json = "dev", .width = -7, .attr = 1,
	  TAP_AT(TAP_STR, struct nettop_attr, dev) },
	TAP_COLUMN_SUM("XMIT_PK", "xmit_packets", 7, BIT(NETTOP_XMIT_PK)),
	TAP_COLUMN_SUM("RECV_PK", "recv_packets", 7, BIT(NETTOP_RECV_PK)),
	TAP_COLUMN_KB("XMIT_KB", 7, BIT(NETTOP_XMIT_BYTES)),
	TAP_COLUMN_KB("RECV_KB", 7, BIT(NETTOP_RECV_BYTES)),
	TAP_COLUMN_SUM(NULL, "xmit_bytes", 0, BIT(NETTOP_XMIT_BYTES)),
	TAP_COLUMN_SUM(NULL, "recv_bytes", 0, BIT(NETTOP_RECV_BYTES)),
	TAP_COLUMN_COMM("COMMAND", -15),
	TAP_JSON_NAMES(1),
	{ .json = "netns", TAP_AT(TAP_UINT, struct nettop_key, netns) },
	{ .json = "ifindex", TAP_AT(TAP_INT, struct nettop_key, ifindex) },
};

static struct tap_tool nettop = {
	TAP_DEFAULTS("nettop"),
	TAP_PROBES(nettop_probes),
	TAP_COLUMNS(nettop_columns),
	.layout = TAP_LAYOUT(struct nettop_key, struct nettop_attr, NETTOP_NR_SUMS),
	.by_process = true,
	.sort = BIT(NETTOP_XMIT_PK) | BIT(NETTOP_RECV_PK),
	.keep_readers = true,
	.interval_ms = 5000,
};
TAP_PARAM_NAMES(nettop);
module_tap_table(nettop, "packets and bytes per process and network interface");
