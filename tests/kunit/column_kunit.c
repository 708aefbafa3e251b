// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/column.c */
#include <linux/kernel.h>
#include <linux/kdev_t.h>	/* has no types of its own */

#include "addr.h"
#include "column.h"
#include "kunit.h"
#include "table.h"
#include "times.h"

struct example_key {
	u64 big;
	s32 number;
	u32 unsigned_number;
	u16 port;
	char name[10];
};

struct example_attr {
	char comm[16];
};

static void column_fn(const struct tap_row *row, char *buf, size_t size)
{
	const struct example_key *key = row->key;

	scnprintf(buf, size, "%d of %u", key->number, key->unsigned_number);
}

static const struct tap_column columns[] = {
	{ .head = "BIG", .json = "big", .width = 5, TAP_AT(TAP_U64, struct example_key, big) },
	{ .head = "NUM", .json = "num", .width = 4, TAP_AT(TAP_INT, struct example_key, number) },
	{ .head = "UNS", .json = "uns", .width = -6,
	  TAP_AT(TAP_UINT, struct example_key, unsigned_number) },
	{ .head = "PORT", .json = "port", .width = 5, TAP_AT(TAP_U16, struct example_key, port) },
	{ .head = "NAME", .json = "name", .width = -8, TAP_AT(TAP_STR, struct example_key, name) },
	{ .head = "FN", .json = "fn", .width = 8, .verbose = 1, .type = TAP_FN,
	  .fn = column_fn },
	{ .json = "json_only", TAP_AT(TAP_U16, struct example_key, port) },
	{ .head = "PCT", .type = TAP_PERCENT, .sums = BIT(0) | BIT(2) },
	{ .head = "KB", .width = 3, .type = TAP_SUM, .shift = 10, .sums = BIT(1) },
	{ .json = "b", .type = TAP_SUM, .sums = BIT(1) | BIT(2) },
	{ .head = "COMM", .json = "comm", .width = -6, .attr = 1, .name = 1,
	  TAP_AT(TAP_STR, struct example_attr, comm) },
};

struct example {
	struct example_key key;
	struct example_attr attr;
	u64 sums[3];
	struct tap_row row;
	struct tap_columns columns;
	struct tap_text text;
};

static int tap_column_init(struct kunit *test)
{
	struct example *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	if (!e)
		return -ENOMEM;
	e->key = (struct example_key){
		.big = 7, .number = -3, .unsigned_number = 4000000000U,
		.port = 65535, .name = "a b",
	};
	strscpy(e->attr.comm, "sh", sizeof(e->attr.comm));
	e->sums[0] = 1;
	e->sums[1] = 2047;
	e->sums[2] = 2;
	e->row = (struct tap_row){
		.id = TAP_ROW_FIRST, .key = &e->key, .attr = &e->attr, .sums = e->sums,
	};
	e->columns = (struct tap_columns){
		.column = columns, .nr = ARRAY_SIZE(columns), .events = 8,
	};
	test->priv = e;
	return 0;
}

static void tap_column_exit(struct kunit *test)
{
	struct example *e = test->priv;

	tap_text_free(&e->text);
}

static void tap_column_test_head(struct kunit *test)
{
	struct example *e = test->priv;

	tap_columns_head(&e->columns, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"  BIG  NUM UNS     PORT NAME     PCT  KB COMM  \n");
	e->columns.verbose = true;
	tap_columns_head(&e->columns, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"  BIG  NUM UNS     PORT NAME           FN PCT  KB COMM  \n");
}

static void tap_column_test_text(struct kunit *test)
{
	struct example *e = test->priv;

	tap_columns_text(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"    7   -3 4000000000 65535 a\\040b    37.50%   1 sh    \n");
	e->columns.raw = true;
	e->columns.verbose = true;
	tap_columns_text(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"    7   -3 4000000000 65535 a b      -3 of 4000000000  37.50%   1 sh    \n");
}

static void tap_column_test_text_of_extremes(struct kunit *test)
{
	struct example *e = test->priv;

	e->key.big = U64_MAX;
	e->key.number = S32_MIN;
	e->key.unsigned_number = U32_MAX;
	memset(e->key.name, 'n', sizeof(e->key.name));	/* no NUL byte */
	e->sums[1] = U64_MAX;
	e->columns.events = 1;
	e->columns.column = columns;
	tap_columns_text(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"18446744073709551615 -2147483648 4294967295 65535 nnnnnnnnnn 300.00% 18014398509481983 sh    \n");
}

