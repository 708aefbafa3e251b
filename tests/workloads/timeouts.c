// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: timeouts KIND MS THREADS HOW=COUNT...
 *
 * Makes COUNT calls of each HOW, in each of THREADS threads; of several, every
 * other one makes half as many and exits then. KIND is a system call, by the
 * kernel's name, or sleep, usleep and pause of the C library. HOW:
 *   out	wait for MS milliseconds, and nothing happens
 *   done	what is waited for happens, long before the time is over
 *   intr	a signal's handler runs
 *   zero	with a time limit of 0
 *   never	without one, until what is waited for happens
 * Each call is seen to end in the right way. Prints the process id.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS 1000000
#define NEVER (-1)

/* What ends a wait, seen by the process that does it. */
static struct shared {
	unsigned int word;
	int want;	/* of enum wanted */
	int got;	/* what the other one did last */
} *shared;

enum wanted { NOTHING, EVENT, SIGNAL };

static pid_t helper;
static int readable[2], epoll_fd;
static sigset_t awaited;

/* As the kernel has them: old ones, and those of 64 bits on all machines. */
struct ts {
	long sec, nsec;
};

struct ts64 {
	long long sec, nsec;
};

static struct ts *in(struct ts *ts, long ms)
{
	*ts = (struct ts){ ms / 1000, ms % 1000 * 1000000 };
	return ms == NEVER ? NULL : ts;
}

static struct ts64 *in64(struct ts64 *ts, long ms)
{
	*ts = (struct ts64){ ms / 1000, ms % 1000 * 1000000 };
	return ms == NEVER ? NULL : ts;
}

/* A point in time; 0 has passed long ago. */
static struct ts64 *at64(struct ts64 *ts, long ms, clockid_t clock)
{
	struct timespec now = { };

	if (ms)
		clock_gettime(clock, &now);
	in64(ts, ms);
	ts->sec += now.tv_sec + (ts->nsec + now.tv_nsec) / 1000000000;
	ts->nsec = (ts->nsec + now.tv_nsec) % 1000000000;
	return ms == NEVER ? NULL : ts;
}

static struct ts *at(struct ts *ts, long ms, clockid_t clock)
{
	struct ts64 ts64;

	at64(&ts64, ms, clock);
	*ts = (struct ts){ ts64.sec, ts64.nsec };
	return ms == NEVER ? NULL : ts;
}

/* --- the calls: how they end, as poll() says it, or -1 and errno -------- */

static struct pollfd *fds(struct pollfd *fd)
{
	*fd = (struct pollfd){ .fd = readable[0], .events = POLLIN };
	return fd;
}

static long do_poll(long ms)
{
	struct pollfd fd;

	return syscall(SYS_poll, fds(&fd), 1, (int)ms);
}

static long do_ppoll(long ms)
{
	struct pollfd fd;
	struct ts ts;

	return syscall(SYS_ppoll, fds(&fd), 1, in(&ts, ms), NULL, 8);
}

static fd_set *set(fd_set *set)
{
	FD_ZERO(set);
	FD_SET(readable[0], set);
	return set;
}

static struct ts *tv(struct ts *ts, long ms)
{
	struct ts *found = in(ts, ms);

	ts->nsec /= 1000;
	return found;
}

static long do_select(long ms)
{
	fd_set read;
	struct ts ts;

#ifdef SYS__newselect
	return syscall(SYS__newselect, readable[0] + 1, set(&read), NULL, NULL, tv(&ts, ms));
#else
	return syscall(SYS_select, readable[0] + 1, set(&read), NULL, NULL, tv(&ts, ms));
#endif
}

static long do_pselect6(long ms)
{
	fd_set read;
	struct ts ts;

	return syscall(SYS_pselect6, readable[0] + 1, set(&read), NULL, NULL, in(&ts, ms), NULL);
}

static long do_epoll_wait(long ms)
{
	struct epoll_event event;

	return syscall(SYS_epoll_wait, epoll_fd, &event, 1, (int)ms);
}

static long do_epoll_pwait(long ms)
{
	struct epoll_event event;

	return syscall(SYS_epoll_pwait, epoll_fd, &event, 1, (int)ms, NULL, 8);
}

static long do_epoll_pwait2(long ms)
{
	struct epoll_event event;
	struct ts64 ts;

	return syscall(441, epoll_fd, &event, 1, in64(&ts, ms), NULL, 8);
}

/* Woken is 1, and the end of the time 0. */
static long futex_result(long ret)
{
	if (ret < 0 && errno == ETIMEDOUT)
		return 0;
	return ret < 0 ? ret : 1;
}

