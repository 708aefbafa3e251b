// SPDX-License-Identifier: GPL-2.0-only
/*
 * insmod drops.ko reasons=NUMBER[,NUMBER...] packets=COUNT drops COUNT packets
 * for each reason, and consumes as many in each way that there is. Where
 * reasons have subsystems it does what openvswitch.ko would, which must not be
 * there: it gives names to some reasons, and drops packets for these.
 */
#include <linux/module.h>
#include <linux/skbuff.h>

#include "compat.h"

static unsigned int reasons[256];
static int nr_reasons;
module_param_array(reasons, uint, &nr_reasons, 0400);
MODULE_PARM_DESC(reasons, "numbers of the reasons");

static unsigned int packets;
module_param(packets, uint, 0400);
MODULE_PARM_DESC(packets, "how many for each reason");

/* The loop keeps the compiler from making its last call a jump. */
static noinline int drops_packets(unsigned int reason)
{
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < packets; i++) {
		skb = alloc_skb(0, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		kfree_skb_reason(skb, reason);
	}
	return 0;
}

static int drops_consume(void)
{
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < packets; i++) {
		skb = alloc_skb(0, GFP_KERNEL);
		if (!skb)
			return -ENOMEM;
		consume_skb(skb);
	}
	return 0;
}

#ifdef TAP_HAVE_DROP_REASONS_BY_SUBSYS
static const char *const drops_names[] = { "FIRST", NULL, "THIRD" };
static const struct drop_reason_list drops_list = {
	.reasons = drops_names,
	.n_reasons = ARRAY_SIZE(drops_names),
};

/* The last reason is one more than there are names. */
static int drops_subsystem(void)
{
	const enum skb_drop_reason_subsys own = SKB_DROP_REASON_SUBSYS_OPENVSWITCH;
	int err = drops_packets(SKB_CONSUMED);
	unsigned int i;

	drop_reasons_register_subsys(own, &drops_list);
	for (i = 0; i <= ARRAY_SIZE(drops_names) && !err; i++)
		err = drops_packets((own << SKB_DROP_REASON_SUBSYS_SHIFT) + i);
	drop_reasons_unregister_subsys(own);
	return err;
}
#else
static int drops_subsystem(void)
{
	return 0;
}
#endif

static int __init drops_init(void)
{
	int err = drops_consume() ?: drops_subsystem();
	int i;

	for (i = 0; i < nr_reasons && !err; i++)
		err = drops_packets(reasons[i]);
	return err;
}
module_init(drops_init);

static void __exit drops_exit(void)
{
}
module_exit(drops_exit);

MODULE_DESCRIPTION("packets that are dropped");
MODULE_LICENSE("GPL");
