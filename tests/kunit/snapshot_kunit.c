// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/snapshot.c */
#include "kunit.h"
#include "snapshot.h"

struct example_key {
	u32 a;
	u32 b;		/* shown first */
	u64 hidden;
};

struct example_attr {
	char comm[8];
};

static const struct tap_column columns[] = {
	{ .head = "COMM", .attr = 1, .name = 1, TAP_AT(TAP_STR, struct example_attr, comm) },
	{ .head = "B", TAP_AT(TAP_UINT, struct example_key, b) },
	{ .head = "A", TAP_AT(TAP_UINT, struct example_key, a) },
};

static const struct tap_table_layout layout = {
	.key_size = sizeof(struct example_key),
	.attr_size = sizeof(struct example_attr),
	.nr_sums = 3,
	.max_rows = 16,
};

struct example {
	struct tap_table table;
	struct tap_view view;
};

static int tap_snapshot_init(struct kunit *test)
{
	struct example *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	if (!e)
		return -ENOMEM;
	e->view = (struct tap_view){
		.columns = { .column = columns, .nr = ARRAY_SIZE(columns) },
		.key_size = sizeof(struct example_key),
		.sort = BIT(0) | BIT(1),
		.events = BIT(0),
	};
	test->priv = e;
	return tap_table_init(&e->table, &layout);
}

static void tap_snapshot_exit(struct kunit *test)
{
	struct example *e = test->priv;

	tap_table_fini(&e->table);
}

static void add_id(struct example *e, u32 id, u64 x, u64 y, u64 z)
{
	preempt_disable();
	local64_add(x, tap_table_sums(&e->table, id));
	local64_add(y, tap_table_sums(&e->table, id) + 1);
	local64_add(z, tap_table_sums(&e->table, id) + 2);
	preempt_enable();
}

static void add(struct example *e, struct example_key key, const char *comm, u64 x, u64 y)
{
	struct example_attr *attr;
	u32 id;

	preempt_disable();
	id = tap_table_find(&e->table, (u64 *)&key, sizeof(key) / sizeof(u64));
	attr = tap_table_attr(&e->table, id);
	strscpy(attr->comm, comm, sizeof(attr->comm));
	preempt_enable();
	add_id(e, id, x, y, 0);
}

static struct tap_snapshot *take(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot = tap_snapshot_take(&e->table, &e->view);

	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	return snapshot;
}

static void tap_snapshot_test_empty_table(struct kunit *test)
{
	struct tap_snapshot *snapshot = take(test);

	KUNIT_EXPECT_EQ(test, snapshot->nr_rows, 0U);
	KUNIT_EXPECT_EQ(test, snapshot->events, 0ull);
	KUNIT_EXPECT_EQ(test, snapshot->self, 0ull);
	tap_snapshot_put(snapshot);
	tap_snapshot_put(NULL);
}

static void tap_snapshot_test_rows_sorted(struct kunit *test)
{
	/* by x + y, descending; then by comm, b, a and what is not shown */
	static const struct {
		struct example_key key;
		const char *comm;
		u64 x;
		u64 y;
	} rows[] = {
		{ { 9, 9, 9 }, "z", 0, 1000 },
		{ { 1, 1, 0 }, "a", 50, 50 },
		{ { 7, 1, 0 }, "b", 99, 1 },
		{ { 8, 1, 0 }, "b", 1, 99 },
		{ { 8, 1, 5 }, "b", 100, 0 },
		{ { 0, 2, 0 }, "b", 2, 98 },
		{ { 0, 10, 0 }, "b", 2, 98 },
		{ { 3, 3, 3 }, "a", 1, 0 },
	};
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;
	int i;

	for (i = ARRAY_SIZE(rows) - 1; i >= 0; i -= 2)
		add(e, rows[i].key, rows[i].comm, rows[i].x, rows[i].y);
	for (i = ARRAY_SIZE(rows) - 2; i >= 0; i -= 2)
		add(e, rows[i].key, rows[i].comm, rows[i].x, rows[i].y);
	snapshot = take(test);
	KUNIT_ASSERT_EQ(test, snapshot->nr_rows, (u32)ARRAY_SIZE(rows));
	KUNIT_EXPECT_EQ(test, snapshot->events, 255ull);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct tap_row *row = &snapshot->rows[i];
		const struct example_attr *attr = row->attr;

		KUNIT_EXPECT_EQ_MSG(test, memcmp(row->key, &rows[i].key,
						 sizeof(struct example_key)), 0, "row %d", i);
		KUNIT_EXPECT_STREQ(test, attr->comm, rows[i].comm);
		KUNIT_EXPECT_EQ(test, row->sums[0], rows[i].x);
		KUNIT_EXPECT_EQ(test, row->sums[1], rows[i].y);
	}
	tap_snapshot_put(snapshot);
}

