/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before each file of lib/kunit when that is built as a module for a
 * kernel without CONFIG_KUNIT. The option adds members to structures of the
 * kernel (task_struct, module), so only KUnit's own headers may see it: all
 * that they include comes first.
 */
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/sched/task.h>

#define CONFIG_KUNIT_MODULE 1
#define CONFIG_KUNIT_DEFAULT_ENABLED 1
#define CONFIG_KUNIT_DEFAULT_TIMEOUT 300	/* seconds for a case, as in Kconfig */

/* Where task_struct has no member for it: one test runs at a time. */
struct kunit;
extern struct kunit *kunit_current;

#include "test-bug.h"
