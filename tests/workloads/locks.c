// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: locks KIND WAITERS MS
 *
 * WAITERS threads, or processes if KIND is shared, wait for a lock that is held,
 * all of them at once and for MS milliseconds; then they get it one after the
 * other. KIND:
 *   mutex, cond, barrier, rwlock, pi, shared	of the C library
 *   wait, bitset, requeue_pi, waitv, futex_wait	of the kernel
 *   timeout, interrupted	they end by time, by a signal
 *   changed	they find the value changed, and do not wait
 *   free	LOCK_PI of a lock that is free
 *
 * Prints: the process id of each waiter's process; where the lock is; how many
 * waits there were; how many microseconds they took together, as the waiters
 * measured it.
 */
#include <err.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WAITERS 64

/* What is waited for, and by whom; seen by processes, too. */
static struct shared {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	pthread_rwlock_t rwlock;
	unsigned int word[2];
	long us;
	int arrived;
	pid_t waiters[MAX_WAITERS];
} *shared;

static int nr_waiters;
static long hold_ms;

static void check(int error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, strerror(error));
}

static long futex(unsigned int *at, int op, unsigned int value,
		  const void *timeout, void *at2, unsigned int value3)
{
	return syscall(SYS_futex, at, op, value, timeout, at2, value3);
}

static long waitv(void)
{
	struct futex_waitv array[2] = { };
	int i;

	for (i = 0; i < 2; i++) {
		array[i].uaddr = (uintptr_t)&shared->word[i];
		array[i].val = 1;
		array[i].flags = FUTEX_32;
	}
	return syscall(SYS_futex_waitv, array, 2, 0, NULL, CLOCK_MONOTONIC);
}

/* What a kind does: one wait, and what ends all of them. */
struct kind {
	const char *name;
	void (*hold)(void);
	void (*wait)(void);
	void (*release)(void);
	void *where;		/* in struct shared */
	int none;		/* it is no wait */
};

static void nothing(void)
{
}

static void mutex_hold(void)
{
	check(pthread_mutex_lock(&shared->mutex), "lock");
}

static void mutex_release(void)
{
	check(pthread_mutex_unlock(&shared->mutex), "unlock");
}

static void mutex_wait(void)
{
	mutex_hold();
	mutex_release();
}

static void set_mutex(int protocol, int pshared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	check(pthread_mutexattr_setprotocol(&attr, protocol), "protocol");
	check(pthread_mutexattr_setpshared(&attr, pshared), "pshared");
	check(pthread_mutex_init(&shared->mutex, &attr), "mutex");
	mutex_hold();
}

static void pi_hold(void)
{
	set_mutex(PTHREAD_PRIO_INHERIT, PTHREAD_PROCESS_PRIVATE);
}

static void shared_hold(void)
{
	set_mutex(PTHREAD_PRIO_NONE, PTHREAD_PROCESS_SHARED);
}

/* One at a time: who is woken takes the mutex, which nobody else wants then. */
static void cond_wait(void)
{
	mutex_hold();
	check(pthread_cond_wait(&shared->cond, &shared->mutex), "wait");
	__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_SEQ_CST);
	mutex_release();
}

static void cond_release(void)
{
	int i;

	for (i = 1; i <= nr_waiters; i++) {
		check(pthread_cond_signal(&shared->cond), "signal");
		while (__atomic_load_n(&shared->arrived, __ATOMIC_SEQ_CST) < i)
			usleep(1000);
	}
}

static void barrier_hold(void)
{
	check(pthread_barrier_init(&shared->barrier, NULL, nr_waiters + 1), "barrier");
}

static void barrier_wait(void)
{
	pthread_barrier_wait(&shared->barrier);
}

static void rwlock_hold(void)
{
	check(pthread_rwlock_wrlock(&shared->rwlock), "wrlock");
}

static void rwlock_wait(void)
{
	check(pthread_rwlock_rdlock(&shared->rwlock), "rdlock");
	check(pthread_rwlock_unlock(&shared->rwlock), "unlock");
}

static void rwlock_release(void)
{
	check(pthread_rwlock_unlock(&shared->rwlock), "unlock");
}

