// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: names LEADER THREAD COUNT ADDRESS PORT
 *
 * A process named LEADER with a thread named THREAD. The leader sends COUNT
 * datagrams of one byte, then the thread sends twice as many. Prints the pid.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"

static struct address to;
static int fd;

static void send_some(const char *name, long count)
{
	prctl(PR_SET_NAME, name);
	while (count--)
		if (sendto(fd, "x", 1, 0, &to.sa, to.len) != 1)
			err(1, "send");
}

static void *thread(void *arg)
{
	char **argv = arg;

	send_some(argv[2], 2 * atol(argv[3]));
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;

	if (argc != 6)
		errx(2, "usage: names LEADER THREAD COUNT ADDRESS PORT");
	to = address(argv[4], argv[5]);
	fd = socket(to.sa.sa_family, SOCK_DGRAM, 0);
	if (fd < 0)
		err(1, "socket");
	send_some(argv[1], atol(argv[3]));
	if (pthread_create(&id, NULL, thread, argv) || pthread_join(id, NULL))
		errx(1, "thread");
	printf("%d\n", getpid());
	return 0;
}