static void tap_snapshot_test_rows_without_key(struct kunit *test)
{
	static const struct example_key zero;
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;

	add(e, (struct example_key){ 1, 1, 1 }, "sh", 5, 0);
	/* a row whose sums are all zero is no row */
	add(e, (struct example_key){ 2, 2, 2 }, "idle", 0, 0);
	/* what is not an event is a row all the same */
	add(e, (struct example_key){ 3, 3, 3 }, "third", 0, 1);
	add_id(e, TAP_ROW_OTHER, 7, 0, 0);
	add_id(e, TAP_ROW_EXITED, 6, 0, 0);
	add_id(e, TAP_ROW_SELF, 11, 0, 0);
	snapshot = take(test);
	KUNIT_EXPECT_EQ(test, snapshot->self, 11ull);
	KUNIT_EXPECT_EQ(test, snapshot->events, 18ull);
	KUNIT_ASSERT_EQ(test, snapshot->nr_rows, 4U);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].id, (u32)TAP_ROW_OTHER);
	KUNIT_EXPECT_EQ(test, snapshot->rows[1].id, (u32)TAP_ROW_EXITED);
	KUNIT_EXPECT_EQ(test, memcmp(snapshot->rows[0].key, &zero, sizeof(zero)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(snapshot->rows[1].key, &zero, sizeof(zero)), 0);
	KUNIT_EXPECT_EQ(test, snapshot->rows[2].id, (u32)TAP_ROW_FIRST);
	KUNIT_EXPECT_EQ(test, snapshot->rows[3].sums[1], 1ull);
	/* the sums of the reader's own row are in no other */
	KUNIT_EXPECT_EQ(test, snapshot->rows[1].sums[0], 6ull);
	tap_snapshot_put(snapshot);
}

static void tap_snapshot_test_keeps_what_the_table_forgets(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;
	const struct example_key *key;

	add(e, (struct example_key){ 1, 2, 3 }, "sh", 5, 0);
	snapshot = take(test);
	refcount_inc(&snapshot->ref);
	tap_table_clear(&e->table);
	add(e, (struct example_key){ 4, 5, 6 }, "ps", 7, 0);
	tap_snapshot_put(snapshot);
	key = snapshot->rows[0].key;
	KUNIT_EXPECT_EQ(test, key->hidden, 3ull);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].sums[0], 5ull);
	tap_snapshot_put(snapshot);
}

/* Rows of different hidden parts become one. */
static void fold(struct tap_row *row)
{
	struct example_key *key = row->key;

	key->hidden = 0;
}

static void tap_snapshot_test_fold_adds_up(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;
	u64 i;

	e->view.fold = fold;
	for (i = 1; i <= 5; i++) {
		add(e, (struct example_key){ 1, 1, i }, "sh", i, 100);
		add(e, (struct example_key){ 2, 1, i }, "sh", 10 * i, 0);
	}
	add_id(e, TAP_ROW_OTHER, 1, 0, 0);
	add_id(e, TAP_ROW_EXITED, 1, 0, 0);
	snapshot = take(test);
	KUNIT_EXPECT_EQ(test, snapshot->events, 167ull);
	KUNIT_ASSERT_EQ(test, snapshot->nr_rows, 4U);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].sums[0], 15ull);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].sums[1], 500ull);
	KUNIT_EXPECT_EQ(test, snapshot->rows[1].sums[0], 150ull);
	/* rows without key are not folded into each other */
	KUNIT_EXPECT_EQ(test, snapshot->rows[2].sums[0], 1ull);
	KUNIT_EXPECT_EQ(test, snapshot->rows[3].sums[0], 1ull);
	tap_snapshot_put(snapshot);
}

/* Equal keys are one row, whatever stands beside them and between them. */
static void tap_snapshot_test_fold_with_other_attributes(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;

	e->view.fold = fold;
	add(e, (struct example_key){ 1, 1, 1 }, "aa", 1, 0);
	add(e, (struct example_key){ 2, 2, 1 }, "ab", 10, 0);
	add(e, (struct example_key){ 1, 1, 2 }, "ac", 100, 0);
	snapshot = take(test);
	KUNIT_EXPECT_EQ(test, snapshot->nr_rows, 2U);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].sums[0], 101ull);
	tap_snapshot_put(snapshot);
}

/* Of rows that become one, the greater maximum stays. */
static void tap_snapshot_test_fold_maxima(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot;

	e->view.fold = fold;
	e->table.layout.nr_maxima = 2;
	add(e, (struct example_key){ 1, 1, 1 }, "sh", 1, 7);
	add(e, (struct example_key){ 1, 1, 2 }, "sh", 10, 9);
	add(e, (struct example_key){ 1, 1, 3 }, "sh", 100, 8);
	snapshot = take(test);
	KUNIT_EXPECT_EQ(test, snapshot->nr_rows, 1U);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].sums[0], 111ull);
	KUNIT_EXPECT_EQ(test, snapshot->rows[0].sums[1], 9ull);
	tap_snapshot_put(snapshot);
}

static int tap_snapshot_attempt(struct kunit *test)
{
	struct example *e = test->priv;
	struct tap_snapshot *snapshot = tap_snapshot_take(&e->table, &e->view);

	if (!snapshot)
		return -ENOMEM;
	tap_snapshot_put(snapshot);
	return 0;
}

static void tap_snapshot_test_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, tap_snapshot_attempt);
}

static struct kunit_case tap_snapshot_cases[] = {
	KUNIT_CASE(tap_snapshot_test_empty_table),
	KUNIT_CASE(tap_snapshot_test_rows_sorted),
	KUNIT_CASE(tap_snapshot_test_rows_without_key),
	KUNIT_CASE(tap_snapshot_test_keeps_what_the_table_forgets),
	KUNIT_CASE(tap_snapshot_test_fold_adds_up),
	KUNIT_CASE(tap_snapshot_test_fold_with_other_attributes),
	KUNIT_CASE(tap_snapshot_test_fold_maxima),
	KUNIT_CASE(tap_snapshot_test_without_memory),
	{}
};

static struct kunit_suite tap_snapshot_suite = {
	.name = "tap_snapshot",
	.init = tap_snapshot_init,
	.exit = tap_snapshot_exit,
	.test_cases = tap_snapshot_cases,
};
TAP_KUNIT_SUITE(tap_snapshot_suite);
