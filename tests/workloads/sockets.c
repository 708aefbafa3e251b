// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: sockets WHAT...
 *
 * Makes these calls, one after the other, each exactly once:
 *
 * calls     12 system calls on one socket: socket, setsockopt, getsockopt,
 *           bind, listen, getsockname, and those that fail at once: getpeername,
 *           connect, accept, sendto, recvfrom; shutdown. Built for 32 bit:
 *           through socketcall()
 * direct    the same without socketcall(), where accept is accept4
 * sends     6 ways to send: send, sendto, sendmsg, sendmmsg, write, sendfile
 * poll0     poll of two sockets, timeout 0
 * poll      poll of one that sleeps once, until its time is over
 * select    select of two sockets, timeout 0
 * epoll     two of what epoll_wait reports, one socket, level-triggered
 * uring     a send and a receive by io_uring
 * others    two ioctls of a socket, one that has a 32-bit form of its own;
 *           splice out of it
 * sleep=N   N threads that sleep in recv() and one in accept(), until SIGUSR1:
 *           then each gets what it waits for
 * name      the thread is called "a b" from now on
 *
 * What prepares them is system calls, too: other ones, or in another process.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/net.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void check(long result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
}

static void fails(long result, int error, const char *what)
{
	if (result != -1 || errno != error)
		err(1, "%s", what);
}

static void pair(int fds[2])
{
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), "socketpair");
}

/* --- twelve calls ------------------------------------------------------ */

/* Six arguments, or fewer and zeros. */
struct args {
	long arg[6];
};

static long call(int through, long nr, int operation, struct args args)
{
#ifdef SYS_socketcall
	if (through)
		return syscall(SYS_socketcall, operation, args.arg);
#endif
	(void)through;
	(void)operation;
	return syscall(nr, args.arg[0], args.arg[1], args.arg[2], args.arg[3],
		       args.arg[4], args.arg[5]);
}

#define CALL(name, operation, ...)					\
	call(through, SYS_##name, SYS_##operation, (struct args){ { __VA_ARGS__ } })

/* 32-bit programs have no accept() without socketcall() */
#ifndef SYS_accept
#define SYS_accept SYS_accept4
#endif

static void calls(int through)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t len = sizeof(in);
	int value = 1;
	long fd, addr = (long)&in, size = (long)&len, data = (long)&value;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = CALL(socket, SOCKET, AF_INET, SOCK_STREAM | SOCK_NONBLOCK);
	check(fd, "socket");
	check(CALL(setsockopt, SETSOCKOPT, fd, SOL_SOCKET, SO_REUSEADDR, data,
		   sizeof(value)), "setsockopt");
	check(CALL(getsockopt, GETSOCKOPT, fd, SOL_SOCKET, SO_TYPE, data, size),
	      "getsockopt");
	check(CALL(bind, BIND, fd, addr, sizeof(in)), "bind");
	check(CALL(listen, LISTEN, fd, 1), "listen");
	check(CALL(getsockname, GETSOCKNAME, fd, addr, size), "getsockname");
	fails(CALL(getpeername, GETPEERNAME, fd, addr, size), ENOTCONN,
	      "getpeername");
	fails(CALL(connect, CONNECT, fd, addr, sizeof(in)), EISCONN, "connect");
	fails(CALL(accept, ACCEPT, fd), EAGAIN, "accept");
	fails(CALL(sendto, SENDTO, fd, data, 1, MSG_NOSIGNAL), EPIPE, "sendto");
	fails(CALL(recvfrom, RECVFROM, fd, data, 1), ENOTCONN, "recvfrom");
	check(CALL(shutdown, SHUTDOWN, fd, SHUT_RDWR), "shutdown");
}

/* --- one after the other ----------------------------------------------- */

static void sends(void)
{
	char text[] = "12345678";
	struct iovec iov = { text, sizeof(text) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct mmsghdr messages = { .msg_hdr = message };
	int file = open("/proc/self/exe", O_RDONLY);
	int fds[2];

	check(file, "/proc/self/exe");
	pair(fds);
	check(send(fds[0], text, 1, 0), "send");
	check(sendto(fds[0], text, 2, 0, NULL, 0), "sendto");
	check(sendmsg(fds[0], &message, 0), "sendmsg");
	check(sendmmsg(fds[0], &messages, 1, 0), "sendmmsg");
	check(write(fds[0], text, 3), "write");
	check(sendfile(fds[0], file, NULL, 100), "sendfile");
}

static void poll_two(void)
{
	struct pollfd fd[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int fds[2];

	pair(fds);
	fd[0].fd = fds[0];
	fd[1].fd = fds[1];
	check(poll(fd, 2, 0), "poll");
}

static void poll_one(void)
{
	struct pollfd fd = { .events = POLLIN };
	int fds[2];

	pair(fds);
	fd.fd = fds[0];
	check(poll(&fd, 1, 20), "poll");
}

static void select_two(void)
{
	struct timeval none = {};
	fd_set set;
	int fds[2];

	pair(fds);
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	FD_SET(fds[1], &set);
	check(select((fds[0] > fds[1] ? fds[0] : fds[1]) + 1, &set, NULL, NULL, &none), "select");
}

static void epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);
	int fds[2];

	check(fd, "epoll_create1");
	pair(fds);
	check(write(fds[1], "x", 1), "write");
	check(epoll_ctl(fd, EPOLL_CTL_ADD, fds[0], &event), "epoll_ctl");
	check(epoll_wait(fd, &event, 1, -1), "epoll_wait");
	check(epoll_wait(fd, &event, 1, -1), "epoll_wait");
}

