// SPDX-License-Identifier: GPL-2.0-only
/*
 * A /proc/tap that is not tap's: insmod foreign.ko magic=... version=...
 *
 * Without parameters there is nothing behind the directory; with a magic number
 * there is an object that begins with it and with this version.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/proc_fs.h>

#include "root.h"

static struct tap_root root = { .users = 1 };

module_param_named(magic, root.magic, ullong, 0400);
MODULE_PARM_DESC(magic, "what the object begins with; 0: there is none");
module_param_named(version, root.version, uint, 0400);
MODULE_PARM_DESC(version, "of the object's layout");
module_param_named(users, root.users, uint, 0400);
MODULE_PARM_DESC(users, "how many the object counts, this module included");

static int __init foreign_init(void)
{
	root.debugfs = ERR_PTR(-ENODEV);
	root.proc = proc_mkdir_data("tap", 0555, NULL, root.magic ? &root : NULL);
	return root.proc ? 0 : -ENOMEM;
}
module_init(foreign_init);

static void __exit foreign_exit(void)
{
	proc_remove(root.proc);
}
module_exit(foreign_exit);

MODULE_DESCRIPTION("a directory /proc/tap that belongs to somebody else");
MODULE_LICENSE("GPL");
