// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: FIFOs that behave as the files of a tap tool do
 *
 * Who opens a FIFO gets, if the name begins with "stream", a file that cannot
 * seek, whose reads give what was written into the FIFO and then 0; else a
 * table: each lseek() takes what was written up to the next trailer as the new
 * snapshot, or keeps the old one.  poll() is the FIFO's own.
 *
 * FAKE_FLIP=CONTROL:FILE: once something is in CONTROL, which stands for the
 * tool's control "flip", the next snapshot is what is in FILE.
 * FAKE_GONE=FILE: reads give EIO once there is that file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FILE *fake;
static int fifo = -1;
static bool is_stream;
static char snapshot[65536];
static size_t snapshot_len;
static size_t snapshot_pos;

static bool flipped(void)
{
	char *control = strdup(getenv("FAKE_FLIP") ?: ":");
	char *file = strchr(control, ':');
	struct stat st;
	ssize_t n = -1;
	int fd;

	*file++ = '\0';
	if (!stat(control, &st) && st.st_size) {
		fd = open(file, O_RDONLY);
		n = read(fd, snapshot, sizeof(snapshot));
		close(fd);
	}
	free(control);
	if (n >= 0)
		snapshot_len = n;
	return n >= 0;
}

static void take_snapshot(void)
{
	size_t line = 0;
	size_t len = 0;

	snapshot_pos = 0;
	if (flipped())
		return;
	while (read(fifo, snapshot + len, 1) == 1) {
		if (snapshot[len++] != '\n')
			continue;
		snapshot_len = len;
		if (!strncmp(snapshot + line, "# window_ms=", 12))
			break;
		line = len;
	}
}

static ssize_t fake_read(void *cookie, char *buf, size_t size)
{
	ssize_t n;

	(void)cookie;
	if (!access(getenv("FAKE_GONE") ?: "", F_OK)) {
		errno = EIO;
		return -1;
	}
	/* No line is ever in one piece. */
	if (size > 7)
		size = 7;
	if (is_stream) {
		n = read(fifo, buf, size);
		return n < 0 && errno == EAGAIN ? 0 : n;
	}
	if (size > snapshot_len - snapshot_pos)
		size = snapshot_len - snapshot_pos;
	memcpy(buf, snapshot + snapshot_pos, size);
	snapshot_pos += size;
	return size;
}

static FILE *fake_fopen(const char *path, const char *mode, const char *name)
{
	__typeof__(fopen) *real = dlsym(RTLD_NEXT, name);
	cookie_io_functions_t calls = { .read = fake_read };
	struct stat st;

	if (stat(path, &st) || !S_ISFIFO(st.st_mode))
		return real(path, mode);
	is_stream = !strncmp(basename(path), "stream", 6);
	fifo = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	fake = fopencookie(NULL, "r", calls);
	return fake;
}

FILE *fopen(const char *path, const char *mode)
{
	return fake_fopen(path, mode, "fopen");
}

FILE *fopen64(const char *path, const char *mode)
{
	return fake_fopen(path, mode, "fopen64");
}

int fileno(FILE *file)
{
	int (*real)(FILE *file) = dlsym(RTLD_NEXT, "fileno");

	return file == fake ? fifo : real(file);
}

/* The only seeks are those of tapcat, which calls lseek64(). */
off64_t lseek64(int fd, off64_t offset, int whence)
{
	off64_t (*real)(int fd, off64_t offset, int whence) =
		dlsym(RTLD_NEXT, "lseek64");

	if (fd != fifo)
		return real(fd, offset, whence);
	if (is_stream) {
		errno = ESPIPE;
		return -1;
	}
	if (whence == SEEK_SET)
		take_snapshot();
	return 0;
}
