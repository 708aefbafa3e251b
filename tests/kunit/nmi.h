/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls in NMI context, for suites that need them: NMIs sent by one CPU to the others. */
#ifndef TAP_KUNIT_NMI_H
#define TAP_KUNIT_NMI_H

#include <asm/apic.h>
#include <asm/nmi.h>
#include <linux/smp.h>

#include "kunit.h"

static void (*tap_nmi_call)(void *data);
static void *tap_nmi_data;
static int tap_nmi_cpu = -1;	/* one is on its way there */

static int tap_nmi_handler(unsigned int type, struct pt_regs *regs)
{
	if (READ_ONCE(tap_nmi_cpu) != smp_processor_id())
		return NMI_DONE;
	tap_nmi_call(tap_nmi_data);
	/* what was called has done its work before the sender goes on */
	smp_store_release(&tap_nmi_cpu, -1);
	return NMI_HANDLED;
}

/* @call is called in each NMI that is sent from now on. */
static inline void tap_nmi_start(struct kunit *test, void (*call)(void *data),
				 void *data)
{
	tap_nmi_call = call;
	tap_nmi_data = data;
	KUNIT_ASSERT_EQ(test, register_nmi_handler(NMI_LOCAL, tap_nmi_handler, 0,
						   "tap_kunit"), 0);
}

static inline void tap_nmi_stop(void)
{
	unregister_nmi_handler(NMI_LOCAL, "tap_kunit");
}

/* One at a time: NMIs that meet are one. */
static inline void tap_nmi_send(int cpu)
{
	WRITE_ONCE(tap_nmi_cpu, cpu);
	apic->send_IPI(cpu, NMI_VECTOR);
	/* pairs with the release in the handler */
	while (smp_load_acquire(&tap_nmi_cpu) >= 0)
		cpu_relax();
}

/* To all CPUs in turn, this one too, as long as @load is at work. */
static inline void tap_nmi_send_until_done(struct tap_kunit_load *load)
{
	int cpu;

	while (!completion_done(&load->done)) {
		for_each_online_cpu(cpu)
			tap_nmi_send(cpu);
		cond_resched_tasks_rcu_qs();
	}
}

#endif /* TAP_KUNIT_NMI_H */