static long do_futex(long ms)
{
	struct ts ts;

	return futex_result(syscall(SYS_futex, &shared->word, FUTEX_WAIT, 1, in(&ts, ms), NULL, 0));
}

static long futex_bitset(long ms, int op, clockid_t clock)
{
	struct ts ts;

	return futex_result(syscall(SYS_futex, &shared->word, op, 1, at(&ts, ms, clock), NULL,
				    FUTEX_BITSET_MATCH_ANY));
}

static long do_futex_bitset(long ms)
{
	return futex_bitset(ms, FUTEX_WAIT_BITSET, CLOCK_MONOTONIC);
}

static long do_futex_realtime(long ms)
{
	return futex_bitset(ms, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, CLOCK_REALTIME);
}

/* A lock that another thread owns. */
static unsigned int lock;

static long do_futex_pi(long ms)
{
	struct ts ts;

	return futex_result(syscall(SYS_futex, &lock, FUTEX_LOCK_PI_PRIVATE, 0,
				    at(&ts, ms, CLOCK_REALTIME), NULL, 0));
}

static long do_futex_waitv(long ms)
{
	struct futex_waitv array = { .uaddr = (uintptr_t)&shared->word, .val = 1 };
	struct ts64 ts;

	array.flags = FUTEX_32;
	return futex_result(syscall(449, &array, 1, 0, at64(&ts, ms, CLOCK_MONOTONIC),
				    CLOCK_MONOTONIC));
}

static long do_futex_wait(long ms)
{
	struct ts64 ts;

	return futex_result(syscall(455, &shared->word, 1L, (long)FUTEX_BITSET_MATCH_ANY,
				    (long)FUTEX_32, at64(&ts, ms, CLOCK_REALTIME),
				    (long)CLOCK_REALTIME));
}

static long do_nanosleep(long ms)
{
	struct ts ts;

	return syscall(SYS_nanosleep, in(&ts, ms), NULL);
}

static long do_clock_nanosleep(long ms)
{
	struct ts ts;

	return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, in(&ts, ms), NULL);
}

static long sleep_until(long ms, clockid_t clock)
{
	struct ts ts;

	return syscall(SYS_clock_nanosleep, clock, TIMER_ABSTIME, at(&ts, ms, clock), NULL);
}

static long do_until_monotonic(long ms)
{
	return sleep_until(ms, CLOCK_MONOTONIC);
}

static long do_until_realtime(long ms)
{
	return sleep_until(ms, CLOCK_REALTIME);
}

static long do_until_boottime(long ms)
{
	return sleep_until(ms, CLOCK_BOOTTIME);
}

static long do_until_tai(long ms)
{
	return sleep_until(ms, CLOCK_TAI);
}

static long do_until_alarm(long ms)
{
	return sleep_until(ms, CLOCK_BOOTTIME_ALARM);
}

/* Another thread is busy meanwhile. */
static long do_cpu(long ms)
{
	struct ts ts;

	return syscall(SYS_clock_nanosleep, CLOCK_PROCESS_CPUTIME_ID, 0, in(&ts, ms), NULL);
}

static long do_until_cpu(long ms)
{
	return sleep_until(ms, CLOCK_PROCESS_CPUTIME_ID);
}

static long signal_result(long ret)
{
	if (ret < 0 && errno == EAGAIN)
		return 0;
	return ret == SIGUSR2 ? 1 : ret;
}

static long do_rt_sigtimedwait(long ms)
{
	struct ts ts;

	return signal_result(syscall(SYS_rt_sigtimedwait, &awaited, NULL, in(&ts, ms), 8));
}

#ifdef SYS_ppoll_time64
static long do_ppoll_time64(long ms)
{
	struct pollfd fd;
	struct ts64 ts;

	return syscall(SYS_ppoll_time64, fds(&fd), 1, in64(&ts, ms), NULL, 8);
}

static long do_old_select(long ms)
{
	fd_set read;
	struct ts ts;
	long args[] = { readable[0] + 1, (long)set(&read), 0, 0, (long)tv(&ts, ms) };

	return syscall(SYS_select, args);
}

static long do_pselect6_time64(long ms)
{
	fd_set read;
	struct ts64 ts;

	return syscall(SYS_pselect6_time64, readable[0] + 1, set(&read), NULL, NULL, in64(&ts, ms),
		       NULL);
}

static long do_futex_time64(long ms)
{
	struct ts64 ts;

	return futex_result(syscall(SYS_futex_time64, &shared->word, FUTEX_WAIT, 1, in64(&ts, ms),
				    NULL, 0));
}

static long do_clock_nanosleep_time64(long ms)
{
	struct ts64 ts;

	return syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, in64(&ts, ms), NULL);
}

