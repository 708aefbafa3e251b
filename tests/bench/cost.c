// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: cost getppid | read FILE | getsockopt | udp ADDRESS [NETNS] | segment |
 *             accept | pread DEVICE | fchmod | fork | tick
 *
 * What an event costs, in instructions: a system call that does nothing; one
 * that reads a byte of FILE; one that asks for the type of a socket; a datagram
 * sent to ADDRESS and received there, in the network namespace NETNS; a TCP
 * segment (RST) on lo, for no socket, that nobody answers; accept() of a
 * connection that waits; a block read from DEVICE past the page cache; a change
 * of a file's mode; a child of this program, which is small and static, that
 * ends at once; an interrupt of a busy program by a timer. To be run in a
 * virtual machine whose time-stamp counter counts instructions (qemu -icount
 * shift=0), which it sees to first.
 *
 * Events are measured in batches that are shorter than the kernel's tick, so
 * that most batches have nothing but the events in them: the cost is the mean
 * of the middle half of the batches. After one repetition to warm up come three
 * that count.
 *
 * Prints: how many events there were in all; the three costs; the mean of all,
 * which has ticks and whatever else the kernel did in it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define REPETITIONS 3
#define MAX_BATCHES 1000

static void check(long result, const char *what)
{
	if (result < 0)
		err(1, "%s", what);
}

/* Instructions in @rounds rounds of an empty loop: two in each. */
static long loop(long rounds)
{
	long begin = __rdtsc();

	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (rounds));
	return __rdtsc() - begin;
}

static void check_counter(void)
{
	long best = LONG_MAX;
	int i;

	/* one of these is not hit by a tick */
	for (i = 0; i < 10; i++) {
		long n = loop(1000);

		best = n < best ? n : best;
	}
	if (best < 2000 || best > 2010)
		errx(1, "the time-stamp counter does not count instructions: %ld for 2000", best);
}

/* Events in a batch, how many batches, and what makes a batch. */
struct workload {
	const char *name;
	int events;
	int batches;
	void (*setup)(char **args);
	long (*batch)(int events);
};

/* --- system calls ------------------------------------------------------ */

static long getppid_batch(int events)
{
	long begin = __rdtsc();
	int i;

	for (i = 0; i < events; i++)
		syscall(SYS_getppid);
	return __rdtsc() - begin;
}

static int read_fd;

static void read_setup(char **args)
{
	if (!args[0])
		errx(1, "read needs a file");
	read_fd = open(args[0], O_RDONLY);
	check(read_fd, args[0]);
}

static long read_batch(int events)
{
	char byte;
	long begin;
	int i;

	check(lseek(read_fd, 0, SEEK_SET), "lseek");
	begin = __rdtsc();
	for (i = 0; i < events; i++)
		if (read(read_fd, &byte, 1) != 1)
			err(1, "read");
	return __rdtsc() - begin;
}

static int getsockopt_fd;

static void getsockopt_setup(char **args)
{
	(void)args;
	getsockopt_fd = socket(AF_INET, SOCK_DGRAM, 0);
	check(getsockopt_fd, "socket");
}

static long getsockopt_batch(int events)
{
	socklen_t len = sizeof(int);
	long begin = __rdtsc();
	int i, type;

	for (i = 0; i < events; i++)
		check(getsockopt(getsockopt_fd, SOL_SOCKET, SO_TYPE, &type, &len), "getsockopt");
	return __rdtsc() - begin;
}

/* --- packets ----------------------------------------------------------- */

static int udp_from, udp_to;

static void udp_setup(char **args)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int here = -1;

	if (!args[0] || inet_pton(AF_INET, args[0], &addr.sin_addr) != 1)
		errx(1, "udp needs an address");
	udp_from = socket(AF_INET, SOCK_DGRAM, 0);
	check(udp_from, "socket");
	if (args[1]) {
		int there = open(args[1], O_RDONLY);

		check(there, args[1]);
		here = open("/proc/self/ns/net", O_RDONLY);
		check(here, "/proc/self/ns/net");
		check(setns(there, CLONE_NEWNET), "setns");
	}
	udp_to = socket(AF_INET, SOCK_DGRAM, 0);
	check(udp_to, "socket");
	check(bind(udp_to, (void *)&addr, len), "bind");
	check(getsockname(udp_to, (void *)&addr, &len), "getsockname");
	if (here >= 0)
		check(setns(here, CLONE_NEWNET), "setns");
	check(connect(udp_from, (void *)&addr, len), "connect");
}

static long udp_batch(int events)
{
	long begin = __rdtsc();
	char packet[100] = "";
	int i;

	for (i = 0; i < events; i++) {
		check(send(udp_from, packet, sizeof(packet), 0), "send");
		check(recv(udp_to, packet, sizeof(packet), 0), "recv");
	}
	return __rdtsc() - begin;
}

/* --- segments ---------------------------------------------------------- */

static int segment_socket;
static struct sockaddr_in segment_to = { .sin_family = AF_INET };
static struct tcphdr segment;

static void segment_setup(char **args)
{
	struct sockaddr_in other = { .sin_family = AF_INET };

	(void)args;
	segment_socket = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
	check(segment_socket, "socket");
	/* so that it gets no copy of each segment */
	other.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	check(connect(segment_socket, (void *)&other, sizeof(other)), "connect");
	segment_to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	segment.source = htons(1);
	segment.dest = htons(2);
	segment.doff = sizeof(segment) / 4;
	segment.rst = 1;
}

