// SPDX-License-Identifier: GPL-2.0-only
/* KUnit suite of common/file_io.c */
#include <linux/fs.h>
#include <linux/ptrace.h>
#include <linux/unistd.h>

#include "file_io.h"
#include "kunit.h"

/* Requests that are known at once. */
#define REQUESTS 4096

/* What the tool was told, in order. */
struct file_io_told {
	struct tap_tool tool;
	struct tap_io io[4];
	struct tap_io_file files[4];
	struct tap_io_owner owner;
	unsigned int nr;
	bool pinned;
};

static void file_io_io(struct tap_tool *tool, const struct tap_io *io)
{
	struct file_io_told *told = container_of(tool, struct file_io_told, tool);

	told->pinned = preempt_count();
	if (io->owner)
		told->owner = *io->owner;
	if (told->nr < ARRAY_SIZE(told->io)) {
		told->io[told->nr] = *io;
		if (io->file)
			told->files[told->nr] = *io->file;
	}
	told->nr++;
}

static int tap_file_io_test_init(struct kunit *test)
{
	struct file_io_told *told = kunit_kzalloc(test, sizeof(*told), GFP_KERNEL);

	if (!told)
		return -ENOMEM;
	told->tool.io = file_io_io;
	test->priv = told;
	return tap_file_io_source.init();
}

static void tap_file_io_test_exit(struct kunit *test)
{
	if (test->priv)
		tap_file_io_source.fini();
}

static void returns(struct kunit *test, long nr, long ret)
{
	struct file_io_told *told = test->priv;
	struct pt_regs regs = { .orig_ax = nr };

	told->nr = 0;
	tap_file_io_exit(&told->tool, &regs, ret);
}

static void expect(struct kunit *test, unsigned int i, enum tap_io_path path,
		   bool write, u64 bytes)
{
	struct file_io_told *told = test->priv;

	KUNIT_ASSERT_LT(test, i, told->nr);
	KUNIT_EXPECT_TRUE(test, !IS_ENABLED(CONFIG_PREEMPT_COUNT) || told->pinned);
	KUNIT_EXPECT_EQ(test, told->io[i].path, path);
	KUNIT_EXPECT_EQ(test, told->io[i].write, write);
	KUNIT_EXPECT_EQ(test, told->io[i].bytes, bytes);
}

static void tap_file_io_test_calls(struct kunit *test)
{
	static const struct {
		long nr;
		enum tap_io_path path;
		bool write;
	} calls[] = {
		{ __NR_read, TAP_IO_RW, false },
		{ __NR_write, TAP_IO_RW, true },
		{ __NR_pread64, TAP_IO_RW, false },
		{ __NR_pwrite64, TAP_IO_RW, true },
		{ __NR_readv, TAP_IO_VEC, false },
		{ __NR_writev, TAP_IO_VEC, true },
		{ __NR_preadv, TAP_IO_VEC, false },
		{ __NR_pwritev, TAP_IO_VEC, true },
		{ __NR_preadv2, TAP_IO_VEC, false },
		{ __NR_pwritev2, TAP_IO_VEC, true },
	};
	struct file_io_told *told = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		returns(test, calls[i].nr, 1000 + i);
		KUNIT_EXPECT_EQ(test, told->nr, 1);
		expect(test, 0, calls[i].path, calls[i].write, 1000 + i);
		KUNIT_EXPECT_NULL(test, told->io[0].owner);
	}
}

static void tap_file_io_test_calls_with_two_files(struct kunit *test)
{
	static const struct {
		long nr;
		enum tap_io_path path;
	} calls[] = {
		{ __NR_sendfile, TAP_IO_SENDFILE },
		{ __NR_splice, TAP_IO_SPLICE },
		{ __NR_copy_file_range, TAP_IO_COPY },
	};
	struct file_io_told *told = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		returns(test, calls[i].nr, 5ll << 30);
		KUNIT_EXPECT_EQ(test, told->nr, 2);
		expect(test, 0, calls[i].path, false, 5ll << 30);
		expect(test, 1, calls[i].path, true, 5ll << 30);
	}
}

