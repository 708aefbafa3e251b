// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: threads [N]
 *
 * The memo's program: N threads, one by default. Prints a line of each, with its
 * tid, after one of this process.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *thread_function(void *arg)
{
	int *n = arg;

	printf("[%d] %d\n", gettid(), *n);
	return arg;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[n];
	int data[n];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("[%d] %p\n", gettid(), (void *)&argc);
	for (i = 0; i < n; i++) {
		data[i] = i;
		if (pthread_create(&thread[i], NULL, thread_function, &data[i]))
			errx(1, "pthread_create");
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