static void word_hold(void)
{
	shared->word[0] = 1;
	shared->word[1] = 1;
}

static void word_wait(void)
{
	if (futex(&shared->word[0], FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0))
		err(1, "FUTEX_WAIT");
}

static void word_release(void)
{
	futex(&shared->word[0], FUTEX_WAKE_PRIVATE, nr_waiters, NULL, NULL, 0);
}

static void bitset_wait(void)
{
	struct timespec late = { .tv_sec = time(NULL) + 1000 };

	if (futex(&shared->word[0], FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1,
		  &late, NULL, FUTEX_BITSET_MATCH_ANY))
		err(1, "FUTEX_WAIT_BITSET");
}

/* They wait for the first word, and get the second one, which is free. */
static void requeue_hold(void)
{
	shared->word[0] = 1;
	shared->word[1] = 0;
}

static void requeue_wait(void)
{
	if (futex(&shared->word[0], FUTEX_WAIT_REQUEUE_PI_PRIVATE, 1, NULL,
		  &shared->word[1], 0))
		err(1, "FUTEX_WAIT_REQUEUE_PI");
	if (futex(&shared->word[1], FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0))
		err(1, "FUTEX_UNLOCK_PI");
}

static void requeue_release(void)
{
	if (futex(&shared->word[0], FUTEX_CMP_REQUEUE_PI_PRIVATE, 1, (void *)1000L,
		  &shared->word[1], 1) < 0)
		err(1, "FUTEX_CMP_REQUEUE_PI");
}

static void waitv_wait(void)
{
	if (waitv() != 1)
		err(1, "futex_waitv");
}

static void waitv_release(void)
{
	futex(&shared->word[1], FUTEX_WAKE, nr_waiters, NULL, NULL, 0);
}

static void futex_wait_wait(void)
{
	if (syscall(455, &shared->word[0], 1L, FUTEX_BITSET_MATCH_ANY,
		    (long)(FUTEX_32 | FUTEX_PRIVATE_FLAG), NULL, 0L))
		err(1, "futex_wait");
}

static void timeout_wait(void)
{
	struct timespec late = { hold_ms / 1000, hold_ms % 1000 * 1000000 };

	if (!futex(&shared->word[0], FUTEX_WAIT, 1, &late, NULL, 0) || errno != ETIMEDOUT)
		err(1, "FUTEX_WAIT was woken");
}

static void handler(int sig)
{
	(void)sig;
}

/* Without SA_RESTART */
static void interrupted_hold(void)
{
	const struct sigaction action = { .sa_handler = handler };

	word_hold();
	sigaction(SIGUSR1, &action, NULL);
}

static void interrupted_wait(void)
{
	if (!futex(&shared->word[0], FUTEX_WAIT, 1, NULL, NULL, 0) || errno != EINTR)
		err(1, "FUTEX_WAIT was woken");
}

static void interrupted_release(void)
{
	int i;

	for (i = 0; i < nr_waiters; i++)
		syscall(SYS_tgkill, getpid(), shared->waiters[i], SIGUSR1);
}

static void changed_wait(void)
{
	if (!futex(&shared->word[0], FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0) || errno != EAGAIN)
		err(1, "FUTEX_WAIT of what is changed");
}

static void free_hold(void)
{
	shared->word[0] = 0;
}

static void free_wait(void)
{
	static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
	static int taken;

	/* one of them is enough */
	if (pthread_mutex_trylock(&turn) || taken++)
		return;
	if (futex(&shared->word[0], FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0))
		err(1, "FUTEX_LOCK_PI");
	pthread_mutex_unlock(&turn);
}

