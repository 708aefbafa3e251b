// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suite of common/tool.c, and of what a reader gets in the kernel
 * (reader.c, table_file.c, surface.c): whole tools, begun and ended in a test.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "kunit.h"
#include "paths.h"
#include "reader.h"
#include "tap.h"

/* --- what is hooked: a function that only the test calls --------------- */

static void call(struct kunit *test, unsigned long number)
{
	static const struct seq_operations ops;
	struct proc_dir_entry *entry;

	entry = proc_create_seq_private("tap_kunit", 0400, NULL, &ops, 17,
					(void *)number);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	proc_remove(entry);
}

/* --- a table tool ------------------------------------------------------ */

struct table_key {
	struct tap_who who;
	u64 number;
};

static void on_call_count(struct tap_tool *tool, const struct tap_args *args)
{
	struct table_key key = { .number = tap_arg(args, 5) };
	struct tap_sums row;

	if (!tap_begin(tool, tap_current()))
		return;
	row = tap_row_who(tool, &key, tap_current());
	tap_add(row, 0, 1);
	tap_add(row, 1, 1024);
	tap_end();
}

static struct tap_probe table_probes[] = {
	{
		.type = TAP_FUNCTION,
		.name = { "proc_create_seq_private" },
		.needs = "CONFIG_PROC_FS",
		.function = on_call_count,
	},
};

static const struct tap_column table_columns[] = {
	{ .head = "NUMBER", .json = "number", .width = 8,
	  TAP_AT(TAP_U64, struct table_key, number) },
	TAP_COLUMN_SUM("COUNT", "count", 8, BIT(0)),
	TAP_COLUMN_KB("KB", 8, BIT(1)),
	TAP_COLUMN_COMM("COMM", -10),
	TAP_JSON_NAMES(1),
};

static const struct tap_tool table_tool = {
	TAP_DEFAULTS("kunit_table"),
	TAP_PROBES(table_probes),
	TAP_COLUMNS(table_columns),
	.layout = TAP_LAYOUT(struct table_key, struct tap_names, 2),
	.by_process = true,
	.sort = BIT(0),
	.interval_ms = 3600000,
};

/* --- a stream tool ----------------------------------------------------- */

static void on_call_tell(struct tap_tool *tool, const struct tap_args *args)
{
	const struct table_key event = { .number = tap_arg(args, 5) };

	if (!tap_begin(tool, tap_current()))
		return;
	tap_event(tool, &event);
	tap_end();
}

static struct tap_probe stream_probes[] = {
	{
		.type = TAP_FUNCTION,
		.name = { "proc_create_seq_private" },
		.needs = "CONFIG_PROC_FS",
		.function = on_call_tell,
	},
};

static const struct tap_tool stream_tool = {
	TAP_DEFAULTS("kunit_stream"),
	TAP_PROBES(stream_probes),
	TAP_COLUMNS(table_columns),
	.event_size = sizeof(struct table_key),
};

static struct tap_tool tool;
static int refs;	/* of the module, which is being loaded */

static int tap_tool_init(struct kunit *test)
{
	refs = module_refcount(THIS_MODULE);
	return 0;
}

static int start(const struct tap_tool *descriptor)
{
	tool = *descriptor;
	return tap_tool_start(&tool);
}

/* Nothing of a tool is left, nor is it hooked. */
static void expect_gone(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, exists("/proc/tap"));
	KUNIT_EXPECT_FALSE(test, exists("/sys/kernel/debug/tap"));
	KUNIT_EXPECT_PTR_EQ(test, table_probes[0].bound, NULL);
	KUNIT_EXPECT_PTR_EQ(test, stream_probes[0].bound, NULL);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), refs);
	call(test, 1);
}

/* --- life -------------------------------------------------------------- */

static void tap_tool_test_files_of_a_table(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap/kunit_table"));
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap/kunit_table.json"));
	KUNIT_EXPECT_TRUE(test, exists("/sys/kernel/debug/tap/kunit_table/stats"));
	KUNIT_EXPECT_TRUE(test, exists("/sys/kernel/debug/tap/kunit_table/json"));
	KUNIT_EXPECT_TRUE(test, exists("/sys/kernel/debug/tap/kunit_table/reset"));
	KUNIT_EXPECT_TRUE(test, exists("/sys/kernel/debug/tap/kunit_table/flip"));
	tap_tool_stop(&tool);
	expect_gone(test);
}