static void tap_file_io_test_no_transfer(struct kunit *test)
{
	static const long numbers[] = {
		__NR_tee, __NR_vmsplice, __NR_io_submit, __NR_io_uring_enter,
		__NR_lseek, __NR_getppid, -1, 100000, INT_MAX, INT_MIN,
	};
	struct file_io_told *told = test->priv;
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		returns(test, numbers[i], 1);
		KUNIT_EXPECT_EQ(test, told->nr, 0);
	}
	returns(test, __NR_read, 0);
	KUNIT_EXPECT_EQ(test, told->nr, 0);
	returns(test, __NR_sendfile, -EAGAIN);
	KUNIT_EXPECT_EQ(test, told->nr, 0);
}

static void submit(struct file_io_told *told, struct kiocb *kiocb)
{
	struct pt_regs regs = { .di = (uintptr_t)kiocb };
	const struct tap_args args = { .regs = &regs };

	tap_file_io_aio_submit(&told->tool, &args);
}

static void complete_aio(struct file_io_told *told, struct kiocb *kiocb, long res)
{
	struct pt_regs regs = { .di = (uintptr_t)kiocb, .si = res };
	const struct tap_args args = { .regs = &regs };

	told->nr = 0;
	tap_file_io_aio_complete(&told->tool, &args);
}

static void tap_file_io_test_aio(struct kunit *test)
{
	struct kiocb *kiocb = kunit_kzalloc(test, sizeof(*kiocb), GFP_KERNEL);
	struct file_io_told *told = test->priv;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kiocb);
	/* it was submitted before load, or by whom nobody wants to see */
	complete_aio(told, kiocb, 10);
	KUNIT_EXPECT_EQ(test, told->nr, 0);

	/* one that is refused, and its address again */
	submit(told, kiocb);
	submit(told, kiocb);
	complete_aio(told, kiocb, 4096);
	KUNIT_EXPECT_EQ(test, told->nr, 1);
	expect(test, 0, TAP_IO_AIO, false, 4096);
	KUNIT_EXPECT_EQ(test, told->owner.who.pid, current->tgid);
	KUNIT_EXPECT_EQ(test, told->owner.names.tid, current->pid);
	complete_aio(told, kiocb, 4096);
	KUNIT_EXPECT_EQ(test, told->nr, 0);

	kiocb->ki_flags = IOCB_WRITE;
	submit(told, kiocb);
	complete_aio(told, kiocb, 1);
	expect(test, 0, TAP_IO_AIO, true, 1);

	/* an error ends it, too */
	submit(told, kiocb);
	complete_aio(told, kiocb, -EIO);
	KUNIT_EXPECT_EQ(test, told->nr, 0);
	complete_aio(told, kiocb, 1);
	KUNIT_EXPECT_EQ(test, told->nr, 0);
	KUNIT_EXPECT_EQ(test, tap_file_io_source.lost(), 0);
}

static void tap_file_io_test_too_many_requests(struct kunit *test)
{
	struct kiocb *kiocb = kvcalloc(REQUESTS + 3, sizeof(*kiocb), GFP_KERNEL);
	struct file_io_told *told = test->priv;
	int i, known = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kiocb);
	for (i = 0; i < REQUESTS + 3; i++)
		submit(told, kiocb + i);
	KUNIT_EXPECT_EQ(test, tap_file_io_source.lost(), 3);
	for (i = 0; i < REQUESTS + 3; i++) {
		complete_aio(told, kiocb + i, 1);
		known += told->nr;
	}
	KUNIT_EXPECT_EQ(test, known, REQUESTS);
	kvfree(kiocb);
}

static void tap_file_io_test_kernel(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct pt_regs regs = { .di = (uintptr_t)file };
	struct tap_io_kernel noted = {};
	bool wanted;
	const struct tap_args args = { .regs = &regs };
	struct file_io_told *told = test->priv;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	/* the suite runs in a thread of the kernel */
	wanted = tap_file_io_kernel(&told->tool, &args, &noted);
	KUNIT_EXPECT_TRUE(test, wanted);
	file->f_mode = FMODE_NOACCOUNT;
	wanted = tap_file_io_kernel(&told->tool, &args, &noted);
	KUNIT_EXPECT_FALSE(test, wanted);

	KUNIT_EXPECT_PTR_EQ(test, noted.file, (const struct file *)file);
	KUNIT_EXPECT_EQ(test, noted.begin, 0);
	tap_file_io_kernel_read(&told->tool, &noted, 10);
	tap_file_io_kernel_write(&told->tool, &noted, 20);
	tap_file_io_kernel_read(&told->tool, &noted, 0);
	tap_file_io_kernel_write(&told->tool, &noted, -ENOSPC);
	KUNIT_EXPECT_EQ(test, told->nr, 2);
	expect(test, 0, TAP_IO_KERNEL, false, 10);
	expect(test, 1, TAP_IO_KERNEL, true, 20);
}

