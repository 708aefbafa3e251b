// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: opens DIR OPERATION[=COUNT[,COUNT]]...
 *
 * Opens files of DIR, by absolute paths, and closes them in the way that each
 * operation says. Each call has to do what it should. The program opens nothing
 * else. What cannot be known before is printed: "NAME pid 123", "NAME path ...".
 *
 *   use         written, 100 bytes, and read, 40; NAME is DIR/use
 *   nothing     opened and closed
 *   dup         of four descriptors each writes 10 bytes
 *   fork        parent and child write 10 bytes each; the child closes last
 *   message     sent to another process, which writes 10 bytes and closes it
 *   unread      in a message that nobody receives
 *   range=N     N files, closed by close_range()
 *   exit=N      N files, closed by the end of a process
 *   exec        closed by exec
 *   tmpfile     O_TMPFILE, 10 bytes
 *   unlinked    10 bytes written after it was unlinked
 *   renamed     10 bytes written after it was renamed
 *   creat openat openat2 handle path
 *               by that call, relative to DIR; path: with O_PATH
 *   ring ringat through io_uring, by its worker and at once
 *   chroot      /chroot, in a process whose root is DIR
 *   chdir       ./chdir, in DIR
 *   deep=N      in N directories with names of 200 bytes
 *   fifo=N      N threads sleep in open() at once
 *   threads=N,M N threads, each of which opens M files, and writes a byte
 *   shared=N,M  one file; N threads write M bytes each
 *   race=N      N files: each is read by a thread while another closes it; what
 *               was read is printed
 *   open=N      N files open at once
 *   hold        opens a file, then waits for a byte on stdin, and closes it
 *   fail        calls that fail, each in one way
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *dir;
static const char *operation;
static char ten[100] = "0123456789";

static void want(long result, long wanted)
{
	if (result < 0 && wanted >= 0)
		err(1, "%s", operation);
	if (result != wanted)
		errx(1, "%s: %ld instead of %ld", operation, result, wanted);
}

static int is_fd(int fd)
{
	want(fd < 0, 0);
	return fd;
}

static void fails(long result, int error)
{
	if (result >= 0 || errno != error)
		errx(1, "%s: %ld, %s instead of %s", operation, result,
		     strerrorname_np(errno), strerrorname_np(error));
}

/* DIR/NAME, or DIR/NAME.NUMBER. */
static const char *path(const char *name, int number)
{
	static __thread char buf[4096];

	if (number < 0)
		snprintf(buf, sizeof(buf), "%s/%s", dir, name);
	else
		snprintf(buf, sizeof(buf), "%s/%s.%d", dir, name, number);
	return buf;
}

static int opened(const char *name, int number)
{
	return is_fd(open(path(name, number), O_RDWR | O_CREAT, 0600));
}

static void write_ten(int fd)
{
	want(write(fd, ten, 10), 10);
}

static void wait_for(pid_t pid)
{
	int status;

	want(waitpid(pid, &status, 0), pid);
	want(status, 0);
}

/* --- what is done with descriptors ------------------------------------- */

static void do_use(void)
{
	int fd = opened("use", -1);

	want(write(fd, ten, 100), 100);
	want(pread(fd, ten, 40, 0), 40);
	want(pread(fd, ten, 40, 100), 0);
	close(fd);
}

static void do_nothing(void)
{
	close(opened("nothing", -1));
}

static void do_dup(void)
{
	int fds[4] = { opened("dup", -1) };
	int i;

	fds[1] = is_fd(dup(fds[0]));
	fds[2] = is_fd(dup2(fds[0], 100));
	fds[3] = is_fd(fcntl(fds[0], F_DUPFD_CLOEXEC, 200));
	for (i = 0; i < 4; i++) {
		write_ten(fds[i]);
		close(fds[i]);
	}
}

static void do_fork(void)
{
	int fd = opened("fork", -1), go[2];
	char byte;
	pid_t pid;

	want(pipe(go), 0);
	pid = fork();
	if (!pid) {
		write_ten(fd);
		close(go[1]);
		want(read(go[0], &byte, 1), 0);
		close(fd);
		_exit(0);
	}
	printf("fork pid %d\n", pid);
	write_ten(fd);
	close(fd);
	close(go[0]);
	close(go[1]);
	wait_for(pid);
}