static void tap_tool_test_files_of_a_stream(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, start(&stream_tool), 0);
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap/kunit_stream"));
	KUNIT_EXPECT_TRUE(test, exists("/proc/tap/kunit_stream.json"));
	KUNIT_EXPECT_TRUE(test, exists("/sys/kernel/debug/tap/kunit_stream/stats"));
	KUNIT_EXPECT_FALSE(test, exists("/sys/kernel/debug/tap/kunit_stream/flip"));
	tap_tool_stop(&tool);
	expect_gone(test);
}

static void tap_tool_test_rows_are_chosen_or_what_fits(struct kunit *test)
{
	struct tap_tool descriptor = table_tool;

	KUNIT_ASSERT_EQ(test, start(&descriptor), 0);
	KUNIT_EXPECT_EQ(test, tool.layout.max_rows, tap_table_rows(&tool.layout));
	tap_tool_stop(&tool);
	descriptor.layout.max_rows = 16;
	KUNIT_ASSERT_EQ(test, start(&descriptor), 0);
	KUNIT_EXPECT_EQ(test, tool.layout.max_rows, 16U);
	tap_tool_stop(&tool);
	expect_gone(test);
}

static void tap_tool_test_required_is_missing(struct kunit *test)
{
	static struct tap_probe probes[] = {
		{
			.type = TAP_FUNCTION,
			.name = { "no_such_function" },
			.needs = "CONFIG_NO_SUCH_OPTION",
			.function = on_call_count,
		},
	};
	struct tap_tool descriptor = table_tool;

	descriptor.probes = probes;
	KUNIT_EXPECT_EQ(test, start(&descriptor), -EOPNOTSUPP);
	expect_gone(test);
	/* disabled, it is not looked for before somebody enables it */
	descriptor.enabled = false;
	KUNIT_EXPECT_EQ(test, start(&descriptor), 0);
	tap_tool_stop(&tool);
	expect_gone(test);
}

static int attempt_table(struct kunit *test)
{
	struct tap_tool descriptor = table_tool;
	int err;

	descriptor.layout.max_rows = 16;
	descriptor.filter = "tree=1";
	descriptor.begun_size = sizeof(u64);
	descriptor.inflight = 16;
	err = start(&descriptor);
	if (!err)
		tap_tool_stop(&tool);
	return err;
}

static void tap_tool_test_start_a_table_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt_table);
	expect_gone(test);
}

static int attempt_stream(struct kunit *test)
{
	struct tap_tool descriptor = stream_tool;
	int err;

	descriptor.buffer_kb = 16;
	err = start(&descriptor);
	if (!err)
		tap_tool_stop(&tool);
	return err;
}

static void tap_tool_test_start_a_stream_without_memory(struct kunit *test)
{
	tap_kunit_fail_each(test, attempt_stream);
	expect_gone(test);
}

/* --- settings ---------------------------------------------------------- */

static int apply(struct kunit *test,
		 int (*what)(struct tap_tool *tool, struct tap_text *why))
{
	struct tap_text why = {};
	int err;

	mutex_lock(&tool.lock);
	err = what(&tool, &why);
	mutex_unlock(&tool.lock);
	KUNIT_EXPECT_EQ(test, err != 0, why.len != 0);
	tap_text_free(&why);
	return err;
}

static void tap_tool_test_enabled_attaches_and_detaches(struct kunit *test)
{
	struct tap_tool descriptor = table_tool;
	int i;

	descriptor.enabled = false;
	KUNIT_ASSERT_EQ(test, start(&descriptor), 0);
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 0ull);
	for (i = 1; i <= 5; i++) {
		tool.enabled = true;
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_enabled), 0);
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_enabled), 0);
		call(test, 1);
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_probes), 0);
		call(test, 1);
		tool.enabled = false;
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_enabled), 0);
		call(test, 1);
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_probes), 0);
		call(test, 1);
		KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 2ull * i);
	}
	tap_tool_stop(&tool);
	expect_gone(test);
}

/* What had begun when the probes were detached is forgotten; what was lost is not. */
static void tap_tool_test_begun(struct kunit *test)
{
	struct tap_tool descriptor = table_tool;
	struct tap_snapshot *snapshot;
	u64 data = 1, i;

	descriptor.begun_size = sizeof(u64);
	descriptor.inflight = 16;
	KUNIT_ASSERT_EQ(test, start(&descriptor), 0);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, tap_inflight_put(&tool.begun, i, &data),
				i < 16);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&tool.begun), 16U);
	KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_probes), 0);
	KUNIT_EXPECT_EQ(test, tap_inflight_used(&tool.begun), 0U);
	KUNIT_EXPECT_FALSE(test, tap_inflight_take(&tool.begun, 0, &data));
	snapshot = tap_window_get(&tool.window);
	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_EQ(test, snapshot->lost, 4ull);
	tap_snapshot_put(snapshot);
	tap_tool_stop(&tool);
	expect_gone(test);
}