static bool file_io_wanted(const struct inode *inode)
{
	return inode->i_ino == 7;
}

/* A tool that hears of calls that moved nothing, and has to know the file. */
static void tap_file_io_test_calls_that_move_nothing(struct kunit *test)
{
	struct super_block *sb = kunit_kzalloc(test, sizeof(*sb), GFP_KERNEL);
	struct inode *inode = kunit_kzalloc(test, sizeof(*inode), GFP_KERNEL);
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct kiocb *kiocb = kunit_kzalloc(test, sizeof(*kiocb), GFP_KERNEL);
	struct file_io_told *told = test->priv;
	struct tap_io_kernel noted = { .file = file };
	int i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sb);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, inode);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kiocb);
	sb->s_dev = MKDEV(8, 5);
	inode->i_sb = sb;
	inode->i_ino = 7;
	file->f_inode = inode;
	kiocb->ki_filp = file;
	told->tool.io_wanted = file_io_wanted;
	told->tool.io_calls = true;

	tap_file_io_kernel_read(&told->tool, &noted, 0);
	tap_file_io_iter_write(&told->tool, &noted, -EIO);
	tap_file_io_kernel_read(&told->tool, &noted, -EBADF);
	KUNIT_EXPECT_EQ(test, told->nr, 2);
	expect(test, 0, TAP_IO_KERNEL, false, 0);
	expect(test, 1, TAP_IO_KERNEL, true, 0);
	KUNIT_EXPECT_EQ(test, told->io[0].error, 0);
	KUNIT_EXPECT_EQ(test, told->io[1].error, -EIO);
	KUNIT_EXPECT_STREQ(test, told->io[0].function, "__kernel_read");
	KUNIT_EXPECT_STREQ(test, told->io[1].function, "vfs_iter_write");
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_PTR_EQ(test, told->io[i].open,
				    (const struct file *)file);
		KUNIT_EXPECT_EQ(test, told->files[i].ino, 7);
		KUNIT_EXPECT_EQ(test, told->files[i].dev, MKDEV(8, 5));
	}

	submit(told, kiocb);
	complete_aio(told, kiocb, -EAGAIN);
	KUNIT_EXPECT_EQ(test, told->nr, 1);
	expect(test, 0, TAP_IO_AIO, false, 0);
	KUNIT_EXPECT_EQ(test, told->io[0].error, -EAGAIN);
	KUNIT_EXPECT_STREQ(test, told->io[0].function, "aio_read");

	/* another file */
	inode->i_ino = 8;
	submit(told, kiocb);
	inode->i_ino = 7;
	complete_aio(told, kiocb, 10);
	KUNIT_EXPECT_EQ(test, told->nr, 0);
	/* one that is just being made */
	file->f_inode = NULL;
	tap_file_io_kernel_read(&told->tool, &noted, 10);
	KUNIT_EXPECT_EQ(test, told->nr, 0);
}

static void tap_file_io_test_stacked(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct pt_regs regs = { .di = (uintptr_t)file };
	const struct tap_args args = { .regs = &regs };
	struct file_io_told *told = test->priv;
	struct tap_io_kernel noted;
	bool wanted;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	file->f_mode = FMODE_NOACCOUNT;
	told->tool.io_stacked = true;
	wanted = tap_file_io_kernel(&told->tool, &args, &noted);
	KUNIT_EXPECT_TRUE(test, wanted);
}

static struct kunit_case tap_file_io_cases[] = {
	KUNIT_CASE(tap_file_io_test_calls),
	KUNIT_CASE(tap_file_io_test_calls_with_two_files),
	KUNIT_CASE(tap_file_io_test_no_transfer),
	KUNIT_CASE(tap_file_io_test_aio),
	KUNIT_CASE(tap_file_io_test_too_many_requests),
	KUNIT_CASE(tap_file_io_test_kernel),
	KUNIT_CASE(tap_file_io_test_calls_that_move_nothing),
	KUNIT_CASE(tap_file_io_test_stacked),
	{}
};

static struct kunit_suite tap_file_io_suite = {
	.name = "tap_file_io",
	.init = tap_file_io_test_init,
	.exit = tap_file_io_test_exit,
	.test_cases = tap_file_io_cases,
};
TAP_KUNIT_SUITE(tap_file_io_suite);
