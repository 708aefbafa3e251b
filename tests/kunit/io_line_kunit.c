// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/io_line.c */
#include <linux/errno.h>

#include "io_line.h"
#include "kunit.h"

/* Terminated. */
static void io_line_json(struct tap_io_line *line, struct tap_text *text)
{
	const struct tap_columns all = {
		.column = tap_io_line_columns,
		.nr = ARRAY_SIZE(tap_io_line_columns),
	};
	const struct tap_row row = { .id = TAP_ROW_FIRST, .key = line };

	tap_columns_json(&all, &row, text);
	tap_putc(text, '\0');
}

/* One member of the JSON. */
static void io_line_has(struct kunit *test, struct tap_io_line *line,
			const char *member)
{
	struct tap_text text = {};

	io_line_json(line, &text);
	KUNIT_EXPECT_FALSE(test, text.failed);
	KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(text.buf, member), "no %s in %s",
				  member, text.buf);
	tap_text_free(&text);
}

static void tap_io_line_test_text(struct kunit *test)
{
	const struct tap_io_line line = {
		.names = { .comm = "two words", .pid = 42 },
		.function = "vfs_read",
		.dev = MKDEV(8, 5),
	};
	struct tap_text text = {};

	tap_io_line_text(&text, &line, true);
	TAP_EXPECT_TEXT(test, &text, "two\\040words(42) vfs_read 0x800005");
	tap_io_line_text(&text, &line, false);
	TAP_EXPECT_TEXT(test, &text, "two words(42) vfs_read 0x800005");
	tap_text_free(&text);
}

static void tap_io_line_test_longest_name(struct kunit *test)
{
	struct tap_io_line line = { .function = "f", .dev = U32_MAX };
	struct tap_text text = {};

	memset(line.names.comm, 'x', TASK_COMM_LEN - 1);
	line.names.pid = INT_MAX;
	tap_io_line_text(&text, &line, true);
	TAP_EXPECT_TEXT(test, &text, "xxxxxxxxxxxxxxx(2147483647) f 0xffffffff");
	tap_io_line_text(&text, &line, false);
	TAP_EXPECT_TEXT(test, &text, "xxxxxxxxxxxxxxx(2147483647) f 0xffffffff");
	tap_text_free(&text);
}

static void tap_io_line_test_json(struct kunit *test)
{
	struct tap_io_line line = {
		.names = { .comm = "leader", .thread = "worker", .pid = 42,
			   .tid = 43, .ns_pid = 2 },
		.function = "do_sendfile",
		.ino = U64_MAX,
		.bytes = 5ull << 30,
		.dev = MKDEV(4095, 1048575),
		.path = TAP_IO_SENDFILE,
		.write = 1,
	};

	io_line_has(test, &line, "\"pid\":42,\"function\":\"do_sendfile\",");
	io_line_has(test, &line, ",\"direction\":\"W\",\"path\":\"sendfile\",");
	io_line_has(test, &line, ",\"dev\":\"4095:1048575\",");
	io_line_has(test, &line, ",\"ino\":18446744073709551615,");
	io_line_has(test, &line, ",\"bytes\":5368709120,\"errno\":\"\",");
	io_line_has(test, &line, ",\"comm\":\"leader\",\"thread\":\"worker\",");
	io_line_has(test, &line, ",\"tid\":43,\"ns_pid\":2");
	line.write = 0;
	io_line_has(test, &line, ",\"direction\":\"R\",");
}

static void tap_io_line_test_errno(struct kunit *test)
{
	struct tap_io_line line = { .function = "vfs_read" };

	io_line_has(test, &line, "\"errno\":\"\"");
	line.error = -EAGAIN;
	io_line_has(test, &line, "\"errno\":\"EAGAIN\"");
	line.error = -EFAULT;
	io_line_has(test, &line, "\"errno\":\"EFAULT\"");
	/* no name for that */
	line.error = -4000;
	io_line_has(test, &line, "\"errno\":\"-4000\"");
}

static void tap_io_line_test_paths(struct kunit *test)
{
	static const char *const members[] = {
		"\"path\":\"rw\"", "\"path\":\"vec\"",
		"\"path\":\"sendfile\"", "\"path\":\"splice\"",
		"\"path\":\"copy\"", "\"path\":\"uring\"",
		"\"path\":\"aio\"", "\"path\":\"kernel\"",
	};
	struct tap_io_line line = { .function = "f" };

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(members), TAP_IO_NR_PATHS);
	for (line.path = 0; line.path < TAP_IO_NR_PATHS; line.path++)
		io_line_has(test, &line, members[line.path]);
}

static struct kunit_case tap_io_line_cases[] = {
	KUNIT_CASE(tap_io_line_test_text),
	KUNIT_CASE(tap_io_line_test_longest_name),
	KUNIT_CASE(tap_io_line_test_json),
	KUNIT_CASE(tap_io_line_test_errno),
	KUNIT_CASE(tap_io_line_test_paths),
	{}
};

static struct kunit_suite tap_io_line_suite = {
	.name = "tap_io_line",
	.test_cases = tap_io_line_cases,
};
TAP_KUNIT_SUITE(tap_io_line_suite);
