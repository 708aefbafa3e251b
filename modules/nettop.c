// SPDX-License-Identifier: GPL-2.0-only
/*
 * nettop - packets and bytes per process and network interface
 *
 * A line is one process on one device in one network namespace. Packets and
 * bytes are what the device counted: its rows add up to its counters in
 * /proc/net/dev. A packet is charged to the owner of its socket. What a device
 * hands up is nobody's at first, (unattributed), and is taken from there when
 * it comes to a socket; what is forwarded, answered by the kernel or dropped
 * stays there. With attribution=current it is charged to the task at work, and
 * to pid 0, (irq), in a softirq or interrupt.
 */
#include "nettop.h"

bool nettop_by_socket;
unsigned int nettop_netns;
static unsigned int nettop_attribution;	/* 0: socket, 1: current */
static unsigned int nettop_max_sockets = 16384;

/*
 * A packet may arrive in one window, and come to its socket in the next: then
 * less than nothing is nobody's, until the window has ended.
 */
static void nettop_fold(struct tap_row *row)
{
	int i;

	for (i = 0; i < NETTOP_NR_SUMS; i++)
		row->sums[i] = max_t(s64, row->sums[i], 0);
}

#define NEEDS "CONFIG_NET and CONFIG_TRACEPOINTS"
#define WITHOUT "RECV_ columns lack what is received that way"
#define SOCKET(symbol, handler, ...)					\
	{ .type = TAP_FUNCTION, .name = { symbol }, .function = (handler),	\
	  .needs = "CONFIG_SECURITY_NETWORK", .when = &nettop_by_socket,	\
	  __VA_ARGS__ }
#define USED(symbol, ...)						\
	SOCKET(symbol, nettop_socket_used, .bare = nettop_socket_used_bare,	\
	       __VA_ARGS__)

/* Who forgets comes first, so that nothing is put that stays for ever. */
static struct tap_probe nettop_probes[] = {
	SOCKET("security_sk_free", nettop_socket_freed),
	SOCKET("security_sk_clone", nettop_socket_cloned),
	SOCKET("security_socket_post_create", nettop_socket_made),
	USED("security_socket_connect"),
	USED("security_socket_accept"),
	USED("security_socket_sendmsg"),
	USED("security_socket_recvmsg"),
	USED("kernel_sendpage", .without = ""),	/* before 6.5 */
	USED("tcp_splice_read",
	     .without = "who only splices from a TCP socket does not become its owner"),
	SOCKET("tcp_time_wait", nettop_socket_closed,
	       .without = "packets of connections in TIME_WAIT are (unattributed)"),
	SOCKET("sk_filter_trim_cap", nettop_received,
	       .bare = nettop_received_bare,
	       .without = "RECV_ columns are (unattributed)"),
	SOCKET("tcp_timewait_state_process", nettop_received_late,
	       .without = "what connections in TIME_WAIT receive is (unattributed)"),
	TAP_PROBE("net_dev_start_xmit", nettop_start, NEEDS, NULL),
	TAP_PROBE("net_dev_xmit", nettop_xmit, NEEDS, NULL),
	TAP_PROBE("napi_gro_receive_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("napi_gro_frags_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_receive_skb_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_receive_skb_list_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_rx_entry", nettop_recv, NEEDS, WITHOUT),
	TAP_PROBE("netif_rx_ni_entry", nettop_recv, NEEDS, ""),	/* before 5.18 */
};

static int nettop_prepare(struct tap_tool *tool, struct tap_text *why)
{
	nettop_by_socket = !nettop_attribution;
	return nettop_by_socket ? nettop_sockets_init(nettop_max_sockets) : 0;
}

static void nettop_begin(struct tap_tool *tool)
{
	if (nettop_by_socket)
		nettop_sockets_walk(tool);
}

static void nettop_end(struct tap_tool *tool)
{
	nettop_sockets_fini();
}

static void nettop_stats(struct tap_tool *tool, struct tap_text *text)
{
	if (nettop_by_socket)
		nettop_sockets_stats(text);
}

#define NETTOP_BIT(direction, sum) BIT(NETTOP_##direction + NETTOP_##sum)

static const struct tap_column nettop_columns[] = {
	TAP_COLUMN_PID("PID", 5),
	TAP_COLUMN_UID("UID", 5),
	{ .head = "DEV", .json = "dev", .width = -7, .attr = 1,
	  TAP_AT(TAP_STR, struct nettop_attr, dev) },
	TAP_COLUMN_SUM("XMIT_PK", "xmit_packets", 7, NETTOP_BIT(XMIT, PK)),
	TAP_COLUMN_SUM("RECV_PK", "recv_packets", 7, NETTOP_BIT(RECV, PK)),
	TAP_COLUMN_KB("XMIT_KB", 7, NETTOP_BIT(XMIT, BYTES)),
	TAP_COLUMN_KB("RECV_KB", 7, NETTOP_BIT(RECV, BYTES)),
	TAP_COLUMN_SUM(NULL, "xmit_bytes", 0, NETTOP_BIT(XMIT, BYTES)),
	TAP_COLUMN_SUM(NULL, "recv_bytes", 0, NETTOP_BIT(RECV, BYTES)),
	TAP_COLUMN_SUM(NULL, "xmit_segments", 0,
		       NETTOP_BIT(XMIT, PK) | NETTOP_BIT(XMIT, MORE)),
	TAP_COLUMN_SUM(NULL, "recv_segments", 0,
		       NETTOP_BIT(RECV, PK) | NETTOP_BIT(RECV, MORE)),
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
	.sort = NETTOP_BIT(XMIT, PK) | NETTOP_BIT(RECV, PK),
	.fold = nettop_fold,
	.carry = true,
	.prepare = nettop_prepare,
	.begin = nettop_begin,
	.end = nettop_end,
	.stats = nettop_stats,
	.keep_readers = true,
	.interval_ms = 5000,
};
TAP_PARAM_NAMES(nettop);

static const char *const nettop_attributions[] = { "socket", "current", NULL };

TAP_PARAM(attribution, "whose a packet is: socket: its socket's owner; current: the task at work",
	  .type = TAP_PARAM_CHOICE, .value = &nettop_attribution,
	  .choices = nettop_attributions, .apply = tap_tool_apply_probes);
TAP_PARAM(max_sockets, "sockets whose owners have room",
	  .type = TAP_PARAM_UINT, .value = &nettop_max_sockets,
	  .min = 16, .max = 1 << 20, .load_only = true);
TAP_PARAM(netns, "inode of the network namespace that is counted; 0: all",
	  .type = TAP_PARAM_UINT, .value = &nettop_netns, .max = UINT_MAX);
module_tap_table(nettop, "packets and bytes per process and network interface");