static void tap_tool_test_filter(struct kunit *test)
{
	struct tap_tool descriptor = table_tool;
	char self[32];

	descriptor.filter = "uid=12345";
	KUNIT_ASSERT_EQ(test, start(&descriptor), 0);
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 0ull);
	tool.filter = NULL;
	KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_filter), 0);
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 1ull);
	sprintf(self, "tree=%d", current->tgid);
	tool.filter = self;
	KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_filter), 0);
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 2ull);
	tool.filter = "tree=1";
	KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_filter), 0);
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 2ull);
	tap_tool_stop(&tool);
	expect_gone(test);
}

static void tap_tool_test_filter_refused(struct kunit *test)
{
	static const char *const filters[] = { "nonsense=1", "tree=2147483647" };
	struct tap_tool descriptor = table_tool;
	int i;

	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		descriptor.filter = (char *)filters[i];
		KUNIT_EXPECT_EQ(test, start(&descriptor), -EINVAL);
		expect_gone(test);
	}
	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	for (i = 0; i < ARRAY_SIZE(filters); i++) {
		tool.filter = (char *)filters[i];
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_filter), -EINVAL);
		/* as what was there before is applied again */
		tool.filter = NULL;
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_filter), 0);
	}
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 1ull);
	tap_tool_stop(&tool);
	expect_gone(test);
}

static void tap_tool_test_window_applied(struct kunit *test)
{
	struct tap_snapshot *snapshot;

	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	tool.interval_ms = 0;
	KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_window), 0);
	snapshot = tap_window_get(&tool.window);
	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_STREQ(test, snapshot->state, "running");
	tap_snapshot_put(snapshot);
	tap_tool_stop(&tool);
}

/* --- readers ----------------------------------------------------------- */

/* As much of a file as the tools' operations look at. */
static struct file *new_file(struct kunit *test)
{
	static const struct file_operations ops;
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	file->f_op = &ops;
	return file;
}

static void expect_rendered(struct kunit *test, struct file *file,
			    const char *begin, const char *end)
{
	struct tap_reader *reader = file->private_data;
	const char *text;

	tap_putc(&reader->text, '\0');
	text = reader->text.buf;
	reader->text.len--;
	KUNIT_EXPECT_EQ_MSG(test, strncmp(text, begin, strlen(begin)), 0, "%s", text);
	KUNIT_ASSERT_GE(test, strlen(text), strlen(end));
	KUNIT_EXPECT_STREQ(test, text + strlen(text) - strlen(end), end);
}

static void tap_tool_test_reader_of_a_table(struct kunit *test)
{
	struct file *file = new_file(test);
	char name[TASK_COMM_LEN];
	int i;

	strscpy(name, current->comm, sizeof(name));
	strscpy(current->comm, "a b", sizeof(current->comm));
	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	for (i = 0; i < 6; i++)
		call(test, i % 3 + i / 5);	/* 0: 2, 1: 2, 2: 1, 3: 1 */
	KUNIT_EXPECT_EQ(test, tap_window_flip(&tool.window), 0);

	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, false), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), refs + 1);
	expect_rendered(test, file,
			"  NUMBER    COUNT       KB COMM      \n"
			"       0        2        2 a\\040b    \n"
			"       1        2        2 a\\040b    \n"
			"       2        1        1 a\\040b    \n"
			"       3        1        1 a\\040b    \n"
			"# window_ms=",
			" state=complete rows=4 shown=4 events=6 lost=0 self=0\n");
	tool.limit = 1;
	tool.escape = false;
	KUNIT_EXPECT_EQ(test, tap_table_file_llseek(file, 0, SEEK_SET), 0);
	expect_rendered(test, file,
			"  NUMBER    COUNT       KB COMM      \n"
			"       0        2        2 a b       \n"
			"# window_ms=",
			" state=complete rows=4 shown=1 events=6 lost=0 self=0\n");
	KUNIT_EXPECT_EQ(test, tap_table_file_llseek(file, -1, SEEK_SET), -EINVAL);
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), refs);
	tap_tool_stop(&tool);
	strscpy(current->comm, name, sizeof(current->comm));
	expect_gone(test);
}

