// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: file_io FILE OPERATION=COUNT[,BYTES]...
 *
 * Makes each operation COUNT times, of BYTES bytes if it has a size, on FILE
 * and FILE.out, which it makes 1 MiB long first. Each call has to return what
 * it should. Nothing is printed: that would be a transfer, too.
 *
 * Operations that transfer BYTES, in each direction that they have:
 *   read write pread pwrite readv writev preadv pwritev preadv2 pwritev2
 *   sendfile (FILE to FILE.out), sendpipe (to a pipe), copy (copy_file_range),
 *   splicein (FILE to a pipe), spliceout (a pipe to FILE.out), splice (a pipe
 *   to another), zero (read /dev/zero), pipe, socket (written, then read),
 *   aioread aiowrite aioreadv aiowritev (io_submit), aiodirect (read, O_DIRECT)
 *   uread uwrite ureadv uwritev (io_uring), ufixed (read into a fixed buffer),
 *   uasync (read by a worker), upoll (read, the queue is polled), usplice (a
 *   pipe to FILE.out), sleepers (COUNT threads at once sleep in read, of a pipe)
 *
 * Operations that transfer something else, or nothing:
 *   short (a read of one byte before the end: 1), fault (a read into a page
 *   and what is not mapped: 4096), eof, efault, ebadf, eagain, tee: 0
 */
#define _FILE_OFFSET_BITS 64
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE (1024 * 1024)
#define PAGE 4096

static int in, out;
static char *buffer;		/* two pages more than SIZE, the last not mapped */
static const char *in_name;
static const char *operation;

/* A call has to return this. */
static void want(long long result, long long wanted)
{
	if (result < 0 && wanted >= 0)
		err(1, "%s", operation);
	if (result != wanted)
		errx(1, "%s: %lld instead of %lld", operation, result, wanted);
}

static void fails(long long result, int error)
{
	if (result >= 0 || errno != error)
		errx(1, "%s: %lld, error %d instead of %d", operation, result,
		     errno, error);
}

static void rewind_both(void)
{
	want(lseek(in, 0, SEEK_SET), 0);
	want(lseek(out, 0, SEEK_SET), 0);
}

static struct iovec *halves(size_t bytes)
{
	static struct iovec iov[2];

	iov[0] = (struct iovec){ buffer, bytes / 2 };
	iov[1] = (struct iovec){ buffer + bytes / 2, bytes - bytes / 2 };
	return iov;
}

/* A pipe with so many bytes in it, which nobody has written. */
static void filled_pipe(int fds[2], size_t bytes)
{
	struct iovec iov = { buffer, bytes };

	want(pipe(fds), 0);
	if (bytes)
		want(vmsplice(fds[1], &iov, 1, 0), bytes);
}

