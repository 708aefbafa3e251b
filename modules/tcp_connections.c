// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_connections - accepted TCP connections
 *
 * A line is one connection that the kernel handed to who called accept(), in
 * whatever way: accept4(), io_uring, MPTCP, a server in the kernel. UID, CMD
 * and PID are the accepting process's, PORT is the local port, IP_SOURCE the
 * peer's address. A peer that came over IPv4 to an IPv6 socket is shown as
 * IPv4. Hooked is the function that joins the new connection to its socket:
 * accept itself sleeps, and whoever waits for its return runs out of room
 * when enough threads wait. An accept() that then fails to copy the address to
 * the caller (EFAULT) has a line: the connection was accepted, and is closed.
 */
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "tap.h"

struct tcp_connections_event {
	struct tap_names names;
	u8 addr[16];		/* network order; 4 bytes for IPv4 */
	uid_t uid;
	u32 netns;
	u32 accept_queue;	/* connections that wait for accept() */
	u32 accept_queue_max;
	u16 family;
	u16 port;
	u16 peer_port;
	u16 pad;
};

/* Context: process. sock is the listener, sk the new connection. */
static void tcp_connections_accept(struct tap_tool *tool,
				   const struct tap_args *args)
{
	const struct socket *listener = (void *)tap_arg(args, 0);
	const struct sock *sk = (void *)tap_arg(args, 2);
	struct tcp_connections_event event = {};

	if (sk->sk_protocol != IPPROTO_TCP && sk->sk_protocol != IPPROTO_MPTCP)
		return;
	if (!tap_begin(tool, current))
		return;
	tap_names_set(&event.names, current);
	event.uid = __kuid_val(current_uid());
	event.netns = sock_net(sk)->ns.inum;
	event.accept_queue = READ_ONCE(listener->sk->sk_ack_backlog);
	event.accept_queue_max = READ_ONCE(listener->sk->sk_max_ack_backlog);
	event.port = sk->sk_num;
	event.peer_port = ntohs(sk->sk_dport);
	event.family = sk->sk_family;
	if (sk->sk_family == AF_INET) {
		memcpy(event.addr, &sk->sk_daddr, sizeof(sk->sk_daddr));
	} else if (ipv6_addr_v4mapped(&sk->sk_v6_daddr)) {
		event.family = AF_INET;
		memcpy(event.addr, &sk->sk_v6_daddr.s6_addr32[3], sizeof(u32));
	} else {
		memcpy(event.addr, &sk->sk_v6_daddr, sizeof(event.addr));
	}
	tap_event(tool, &event);
	tap_end();
}

static struct tap_probe tcp_connections_probes[] = {
	{
		.type = TAP_FUNCTION,
		.name = { "__inet_accept" },
		.needs = "CONFIG_INET",
		.function = tcp_connections_accept,
	},
};

static void tcp_connections_source(const struct tap_row *row, char *buf,
				   size_t size)
{
	const struct tcp_connections_event *event = row->key;

	if (event->family == AF_INET)
		scnprintf(buf, size, "%pI4", event->addr);
	else
		scnprintf(buf, size, "%pI6c", event->addr);
}

/* When, in seconds since boot. */
static void tcp_connections_time(const struct tap_row *row, char *buf,
				 size_t size)
{
	const struct tap_record *record = row->attr;
	u32 ns;
	u64 s = div_u64_rem(record->stamp, NSEC_PER_SEC, &ns);

	scnprintf(buf, size, "%llu.%06lu", s, ns / NSEC_PER_USEC);
}

#define AT(type, member) TAP_AT(type, struct tcp_connections_event, member)

static const struct tap_column tcp_connections_columns[] = {
	{ .head = "UID", .json = "uid", .width = 6, AT(TAP_UINT, uid) },
	{ .head = "CMD", .width = 16, AT(TAP_STR, names.comm) },
	{ .head = "PID", .json = "pid", .width = 6, AT(TAP_INT, names.pid) },
	{ .head = "PORT", .json = "port", .width = 6, AT(TAP_U16, port) },
	{ .head = "IP_SOURCE", .json = "ip_source", .width = 16, .type = TAP_FN,
	  .fn = tcp_connections_source },
	{ .head = "PEER_PORT", .json = "peer_port", .width = 9, .verbose = 1,
	  AT(TAP_U16, peer_port) },
	{ .head = "TIME", .width = 15, .verbose = 1, .type = TAP_FN,
	  .fn = tcp_connections_time },
	{ .head = "NETNS", .json = "netns", .width = 10, .verbose = 1,
	  AT(TAP_UINT, netns) },
	{ .head = "QUEUE", .json = "accept_queue", .width = 6, .verbose = 1,
	  AT(TAP_UINT, accept_queue) },
	{ .head = "QUEUE_MAX", .json = "accept_queue_max", .width = 9,
	  .verbose = 1, AT(TAP_UINT, accept_queue_max) },
	TAP_JSON_NAMES(0),
};

static struct tap_tool tcp_connections = {
	TAP_DEFAULTS("tcp_connections"),
	TAP_PROBES(tcp_connections_probes),
	TAP_COLUMNS(tcp_connections_columns),
	.event_size = sizeof(struct tcp_connections_event),
};
TAP_PARAM(verbose, "text has peer port, time, network namespace and accept queue too: 0 or 1",
	  .type = TAP_PARAM_BOOL, .value = &tcp_connections.verbose);
TAP_PARAM_SELF(tcp_connections);
module_tap_stream(tcp_connections, "accepted TCP connections");