static void tap_column_test_packets(struct kunit *test)
{
	struct packet {
		struct tap_addr from, to;
		u8 flags;
	} packet = {
		.from = { .version = 4, .word = { htonl(0x0a000001) } },
		.to = { .version = 6, .word = { htonl(0xfd000000), 0, 0, htonl(1) } },
		.flags = 0x82,
	};
	static const struct tap_column packet_columns[] = {
		{ .head = "FROM", .json = "from", .width = 9,
		  TAP_AT(TAP_ADDR, struct packet, from) },
		{ .head = "TO", .json = "to", .width = 9,
		  TAP_AT(TAP_ADDR, struct packet, to) },
		{ .head = "FLAGS", .json = "flags",
		  TAP_AT(TAP_U8, struct packet, flags) },
		{ .head = "0", .json = "bit0", TAP_AT(TAP_BIT, struct packet, flags) },
		{ .head = "1", .json = "bit1", .shift = 1,
		  TAP_AT(TAP_BIT, struct packet, flags) },
		{ .head = "7", .json = "bit7", .shift = 7,
		  TAP_AT(TAP_BIT, struct packet, flags) },
	};
	const struct tap_columns all = {
		.column = packet_columns, .nr = ARRAY_SIZE(packet_columns),
	};
	const struct tap_row row = { .id = TAP_ROW_FIRST, .key = &packet };
	struct example *e = test->priv;

	tap_columns_text(&all, &row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, " 10.0.0.1   fd00::1 130 0 1 1\n");
	tap_columns_json(&all, &row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"\"from\":\"10.0.0.1\",\"to\":\"fd00::1\",\"flags\":130,\"bit0\":0,\"bit1\":1,\"bit7\":1");
	memset(&packet.from.word, 0xff, sizeof(packet.from.word));
	packet.from.version = 6;
	tap_columns_text(&all, &row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff   fd00::1 130 0 1 1\n");
}

static void tap_column_test_files(struct kunit *test)
{
	struct file {
		dev_t dev;
		int error;
	} file = { .dev = MKDEV(259, 1048575), .error = -ENOENT };
	static const struct tap_column file_columns[] = {
		{ .head = "DEV", .json = "dev", TAP_AT(TAP_DEV, struct file, dev) },
		{ .head = "ERROR", .json = "errno", TAP_AT(TAP_ERRNO, struct file, error) },
	};
	const struct tap_columns all = {
		.column = file_columns, .nr = ARRAY_SIZE(file_columns),
	};
	const struct tap_row row = { .id = TAP_ROW_FIRST, .key = &file };
	struct example *e = test->priv;

	tap_columns_text(&all, &row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, "259:1048575 ENOENT\n");
	file.error = 0;
	tap_columns_json(&all, &row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, "\"dev\":\"259:1048575\",\"errno\":\"\"");
}

static void tap_column_test_text_of_marks(struct kunit *test)
{
	struct example *e = test->priv;

	memset(&e->key, 0, sizeof(e->key));
	memset(&e->attr, 0, sizeof(e->attr));
	e->row.id = TAP_ROW_OTHER;
	tap_columns_text(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"    0    0 0          0 -         37.50%   1 (other)\n");
	e->row.id = TAP_ROW_EXITED;
	e->columns.verbose = true;
	tap_columns_text(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"    0    0 0          0 -               -  37.50%   1 (exited)\n");
	tap_columns_json(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"\"big\":0,\"num\":0,\"uns\":0,\"port\":0,\"name\":\"-\",\"fn\":\"-\",\"json_only\":0,\"b\":2049,\"comm\":\"(exited)\"");
}

static void tap_column_test_json(struct kunit *test)
{
	struct example *e = test->priv;

	e->key.big = U64_MAX;
	tap_columns_json(&e->columns, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"\"big\":18446744073709551615,\"num\":-3,\"uns\":4000000000,\"port\":65535,\"name\":\"a b\",\"fn\":\"-3 of 4000000000\",\"json_only\":65535,\"b\":2049,\"comm\":\"sh\"");
}

static void tap_column_test_percent_rounds_down(struct kunit *test)
{
	static const struct tap_column percent[] = {
		{ .head = "PCT", .type = TAP_PERCENT, .sums = BIT(0) },
	};
	static const struct {
		u64 part;
		u64 all;
		const char *text;
	} cases[] = {
		{ 0, 3, "  0.00%\n" },
		{ 1, 3, " 33.33%\n" },
		{ 2, 3, " 66.66%\n" },
		{ 3, 3, "100.00%\n" },
		{ 1, 10001, "  0.00%\n" },
		{ 1000000000000ull, 4000000000000ull, " 25.00%\n" },
	};
	struct example *e = test->priv;
	int i;

	e->columns.column = percent;
	e->columns.nr = 1;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		e->sums[0] = cases[i].part;
		e->columns.events = cases[i].all;
		tap_columns_text(&e->columns, &e->row, &e->text);
		TAP_EXPECT_TEXT(test, &e->text, cases[i].text);
	}
}

