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

#include "tap.h"
#include "generated/syscall-names.h"

struct topsys_key {
	u32 nr;
	u32 abi;		/* enum tap_abi */
};

static struct tap_tool topsys;

static void topsys_enter(void *data, struct pt_regs *regs, long nr)
{
	const struct topsys_key key = { .nr = nr, .abi = tap_syscall_abi(nr) };

	if (!tap_begin(&topsys, current))
		return;
	tap_add(tap_row(&topsys, &key), key.abi, 1);
	tap_end();
}
TAP_CHECK_TRACEPOINT(sys_enter, topsys_enter);

static struct tap_probe topsys_probes[] = {
	TAP_PROBE("sys_enter", topsys_enter, "CONFIG_FTRACE_SYSCALLS", NULL),
};

static const char *topsys_find(const struct topsys_key *key)
{
	u32 nr = key->nr;

#ifdef CONFIG_COMPAT
	if (key->abi == TAP_ABI_COMPAT)
		return nr < ARRAY_SIZE(tap_syscall_names_32) ?
		       tap_syscall_names_32[nr] : NULL;
#endif
#ifdef CONFIG_X86_X32_ABI
	if (key->abi == TAP_ABI_X32) {
		nr &= ~__X32_SYSCALL_BIT;
		if (nr < ARRAY_SIZE(tap_syscall_names_x32) &&
		    tap_syscall_names_x32[nr])
			return tap_syscall_names_x32[nr];
	}
#endif
	return nr < ARRAY_SIZE(tap_syscall_names_64) ?
	       tap_syscall_names_64[nr] : NULL;
}

/* A call of another ABI is shown with the native one of the same name. */
static void topsys_fold(struct tap_row *row)
{
	struct topsys_key *key = row->key;
	const char *name = topsys_find(key);
	u32 nr;

	if (key->abi == TAP_ABI_NATIVE || !name)
		return;
	for (nr = 0; nr < ARRAY_SIZE(tap_syscall_names_64); nr++)
		if (tap_syscall_names_64[nr] &&
		    !strcmp(tap_syscall_names_64[nr], name))
			*key = (struct topsys_key){ .nr = nr };
}

static void topsys_name(const struct tap_row *row, char *buf, size_t size)
{
	const struct topsys_key *key = row->key;
	const char *name = topsys_find(key);

	if (name)
		strscpy(buf, name, size);
	else
		scnprintf(buf, size, "sys_%d", key->nr);
}

#define TOPSYS_ALL (BIT(TAP_NR_ABIS) - 1)

static const struct tap_column topsys_columns[] = {
	{ .head = "SYSCALL", .json = "syscall", .width = 25, .name = 1,
	  .type = TAP_FN, .fn = topsys_name },
	TAP_COLUMN_SUM("COUNT", "count", 10, TOPSYS_ALL),
	TAP_COLUMN_SUM(NULL, "count_native", 0, BIT(TAP_ABI_NATIVE)),
	TAP_COLUMN_SUM(NULL, "count_compat", 0, BIT(TAP_ABI_COMPAT)),
	TAP_COLUMN_SUM(NULL, "count_x32", 0, BIT(TAP_ABI_X32)),
};

static struct tap_tool topsys = {
	TAP_DEFAULTS("topsys"),
	TAP_PROBES(topsys_probes),
	TAP_COLUMNS(topsys_columns),
	.layout = TAP_LAYOUT_KEY(struct topsys_key, TAP_NR_ABIS),
	.sort = TOPSYS_ALL,
	.fold = topsys_fold,
	.interval_ms = 5000,
	.limit = 20,
};
TAP_PARAM_SELF(topsys);
module_tap_table(topsys, "system calls by name");
