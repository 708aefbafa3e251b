// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: udp drain PORT
 *        udp echo PORT
 *        udp send [-c CPU] [-o] [-m] [-n NAME] ADDRESS PORT COUNT SIZE
 *
 * drain: goes into the background once the port is bound for IPv4 and IPv6,
 * throws away what arrives, and prints the pid of what it left there.
 *
 * echo: the same, but sends back what arrives.
 *
 * send: COUNT datagrams of SIZE bytes, with sendto(), or on a connected socket
 * with send() (-o), or 10 at a time with sendmmsg() (-m), pinned to a CPU (-c);
 * half way the process gives itself another name (-n). Prints how many.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"

#define BATCH 10

static int drain(const char *port, int echo)
{
	struct address from = { .len = sizeof(from.in6) };
	struct address any = address("::", port);
	int fd = socket(any.sa.sa_family, SOCK_DGRAM, 0);
	char buf[65536];
	pid_t pid;

	if (fd < 0 || bind(fd, &any.sa, any.len))
		err(1, "port %s", port);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid) {
		printf("%d\n", pid);
		return 0;
	}
	close(STDOUT_FILENO);
	while (!echo)
		recv(fd, buf, sizeof(buf), 0);
	for (;;) {
		ssize_t n;

		from.len = sizeof(from.in6);
		n = recvfrom(fd, buf, sizeof(buf), 0, &from.sa, &from.len);
		if (n >= 0)
			sendto(fd, buf, n, 0, &from.sa, from.len);
	}
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

static int send_some(int argc, char **argv)
{
	struct mmsghdr messages[BATCH] = {};
	const char *name = NULL;
	long count, sent = 0;
	int connected = 0, batch = 1;
	struct address to;
	struct iovec iov;
	char *data;
	int fd, i, opt;

	while ((opt = getopt(argc, argv, "c:mn:o")) != -1) {
		switch (opt) {
		case 'c':
			pin(atoi(optarg));
			break;
		case 'm':
			batch = BATCH;
			break;
		case 'n':
			name = optarg;
			break;
		case 'o':
			connected = 1;
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 4)
		errx(2, "usage: udp send ... ADDRESS PORT COUNT SIZE");
	to = address(argv[optind], argv[optind + 1]);
	count = atol(argv[optind + 2]);
	iov.iov_len = atol(argv[optind + 3]);
	data = calloc(1, iov.iov_len + 1);
	iov.iov_base = data;
	fd = socket(to.sa.sa_family, SOCK_DGRAM, 0);
	if (fd < 0 || (connected && connect(fd, &to.sa, to.len)))
		err(1, "%s", argv[optind]);
	for (i = 0; i < BATCH; i++) {
		messages[i].msg_hdr.msg_name = connected ? NULL : &to;
		messages[i].msg_hdr.msg_namelen = connected ? 0 : to.len;
		messages[i].msg_hdr.msg_iov = &iov;
		messages[i].msg_hdr.msg_iovlen = 1;
	}

	while (sent < count) {
		long n = batch < count - sent ? batch : count - sent;

		if (name && sent >= count / 2) {
			prctl(PR_SET_NAME, name);
			name = NULL;
		}
		if (batch > 1)
			n = sendmmsg(fd, messages, n, 0);
		else if (connected)
			n = send(fd, data, iov.iov_len, 0) < 0 ? -1 : 1;
		else
			n = sendto(fd, data, iov.iov_len, 0, &to.sa, to.len) < 0 ? -1 : 1;
		if (n < 0)
			err(1, "send");
		sent += n;
	}
	printf("%ld\n", sent);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "drain"))
		return drain(argv[2], 0);
	if (argc == 3 && !strcmp(argv[1], "echo"))
		return drain(argv[2], 1);
	if (argc > 2 && !strcmp(argv[1], "send"))
		return send_some(argc - 1, argv + 1);
	errx(2, "usage: udp drain|echo PORT | udp send ... ADDRESS PORT COUNT SIZE");
}