static long do_rt_sigtimedwait_time64(long ms)
{
	struct ts64 ts;

	return signal_result(syscall(SYS_rt_sigtimedwait_time64, &awaited, NULL, in64(&ts, ms), 8));
}
#endif

/* Of the C library */
static long do_sleep(long ms)
{
	return sleep((ms + 999) / 1000);
}

static long do_usleep(long ms)
{
	return usleep(ms * 1000);
}

static long do_pause(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	return nanosleep(&ts, NULL);
}

/* --- interval timers ---------------------------------------------------- */

static int alarms;

static void on_alarm(int sig)
{
	(void)sig;
	__atomic_add_fetch(&alarms, 1, __ATOMIC_SEQ_CST);
}

/* Set to go off once; who asks for CPU time is busy till then, else asleep. */
static long interval_timer(int which, int sig, long ms)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval value = { .it_value = { ms / 1000, ms % 1000 * 1000 } };
	sigset_t blocked, old;
	int before = alarms;	/* nobody changes it yet */

	sigaction(sig, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, sig);
	if (which == ITIMER_REAL)
		sigprocmask(SIG_BLOCK, &blocked, &old);
	setitimer(which, &value, NULL);
	if (ms == LONG_MS) {
		memset(&value, 0, sizeof(value));
		setitimer(which, &value, NULL);
	} else if (ms) {
		while (__atomic_load_n(&alarms, __ATOMIC_SEQ_CST) == before)
			if (which == ITIMER_REAL)
				sigsuspend(&old);
	}
	if (which == ITIMER_REAL)
		sigprocmask(SIG_SETMASK, &old, NULL);
	return ms == LONG_MS;
}

static long do_itimer_real(long ms)
{
	return interval_timer(ITIMER_REAL, SIGALRM, ms);
}

static long do_itimer_virtual(long ms)
{
	return interval_timer(ITIMER_VIRTUAL, SIGVTALRM, ms);
}

static long do_itimer_prof(long ms)
{
	return interval_timer(ITIMER_PROF, SIGPROF, ms);
}

/* ------------------------------------------------------------------------ */

static const struct kind {
	const char *name;
	long (*call)(long ms);
} kinds[] = {
	{ "poll", do_poll },
	{ "ppoll", do_ppoll },
	{ "select", do_select },
	{ "pselect6", do_pselect6 },
	{ "epoll_wait", do_epoll_wait },
	{ "epoll_pwait", do_epoll_pwait },
	{ "epoll_pwait2", do_epoll_pwait2 },
	{ "futex", do_futex },
	{ "futex_bitset", do_futex_bitset },
	{ "futex_realtime", do_futex_realtime },
	{ "futex_pi", do_futex_pi },
	{ "futex_waitv", do_futex_waitv },
	{ "futex_wait", do_futex_wait },
	{ "nanosleep", do_nanosleep },
	{ "clock_nanosleep", do_clock_nanosleep },
	{ "until_monotonic", do_until_monotonic },
	{ "until_realtime", do_until_realtime },
	{ "until_boottime", do_until_boottime },
	{ "until_tai", do_until_tai },
	{ "until_alarm", do_until_alarm },
	{ "cpu", do_cpu },
	{ "until_cpu", do_until_cpu },
	{ "rt_sigtimedwait", do_rt_sigtimedwait },
#ifdef SYS_ppoll_time64
	{ "ppoll_time64", do_ppoll_time64 },
	{ "old_select", do_old_select },
	{ "pselect6_time64", do_pselect6_time64 },
	{ "futex_time64", do_futex_time64 },
	{ "clock_nanosleep_time64", do_clock_nanosleep_time64 },
	{ "rt_sigtimedwait_time64", do_rt_sigtimedwait_time64 },
#endif
	{ "sleep", do_sleep },
	{ "usleep", do_usleep },
	{ "pause", do_pause },
	{ "itimer_real", do_itimer_real },
	{ "itimer_virtual", do_itimer_virtual },
	{ "itimer_prof", do_itimer_prof },
	{ }
};

static const struct kind *kind;
static long limit_ms;

static const struct how {
	const char *name;
	int wanted;
	long ms;	/* 0: as the user says */
	long result;
	int error;
} hows[] = {
	{ "out", NOTHING, 0, 0, 0 },
	{ "done", EVENT, LONG_MS, 1, 0 },
	{ "intr", SIGNAL, LONG_MS, -1, EINTR },
	{ "zero", NOTHING, 0, 0, 0 },
	{ "never", EVENT, NEVER, 1, 0 },
	{ }
};

static void on_signal(int sig)
{
	(void)sig;
}