static void tap_column_test_times(struct kunit *test)
{
	static const struct tap_column time_columns[] = {
		{ .head = "TOTAL", .json = "total_us", .width = 6,
		  .type = TAP_US_TOTAL, .offset = 1 },
		{ .head = "MEAN", .json = "mean_us", .width = 6,
		  .type = TAP_US_MEAN, .offset = 1 },
		{ .head = "MIN", .json = "min_us", .width = 6,
		  .type = TAP_US_MIN, .offset = 1 },
		{ .head = "MAX", .json = "max_us", .width = 6,
		  .type = TAP_US_MAX, .offset = 1 },
		{ .head = "HIST", .json = "hist_us", .width = -4,
		  .type = TAP_US_HIST, .offset = 1 },
	};
	const struct tap_columns all = {
		.column = time_columns, .nr = ARRAY_SIZE(time_columns),
	};
	struct example *e = test->priv;
	u64 sums[1 + TAP_TIMES_SUMS] = { 1000000 };
	u64 *times = sums + 1;

	e->row.sums = sums;
	tap_columns_head(&all, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, " TOTAL   MEAN    MIN    MAX HIST\n");
	tap_columns_text(&all, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, "     0      0      0      0 \n");
	tap_columns_json(&all, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"\"total_us\":0,\"mean_us\":0,\"min_us\":0,\"max_us\":0,\"hist_us\":[]");

	/* 999 ns, twice 1 us, 6.5 us */
	times[TAP_TIMES_TOTAL] = 9499;
	times[TAP_TIMES_BUCKET] = 1;
	times[TAP_TIMES_BUCKET + 1] = 2;
	times[TAP_TIMES_BUCKET + 3] = 1;
	times[TAP_TIMES_MIN] = ~999ull;
	times[TAP_TIMES_MAX] = 6500;
	tap_columns_text(&all, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, "     9      2      0      6 0:1,1:2,4:1\n");
	tap_columns_json(&all, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text,
			"\"total_us\":9,\"mean_us\":2,\"min_us\":0,\"max_us\":6,\"hist_us\":[1,2,0,1]");
	/* (other) has times like all rows, and no row's key is compared by them */
	e->row.id = TAP_ROW_OTHER;
	tap_columns_text(&all, &e->row, &e->text);
	TAP_EXPECT_TEXT(test, &e->text, "     9      2      0      6 0:1,1:2,4:1\n");
	KUNIT_EXPECT_EQ(test, tap_columns_cmp(&all, &e->row, &e->row), 0);
}

static void tap_column_test_buckets(struct kunit *test)
{
	unsigned int i;
	u64 us;

	KUNIT_EXPECT_EQ(test, tap_times_bucket(0), 0U);
	KUNIT_EXPECT_EQ(test, tap_times_bucket(999), 0U);
	KUNIT_EXPECT_EQ(test, tap_times_bucket_us(0), 0U);
	for (i = 1; i < TAP_TIMES_BUCKETS; i++) {
		us = tap_times_bucket_us(i);
		KUNIT_EXPECT_EQ(test, tap_times_bucket(us * 1000 - 1), i - 1);
		KUNIT_EXPECT_EQ(test, tap_times_bucket(us * 1000), i);
	}
	KUNIT_EXPECT_EQ(test, us, 1ull << 24);
	KUNIT_EXPECT_EQ(test, tap_times_bucket(U64_MAX), TAP_TIMES_BUCKETS - 1U);
}