static void close_both(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* --- system calls ------------------------------------------------------ */

#define CALL(name, expression)						\
	static void do_##name(size_t bytes)				\
	{								\
		want(expression, bytes);				\
	}

CALL(read, read(in, buffer, bytes))
CALL(write, write(out, buffer, bytes))
CALL(pread, pread(in, buffer, bytes, 1))
CALL(pwrite, pwrite(out, buffer, bytes, 1))
CALL(readv, readv(in, halves(bytes), 2))
CALL(writev, writev(out, halves(bytes), 2))
CALL(preadv, preadv(in, halves(bytes), 2, 1))
CALL(pwritev, pwritev(out, halves(bytes), 2, 1))
CALL(preadv2, preadv2(in, halves(bytes), 2, 1, 0))
CALL(pwritev2, pwritev2(out, halves(bytes), 2, 1, 0))
CALL(sendfile, sendfile(out, in, NULL, bytes))
CALL(copy, copy_file_range(in, NULL, out, NULL, bytes, 0))

static void do_sendpipe(size_t bytes)
{
	int fds[2];

	filled_pipe(fds, 0);
	want(sendfile(fds[1], in, NULL, bytes), bytes);
	close_both(fds);
}

static void do_splicein(size_t bytes)
{
	int fds[2];

	filled_pipe(fds, 0);
	want(splice(in, NULL, fds[1], NULL, bytes, 0), bytes);
	close_both(fds);
}

static void do_spliceout(size_t bytes)
{
	int fds[2];

	filled_pipe(fds, bytes);
	want(splice(fds[0], NULL, out, NULL, bytes, 0), bytes);
	close_both(fds);
}

static void do_splice(size_t bytes)
{
	int from[2], to[2];

	filled_pipe(from, bytes);
	filled_pipe(to, 0);
	want(splice(from[0], NULL, to[1], NULL, bytes, 0), bytes);
	close_both(from);
	close_both(to);
}

static void do_tee(size_t bytes)
{
	int from[2], to[2];

	filled_pipe(from, bytes);
	filled_pipe(to, 0);
	want(tee(from[0], to[1], bytes, 0), bytes);
	close_both(from);
	close_both(to);
}

static void do_zero(size_t bytes)
{
	int fd = open("/dev/zero", O_RDONLY);

	want(read(fd, buffer, bytes), bytes);
	close(fd);
}

static void through(int fds[2], size_t bytes)
{
	want(write(fds[1], buffer, bytes), bytes);
	want(read(fds[0], buffer, bytes), bytes);
	close_both(fds);
}

static void do_pipe(size_t bytes)
{
	int fds[2];

	filled_pipe(fds, 0);
	through(fds, bytes);
}

static void do_socket(size_t bytes)
{
	int fds[2];

	want(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	through(fds, bytes);
}

/* --- what is short, or fails ------------------------------------------- */

static void do_short(size_t bytes)
{
	want(lseek(in, -1, SEEK_END), SIZE - 1);
	want(read(in, buffer, bytes), 1);
}

static void do_fault(size_t bytes)
{
	want(read(in, buffer + SIZE, bytes), PAGE);
}

static void do_eof(size_t bytes)
{
	want(lseek(in, 0, SEEK_END), SIZE);
	want(read(in, buffer, bytes), 0);
}

static void do_efault(size_t bytes)
{
	fails(read(in, buffer + SIZE + PAGE, bytes), EFAULT);
	fails(write(out, buffer + SIZE + PAGE, bytes), EFAULT);
}

static void do_ebadf(size_t bytes)
{
	fails(read(-1, buffer, bytes), EBADF);
	fails(read(999, buffer, bytes), EBADF);
	fails(write(in, buffer, bytes), EBADF);
	fails(sendfile(in, out, NULL, bytes), EBADF);
}

static void do_eagain(size_t bytes)
{
	int fds[2];

	want(pipe2(fds, O_NONBLOCK), 0);
	fails(read(fds[0], buffer, bytes), EAGAIN);
	close_both(fds);
}

/* --- threads that sleep ------------------------------------------------ */

struct sleeper {
	pthread_t thread;
	int fds[2];
	size_t bytes;
};

static void *sleeper_run(void *arg)
{
	struct sleeper *sleeper = arg;
	char to[sleeper->bytes];

	want(read(sleeper->fds[0], to, sleeper->bytes), sleeper->bytes);
	return NULL;
}

static void do_sleepers(size_t bytes, int count)
{
	struct sleeper *sleepers = calloc(count, sizeof(*sleepers));
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (i = 0; i < count; i++) {
		filled_pipe(sleepers[i].fds, 0);
		sleepers[i].bytes = bytes;
		if (pthread_create(&sleepers[i].thread, &attr, sleeper_run,
				   &sleepers[i]))
			errx(1, "pthread_create");
	}
	/* most of them get there while the others are made */
	usleep(500000);
	for (i = 0; i < count; i++) {
		struct iovec iov = { buffer, bytes };

		want(vmsplice(sleepers[i].fds[1], &iov, 1, 0), bytes);
	}
	for (i = 0; i < count; i++) {
		pthread_join(sleepers[i].thread, NULL);
		close_both(sleepers[i].fds);
	}
	free(sleepers);
}

/* --- io_submit --------------------------------------------------------- */

static void aio(int fd, int opcode, void *buf, size_t bytes, size_t moved)
{
	static aio_context_t context;
	struct iocb cb = {
		.aio_fildes = fd,
		.aio_lio_opcode = opcode,
		.aio_buf = (uintptr_t)buf,
		.aio_nbytes = bytes,
	}, *list = &cb;
	struct io_event event;

	if (!context)
		want(syscall(SYS_io_setup, 8, &context), 0);
	want(syscall(SYS_io_submit, context, 1, &list), 1);
	want(syscall(SYS_io_getevents, context, 1, 1, &event, NULL), 1);
	want(event.res, moved);
}

static void do_aioread(size_t bytes)
{
	aio(in, IOCB_CMD_PREAD, buffer, bytes, bytes);
}

static void do_aiowrite(size_t bytes)
{
	aio(out, IOCB_CMD_PWRITE, buffer, bytes, bytes);
}

static void do_aioreadv(size_t bytes)
{
	aio(in, IOCB_CMD_PREADV, halves(bytes), 2, bytes);
}

static void do_aiowritev(size_t bytes)
{
	aio(out, IOCB_CMD_PWRITEV, halves(bytes), 2, bytes);
}

static void do_aiodirect(size_t bytes)
{
	int fd = open(in_name, O_RDONLY | O_DIRECT);

	want(fd < 0, 0);
	aio(fd, IOCB_CMD_PREAD, buffer, bytes, bytes);
	close(fd);
}

/* --- io_uring ---------------------------------------------------------- */

struct ring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_flags, *sq_array;
	unsigned int *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *ring_map(struct ring *ring, size_t size, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, ring->fd, offset);

	if (at == MAP_FAILED)
		err(1, "mmap of a ring");
	return at;
}

static void ring_open(struct ring *ring, unsigned int flags)
{
	struct io_uring_params p = { .flags = flags, .sq_thread_idle = 100 };
	char *sq, *cq;

	ring->fd = syscall(SYS_io_uring_setup, 8, &p);
	want(ring->fd < 0, 0);
	sq = ring_map(ring, p.sq_off.array + p.sq_entries * sizeof(int),
		      IORING_OFF_SQ_RING);
	cq = ring_map(ring, p.cq_off.cqes + p.cq_entries * sizeof(*ring->cqes),
		      IORING_OFF_CQ_RING);
	ring->sqes = ring_map(ring, p.sq_entries * sizeof(*ring->sqes),
			      IORING_OFF_SQES);
	ring->sq_tail = (void *)(sq + p.sq_off.tail);
	ring->sq_mask = (void *)(sq + p.sq_off.ring_mask);
	ring->sq_flags = (void *)(sq + p.sq_off.flags);
	ring->sq_array = (void *)(sq + p.sq_off.array);
	ring->cq_head = (void *)(cq + p.cq_off.head);
	ring->cq_tail = (void *)(cq + p.cq_off.tail);
	ring->cq_mask = (void *)(cq + p.cq_off.ring_mask);
	ring->cqes = (void *)(cq + p.cq_off.cqes);
}

static void ring_do(struct ring *ring, const struct io_uring_sqe *sqe, int wanted)
{
	unsigned int tail = *ring->sq_tail, i = tail & *ring->sq_mask;
	unsigned int head = *ring->cq_head;

	ring->sqes[i] = *sqe;
	ring->sq_array[i] = i;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(ring->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP))
		want(syscall(SYS_io_uring_enter, ring->fd, 1, 1,
			     IORING_ENTER_GETEVENTS, NULL, 0) < 0, 0);
	while (__atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE) == head)
		want(syscall(SYS_io_uring_enter, ring->fd, 0, 1,
			     IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP,
			     NULL, 0) < 0, 0);
	want(ring->cqes[head & *ring->cq_mask].res, wanted);
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
}

