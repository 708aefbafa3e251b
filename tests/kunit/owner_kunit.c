// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/owner.c */
#include <linux/err.h>

#include "filter.h"
#include "gate.h"
#include "kunit.h"
#include "owner.h"

struct context {
	struct tap_owners owners;
	struct tap_gate gate;
	char things[64];
};

static struct context *new_context(struct kunit *test, u32 nr)
{
	struct context *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, tap_owners_init(&c->owners, nr), 0);
	return c;
}

static void set_filter(struct kunit *test, struct context *c, const char *spec)
{
	struct tap_text why = {};
	struct tap_filter *filter = NULL;

	if (spec) {
		filter = tap_filter_parse(spec, &why);
		KUNIT_ASSERT_FALSE(test, IS_ERR(filter));
	}
	tap_gate_set_filter(&c->gate, filter);
	tap_text_free(&why);
}

static void use(struct context *c, int thing)
{
	preempt_disable();
	tap_owner_use(&c->owners, &c->things[thing], current, false, &c->gate);
	preempt_enable();
}

static bool get(struct context *c, int thing, struct tap_owned *owned)
{
	bool found;

	preempt_disable();
	found = tap_owner_get(&c->owners, &c->things[thing], &c->gate, owned);
	preempt_enable();
	return found;
}

static void tap_owner_test_user_becomes_owner(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_owned owned;

	KUNIT_EXPECT_FALSE(test, get(c, 0, &owned));
	use(c, 0);
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_EQ(test, owned.who.pid, current->tgid);
	KUNIT_EXPECT_EQ(test, owned.who.start, current->group_leader->start_time);
	KUNIT_EXPECT_EQ(test, owned.who.uid, 0U);
	KUNIT_EXPECT_EQ(test, owned.who.thread[0], '\0');
	KUNIT_EXPECT_STREQ(test, owned.names.comm, current->group_leader->comm);
	KUNIT_EXPECT_EQ(test, owned.names.tid, current->pid);
	KUNIT_EXPECT_FALSE(test, get(c, 1, &owned));
	KUNIT_EXPECT_EQ(test, tap_owners_used(&c->owners), 1U);
	tap_owners_fini(&c->owners);
}

/* A socket's address is used again: the new one is not the old one's owner's. */
static void tap_owner_test_forgotten(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_owned owned;
	int i;

	for (i = 0; i < 1000; i++) {
		use(c, i % 7);
		preempt_disable();
		tap_owner_forget(&c->owners, &c->things[i % 7]);
		preempt_enable();
		KUNIT_EXPECT_FALSE(test, get(c, i % 7, &owned));
	}
	KUNIT_EXPECT_EQ(test, tap_owners_used(&c->owners), 0U);
	tap_owners_fini(&c->owners);
}

static void other_thread(void *data, unsigned int cpu)
{
	if (!cpu)
		use(data, 0);
}

/* The last user is the owner; one that is only found with it is not. */
static void tap_owner_test_last_user(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_kunit_load load = { .thread = other_thread, .data = c };
	struct tap_owned owned;

	use(c, 0);
	tap_kunit_run(test, &load);
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_NE(test, owned.who.pid, current->tgid);
	preempt_disable();
	tap_owner_first(&c->owners, &c->things[0], current, false, &c->gate);
	preempt_enable();
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_NE(test, owned.who.pid, current->tgid);
	use(c, 0);
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_EQ(test, owned.who.pid, current->tgid);
	tap_owners_fini(&c->owners);
}

static void tap_owner_test_inherited(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_owned owned;

	use(c, 0);
	preempt_disable();
	tap_owner_inherit(&c->owners, &c->things[1], &c->things[0]);
	tap_owner_inherit(&c->owners, &c->things[3], &c->things[2]);
	preempt_enable();
	KUNIT_ASSERT_TRUE(test, get(c, 1, &owned));
	KUNIT_EXPECT_EQ(test, owned.who.pid, current->tgid);
	KUNIT_EXPECT_FALSE(test, get(c, 3, &owned));
	tap_owners_fini(&c->owners);
}

static void tap_owner_test_full(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_owned owned;
	int i;

	preempt_disable();
	for (i = 0; i < 30; i++)
		tap_owner_first(&c->owners, &c->things[i], current, false, &c->gate);
	tap_owner_inherit(&c->owners, &c->things[40], &c->things[0]);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, tap_owners_used(&c->owners), 10U);
	KUNIT_EXPECT_EQ(test, tap_owners_untracked(&c->owners), 21ull);
	KUNIT_EXPECT_FALSE(test, get(c, 20, &owned));
	KUNIT_EXPECT_TRUE(test, get(c, 9, &owned));
	tap_owners_fini(&c->owners);
}