static void tap_column_test_cmp_left_to_right(struct kunit *test)
{
	/* each line is above the one before */
	static const struct example_key keys[] = {
		{ .big = 1, .number = -5, .unsigned_number = 1 },
		{ .big = 1, .number = 4, .unsigned_number = 0 },
		{ .big = 1, .number = 4, .unsigned_number = 4000000000U },
		{ .big = 1, .number = 4, .unsigned_number = 4000000000U, .port = 1 },
		{ .big = 1, .number = 4, .unsigned_number = 4000000000U, .port = 1,
		  .name = "a" },
		{ .big = 1, .number = 4, .unsigned_number = 4000000000U, .port = 1,
		  .name = "ab" },
		{ .big = 1, .number = 4, .unsigned_number = 4000000000U, .port = 1,
		  .name = "\xc3" },
		{ .big = U64_MAX },
	};
	struct example *e = test->priv;
	struct tap_row other = e->row;
	int i, j;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		for (j = 0; j < ARRAY_SIZE(keys); j++) {
			struct example_key a = keys[i], b = keys[j];
			int diff;

			e->row.key = &a;
			other.key = &b;
			diff = tap_columns_cmp(&e->columns, &e->row, &other);
			KUNIT_EXPECT_EQ_MSG(test, diff < 0, i < j, "%d, %d", i, j);
			KUNIT_EXPECT_EQ_MSG(test, diff > 0, i > j, "%d, %d", i, j);
		}
	}
}

static void tap_column_test_cmp_without_sums(struct kunit *test)
{
	struct example *e = test->priv;
	u64 sums[3] = { 100, 200, 300 };
	struct tap_row other = e->row;

	other.sums = sums;
	KUNIT_EXPECT_EQ(test, tap_columns_cmp(&e->columns, &e->row, &other), 0);
}

static void tap_column_test_sum_of_mask(struct kunit *test)
{
	u64 sums[32];
	struct tap_row row = { .sums = sums };
	int i;

	for (i = 0; i < 32; i++)
		sums[i] = 1ull << (2 * i);
	KUNIT_EXPECT_EQ(test, tap_row_sum(&row, 0), 0ull);
	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_EQ(test, tap_row_sum(&row, BIT(i)), sums[i]);
	KUNIT_EXPECT_EQ(test, tap_row_sum(&row, U32_MAX), 0x5555555555555555ull);
}

static void tap_column_test_bytes_in_their_unit(struct kunit *test)
{
	static const struct tap_column bytes[] = {
		{ .head = "r:", .type = TAP_BYTES, .width = 8, .sums = BIT(0) },
		{ .head = "w:", .type = TAP_BYTES, .sums = BIT(1) | BIT(2) },
	};
	static const struct {
		u64 sums[3];
		const char *text;
	} cases[] = {
		{ { 0, 0, 1 }, "r:    0   B w: 1   B\n" },
		{ { 1024, 1024, 1 }, "r: 1024   B w: 1 KiB\n" },
		{ { 2047, 1 << 20, 0 }, "r:    1 KiB w: 1024 KiB\n" },
		{ { (1 << 20) + 1, 1 << 30, 1 }, "r:    1 MiB w: 1 GiB\n" },
		{ { 1 << 30, 1ull << 50, 1ull << 50 }, "r: 1024 MiB w: 2097152 GiB\n" },
	};
	struct example *e = test->priv;
	int i;

	e->columns.column = bytes;
	e->columns.nr = ARRAY_SIZE(bytes);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(e->sums, cases[i].sums, sizeof(e->sums));
		tap_columns_text(&e->columns, &e->row, &e->text);
		TAP_EXPECT_TEXT(test, &e->text, cases[i].text);
	}
}

static struct kunit_case tap_column_cases[] = {
	KUNIT_CASE(tap_column_test_head),
	KUNIT_CASE(tap_column_test_text),
	KUNIT_CASE(tap_column_test_text_of_extremes),
	KUNIT_CASE(tap_column_test_packets),
	KUNIT_CASE(tap_column_test_files),
	KUNIT_CASE(tap_column_test_text_of_marks),
	KUNIT_CASE(tap_column_test_json),
	KUNIT_CASE(tap_column_test_percent_rounds_down),
	KUNIT_CASE(tap_column_test_bytes_in_their_unit),
	KUNIT_CASE(tap_column_test_times),
	KUNIT_CASE(tap_column_test_buckets),
	KUNIT_CASE(tap_column_test_cmp_left_to_right),
	KUNIT_CASE(tap_column_test_cmp_without_sums),
	KUNIT_CASE(tap_column_test_sum_of_mask),
	{}
};

static struct kunit_suite tap_column_suite = {
	.name = "tap_column",
	.init = tap_column_init,
	.exit = tap_column_exit,
	.test_cases = tap_column_cases,
};
TAP_KUNIT_SUITE(tap_column_suite);