static void send_fd(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { ten, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	want(sendmsg(to, &msg, 0), 1);
}

static int receive_fd(int from)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	int fd;

	want(recvmsg(from, &msg, 0), 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void do_message(void)
{
	int sockets[2], fd;
	char byte;
	pid_t pid;

	want(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	pid = fork();
	if (!pid) {
		close(sockets[0]);
		fd = receive_fd(sockets[1]);
		want(read(sockets[1], &byte, 1), 0);
		write_ten(fd);
		close(fd);
		_exit(0);
	}
	printf("message pid %d\n", pid);
	fd = opened("message", -1);
	send_fd(sockets[0], fd);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
	wait_for(pid);
}

static void do_unread(void)
{
	int sockets[2], fd = opened("unread", -1);

	want(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	write_ten(fd);
	send_fd(sockets[0], fd);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
}

static void do_range(int n)
{
	int i, first = opened("range", 0);

	for (i = 1; i < n; i++)
		want(opened("range", i), first + i);
	want(syscall(SYS_close_range, first, first + n - 1, 0), 0);
}

static void do_exit(int n)
{
	pid_t pid = fork();
	int i;

	if (!pid) {
		for (i = 0; i < n; i++)
			write_ten(opened("exit", i));
		_exit(0);
	}
	wait_for(pid);
}

static void do_exec(void)
{
	char *const argv[] = { "opens", (char *)dir, "nothing", NULL };
	pid_t pid = fork();

	if (!pid) {
		write_ten(is_fd(open(path("exec", -1), O_WRONLY | O_CREAT | O_CLOEXEC,
				     0600)));
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	wait_for(pid);
}

/* --- names ------------------------------------------------------------- */

static void do_tmpfile(void)
{
	int fd = is_fd(open(dir, O_TMPFILE | O_RDWR, 0600));
	char name[64], target[4096];
	ssize_t len;

	write_ten(fd);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = readlink(name, target, sizeof(target));
	want(len > 0, 1);
	printf("tmpfile path %.*s\n", (int)len, target);
	close(fd);
}

static void do_unlinked(void)
{
	int fd = opened("unlinked", -1);

	want(unlink(path("unlinked", -1)), 0);
	write_ten(fd);
	close(fd);
}

static void do_renamed(void)
{
	int fd = opened("renamed", -1);
	char *to = strdup(path("renamed.to", -1));

	want(rename(path("renamed", -1), to), 0);
	write_ten(fd);
	close(fd);
	free(to);
}

static int dir_fd(void)
{
	return is_fd(open(dir, O_PATH | O_DIRECTORY));
}

static void do_creat(void)
{
	close(is_fd(syscall(SYS_creat, path("creat", -1), 0600)));
}

static void do_openat(void)
{
	int at = dir_fd();

	close(is_fd(openat(at, "openat", O_RDWR | O_CREAT, 0600)));
	close(at);
}

static int my_openat2(int at, const char *name, uint64_t flags, uint64_t resolve)
{
	struct open_how how = {
		.flags = flags,
		.mode = flags & O_CREAT ? 0600 : 0,
		.resolve = resolve,
	};

	return syscall(SYS_openat2, at, name, &how, sizeof(how));
}

static void do_openat2(void)
{
	int at = dir_fd();

	close(is_fd(my_openat2(at, "openat2", O_RDWR | O_CREAT, RESOLVE_BENEATH)));
	close(at);
}

static void do_handle(void)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int at = is_fd(open(dir, O_RDONLY | O_DIRECTORY)), mount;

	want(mknod(path("handle", -1), S_IFREG | 0600, 0), 0);
	want(name_to_handle_at(at, "handle", &u.handle, &mount, 0), 0);
	close(is_fd(open_by_handle_at(at, &u.handle, O_RDONLY)));
	close(at);
}

static void do_path(void)
{
	want(mknod(path("path", -1), S_IFREG | 0600, 0), 0);
	close(is_fd(open(path("path", -1), O_PATH)));
}

static void do_chroot(void)
{
	pid_t pid = fork();

	if (!pid) {
		want(chroot(dir), 0);
		write_ten(is_fd(open("/chroot", O_WRONLY | O_CREAT, 0600)));
		_exit(0);
	}
	wait_for(pid);
}

static void do_chdir(void)
{
	want(chdir(dir), 0);
	close(is_fd(open("./chdir", O_WRONLY | O_CREAT, 0600)));
}

static void do_deep(int n)
{
	char name[201];
	int at = dir_fd(), next;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	while (n--) {
		want(mkdirat(at, name, 0700), 0);
		next = is_fd(openat(at, name, O_PATH | O_DIRECTORY));
		close(at);
		at = next;
	}
	close(is_fd(openat(at, "deep", O_WRONLY | O_CREAT, 0600)));
	close(at);
}

/* --- io_uring ---------------------------------------------------------- */

static void ring_open(const char *name, int flags)
{
	struct io_uring_params p = { 0 };
	int fd = is_fd(syscall(SYS_io_uring_setup, 1, &p));
	size_t size = p.sq_off.array + p.sq_entries * sizeof(int);
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	char *sq, *cq;

	sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*cqe),
		  PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   IORING_OFF_SQES);
	want(sq == MAP_FAILED || cq == MAP_FAILED || sqe == MAP_FAILED, 0);
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_OPENAT,
		.flags = flags,
		.fd = AT_FDCWD,
		.addr = (uintptr_t)path(name, -1),
		.open_flags = O_RDWR,
		.len = 0600,
	};
	want(mknod(path(name, -1), S_IFREG | 0600, 0), 0);
	__atomic_store_n((int *)(sq + p.sq_off.tail), 1, __ATOMIC_SEQ_CST);
	want(syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL,
		     0), 1);
	cqe = (void *)(cq + p.cq_off.cqes);
	write_ten(is_fd(cqe->res));
	close(cqe->res);
	close(fd);
}