/*
 * Another process, whose own sleeps are charged to it, ends waits: again and
 * again, in case that it came too early.
 */
static void help(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		int want = __atomic_load_n(&shared->want, __ATOMIC_SEQ_CST);

		if (want == EVENT) {
			if (write(readable[1], "x", 1) < 0 && errno != EAGAIN)
				err(1, "write");
			syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1000, NULL, NULL, 0);
			kill(parent, SIGUSR2);
		} else if (want == SIGNAL) {
			kill(parent, SIGUSR1);
		}
		__atomic_store_n(&shared->got, want, __ATOMIC_SEQ_CST);
		usleep(5000);
	}
	_exit(0);
}

/*
 * Tell the helper, and wait until it does nothing else any more. That takes no
 * call which has a time limit.
 */
static void ask(int want)
{
	__atomic_store_n(&shared->want, want, __ATOMIC_SEQ_CST);
	while (!want && __atomic_load_n(&shared->got, __ATOMIC_SEQ_CST) != want)
		sched_yield();
}

/* What came too late is not left for the next call. */
static void drain(void)
{
	char buf[64];
	sigset_t pending;

	while (read(readable[0], buf, sizeof(buf)) > 0)
		;
	sigpending(&pending);
	if (sigismember(&pending, SIGUSR2))
		sigwaitinfo(&awaited, NULL);
}

static void calls(const struct how *how, long count)
{
	long ms = how->ms ? how->ms : strcmp(how->name, "zero") ? limit_ms : 0;
	long i, ret;

	for (i = 0; i < count; i++) {
		if (how->wanted)
			ask(how->wanted);
		errno = 0;
		ret = kind->call(ms);
		if (ret != how->result)
			err(1, "%s, %s: %ld", kind->name, how->name, ret);
		if (how->error && errno != how->error)
			err(1, "%s, %s", kind->name, how->name);
		if (how->wanted) {
			ask(NOTHING);
			drain();
		}
	}
}

static char **wanted;	/* HOW=COUNT */

static void *run(void *half)
{
	const struct how *how;
	char **arg, *count;

	for (arg = wanted; *arg; arg++) {
		count = strchr(*arg, '=');
		for (how = hows; count && how->name; how++)
			if (strlen(how->name) == (size_t)(count - *arg) &&
			    !strncmp(how->name, *arg, count - *arg))
				break;
		if (!count || !how->name)
			errx(2, "%s is no HOW=COUNT", *arg);
		calls(how, atol(count + 1) / (half ? 2 : 1));
	}
	return NULL;
}

/* What a kind needs of another thread: CPU time, or to own the lock. */
static void *other(void *busy)
{
	if (!busy)
		__atomic_store_n(&lock, syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	for (;;)
		if (!busy)
			pause();
	return NULL;
}

static void start_other(int busy)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other, busy ? (void *)kinds : NULL))
		errx(1, "pthread_create");
	while (!busy && !__atomic_load_n(&lock, __ATOMIC_SEQ_CST))
		sched_yield();
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct epoll_event event = { .events = EPOLLIN };
	pthread_t *threads;
	int i, nr_threads;

	if (argc < 5)
		errx(2, "usage: timeouts KIND MS THREADS HOW=COUNT...");
	for (kind = kinds; kind->name && strcmp(kind->name, argv[1]); kind++)
		;
	if (!kind->name)
		errx(2, "there is no %s", argv[1]);
	limit_ms = atol(argv[2]);
	nr_threads = atoi(argv[3]);
	wanted = argv + 4;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pipe2(readable, O_NONBLOCK))
		err(1, "mmap, pipe");
	shared->word = 1;
	epoll_fd = epoll_create1(0);
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, readable[0], &event))
		err(1, "epoll_ctl");
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGUSR2);
	sigprocmask(SIG_BLOCK, &awaited, NULL);
	sigaction(SIGUSR1, &action, NULL);
	helper = fork();
	if (helper < 0)
		err(1, "fork");
	if (!helper)
		help();

	if (kind->call == do_cpu || kind->call == do_until_cpu)
		start_other(1);
	else if (kind->call == do_futex_pi)
		start_other(0);
	if (nr_threads == 1) {
		run(NULL);
	} else {
		threads = calloc(nr_threads, sizeof(*threads));
		for (i = 0; i < nr_threads; i++)
			if (pthread_create(&threads[i], NULL, run, i % 2 ? argv : NULL))
				errx(1, "pthread_create");
		for (i = 0; i < nr_threads; i++)
			pthread_join(threads[i], NULL);
	}
	kill(helper, SIGKILL);
	waitpid(helper, NULL, 0);
	printf("%d\n", getpid());
	return 0;
}
