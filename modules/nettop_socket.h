/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose socket a packet belongs to. The owner of a socket is the process that
 * used it last: sent, received, accepted or connected. It begins with the
 * process that made it, or the owner of the listener it came from.
 */
#ifndef TAP_NETTOP_SOCKET_H
#define TAP_NETTOP_SOCKET_H

#include <linux/percpu.h>
#include <linux/skbuff.h>

#include "owner.h"
#include "tap.h"

extern struct tap_owners nettop_owners;

/*
 * Of a connection in TIME_WAIT, which is no full socket. False if nobody knows;
 * then @owned is garbage. CPU pinned.
 */
bool nettop_late_sender(struct tap_tool *tool, const struct sk_buff *skb,
			struct tap_owned *owned);
bool nettop_late_receiver(struct tap_tool *tool, const struct sock *sk,
			  struct tap_owned *owned);

/*
 * The packet that a socket got last on this CPU, by its data, which clones of it
 * share. Each raw socket and each member of a group gets a clone, one after the
 * other; the packet counts once.
 */
DECLARE_PER_CPU(const void *, nettop_socket_last);

/* A device hands a packet up: what comes to a socket then is not seen yet. */
static __always_inline void nettop_socket_arrived(void)
{
	this_cpu_write(nettop_socket_last, NULL);
}

/* Is this the first socket that a packet comes to? CPU pinned. */
static __always_inline bool nettop_socket_first(const struct sk_buff *skb)
{
	if (skb->cloned && __this_cpu_read(nettop_socket_last) == skb->head)
		return false;
	__this_cpu_write(nettop_socket_last, skb->head);
	return true;
}

#endif /* TAP_NETTOP_SOCKET_H */