static void tap_owner_test_filter(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_owned owned;
	char mine[32];

	scnprintf(mine, sizeof(mine), "pid=%d", current->tgid);
	use(c, 0);
	KUNIT_EXPECT_TRUE(test, get(c, 0, &owned) && owned.wanted);
	/* what changes after the last use is asked for by number */
	set_filter(test, c, "pid=1");
	KUNIT_EXPECT_TRUE(test, get(c, 0, &owned) && !owned.wanted);
	set_filter(test, c, mine);
	KUNIT_EXPECT_TRUE(test, get(c, 0, &owned) && owned.wanted);
	set_filter(test, c, "comm=nobody");
	use(c, 0);
	KUNIT_EXPECT_TRUE(test, get(c, 0, &owned) && !owned.wanted);
	set_filter(test, c, NULL);
	KUNIT_EXPECT_TRUE(test, get(c, 0, &owned) && owned.wanted);
	tap_owners_fini(&c->owners);
}

/* A name that has changed is seen at the next use; a thread's only with names=thread. */
static void tap_owner_test_names(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	char name[TASK_COMM_LEN];
	struct tap_owned owned;

	strscpy(name, current->comm, sizeof(name));
	use(c, 0);
	strscpy_pad(current->comm, "another", sizeof(current->comm));
	use(c, 0);
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_STREQ(test, owned.names.comm, current->group_leader->comm);
	preempt_disable();
	tap_owner_use(&c->owners, &c->things[0], current, true, &c->gate);
	preempt_enable();
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_STREQ(test, owned.who.thread, "another");
	strscpy_pad(current->comm, name, sizeof(current->comm));
	preempt_disable();
	tap_owner_use(&c->owners, &c->things[0], current, true, &c->gate);
	preempt_enable();
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_STREQ(test, owned.who.thread, name);
	use(c, 0);
	KUNIT_ASSERT_TRUE(test, get(c, 0, &owned));
	KUNIT_EXPECT_EQ(test, owned.who.thread[0], '\0');
	tap_owners_fini(&c->owners);
}

/* What is looked at without a copy is what a copy has. */
static void tap_owner_test_look(struct kunit *test)
{
	struct context *c = new_context(test, 10);
	struct tap_inflight_look look;
	struct tap_who who = {};
	struct tap_owned *owned;

	use(c, 0);
	preempt_disable();
	owned = tap_owner_look(&c->owners, &c->things[1], &look);
	KUNIT_EXPECT_NULL(test, owned);
	owned = tap_owner_look(&c->owners, &c->things[0], &look);
	if (owned) {
		tap_owner_who(owned, &who);
		KUNIT_EXPECT_TRUE(test, tap_inflight_looked(&look));
		KUNIT_EXPECT_EQ(test, tap_owner_slot(owned), 0U);
		tap_owner_set_slot(&c->owners, &c->things[0], 5);
		tap_owner_set_slot(&c->owners, &c->things[1], 6);
		KUNIT_EXPECT_EQ(test, tap_owner_slot(owned), 5U);
		tap_owner_forget(&c->owners, &c->things[0]);
		KUNIT_EXPECT_FALSE(test, tap_inflight_looked(&look));
	}
	preempt_enable();
	KUNIT_EXPECT_EQ(test, who.pid, current->tgid);
	tap_owners_fini(&c->owners);
}

static struct kunit_case tap_owner_cases[] = {
	KUNIT_CASE(tap_owner_test_user_becomes_owner),
	KUNIT_CASE(tap_owner_test_forgotten),
	KUNIT_CASE(tap_owner_test_last_user),
	KUNIT_CASE(tap_owner_test_inherited),
	KUNIT_CASE(tap_owner_test_full),
	KUNIT_CASE(tap_owner_test_filter),
	KUNIT_CASE(tap_owner_test_names),
	KUNIT_CASE(tap_owner_test_look),
	{}
};

static struct kunit_suite tap_owner_suite = {
	.name = "tap_owner",
	.test_cases = tap_owner_cases,
};
TAP_KUNIT_SUITE(tap_owner_suite);
