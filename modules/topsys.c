// SPDX-License-Identifier: GPL-2.0-only
/*
 * topsys - which system calls are made most
 *
 * A line is one system call by name, on all CPUs and of all processes. The
 * names are those of the kernel that the module was built for. A 32-bit call
 * has its own number and counts under its own name; where that is the name of
 * a native call too there is one line, and JSON tells them apart. A number
 * without a name is shown as sys_<number>. What needs no entry into the kernel
 * (the vDSO, io_uring's queue) is no call.
 */
#include <linux/string.h>
#include <trace/events/syscalls.h>

#include "syscall.h"
#include "tap.h"

struct topsys_key {
	u32 nr;
	u32 compat;		/* not 0: made by 32-bit code */
};

enum topsys_sum {
	TOPSYS_NATIVE,		/* all that a handler counts; the rest by topsys_fold() */
	TOPSYS_COMPAT,
	TOPSYS_X32,
	TOPSYS_NR_SUMS,
};

static struct tap_tool topsys;

static void topsys_enter(void *data, struct pt_regs *regs, long nr)
{
	const struct topsys_key key = { .nr = nr,
					.compat = tap_syscall_is_compat() };

	if (!tap_begin(&topsys, current))
		return;
	tap_add(tap_row(&topsys, &key), TOPSYS_NATIVE, 1);
	tap_end();
}
TAP_CHECK_TRACEPOINT(sys_enter, topsys_enter);

static struct tap_probe topsys_probes[] = {
	TAP_PROBE("sys_enter", topsys_enter, "CONFIG_FTRACE_SYSCALLS", NULL),
};

/* A call of another ABI is shown with the native one of the same name. */
static void topsys_fold(struct tap_row *row)
{
	struct topsys_key *key = row->key;
	const char *name = tap_syscall_name(key->nr, key->compat);
	const char *native;
	u32 nr;

	if (key->compat)
		swap(row->sums[TOPSYS_COMPAT], row->sums[TOPSYS_NATIVE]);
	else if (tap_syscall_is_x32(key->nr, key->compat))
		swap(row->sums[TOPSYS_X32], row->sums[TOPSYS_NATIVE]);
	else
		return;
	/* neither has a name for the number: both are shown as the number */
	if (!name && !tap_syscall_name(key->nr, 0))
		*key = (struct topsys_key){ .nr = key->nr };
	for (nr = 0; name && nr < NR_syscalls; nr++) {
		native = tap_syscall_name(nr, 0);
		if (native && !strcmp(native, name))
			*key = (struct topsys_key){ .nr = nr };
	}
}

static void topsys_name(const struct tap_row *row, char *buf, size_t size)
{
	const struct topsys_key *key = row->key;
	const char *name = tap_syscall_name(key->nr, key->compat);

	if (name)
		strscpy(buf, name, size);
	else
		scnprintf(buf, size, "sys_%d", key->nr);
}

#define TOPSYS_ALL (BIT(TOPSYS_NR_SUMS) - 1)

static const struct tap_column topsys_columns[] = {
	{ .head = "SYSCALL", .json = "syscall", .width = 25, .name = 1,
	  .type = TAP_FN, .fn = topsys_name },
	TAP_COLUMN_SUM("COUNT", "count", 10, TOPSYS_ALL),
	TAP_COLUMN_SUM(NULL, "count_native", 0, BIT(TOPSYS_NATIVE)),
	TAP_COLUMN_SUM(NULL, "count_compat", 0, BIT(TOPSYS_COMPAT)),
	TAP_COLUMN_SUM(NULL, "count_x32", 0, BIT(TOPSYS_X32)),
};

static struct tap_tool topsys = {
	TAP_DEFAULTS("topsys"),
	TAP_PROBES(topsys_probes),
	TAP_COLUMNS(topsys_columns),
	.layout = TAP_LAYOUT_KEY(struct topsys_key, TOPSYS_NR_SUMS),
	.sort = TOPSYS_ALL,
	.fold = topsys_fold,
	.interval_ms = 5000,
	.limit = 20,
};
TAP_PARAM_SELF(topsys);
module_tap_table(topsys, "system calls by name");
