// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: read_numbers FILE BYTES [once]
 *
 * Follows FILE, which is that of the module tap_numbers, with reads of at most
 * BYTES, until it gets SIGTERM, and then to its end; or reads it once. Prints
 *
 *	shown=N lost=N wrong=N passes=N
 *
 * where wrong are lines that stand twice or out of order, or that are none. The
 * first few of those go to stderr.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS 1024
#define CONTEXTS 2

static volatile sig_atomic_t stop;
static unsigned long long last_number[CPUS][CONTEXTS];
static unsigned long long last_stamp[CPUS];
static unsigned long long pass_stamp;
static unsigned long long shown, lost, wrong, passes, lines;

static void on_term(int sig)
{
	stop = sig;
}

static void complain(const char *line, const char *why)
{
	if (wrong++ < 10)
		fprintf(stderr, "line %llu of pass %llu: %s: %s\n", lines,
			passes + 1, why, line);
}

static void check(const char *line)
{
	unsigned long long number, stamp;
	unsigned int cpu, context, n;
	char rest;

	if (!lines++) {
		if (strcmp(line, " CPU CONTEXT     NUMBER           STAMP"))
			complain(line, "not the header");
		return;
	}
	if (sscanf(line, "# %u events los%c", &n, &rest) == 2) {
		lost += n;
		return;
	}
	if (sscanf(line, "%u %u %llu %llu %c", &cpu, &context, &number, &stamp,
		   &rest) != 4 || cpu >= CPUS || context >= CONTEXTS) {
		complain(line, "not an event");
		return;
	}
	shown++;
	if (number <= last_number[cpu][context])
		complain(line, "twice or out of order");
	if (stamp < pass_stamp)
		complain(line, "older than the one before");
	if (stamp < last_stamp[cpu])
		complain(line, "older than the one before on that CPU");
	last_number[cpu][context] = number;
	last_stamp[cpu] = stamp;
	pass_stamp = stamp;
}

/* Until end of file. */
static void read_pass(int fd, char *buf, size_t size)
{
	static char line[200];
	static size_t len;
	ssize_t n, i;

	pass_stamp = 0;
	while ((n = read(fd, buf, size)) > 0) {
		for (i = 0; i < n; i++) {
			if (buf[i] == '\n' || len == sizeof(line) - 1) {
				line[len] = '\0';
				check(line);
				len = 0;
			} else {
				line[len++] = buf[i];
			}
		}
	}
	if (n < 0)
		err(1, "read");
	if (len)
		errx(1, "a pass ends within a line");
	passes++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_term };
	struct pollfd pollfd = { .events = POLLIN };
	sigset_t none, term;
	size_t size;
	char *buf;

	if (argc < 3)
		errx(1, "usage: read_numbers FILE BYTES [once]");
	size = strtoul(argv[2], NULL, 10);
	buf = malloc(size);
	if (!size || !buf)
		errx(1, "%s bytes?", argv[2]);
	pollfd.fd = open(argv[1], O_RDONLY);
	if (pollfd.fd < 0)
		err(1, "%s", argv[1]);
	/* only ppoll() is interrupted */
	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&none);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	while (argc == 3 && !stop) {
		read_pass(pollfd.fd, buf, size);
		ppoll(&pollfd, 1, NULL, &none);
	}
	read_pass(pollfd.fd, buf, size);
	printf("shown=%llu lost=%llu wrong=%llu passes=%llu\n", shown, lost, wrong,
	       passes);
	return 0;
}