static void tap_tool_test_json_of_a_table(struct kunit *test)
{
	struct file *file = new_file(test);
	char name[TASK_COMM_LEN];
	char line[300];

	strscpy(name, current->comm, sizeof(name));
	strscpy(current->comm, "a\"b", sizeof(current->comm));
	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	tool.limit = 1;		/* JSON is never cut */
	call(test, 1);
	call(test, 2);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&tool.window), 0);
	scnprintf(line, sizeof(line),
		  "{\"tool\":\"kunit_table\",\"number\":1,\"count\":1,\"comm\":\"a\\\"b\",\"thread\":\"a\\\"b\",\"tid\":%d,\"ns_pid\":%d}\n"
		  "{\"tool\":\"kunit_table\",\"number\":2,",
		  current->pid, current->tgid);
	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, true), 0);
	expect_rendered(test, file, line,
			",\"state\":\"complete\",\"rows\":2,\"events\":2,\"lost\":0,\"self\":0}\n");
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	tap_tool_stop(&tool);
	strscpy(current->comm, name, sizeof(current->comm));
}

static void tap_tool_test_poll_tells_of_a_window(struct kunit *test)
{
	struct file *file = new_file(test);

	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, false), 0);
	KUNIT_EXPECT_EQ(test, (u32)tap_table_file_poll(file, NULL), 0U);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&tool.window), 0);
	KUNIT_EXPECT_EQ(test, (u32)tap_table_file_poll(file, NULL),
			(u32)(EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, tap_table_file_llseek(file, 0, SEEK_SET), 0);
	KUNIT_EXPECT_EQ(test, (u32)tap_table_file_poll(file, NULL), 0U);
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	tap_tool_stop(&tool);
}

static void tap_tool_test_poll_tells_of_events(struct kunit *test)
{
	struct file *file = new_file(test);
	struct tap_reader *reader;

	KUNIT_ASSERT_EQ(test, start(&stream_tool), 0);
	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, false), 0);
	/* the header was not read yet */
	KUNIT_EXPECT_NE(test, (u32)tap_stream_file_poll(file, NULL), 0U);
	reader = file->private_data;
	reader->begun = true;
	KUNIT_EXPECT_EQ(test, (u32)tap_stream_file_poll(file, NULL), 0U);
	tool.gate.count_readers = true;
	call(test, 1);
	tap_stream_drain(&tool.stream);
	KUNIT_EXPECT_EQ(test, (u32)tap_stream_file_poll(file, NULL),
			(u32)(EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	tap_tool_stop(&tool);
}

static void tap_tool_test_readers_are_left_out(struct kunit *test)
{
	struct file *file = new_file(test);
	struct tap_tool descriptor = table_tool;
	struct tap_stream_stats stats;
	struct tap_snapshot *snapshot;

	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, false), 0);
	call(test, 1);
	call(test, 2);
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	call(test, 3);
	KUNIT_EXPECT_EQ(test, tap_window_flip(&tool.window), 0);
	snapshot = tap_window_get(&tool.window);
	KUNIT_ASSERT_NOT_NULL(test, snapshot);
	KUNIT_EXPECT_EQ(test, snapshot->self, 2ull);
	KUNIT_EXPECT_EQ(test, snapshot->events, 1ull);
	tap_snapshot_put(snapshot);
	tap_tool_stop(&tool);

	KUNIT_ASSERT_EQ(test, start(&stream_tool), 0);
	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, false), 0);
	call(test, 1);
	call(test, 2);
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	call(test, 3);
	tap_stream_stats(&tool.stream, &stats);
	KUNIT_EXPECT_EQ(test, stats.self, 2ull);
	KUNIT_EXPECT_EQ(test, stats.written, 1ull);
	tap_tool_stop(&tool);

	/* tools that are about something else count everybody */
	descriptor.keep_readers = true;
	KUNIT_ASSERT_EQ(test, start(&descriptor), 0);
	KUNIT_ASSERT_EQ(test, tap_reader_open(file, &tool, false), 0);
	call(test, 1);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window), 1ull);
	KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	tap_tool_stop(&tool);
}