/* The ring that most operations use, with a fixed buffer. */
static struct ring *ring_plain(void)
{
	static struct ring ring;
	struct iovec iov = { buffer, SIZE };

	if (ring.fd)
		return &ring;
	ring_open(&ring, 0);
	want(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS,
		     &iov, 1), 0);
	return &ring;
}

static void uring(struct ring *ring, int opcode, int flags, int fd, void *buf,
		  size_t len, size_t bytes)
{
	const struct io_uring_sqe sqe = {
		.opcode = opcode,
		.flags = flags,
		.fd = fd,
		.addr = (uintptr_t)buf,
		.len = len,
	};

	ring_do(ring, &sqe, bytes);
}

static void do_uread(size_t bytes)
{
	uring(ring_plain(), IORING_OP_READ, 0, in, buffer, bytes, bytes);
}

static void do_uwrite(size_t bytes)
{
	uring(ring_plain(), IORING_OP_WRITE, 0, out, buffer, bytes, bytes);
}

static void do_ureadv(size_t bytes)
{
	uring(ring_plain(), IORING_OP_READV, 0, in, halves(bytes), 2, bytes);
}

static void do_uwritev(size_t bytes)
{
	uring(ring_plain(), IORING_OP_WRITEV, 0, out, halves(bytes), 2, bytes);
}

