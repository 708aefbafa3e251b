// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: hold FILE COMMAND...
 *        hold -r FILE...
 *
 * Opens a file for reading, does what the commands say, one after the other,
 * and closes it:
 *
 *   read=SIZE            read to the end, SIZE bytes at a time
 *   once=SIZE            one read()
 *   pread=OFFSET,SIZE    one pread()
 *   set=N cur=N end=N    lseek()
 *   poll=MS epoll=MS     wait until there is something to read; -1: for ever
 *   follow=COUNT         COUNT times: wait, seek to the start, read to the end
 *   wait                 wait for a byte on stdin
 *
 * What is read goes to stdout as it is; any other outcome that is not plain
 * success is a line there: "set=5: Illegal seek", "poll=0: nothing".
 *
 * -r: opens, polls, reads and closes the files in turn until it gets SIGTERM, and
 * prints how often each of these had which outcome.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static char buf[1 << 20];

static void say(const char *what, const char *outcome)
{
	dprintf(STDOUT_FILENO, "%s: %s\n", what, outcome);
}

static void print(ssize_t len)
{
	if (write(STDOUT_FILENO, buf, len) != len)
		err(1, "stdout");
}

static void read_all(const char *what, int fd, size_t size)
{
	ssize_t n;

	while ((n = read(fd, buf, size)) > 0)
		print(n);
	if (n < 0)
		say(what, strerror(errno));
}

static void wait_by_poll(const char *what, int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int n = poll(&pfd, 1, ms);

	if (n != 1 || pfd.revents != POLLIN)
		say(what, n < 0 ? strerror(errno) : n ? "strange" : "nothing");
}

static void wait_by_epoll(const char *what, int fd, int ms)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(0);
	int n;

	if (ep < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll");
	n = epoll_wait(ep, &event, 1, ms);
	if (n != 1 || event.events != EPOLLIN)
		say(what, n < 0 ? strerror(errno) : n ? "strange" : "nothing");
	close(ep);
}

static void command(char *what, int fd)
{
	size_t len = strcspn(what, "=");
	char *value = what[len] ? what + len + 1 : "";
	long n = strtol(value, &value, 10);
	ssize_t got = 0;

#define IS(name) (len == strlen(name) && !strncmp(what, name, len))
	if (IS("read") && n > 0 && n <= (long)sizeof(buf)) {
		read_all(what, fd, n);
	} else if (IS("once") && n > 0 && n <= (long)sizeof(buf)) {
		got = read(fd, buf, n);
	} else if (IS("pread") && *value == ',') {
		got = pread(fd, buf, strtoul(value + 1, NULL, 10), n);
	} else if (IS("set")) {
		got = lseek(fd, n, SEEK_SET) < 0 ? -1 : 0;
	} else if (IS("cur")) {
		got = lseek(fd, n, SEEK_CUR) < 0 ? -1 : 0;
	} else if (IS("end")) {
		got = lseek(fd, n, SEEK_END) < 0 ? -1 : 0;
	} else if (IS("poll")) {
		wait_by_poll(what, fd, n);
	} else if (IS("epoll")) {
		wait_by_epoll(what, fd, n);
	} else if (IS("follow")) {
		while (n--) {
			wait_by_poll(what, fd, -1);
			if (lseek(fd, 0, SEEK_SET) && errno != ESPIPE)
				err(1, "lseek");
			read_all(what, fd, sizeof(buf));
		}
	} else if (IS("wait")) {
		if (read(STDIN_FILENO, buf, 1) < 0)
			err(1, "stdin");
	} else {
		errx(2, "what is %s?", what);
	}
#undef IS
	if (got < 0)
		say(what, strerror(errno));
	else
		print(got);
}

/* How often a system call had an outcome, by errno. */
#define ERRNOS 256
struct tally {
	const char *call;
	unsigned long count[ERRNOS];
};

static long count(struct tally *tally, long ret)
{
	tally->count[ret < 0 ? errno : 0]++;
	return ret;
}

static volatile sig_atomic_t enough;

static void stop(int sig)
{
	enough = sig;
}

static void race(char **files)
{
	struct tally tallies[] = { { .call = "open" }, { .call = "poll" }, { .call = "read" } };
	char **file = files;
	unsigned int i, e;
	int fd;

	signal(SIGTERM, stop);
	while (!enough) {
		struct pollfd pfd = { .events = POLLIN };

		fd = count(&tallies[0], open(*file, O_RDONLY));
		if (!*++file)
			file = files;
		if (fd < 0)
			continue;
		pfd.fd = fd;
		count(&tallies[1], poll(&pfd, 1, 0));
		count(&tallies[2], read(fd, buf, 100));
		close(fd);
	}
	for (i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++)
		for (e = 0; e < ERRNOS; e++)
			if (tallies[i].count[e])
				printf("%s %s %lu\n", tallies[i].call,
				       e ? strerrorname_np(e) : "ok", tallies[i].count[e]);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc > 2 && !strcmp(argv[1], "-r")) {
		race(argv + 2);
		return 0;
	}
	if (argc < 3)
		errx(2, "usage: hold FILE COMMAND... | hold -r FILE...");
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	for (argv += 2; *argv; argv++)
		command(*argv, fd);
	close(fd);
	return 0;
}