static void tap_tool_test_reader_needs_the_capability(struct kunit *test)
{
	struct file *file = new_file(test);
	struct cred *cred = prepare_creds();
	const struct cred *old;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	memset(&cred->cap_effective, 0, sizeof(cred->cap_effective));
	old = override_creds(cred);
	err = tap_reader_open(file, &tool, false);
	revert_creds(old);
	put_cred(cred);
	KUNIT_EXPECT_EQ(test, err, -EPERM);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), refs);
	tap_tool_stop(&tool);
}

static int attempt_open(struct kunit *test)
{
	struct file file = {};
	int err = tap_reader_open(&file, &tool, false);

	if (!err)
		tap_reader_release(NULL, &file);
	return err;
}

static void tap_tool_test_open_without_memory(struct kunit *test)
{
	tap_kunit_needs_failures(test);
	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	tap_kunit_fail_each(test, attempt_open);
	KUNIT_EXPECT_TRUE(test, tap_gate_is_open(&tool.gate));
	tap_tool_stop(&tool);
	expect_gone(test);
}

/* --- load -------------------------------------------------------------- */

static atomic64_t calls;
static bool done;

static void load_thread(void *data, unsigned int cpu)
{
	char name[16];
	int i;

	sprintf(name, "tap_kunit%u", cpu);
	for (i = 0; i < 200 || !READ_ONCE(done); i++) {
		static const struct seq_operations ops;
		struct proc_dir_entry *entry;

		entry = proc_create_seq_private(name, 0400, NULL, &ops, 17, NULL);
		proc_remove(entry);
		if (entry)
			atomic64_inc(&calls);
		cond_resched_tasks_rcu_qs();
	}
}

/* All that can be changed is, while events are counted: none is lost. */
static void tap_tool_test_settings_under_load(struct kunit *test)
{
	struct tap_kunit_load load = { .thread = load_thread };
	struct file *file = new_file(test);
	int i;

	KUNIT_ASSERT_EQ(test, start(&table_tool), 0);
	atomic64_set(&calls, 0);
	WRITE_ONCE(done, false);
	tap_kunit_start(test, &load);
	for (i = 0; i < 20; i++) {
		tool.filter = i % 2 ? "uid=0" : NULL;
		KUNIT_EXPECT_EQ(test, apply(test, tap_tool_apply_filter), 0);
		KUNIT_EXPECT_EQ(test, tap_window_flip(&tool.window), 0);
		KUNIT_EXPECT_EQ(test, tap_reader_open(file, &tool, i % 3), 0);
		WRITE_ONCE(tool.by_thread, i % 2);
		KUNIT_EXPECT_EQ(test, tap_reader_release(NULL, file), 0);
	}
	WRITE_ONCE(done, true);
	tap_kunit_wait(&load);
	KUNIT_EXPECT_EQ(test, tap_window_events(&tool.window),
			(u64)atomic64_read(&calls));
	tap_tool_stop(&tool);
	expect_gone(test);
}

static struct kunit_case tap_tool_cases[] = {
	KUNIT_CASE(tap_tool_test_files_of_a_table),
	KUNIT_CASE(tap_tool_test_files_of_a_stream),
	KUNIT_CASE(tap_tool_test_rows_are_chosen_or_what_fits),
	KUNIT_CASE(tap_tool_test_required_is_missing),
	KUNIT_CASE(tap_tool_test_start_a_table_without_memory),
	KUNIT_CASE(tap_tool_test_start_a_stream_without_memory),
	KUNIT_CASE(tap_tool_test_enabled_attaches_and_detaches),
	KUNIT_CASE(tap_tool_test_begun),
	KUNIT_CASE(tap_tool_test_filter),
	KUNIT_CASE(tap_tool_test_filter_refused),
	KUNIT_CASE(tap_tool_test_window_applied),
	KUNIT_CASE(tap_tool_test_reader_of_a_table),
	KUNIT_CASE(tap_tool_test_json_of_a_table),
	KUNIT_CASE(tap_tool_test_poll_tells_of_a_window),
	KUNIT_CASE(tap_tool_test_poll_tells_of_events),
	KUNIT_CASE(tap_tool_test_readers_are_left_out),
	KUNIT_CASE(tap_tool_test_reader_needs_the_capability),
	KUNIT_CASE(tap_tool_test_open_without_memory),
	KUNIT_CASE(tap_tool_test_settings_under_load),
	{}
};

static struct kunit_suite tap_tool_suite = {
	.name = "tap_tool",
	.suite_init = paths_begin,
	.suite_exit = paths_end,
	.init = tap_tool_init,
	.test_cases = tap_tool_cases,
};
TAP_KUNIT_SUITE(tap_tool_suite);
