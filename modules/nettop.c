// SPDX-License-Identifier: GPL-2.0-only
/*
 * nettop - packets and bytes per process and network interface
 *
 * A line is one process on one device in one network namespace. Packets and
 * bytes are what the device counted: its rows add up to its counters in
 * /proc/net/dev. Sent packets are charged to the task that was at work, and
 * what a softirq or interrupt sends or receives to pid 0, (irq).
 */
#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>
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

static struct tap_tool nettop;

/* Context: process, softirq or hardirq. */
static void nettop_count(const struct net_device *dev, enum nettop_sum packets,
			 enum nettop_sum bytes, unsigned int len)
{
	struct task_struct *task = tap_current();
	struct nettop_key key = {
		.netns = dev_net(dev)->ns.inum,
		.ifindex = dev->ifindex,
	};
	struct nettop_attr *attr;
	struct tap_sums row;

	if (!tap_begin(&nettop, task))
		return;
	tap_who_set(&key.who, task, nettop.by_thread);
	row = tap_row(&nettop, &key);
	attr = row.attr;
	if (tap_names_stale(&attr->names, task)) {
		tap_names_set(&attr->names, task);
		memcpy(attr->dev, dev->name, sizeof(attr->dev));
	}
	tap_add(row, packets, 1);
	tap_add(row, bytes, len);
	tap_end();
}

/*
 * The length is that of the whole frame. loopback_xmit() takes the link header
 * off before it counts.
 */
static void nettop_xmit(void *data, struct sk_buff *skb, int rc,
			struct net_device *dev, unsigned int len)
{
	if (rc != NETDEV_TX_OK)
		return;
	if (dev->flags & IFF_LOOPBACK)
		len -= ETH_HLEN;
	nettop_count(dev, NETTOP_XMIT_PK, NETTOP_XMIT_BYTES, len);
}
TAP_CHECK_TRACEPOINT(net_dev_xmit, nettop_xmit);

/* A driver hands a packet up, behind its link header, before GRO merges any. */
static void nettop_recv(void *data, const struct sk_buff *skb)
{
	unsigned int len = skb->len;

	if (!(skb->dev->flags & IFF_LOOPBACK) && skb_mac_header_was_set(skb))
		len += skb->data - skb_mac_header(skb);
	nettop_count(skb->dev, NETTOP_RECV_PK, NETTOP_RECV_BYTES, len);
}
TAP_CHECK_TRACEPOINT(napi_gro_receive_entry, nettop_recv);

#define NETTOP_RECV(...) {						\
	.type = TAP_TRACEPOINT,						\
	.name = { __VA_ARGS__ },					\
	.without = "packets received that way are missing in RECV_",	\
	.tracepoint = nettop_recv,					\
}

static struct tap_probe nettop_probes[] = {
	{
		.type = TAP_TRACEPOINT,
		.name = { "net_dev_xmit" },
		.needs = "CONFIG_NET and CONFIG_TRACEPOINTS",
		.tracepoint = nettop_xmit,
	},
	NETTOP_RECV("napi_gro_receive_entry"),
	NETTOP_RECV("napi_gro_frags_entry"),
	NETTOP_RECV("netif_receive_skb_entry"),
	NETTOP_RECV("netif_receive_skb_list_entry"),
	NETTOP_RECV("netif_rx_entry"),
};

#define NETTOP_SUM(h, j, w, s, k)					\
	{ .head = h, .json = j, .width = w, .type = TAP_SUM, .sums = BIT(s), .shift = k }

static const struct tap_column nettop_columns[] = {
	{ .head = "PID", .json = "pid", .width = 5,
	  TAP_AT(TAP_INT, struct nettop_key, who.pid) },
	{ .head = "UID", .json = "uid", .width = 5,
	  TAP_AT(TAP_UINT, struct nettop_key, who.uid) },
	{ .head = "DEV", .json = "dev", .width = -7, .attr = 1,
	  TAP_AT(TAP_STR, struct nettop_attr, dev) },
	NETTOP_SUM("XMIT_PK", "xmit_packets", 7, NETTOP_XMIT_PK, 0),
	NETTOP_SUM("RECV_PK", "recv_packets", 7, NETTOP_RECV_PK, 0),
	NETTOP_SUM("XMIT_KB", NULL, 7, NETTOP_XMIT_BYTES, 10),
	NETTOP_SUM("RECV_KB", NULL, 7, NETTOP_RECV_BYTES, 10),
	NETTOP_SUM(NULL, "xmit_bytes", 0, NETTOP_XMIT_BYTES, 0),
	NETTOP_SUM(NULL, "recv_bytes", 0, NETTOP_RECV_BYTES, 0),
	{ .head = "COMMAND", .width = -15, .attr = 1, .name = 1,
	  TAP_AT(TAP_STR, struct nettop_attr, names.comm) },
	TAP_JSON_NAMES(struct nettop_attr, names, 1),
	{ .json = "netns", TAP_AT(TAP_UINT, struct nettop_key, netns) },
	{ .json = "ifindex", TAP_AT(TAP_INT, struct nettop_key, ifindex) },
};

static struct tap_tool nettop = {
	TAP_DEFAULTS("nettop"),
	TAP_PROBES(nettop_probes),
	TAP_COLUMNS(nettop_columns),
	.layout = TAP_LAYOUT(struct nettop_key, struct nettop_attr, NETTOP_NR_SUMS),
	.who = offsetof(struct nettop_key, who),
	.sort = BIT(NETTOP_XMIT_PK) | BIT(NETTOP_RECV_PK),
	.events = BIT(NETTOP_XMIT_PK) | BIT(NETTOP_RECV_PK),
	.keep_readers = true,
	.interval_ms = 5000,
};
TAP_PARAM_NAMES(nettop);
module_tap_table(nettop);

MODULE_DESCRIPTION("tap: packets and bytes per process and network interface");