static long segment_batch(int events)
{
	long begin = __rdtsc();
	int i;

	for (i = 0; i < events; i++)
		check(sendto(segment_socket, &segment, sizeof(segment), 0,
			     (void *)&segment_to, sizeof(segment_to)), "sendto");
	return __rdtsc() - begin;
}

/* --- connections ------------------------------------------------------- */

static int accept_listener;
static struct sockaddr_in accept_addr = { .sin_family = AF_INET };

static void accept_setup(char **args)
{
	socklen_t len = sizeof(accept_addr);

	(void)args;
	accept_addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	accept_listener = socket(AF_INET, SOCK_STREAM, 0);
	check(accept_listener, "socket");
	check(bind(accept_listener, (void *)&accept_addr, len), "bind");
	check(getsockname(accept_listener, (void *)&accept_addr, &len), "getsockname");
	check(listen(accept_listener, 128), "listen");
}

/* Connecting and closing is not measured. */
static long accept_batch(int events)
{
	const struct linger reset = { .l_onoff = 1 };
	int from[events], to[events];
	long begin, end;
	int i;

	for (i = 0; i < events; i++) {
		from[i] = socket(AF_INET, SOCK_STREAM, 0);
		check(from[i], "socket");
		check(connect(from[i], (void *)&accept_addr, sizeof(accept_addr)), "connect");
	}
	begin = __rdtsc();
	for (i = 0; i < events; i++) {
		to[i] = accept(accept_listener, NULL, NULL);
		check(to[i], "accept");
	}
	end = __rdtsc();
	for (i = 0; i < events; i++) {
		/* no connection is left in TIME_WAIT */
		setsockopt(from[i], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		close(from[i]);
		close(to[i]);
	}
	return end - begin;
}

/* --- blocks ------------------------------------------------------------ */

static int pread_fd;
static void *pread_block;

static void pread_setup(char **args)
{
	if (!args[0])
		errx(1, "pread needs a device");
	pread_fd = open(args[0], O_RDONLY | O_DIRECT);
	check(pread_fd, args[0]);
	pread_block = aligned_alloc(512, 512);
	if (!pread_block)
		err(1, "aligned_alloc");
}

static long pread_batch(int events)
{
	long begin = __rdtsc();
	int i;

	for (i = 0; i < events; i++)
		check(pread(pread_fd, pread_block, 512, 0), "pread");
	return __rdtsc() - begin;
}

/* --- files ------------------------------------------------------------- */

static int fchmod_fd;

static void fchmod_setup(char **args)
{
	(void)args;
	fchmod_fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
	check(fchmod_fd, "/dev/shm");
}

static long fchmod_batch(int events)
{
	long begin = __rdtsc();
	int i;

	for (i = 0; i < events; i++)
		check(fchmod(fchmod_fd, 0600 + i % 8), "fchmod");
	return __rdtsc() - begin;
}

/* --- processes --------------------------------------------------------- */

static long fork_batch(int events)
{
	long begin = __rdtsc();
	int i;

	for (i = 0; i < events; i++) {
		pid_t pid = fork();

		check(pid, "fork");
		if (!pid)
			_exit(0);
		check(waitpid(pid, NULL, 0), "waitpid");
	}
	return __rdtsc() - begin;
}

/* --- interrupts -------------------------------------------------------- */

/* A batch is one interrupt: a gap between two looks at the counter. */
static long tick_batch(int events)
{
	long last, now = __rdtsc();

	(void)events;
	do {
		last = now;
		now = __rdtsc();
	} while (now - last < 200);
	return now - last;
}

static const struct workload workloads[] = {
	{ "getppid", 500, 100, NULL, getppid_batch },
	{ "read", 200, 100, read_setup, read_batch },
	{ "getsockopt", 50, 400, getsockopt_setup, getsockopt_batch },
	{ "udp", 50, 100, udp_setup, udp_batch },
	{ "segment", 50, 100, segment_setup, segment_batch },
	{ "accept", 1, 500, accept_setup, accept_batch },
	{ "pread", 20, 400, pread_setup, pread_batch },
	{ "fchmod", 50, 200, fchmod_setup, fchmod_batch },
	{ "fork", 5, 40, NULL, fork_batch },
	{ "tick", 1, 1000, NULL, tick_batch },
	{ }
};

static double costs[MAX_BATCHES];

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double mean(const double *value, int n)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += value[i];
	return sum / n;
}

int main(int argc, char **argv)
{
	const struct workload *w = workloads;
	double cost[REPETITIONS], sum = 0;
	int i, repetition;

	if (argc < 2)
		errx(1, "usage: cost getppid | read FILE | getsockopt | %s",
		     "udp ADDRESS [NETNS] | segment | accept | pread DEVICE | fchmod | fork | tick");
	while (w->name && strcmp(w->name, argv[1]))
		w++;
	if (!w->name)
		errx(1, "there is no event %s", argv[1]);
	check_counter();
	if (w->setup)
		w->setup(argv + 2);
	for (repetition = -1; repetition < REPETITIONS; repetition++) {
		for (i = 0; i < w->batches; i++)
			costs[i] = (double)w->batch(w->events) / w->events;
		if (repetition < 0)
			continue;
		sum += mean(costs, w->batches);
		qsort(costs, w->batches, sizeof(*costs), compare);
		cost[repetition] = mean(costs + w->batches / 4, w->batches / 2);
	}
	printf("%d", (REPETITIONS + 1) * w->batches * w->events);
	for (i = 0; i < REPETITIONS; i++)
		printf(" %.1f", cost[i]);
	printf(" %.1f\n", sum / REPETITIONS);
	return 0;
}
