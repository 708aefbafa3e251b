// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: calls CALL=COUNT...
 *
 * On each CPU at once, a thread that makes these system calls, by name or by
 * number. All arguments are -1. Prints a line "CALL TOTAL" for each.
 */
#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_CALLS 256

static const struct {
	const char *name;
	long nr;
} names[] = {
	{ "getppid", SYS_getppid },
	{ "getuid", SYS_getuid },
	{ "inotify_add_watch", SYS_inotify_add_watch },
	{ "sched_yield", SYS_sched_yield },
	{ }
};

static struct {
	const char *name;
	long nr;
	unsigned long count;
	unsigned long made;
} calls[MAX_CALLS];
static int nr_calls;
static pthread_barrier_t barrier;

static long call_number(const char *name)
{
	char *end;
	size_t i;
	long nr;

	for (i = 0; names[i].name; i++)
		if (!strcmp(name, names[i].name))
			return names[i].nr;
	nr = strtol(name, &end, 0);
	if (*end || end == name)
		errx(2, "no system call: %s", name);
	return nr;
}

static void *run(void *arg)
{
	long cpu = (long)arg;
	unsigned long n;
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %ld", cpu);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < nr_calls; i++) {
		for (n = 0; n < calls[i].count; n++)
			syscall(calls[i].nr, -1, -1, -1, -1, -1, -1);
		__atomic_add_fetch(&calls[i].made, n, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[CPU_SETSIZE];
	int cpu, nr_threads = 0;
	cpu_set_t online;
	char *equals;
	int i;

	if (argc < 2 || argc - 1 > MAX_CALLS)
		errx(2, "usage: calls CALL=COUNT...");
	nr_calls = argc - 1;
	for (i = 0; i < nr_calls; i++) {
		equals = strchr(argv[i + 1], '=');
		if (!equals)
			errx(2, "no count: %s", argv[i + 1]);
		*equals = '\0';
		calls[i].name = argv[i + 1];
		calls[i].nr = call_number(calls[i].name);
		calls[i].count = strtoul(equals + 1, NULL, 0);
	}

	if (sched_getaffinity(0, sizeof(online), &online))
		err(1, "sched_getaffinity");
	pthread_barrier_init(&barrier, NULL, CPU_COUNT(&online));
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &online) &&
		    pthread_create(&threads[nr_threads++], NULL, run,
				   (void *)(long)cpu))
			errx(1, "pthread_create");
	while (nr_threads--)
		pthread_join(threads[nr_threads], NULL);
	for (i = 0; i < nr_calls; i++)
		printf("%s %lu\n", calls[i].name, calls[i].made);
	return 0;
}
