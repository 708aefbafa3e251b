// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that does what no module may, for the test that the guest harness
 * notices: insmod faults.ko fault=<name>.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "none, warn, leak, use-after-free, deadlock, sleep or race");

static void warn(void)
{
	WARN(1, "faults: this was asked for\n");
}

static void leak(void)
{
	/* Several: a stale copy of one address in a register or stack hides a leak. */
	int i;

	for (i = 0; i < 16; i++) {
		void *p = kmalloc(300, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static void use_after_free(void)
{
	int *p = kmalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(*p, 1);
}

/* Never locks up; that it could is for lockdep to see. */
static void deadlock(void)
{
	static DEFINE_MUTEX(a);
	static DEFINE_MUTEX(b);

	mutex_lock(&a);
	mutex_lock(&b);
	mutex_unlock(&b);
	mutex_unlock(&a);
	mutex_lock(&b);
	mutex_lock(&a);
	mutex_unlock(&a);
	mutex_unlock(&b);
}

static void sleep_in_atomic(void)
{
	static DEFINE_SPINLOCK(lock);

	spin_lock(&lock);
	might_sleep();
	spin_unlock(&lock);
}

static int shared;

static int racer(void *done)
{
	int i;

	for (i = 0; i < 2000000; i++) {
		shared++;
		barrier();
		if (!(i % 1000))
			cond_resched();
	}
	kthread_complete_and_exit(done, 0);
}

static void race(void)
{
	static DECLARE_COMPLETION(done);
	int i;

	for (i = 0; i < 2; i++) {
		struct task_struct *t = kthread_create(racer, &done, "racer/%d", i);

		if (IS_ERR(t)) {
			complete(&done);
			continue;
		}
		kthread_bind(t, i);
		wake_up_process(t);
	}
	for (i = 0; i < 2; i++)
		wait_for_completion(&done);
}

static void none(void)
{
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "none", none },
	{ "warn", warn },
	{ "leak", leak },
	{ "use-after-free", use_after_free },
	{ "deadlock", deadlock },
	{ "sleep", sleep_in_atomic },
	{ "race", race },
};

static int __init faults_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(fault, faults[i].name)) {
			faults[i].commit();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit faults_exit(void)
{
}

module_init(faults_init);
module_exit(faults_exit);

MODULE_DESCRIPTION("Faults on demand, for the test of the guest harness");
MODULE_LICENSE("GPL");