static void do_ufixed(size_t bytes)
{
	uring(ring_plain(), IORING_OP_READ_FIXED, 0, in, buffer, bytes, bytes);
}

static void do_uasync(size_t bytes)
{
	uring(ring_plain(), IORING_OP_READ, IOSQE_ASYNC, in, buffer, bytes, bytes);
}

static void do_upoll(size_t bytes)
{
	static struct ring ring;

	if (!ring.fd)
		ring_open(&ring, IORING_SETUP_SQPOLL);
	uring(&ring, IORING_OP_READ, 0, in, buffer, bytes, bytes);
}

static void do_usplice(size_t bytes)
{
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SPLICE,
		.fd = out,
		.len = bytes,
		.splice_off_in = -1,
	};
	int fds[2];

	filled_pipe(fds, bytes);
	sqe.splice_fd_in = fds[0];
	ring_do(ring_plain(), &sqe, bytes);
	close_both(fds);
}

/* --- all of them ------------------------------------------------------- */

#define OPERATION(name) { #name, do_##name }

static const struct {
	const char *name;
	void (*call)(size_t bytes);
} operations[] = {
	OPERATION(read), OPERATION(write), OPERATION(pread), OPERATION(pwrite),
	OPERATION(readv), OPERATION(writev), OPERATION(preadv),
	OPERATION(pwritev), OPERATION(preadv2), OPERATION(pwritev2),
	OPERATION(sendfile), OPERATION(sendpipe), OPERATION(copy),
	OPERATION(splicein), OPERATION(spliceout), OPERATION(splice),
	OPERATION(tee), OPERATION(zero), OPERATION(pipe), OPERATION(socket),
	OPERATION(short), OPERATION(fault), OPERATION(eof), OPERATION(efault),
	OPERATION(ebadf), OPERATION(eagain), OPERATION(aioread),
	OPERATION(aiowrite), OPERATION(aioreadv), OPERATION(aiowritev),
	OPERATION(aiodirect), OPERATION(uread), OPERATION(uwrite),
	OPERATION(ureadv), OPERATION(uwritev), OPERATION(ufixed),
	OPERATION(uasync), OPERATION(upoll), OPERATION(usplice),
	{ NULL, NULL }
};

static void run(int count, size_t bytes)
{
	int i, n;

	if (!strcmp(operation, "sleepers")) {
		do_sleepers(bytes, count);
		return;
	}
	for (i = 0; operations[i].name; i++)
		if (!strcmp(operations[i].name, operation))
			break;
	if (!operations[i].name)
		errx(2, "no operation: %s", operation);
	for (n = 0; n < count; n++) {
		rewind_both();
		operations[i].call(bytes);
	}
}

static int make(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, SIZE))
		err(1, "%s", name);
	return fd;
}

int main(int argc, char **argv)
{
	char out_name[4096], *end;
	size_t bytes;
	int i, count;

	if (argc < 3)
		errx(2, "usage: file_io FILE OPERATION=COUNT[,BYTES]...");
	in_name = argv[1];
	snprintf(out_name, sizeof(out_name), "%s.out", in_name);
	in = make(in_name);
	close(in);
	in = open(in_name, O_RDONLY);
	out = make(out_name);
	close(out);
	out = open(out_name, O_WRONLY);
	buffer = mmap(NULL, SIZE + 2 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (in < 0 || out < 0 || buffer == MAP_FAILED ||
	    mprotect(buffer + SIZE + PAGE, PAGE, PROT_NONE))
		err(1, "%s", in_name);

	for (i = 2; i < argc; i++) {
		end = strchr(argv[i], '=');
		if (!end)
			errx(2, "no count: %s", argv[i]);
		*end++ = '\0';
		operation = argv[i];
		count = strtol(end, &end, 0);
		bytes = *end == ',' ? strtoul(end + 1, &end, 0) : 1;
		if (*end || bytes > SIZE)
			errx(2, "not so many: %s", operation);
		run(count, bytes);
	}
	return 0;
}