static void others(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fds[2], pipes[2], unread;

	pair(fds);
	check(ioctl(fds[0], SIOCGIFINDEX, &lo), "SIOCGIFINDEX");
	check(pipe(pipes), "pipe");
	check(write(fds[1], "12345678", 8), "write");
	check(ioctl(fds[0], FIONREAD, &unread), "ioctl");
	if (unread != 8)
		errx(1, "FIONREAD: %d", unread);
	check(splice(fds[0], NULL, pipes[1], NULL, 8, 0), "splice");
}

static void uring(void)
{
	struct io_uring_params params = {};
	unsigned int *sq_tail, *array, i;
	struct io_uring_sqe *sqes;
	char *sq;
	int fd, fds[2];
	char c = 'x';

	pair(fds);
	fd = syscall(SYS_io_uring_setup, 2, &params);
	check(fd, "io_uring_setup");
	sq = mmap(NULL, params.sq_off.array + 2 * sizeof(*array), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, 2 * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
		    IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqes == MAP_FAILED)
		err(1, "mmap");
	sq_tail = (void *)(sq + params.sq_off.tail);
	array = (void *)(sq + params.sq_off.array);
	for (i = 0; i < 2; i++) {
		sqes[i] = (struct io_uring_sqe){
			.opcode = i ? IORING_OP_RECV : IORING_OP_SEND,
			.fd = fds[i],
			.addr = (unsigned long)&c,
			.len = 1,
		};
		array[i] = i;
	}
	__atomic_store_n(sq_tail, 2, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, fd, 2, 2, IORING_ENTER_GETEVENTS, NULL, 0) != 2)
		err(1, "io_uring_enter");
}

/* --- many that sleep --------------------------------------------------- */

static void *receive(void *data)
{
	int *fds = data;
	char c;

	check(recv(fds[0], &c, 1, 0), "recv");
	return NULL;
}

static void *take_one(void *data)
{
	check(accept(*(int *)data, NULL, NULL), "accept");
	return NULL;
}

static void start(pthread_t *thread, void *(*function)(void *), void *data)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	if (pthread_create(thread, &attr, function, data))
		errx(1, "pthread_create");
}

static void sleepers(int nr)
{
	struct rlimit files = { 2 * nr + 64, 2 * nr + 64 };
	struct sockaddr_in addr = { .sin_family = AF_INET };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(addr);
	pthread_t threads[nr + 1];
	int fds[nr][2], i, signal;
	sigset_t wake;

	sigemptyset(&wake);
	sigaddset(&wake, SIGUSR1);
	check(sigprocmask(SIG_BLOCK, &wake, NULL), "sigprocmask");
	check(setrlimit(RLIMIT_NOFILE, &files), "RLIMIT_NOFILE");
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(listener, (void *)&addr, len), "bind");
	check(listen(listener, 1), "listen");
	check(getsockname(listener, (void *)&addr, &len), "getsockname");
	start(&threads[nr], take_one, &listener);
	for (i = 0; i < nr; i++) {
		pair(fds[i]);
		start(&threads[i], receive, fds[i]);
	}
	sigwait(&wake, &signal);
	for (i = 0; i < nr; i++)
		check(write(fds[i][1], "x", 1), "write");
	check(connect(client, (void *)&addr, len), "connect");
	for (i = 0; i <= nr; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	for (argv++; argc-- > 1; argv++) {
		if (!strcmp(*argv, "calls"))
			calls(1);
		else if (!strcmp(*argv, "direct"))
			calls(0);
		else if (!strcmp(*argv, "sends"))
			sends();
		else if (!strcmp(*argv, "poll0"))
			poll_two();
		else if (!strcmp(*argv, "poll"))
			poll_one();
		else if (!strcmp(*argv, "select"))
			select_two();
		else if (!strcmp(*argv, "epoll"))
			epoll();
		else if (!strcmp(*argv, "others"))
			others();
		else if (!strcmp(*argv, "uring"))
			uring();
		else if (!strncmp(*argv, "sleep=", 6))
			sleepers(atoi(*argv + 6));
		else if (!strcmp(*argv, "name"))
			check(prctl(PR_SET_NAME, "a b"), "PR_SET_NAME");
		else
			errx(2, "there is no %s", *argv);
	}
	return 0;
}
