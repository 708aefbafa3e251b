// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: tcp accept [-4 | -6] [-t THREADS] [-u] PORT COUNT
 *        tcp connect [-s SOURCE] ADDRESS PORT COUNT
 *
 * accept: listens on a port, on IPv4 (-4), IPv6 (-6), or on both with one
 * socket, and goes into the background to accept COUNT connections; prints the
 * pid of what it left there, which ends when it has accepted them. It accepts
 * with accept(), or through io_uring (-u). Meanwhile THREADS other threads, each
 * with a port of its own, sit in accept() where nobody comes.
 *
 * connect: makes COUNT connections, one after the other, and closes them.
 * Prints how many.
 */
#include <err.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "address.h"

static int listen_on(const char *host, int only, const char *port)
{
	struct address any = address(host, port);
	int fd = socket(any.sa.sa_family, SOCK_STREAM, 0);
	int on = 1;

	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (any.sa.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only));
	if (bind(fd, &any.sa, any.len) || listen(fd, 4096))
		err(1, "port %s", port);
	return fd;
}

static void *wait_for_nobody(void *unused)
{
	int fd = listen_on("0.0.0.0", 0, "0");

	accept(fd, NULL, NULL);
	return unused;
}

static void start_threads(int nr)
{
	/* one for the socket, one that accept() holds ready for the new one */
	struct rlimit files = { 2 * nr + 64, 2 * nr + 64 };
	pthread_attr_t attr;
	pthread_t thread;

	if (nr && setrlimit(RLIMIT_NOFILE, &files))
		err(1, "RLIMIT_NOFILE");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	while (nr--)
		if (pthread_create(&thread, &attr, wait_for_nobody, NULL))
			errx(1, "pthread_create");
}

/* A ring with one entry, of which only what is needed is mapped. */
struct uring {
	int fd;
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqes;
	unsigned int *sq_tail;
	unsigned int *cq_head;
	unsigned int *cq_mask;
};

static void uring_init(struct uring *ring)
{
	struct io_uring_params params = {};
	unsigned int *array;
	char *sq, *cq;

	ring->fd = syscall(SYS_io_uring_setup, 1, &params);
	if (ring->fd < 0)
		err(1, "io_uring_setup");
	sq = mmap(NULL, params.sq_off.array + sizeof(*array),
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(*ring->cqes),
		  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
		  IORING_OFF_CQ_RING);
	ring->sqe = mmap(NULL, sizeof(*ring->sqe), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring->sqe == MAP_FAILED)
		err(1, "mmap");
	array = (void *)(sq + params.sq_off.array);
	array[0] = 0;
	ring->sq_tail = (void *)(sq + params.sq_off.tail);
	ring->cq_head = (void *)(cq + params.cq_off.head);
	ring->cq_mask = (void *)(cq + params.cq_off.ring_mask);
	ring->cqes = (void *)(cq + params.cq_off.cqes);
}

static int uring_accept(struct uring *ring, int fd)
{
	int ret;

	*ring->sqe = (struct io_uring_sqe){ .opcode = IORING_OP_ACCEPT, .fd = fd };
	__atomic_store_n(ring->sq_tail, *ring->sq_tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		err(1, "io_uring_enter");
	ret = ring->cqes[*ring->cq_head & *ring->cq_mask].res;
	__atomic_store_n(ring->cq_head, *ring->cq_head + 1, __ATOMIC_RELEASE);
	return ret;
}

static int accept_some(int argc, char **argv)
{
	const char *host = "::";
	int only = 0, threads = 0, use_uring = 0;
	struct uring ring;
	long count;
	int fd, opt;
	pid_t pid;

	while ((opt = getopt(argc, argv, "46t:u")) != -1) {
		switch (opt) {
		case '4':
			host = "0.0.0.0";
			break;
		case '6':
			only = 1;
			break;
		case 't':
			threads = atoi(optarg);
			break;
		case 'u':
			use_uring = 1;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2)
		errx(2, "usage: tcp accept ... PORT COUNT");
	fd = listen_on(host, only, argv[optind]);
	count = atol(argv[optind + 1]);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid) {
		printf("%d\n", pid);
		return 0;
	}
	close(STDOUT_FILENO);
	start_threads(threads);
	if (use_uring)
		uring_init(&ring);
	while (count--) {
		int new = use_uring ? uring_accept(&ring, fd) : accept(fd, NULL, NULL);

		if (new < 0)
			err(1, "accept");
		close(new);
	}
	_exit(0);
}

static int connect_some(int argc, char **argv)
{
	const char *source = NULL;
	struct address to, from;
	long count, n;
	int opt;

	while ((opt = getopt(argc, argv, "s:")) != -1) {
		if (opt != 's')
			return 2;
		source = optarg;
	}
	if (argc - optind != 3)
		errx(2, "usage: tcp connect ... ADDRESS PORT COUNT");
	to = address(argv[optind], argv[optind + 1]);
	count = atol(argv[optind + 2]);
	if (source)
		from = address(source, "0");
	for (n = 0; n < count; n++) {
		int fd = socket(to.sa.sa_family, SOCK_STREAM, 0);

		if (fd < 0 || (source && bind(fd, &from.sa, from.len)) ||
		    connect(fd, &to.sa, to.len))
			err(1, "%s %s", argv[optind], argv[optind + 1]);
		close(fd);
	}
	printf("%ld\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "accept"))
		return accept_some(argc - 1, argv + 1);
	if (argc > 2 && !strcmp(argv[1], "connect"))
		return connect_some(argc - 1, argv + 1);
	errx(2, "usage: tcp accept ... PORT COUNT | tcp connect ... ADDRESS PORT COUNT");
}
