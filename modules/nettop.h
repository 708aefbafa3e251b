/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of nettop share: rows and their sums, settings, handlers.
 */
#ifndef TAP_NETTOP_H
#define TAP_NETTOP_H

#include <linux/if.h>
#include <linux/netdevice.h>

#include "tap.h"

struct nettop_key {
	struct tap_who who;
	union {
		struct {
			u32 netns;	/* inode, as in /proc/PID/ns/net */
			int ifindex;
		};
		u64 device;
	};
};

struct nettop_attr {
	struct tap_names names;
	char dev[IFNAMSIZ];
};

enum nettop_sum {
	NETTOP_PK,
	NETTOP_BYTES,
	NETTOP_MORE,	/* packets more on the wire: TSO or GSO that was not cut */
	NETTOP_EACH,
};

/* Where the sums of a direction begin. */
#define NETTOP_XMIT 0
#define NETTOP_RECV NETTOP_EACH
#define NETTOP_NR_SUMS (2 * NETTOP_EACH)

extern bool nettop_by_socket;
extern unsigned int nettop_netns;

/* --- nettop_count.c: packets ------------------------------------------- */

void nettop_start(void *data, const struct sk_buff *skb,
		  const struct net_device *dev);
void nettop_xmit(void *data, struct sk_buff *skb, int rc,
		 struct net_device *dev, unsigned int len);
void nettop_recv(void *data, const struct sk_buff *skb);
TAP_BARE_HANDLER(nettop_received);
void nettop_received_late(struct tap_tool *tool, const struct tap_args *args);

/* --- nettop_socket.c: who uses which socket ---------------------------- */

TAP_BARE_HANDLER(nettop_socket_used);
void nettop_socket_made(struct tap_tool *tool, const struct tap_args *args);
void nettop_socket_cloned(struct tap_tool *tool, const struct tap_args *args);
void nettop_socket_freed(struct tap_tool *tool, const struct tap_args *args);
void nettop_socket_closed(struct tap_tool *tool, const struct tap_args *args);

int nettop_sockets_init(unsigned int max);
void nettop_sockets_walk(struct tap_tool *tool);
void nettop_sockets_fini(void);
void nettop_sockets_stats(struct tap_text *text);

#endif /* TAP_NETTOP_H */
