// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: family COMMAND...
 *
 * Makes an exact number of one system call that nobody else makes,
 * sched_get_priority_max, in relatives of this process, one command after the
 * other; each ends when all of its processes have:
 *
 *   call=N        this process makes N calls
 *   fork=N        a child makes N
 *   vfork=N       a child by vfork() makes N
 *   thread=N      a second thread makes N
 *   exec=N        a child executes this program, which makes N
 *   threadexec=N  a child does, from a thread that is not its leader
 *   orphan=N      a grandchild makes N when its parent is gone
 *   many=N        N children make one each, one child after the other
 *   writers=N     N children write a byte each to stdout, one child after the other
 *   crowd=N       N children make one each, when all of them are there
 *   uid=N         from here on this process has that user id
 *   name=TEXT     and this name
 *   wait          wait for a byte on stdin
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(long n)
{
	while (n--)
		sched_get_priority_max(SCHED_OTHER);
}

static void *call_thread(void *n)
{
	call((long)n);
	return NULL;
}

static void *exec_thread(void *command)
{
	execl("/proc/self/exe", "family", command, NULL);
	err(1, "exec");
}

static void in_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, arg))
		errx(1, "no thread");
	pthread_join(thread, NULL);
}

static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	return pid;
}

static void reap(void)
{
	int status;

	if (wait(&status) < 0 || status)
		errx(1, "a child failed");
}

static void orphan(long n)
{
	int done[2];
	pid_t parent;
	char c;

	if (pipe(done))
		err(1, "pipe");
	if (!child()) {
		parent = getpid();
		if (!child()) {
			while (getppid() == parent)
				sched_yield();
			call(n);
		}
		_exit(0);
	}
	reap();
	close(done[1]);
	/* the grandchild has the other end */
	if (read(done[0], &c, 1))
		errx(1, "read");
	close(done[0]);
}

static void crowd(long n)
{
	int go[2];
	long i;
	char c;

	if (pipe(go))
		err(1, "pipe");
	for (i = 0; i < n; i++)
		if (!child()) {
			close(go[1]);
			if (read(go[0], &c, 1))
				_exit(1);
			call(1);
			_exit(0);
		}
	close(go[1]);
	while (i--)
		reap();
	close(go[0]);
}

static void command(const char *what)
{
	const char *value = strchr(what, '=');
	char name[16], again[32];
	long n;

	value = value ? value + 1 : "";
	n = atol(value);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(what, "="), what);
	snprintf(again, sizeof(again), "call=%ld", n);

	if (!strcmp(name, "call")) {
		call(n);
	} else if (!strcmp(name, "fork")) {
		if (!child()) {
			call(n);
			_exit(0);
		}
		reap();
	} else if (!strcmp(name, "vfork")) {
		if (!vfork()) {
			call(n);
			_exit(0);
		}
		reap();
	} else if (!strcmp(name, "thread")) {
		in_thread(call_thread, (void *)n);
	} else if (!strcmp(name, "exec")) {
		if (!child())
			exec_thread(again);
		reap();
	} else if (!strcmp(name, "threadexec")) {
		if (!child())
			in_thread(exec_thread, again);
		reap();
	} else if (!strcmp(name, "orphan")) {
		orphan(n);
	} else if (!strcmp(name, "many")) {
		while (n--) {
			if (!child()) {
				call(1);
				_exit(0);
			}
			reap();
		}
	} else if (!strcmp(name, "writers")) {
		while (n--) {
			if (!child())
				_exit(write(STDOUT_FILENO, "x", 1) != 1);
			reap();
		}
	} else if (!strcmp(name, "crowd")) {
		crowd(n);
	} else if (!strcmp(name, "uid")) {
		if (setresuid(n, n, n))
			err(1, "setresuid");
	} else if (!strcmp(name, "name")) {
		if (prctl(PR_SET_NAME, value))
			err(1, "prctl");
	} else if (!strcmp(name, "wait")) {
		if (read(STDIN_FILENO, again, 1) < 0)
			err(1, "stdin");
	} else {
		errx(2, "what is %s?", what);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: family COMMAND...");
	while (*++argv)
		command(*argv);
	return 0;
}