#define AT(member) ((void *)offsetof(struct shared, member))
static const struct kind kinds[] = {
	{ "mutex", mutex_hold, mutex_wait, mutex_release, AT(mutex), 0 },
	{ "cond", nothing, cond_wait, cond_release, AT(cond), 0 },
	{ "barrier", barrier_hold, barrier_wait, barrier_wait, AT(barrier), 0 },
	{ "rwlock", rwlock_hold, rwlock_wait, rwlock_release, AT(rwlock), 0 },
	{ "pi", pi_hold, mutex_wait, mutex_release, AT(mutex), 0 },
	{ "shared", shared_hold, mutex_wait, mutex_release, AT(mutex), 0 },
	{ "wait", word_hold, word_wait, word_release, AT(word[0]), 0 },
	{ "bitset", word_hold, bitset_wait, word_release, AT(word[0]), 0 },
	{ "requeue_pi", requeue_hold, requeue_wait, requeue_release, AT(word[0]), 0 },
	{ "waitv", word_hold, waitv_wait, waitv_release, AT(word[1]), 0 },
	{ "futex_wait", word_hold, futex_wait_wait, word_release, AT(word[0]), 0 },
	{ "timeout", word_hold, timeout_wait, nothing, AT(word[0]), 0 },
	{ "interrupted", interrupted_hold, interrupted_wait, interrupted_release, AT(word[0]), 0 },
	{ "changed", word_hold, changed_wait, nothing, AT(word[0]), 1 },
	{ "free", free_hold, free_wait, nothing, AT(word[0]), 1 },
	{ }
};

static const struct kind *kind;

static void *wait_once(void *arg)
{
	struct timespec begin, end;
	long us;

	shared->waiters[(long)arg] = syscall(SYS_gettid);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	kind->wait();
	clock_gettime(CLOCK_MONOTONIC, &end);
	us = (end.tv_sec - begin.tv_sec) * 1000000 + (end.tv_nsec - begin.tv_nsec) / 1000;
	__atomic_add_fetch(&shared->us, us, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Does a task sleep in a call that waits for one of these locks? */
static int is_asleep(pid_t tid)
{
	unsigned long nr, at;
	char name[64];
	FILE *file;
	int found;

	snprintf(name, sizeof(name), "/proc/%d/syscall", tid);
	file = fopen(name, "r");
	if (!file)
		return 0;
	found = fscanf(file, "%lu %lx", &nr, &at) == 2;
	fclose(file);
	if (!found)
		return 0;
	if (nr == SYS_futex_waitv)
		return 1;
	return (nr == SYS_futex || nr == 455) && at - (uintptr_t)shared < sizeof(*shared);
}

static void until_asleep(void)
{
	int i;

	for (i = 0; i < nr_waiters; i++)
		while (!is_asleep(__atomic_load_n(&shared->waiters[i], __ATOMIC_SEQ_CST)))
			usleep(1000);
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_WAITERS];
	pid_t child[MAX_WAITERS];
	int i, processes;

	if (argc != 4)
		errx(2, "usage: locks KIND WAITERS MS");
	for (kind = kinds; kind->name && strcmp(kind->name, argv[1]); kind++)
		;
	nr_waiters = atoi(argv[2]);
	hold_ms = atol(argv[3]);
	if (!kind->name || nr_waiters < 1 || nr_waiters > MAX_WAITERS)
		errx(2, "no such kind, or too many waiters");
	processes = !strcmp(kind->name, "shared");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		err(1, "mmap");

	kind->hold();
	for (i = 0; i < nr_waiters; i++) {
		if (!processes) {
			check(pthread_create(&thread[i], NULL, wait_once, (void *)(long)i),
			      "pthread_create");
			continue;
		}
		child[i] = fork();
		if (child[i] < 0)
			err(1, "fork");
		if (!child[i]) {
			wait_once((void *)(long)i);
			_exit(0);
		}
	}
	if (!kind->none && kind->release != nothing) {
		until_asleep();
		usleep(hold_ms * 1000);
	}
	kind->release();
	for (i = 0; i < nr_waiters; i++) {
		if (processes)
			waitpid(child[i], NULL, 0);
		else
			check(pthread_join(thread[i], NULL), "pthread_join");
		if (processes)
			printf("%d ", child[i]);
	}
	if (!processes)
		printf("%d ", getpid());
	printf("0x%lx %d %ld\n", (long)shared + (long)kind->where,
	       kind->none ? 0 : nr_waiters, (long)shared->us);
	return 0;
}
