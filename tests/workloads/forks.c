// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: forks COMMAND...
 *
 * Creates processes, one command after the other, each of which ends when its
 * processes have; prints for each NAME and what the system call returned, a pid
 * or -errno:
 *
 *   fork vfork clone clone3    by that system call, as such
 *   spawn                      by posix_spawn() of /bin/true
 *   thread                     by clone() without a library; it only exits
 *   many=N                     N by fork; prints N
 *   settid=PID                 by clone3 with that pid
 *   cgroup=DIR                 by clone3 into that cgroup
 *   signal                     by clone() with SIGUSR1 at its end
 *   flags                      by clone() with CLONE_SIGHAND without CLONE_VM
 *   arguments                  by clone3 with CLONE_DETACHED
 *   newuser                    by clone() with CLONE_NEWUSER
 *   chroot uid=N nproc=N       from here on this process has that root (/), that
 *                              user, that limit
 *   map=MIB                    maps so much, read, one page of it written
 *   pin=CPU                    runs there
 *   wait                       waits for end of file on stdin
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

static const char *name;

/* In the child it does not return. */
static void report(long pid)
{
	if (!pid)
		_exit(0);
	if (pid < 0)
		pid = -errno;
	else if (waitpid(pid, NULL, __WALL) != pid)
		err(1, "waitpid");
	printf("%s %ld\n", name, pid);
	fflush(stdout);
}

static long clone3(struct clone_args *args)
{
	return syscall(SYS_clone3, args, sizeof(*args));
}

static void do_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	report(pid);
}

static void do_fork(void)
{
#ifdef SYS_fork
	report(syscall(SYS_fork));
#else
	report(fork());
#endif
}

static void do_spawn(void)
{
	char *const argv[] = { "true", NULL };
	pid_t pid;
	int error = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL);

	errno = error;
	report(error ? -1 : pid);
}

/* Its stack is its own; it has no thread-local storage, and calls nothing. */
static void do_thread(void)
{
	static long double stack[1024];	/* aligned to 16 bytes */
	static volatile int left;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;
	long pid;

	left = 1;
#if defined(__x86_64__)
	register long r10 asm("r10") = (long)&left;

	asm volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\tmov $60, %%eax\n\t"
		     "xor %%edi, %%edi\n\tsyscall\n1:"
		     : "=a" (pid)
		     : "a" (SYS_clone), "D" ((long)flags),
		       "S" (stack + 1024), "d" (&left), "r" (r10)
		     : "rcx", "r11", "memory");
#else
	errx(1, "thread: not here: %x %p", flags, (void *)stack);
#endif
	while (pid > 0 && left)
		sched_yield();
	printf("%s %ld\n", name, pid);
	fflush(stdout);
}

static void do_many(int n)
{
	int i;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			err(1, "fork");
	}
	printf("%s %d\n", name, n);
}

static void do_map(size_t bytes)
{
	char *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		err(1, "mmap");
	madvise(map, bytes, MADV_NOHUGEPAGE);
	/* the page of zeros everywhere, which takes no memory */
	if (madvise(map, bytes, MADV_POPULATE_READ))
		err(1, "madvise");
	if (mprotect(map, bytes, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
	*map = 1;
}

static void do_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

static void run(const char *value)
{
	long n = value ? atol(value) : 0;
	pid_t pid = n;

	if (!strcmp(name, "fork")) {
		do_fork();
	} else if (!strcmp(name, "vfork")) {
		do_vfork();
	} else if (!strcmp(name, "clone")) {
		report(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	} else if (!strcmp(name, "clone3")) {
		report(clone3(&(struct clone_args){ .exit_signal = SIGCHLD }));
	} else if (!strcmp(name, "spawn")) {
		do_spawn();
	} else if (!strcmp(name, "thread")) {
		do_thread();
	} else if (!strcmp(name, "many")) {
		do_many(n);
	} else if (!strcmp(name, "settid")) {
		report(clone3(&(struct clone_args){
			.exit_signal = SIGCHLD,
			.set_tid = (uintptr_t)&pid,
			.set_tid_size = 1,
		}));
	} else if (!strcmp(name, "cgroup")) {
		report(clone3(&(struct clone_args){
			.exit_signal = SIGCHLD,
			.flags = CLONE_INTO_CGROUP,
			.cgroup = open(value, O_RDONLY | O_DIRECTORY),
		}));
	} else if (!strcmp(name, "signal")) {
		report(syscall(SYS_clone, SIGUSR1, 0, 0, 0, 0));
	} else if (!strcmp(name, "flags")) {
		report(syscall(SYS_clone, CLONE_SIGHAND | SIGCHLD, 0, 0, 0, 0));
	} else if (!strcmp(name, "arguments")) {
		report(clone3(&(struct clone_args){ .flags = CLONE_DETACHED }));
	} else if (!strcmp(name, "newuser")) {
		report(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	} else if (!strcmp(name, "chroot")) {
		if (chroot(".") || chdir("/"))
			err(1, "chroot");
	} else if (!strcmp(name, "uid")) {
		if (setuid(n))
			err(1, "setuid");
	} else if (!strcmp(name, "nproc")) {
		if (setrlimit(RLIMIT_NPROC, &(struct rlimit){ n, n }))
			err(1, "setrlimit");
	} else if (!strcmp(name, "map")) {
		do_map((size_t)n << 20);
	} else if (!strcmp(name, "pin")) {
		do_pin(n);
	} else if (!strcmp(name, "wait")) {
		while (read(0, &(char){ 0 }, 1) > 0)
			;
	} else {
		errx(1, "there is no command %s", name);
	}
}

int main(int argc, char **argv)
{
	/* what a child by clone() ends with */
	signal(SIGUSR1, SIG_IGN);
	while (argv++, --argc) {
		char *value = strchr(*argv, '=');

		if (value)
			*value++ = '\0';
		name = *argv;
		run(value);
	}
	return 0;
}