static void do_ring(void)
{
	ring_open("ring", IOSQE_ASYNC);
}

static void do_ringat(void)
{
	ring_open("ringat", 0);
}

/* --- threads ----------------------------------------------------------- */

struct thread {
	pthread_t thread;
	int number, count, fd;
	long bytes;
};

static struct thread *start_threads(int n, void *(*run)(void *), int count, int fd)
{
	struct thread *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (i = 0; i < n; i++) {
		threads[i] = (struct thread){ .number = i, .count = count,
					      .fd = fd };
		want(pthread_create(&threads[i].thread, &attr, run,
				    &threads[i]), 0);
	}
	return threads;
}

static void join_threads(struct thread *threads, int n)
{
	while (n--)
		pthread_join(threads[n].thread, NULL);
	free(threads);
}

static void *fifo_run(void *arg)
{
	struct thread *thread = arg;

	close(is_fd(open(path("fifo", thread->number), O_RDONLY)));
	return NULL;
}

static void do_fifo(int n)
{
	struct thread *threads;
	int i;

	for (i = 0; i < n; i++)
		want(mkfifo(path("fifo", i), 0600), 0);
	threads = start_threads(n, fifo_run, 0, -1);
	/* most of them get there while the others are made */
	usleep(300000);
	for (i = 0; i < n; i++)
		close(is_fd(open(path("fifo", i), O_WRONLY)));
	join_threads(threads, n);
}

static void *threads_run(void *arg)
{
	struct thread *thread = arg;
	char name[64];
	int i, fd;

	for (i = 0; i < thread->count; i++) {
		snprintf(name, sizeof(name), "thread.%d", thread->number);
		fd = opened(name, i);
		want(write(fd, ten, 1), 1);
		close(fd);
		unlink(path(name, i));
	}
	return NULL;
}

static void do_threads(int n, int count)
{
	join_threads(start_threads(n, threads_run, count, -1), n);
}

static void *shared_run(void *arg)
{
	struct thread *thread = arg;
	int i;

	for (i = 0; i < thread->count; i++)
		want(write(thread->fd, ten, 1), 1);
	return NULL;
}

static void do_shared(int n, int count)
{
	int fd = opened("shared", -1);

	join_threads(start_threads(n, shared_run, count, fd), n);
	close(fd);
}

static void *race_run(void *arg)
{
	struct thread *thread = arg;
	ssize_t n;

	while ((n = pread(thread->fd, ten, 1, 0)) > 0)
		thread->bytes += n;
	if (n < 0 && errno != EBADF)
		err(1, "%s", operation);
	return NULL;
}

static void do_race(int n)
{
	struct thread *thread;
	long bytes = 0;
	int i, fd;

	for (i = 0; i < n; i++) {
		fd = opened("race", -1);
		if (!i)
			write_ten(fd);
		thread = start_threads(1, race_run, 0, fd);
		usleep(100);
		close(fd);
		pthread_join(thread->thread, NULL);
		bytes += thread->bytes;
		free(thread);
	}
	printf("race bytes %ld\n", bytes);
}

static void do_open(int n)
{
	int i, first = opened("open", 0);

	for (i = 1; i < n; i++)
		opened("open", i);
	for (i = 0; i < n; i++)
		close(first + i);
}

static void do_hold(void)
{
	int fd = opened("hold", -1);
	char byte;

	want(read(STDIN_FILENO, &byte, 1) < 0, 0);
	write_ten(fd);
	close(fd);
}

/* --- what fails -------------------------------------------------------- */

static void fail_as_nobody(void)
{
	pid_t pid = fork();

	if (!pid) {
		want(setuid(65534), 0);
		fails(open(path("mine", -1), O_RDONLY), EACCES);
		fails(open(path("new", -1), O_RDWR | O_CREAT, 0600), EACCES);
		_exit(0);
	}
	wait_for(pid);
}

static void do_fail(void)
{
	static char name[5000];
	int at = dir_fd();

	want(mknod(path("mine", -1), S_IFREG | 0600, 0), 0);
	want(mkfifo(path("pipe", -1), 0600), 0);
	want(symlinkat("loop", at, "loop"), 0);
	fails(open(path("none", -1), O_RDONLY), ENOENT);
	fails(open("", O_RDONLY), ENOENT);
	fails(openat(at, "none too", O_RDONLY), ENOENT);
	fails(open(dir, O_RDWR), EISDIR);
	fails(open(path("loop", -1), O_RDONLY), ELOOP);
	fails(open(path("mine/below", -1), O_RDONLY), ENOTDIR);
	fails(open(path("mine", -1), O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
	fails(open(path("pipe", -1), O_WRONLY | O_NONBLOCK), ENXIO);
	fails(syscall(SYS_creat, dir, 0600), EISDIR);
	fails(my_openat2(at, "..", O_PATH, RESOLVE_BENEATH), EXDEV);
	fails(my_openat2(at, "how", 1ull << 40, 0), EINVAL);
	fails(openat(999, "here", O_RDONLY), EBADF);
	fails(open((char *)8, O_RDONLY), EFAULT);
	fails(syscall(SYS_open_by_handle_at, 999, "\0\0\0\0\0\0\0\0", O_RDONLY),
	      EINVAL);
	memset(name, 'n', sizeof(name) - 1);
	fails(open(name, O_RDONLY), ENAMETOOLONG);
	name[300] = '\0';
	fails(open(name, O_RDONLY), ENAMETOOLONG);
	fail_as_nobody();
	close(at);
}

/* --- all of them ------------------------------------------------------- */

#define NONE(name) { #name, .none = do_##name }
#define ONE(name) { #name, .one = do_##name }
#define TWO(name) { #name, .two = do_##name }

static const struct {
	const char *name;
	void (*none)(void);
	void (*one)(int n);
	void (*two)(int n, int count);
} operations[] = {
	NONE(use), NONE(nothing), NONE(dup), NONE(fork), NONE(message),
	NONE(unread), ONE(range), ONE(exit), NONE(exec), NONE(tmpfile),
	NONE(unlinked), NONE(renamed), NONE(creat), NONE(openat), NONE(openat2),
	NONE(handle), NONE(path), NONE(ring), NONE(ringat), NONE(chroot),
	NONE(chdir), ONE(deep), ONE(fifo), TWO(threads), TWO(shared), ONE(race),
	ONE(open), NONE(hold), NONE(fail), { 0 },
};

static void run(const char *name, int n, int count)
{
	unsigned int i;

	operation = name;
	for (i = 0; operations[i].name; i++) {
		if (strcmp(operations[i].name, name))
			continue;
		if (operations[i].none)
			operations[i].none();
		else if (operations[i].one)
			operations[i].one(n);
		else
			operations[i].two(n, count);
		return;
	}
	errx(2, "what is %s?", name);
}

int main(int argc, char **argv)
{
	int n, count, i;
	char *end;

	if (argc < 3)
		errx(2, "usage: opens DIR OPERATION[=COUNT[,COUNT]]...");
	setvbuf(stdout, NULL, _IONBF, 0);
	dir = argv[1];
	for (i = 2; i < argc; i++) {
		end = strchr(argv[i], '=');
		n = 0;
		count = 0;
		if (end) {
			*end++ = '\0';
			n = strtol(end, &end, 0);
			if (*end == ',')
				count = strtol(end + 1, &end, 0);
			if (*end)
				errx(2, "what is %s?", argv[i]);
		}
		run(argv[i], n, count);
	}
	return 0;
}
