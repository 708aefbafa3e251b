// SPDX-License-Identifier: GPL-2.0-only
/*
 * tapcat - print or follow a tap tool, or run a command under it
 *
 * Without options it does what cat does.  When it follows, it sleeps in poll()
 * until the tool has a new window (table tools) or new events (stream tools),
 * and writes what the tool's SystemTap script wrote, in the same order.
 *
 * Signals are blocked and read from a signalfd, so that they are events like
 * the others: none slips in between a test and a sleep.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a script prints around its tables, and when it prints them. */
static const struct layout {
	const char *tool;
	const char *begin;
	const char *before;
	const char *after;
	const char *end;
	bool clear;		/* clears the screen first */
	bool at_end;		/* prints its one table when it ends */
} layouts[] = {
	{ "disktop", .end = "END!\n" },
	{ "dropwatch", .begin = "Monitoring for dropped packets\n",
	  .before = "\n", .end = "Stopping dropped packet monitor\n" },
	{ "functioncallcount", .at_end = true },
	{ "futexes", .at_end = true },
	{ "ioblktime", .clear = true },
	{ "nettop", .after = "\n" },
	{ "syscalls_by_proc", .at_end = true, .begin =
	  "Collecting data... Type Ctrl-C to exit and display results\n" },
	{ "thread_times", .after = "\n" },
	{ "timeout", .clear = true },
	{ "topsys", .after =
	  "--------------------------------------------------------------\n" },
	{ "traceio", .after = "\n" },
	{ .tool = NULL }
};

static const char usage[] =
"usage: tapcat [-fjt] [-n COUNT | -c COMMAND] TOOL\n"
"       tapcat -h | -l | -V\n"
"  -f          follow: print each window, or each event, as it comes\n"
"  -n COUNT    follow, and stop after COUNT windows or events\n"
"  -c COMMAND  run COMMAND in a shell and show only what it does\n"
"  -t          keep the trailer of each table when following\n"
"  -j          print JSON\n"
"  -l          list the tools that are loaded\n"
"examples:\n"
"  tapcat nettop                      the last complete window, as cat does\n"
"  tapcat -f topsys                   every window from now on\n"
"  tapcat -n 10 tcp_connections       ten connections\n"
"  tapcat -c 'curl -s HOST' nettop    the packets of one command\n";

enum { SIGNALS, INPUT, OUTPUT };

static struct pollfd fds[] = {
	[SIGNALS] = { .events = POLLIN },
	[INPUT] = { .events = POLLIN },
	[OUTPUT] = { .fd = STDOUT_FILENO },
};

static const char *tool;
static const struct layout *layout;
static const char *command;	/* -c */
static long count;		/* -n: how many to print yet; 0: no limit */
static bool trailer;		/* -t */
static bool json;		/* -j */

static FILE *in;		/* the tool's file */
static char buf[65536];		/* what was read of it */
static char line[65536];	/* and of that, the last line */
static char out[65536];		/* what is to be written */
static size_t out_len;
static bool running;		/* the last snapshot said state=running */
static bool stopped;		/* it is time to end */
static pid_t child;		/* the command, while it runs */
static int status;		/* the command's, afterwards */
static int gate;		/* the command waits for a byte from here */
static char filter[131072 + 2];	/* what the command's own replaces */

/*
 * Takes one signal, and waits for it if there is none.  While a command runs,
 * its end is ours, so it gets our signals: but not those of the terminal, which
 * has sent them to the command as well.
 */
static void take_signal(void)
{
	struct signalfd_siginfo si;

	if (read(fds[SIGNALS].fd, &si, sizeof(si)) != sizeof(si))
		err(1, "signalfd");
	if (si.ssi_signo == SIGCHLD) {
		if (child && waitpid(child, &status, WNOHANG) == child)
			child = 0;
	} else if (!child) {
		stopped = true;
	} else if (si.ssi_code != SI_KERNEL) {
		kill(child, si.ssi_signo);
	}
}

static bool done(void)
{
	return command ? !child : stopped;
}

static void wait_for(int input, short output, int timeout)
{
	fds[INPUT].fd = input;
	fds[OUTPUT].events = output;
	if (poll(fds, 3, timeout) < 0)
		err(1, "poll");
	if (fds[OUTPUT].revents & (POLLERR | POLLHUP))
		errx(1, "write: %s", strerror(EPIPE));
	if (fds[SIGNALS].revents)
		take_signal();
}

/*
 * Writes what put() has collected.  A pipe that is ready takes PIPE_BUF bytes:
 * whoever reads it slowly, or not at all, holds up no signal.
 */
static void flush(void)
{
	const char *text = out;
	ssize_t n;

	while (out_len) {
		wait_for(-1, POLLOUT, stopped ? 0 : -1);
		if (!fds[OUTPUT].revents && stopped)
			errx(1, "write: %s", strerror(EINTR));
		if (!fds[OUTPUT].revents)
			continue;
		n = write(STDOUT_FILENO, text,
			  out_len < PIPE_BUF ? out_len : PIPE_BUF);
		if (n < 0 && errno == EAGAIN)
			continue;
		if (n < 0)
			err(1, "write");
		text += n;
		out_len -= n;
	}
}

static void put(const char *text)
{
	size_t len = strlen(text);

	if (out_len + len > sizeof(out))
		flush();
	memcpy(out + out_len, text, len);
	out_len += len;
}

/* Reads one line; at the end of the file false, which may be true later. */
static bool next_line(void)
{
	clearerr(in);
	if (fgets(line, sizeof(line), in))
		return true;
	if (ferror(in))
		err(1, "%s%s", tool, errno == EIO || errno == ENODEV ?
		    ": module unloaded" : "");
	return false;
}

/* Takes a fresh snapshot of a table, and shows it in the script's layout. */
static void table(bool show)
{
	bool is_trailer;

	/* All has been read: nothing of the last snapshot is in the buffer. */
	if (lseek(fileno(in), 0, SEEK_SET) < 0)
		err(1, "%s", tool);
	if (show && layout->clear && isatty(STDOUT_FILENO))
		put("\033[1;1H\033[J");
	if (show && layout->before)
		put(layout->before);
	while (next_line()) {
		is_trailer = !strncmp(line, "# window_ms=", 12);
		if (is_trailer)
			running = strstr(line, " state=running ");
		if (show && (trailer || !is_trailer))
			put(line);
	}
	if (show && layout->after)
		put(layout->after);
	flush();
}

/* Reads a stream to its end, and shows all, or only the header. */
static void stream(bool show)
{
	bool header = !json;
	const char *event;

	while (!stopped && next_line()) {
		/* In text every event has a number in it, and no header has. */
		event = json ? strstr(line, "\"time_ns\":") :
			       strpbrk(line, "0123456789");
		header = header && !event;
		if (show || header)
			put(line);
		/* "# 17 events lost" is no event. */
		if (show && event && count && strncmp(line, "# ", 2))
			stopped = !--count;
	}
	flush();
}

static int open_control(const char *name, int flags)
{
	const char *dir = secure_getenv("TAP_DEBUGFS");	/* for tests */
	char path[PATH_MAX];
	int ctl;

	snprintf(path, sizeof(path), "%s/%s/%s",
		 dir ? dir : "/sys/kernel/debug/tap", tool, name);
	ctl = open(path, flags | O_CLOEXEC);
	if (ctl < 0)
		warn("-c needs debugfs, mounted and not locked down: %s", path);
	return ctl;
}

static bool set(const char *name, const char *text)
{
	int ctl = open_control(name, O_WRONLY);
	bool refused;
	FILE *stats;

	if (ctl < 0)
		return false;
	if (write(ctl, text, strlen(text)) >= 0) {
		close(ctl);
		return true;
	}
	refused = errno == EINVAL;
	warn("%s: %s", tool, name);
	close(ctl);
	stats = refused ? fdopen(open_control("stats", O_RDONLY), "r") : NULL;
	while (stats && fgets(line, sizeof(line), stats))
		if (!strncmp(line, "refused: ", 9))
			fputs(line, stderr);
	if (stats)
		fclose(stats);
	return false;
}

/* A command that was not let go ends here; one that runs is waited for. */
static void cleanup(void)
{
	close(gate);
	set("filter", filter);
	while (child)
		take_signal();
}

/* Forks the command, held back by the gate, and shows the tool nothing else. */
static void prepare_command(bool is_table, const sigset_t *mask)
{
	int ctl = open_control("filter", O_RDONLY);
	char tree[32];
	int ends[2];

	if (ctl < 0)
		exit(1);
	if (read(ctl, filter, sizeof(filter) - 1) < 0)
		err(1, "%s: filter", tool);
	close(ctl);

	if (pipe2(ends, O_CLOEXEC) < 0)
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		close(ends[1]);
		sigprocmask(SIG_SETMASK, mask, NULL);
		if (read(ends[0], tree, 1) == 1) {
			execl("/bin/sh", "sh", "-c", command, NULL);
			warn("/bin/sh");
		}
		_exit(127);
	}
	close(ends[0]);
	gate = ends[1];
	atexit(cleanup);

	/* The filter comes before the reset, which then leaves nothing else. */
	snprintf(tree, sizeof(tree), "tree=%d", child);
	if (!set("filter", tree) || (is_table && !set("reset", "1")))
		exit(1);
}

static void follow(bool is_table, const sigset_t *mask)
{
	bool last;

	if (command)
		prepare_command(is_table, mask);
	/* What is there already is passed by, but an event without -c is new. */
	if (is_table)
		table(false);
	else if (command)
		stream(false);
	if (layout->begin)
		put(layout->begin);
	flush();
	if (command && write(gate, "", 1) < 0)
		err(1, "%s", command);

	do {
		/* What came just before the end is shown too. */
		last = done();
		if (!is_table)
			stream(true);
		wait_for(fileno(in), 0, done() ? 0 : -1);
		if (fds[INPUT].revents & (POLLERR | POLLHUP))
			errx(1, "%s: module unloaded", tool);
		if (!is_table || !fds[INPUT].revents)
			continue;
		table(!(layout->at_end && running));
		if (count && !--count)
			break;
	} while (!last);

	/*
	 * A window that completes by itself right before this write is replaced
	 * by the one that it ends: microseconds in at least 100 ms.
	 */
	if (command && is_table && !set("flip", "1"))
		exit(1);
	if (is_table && (command || (layout->at_end && running)))
		table(true);
	if (layout->end)
		put(layout->end);
}

/* The tools are the files without a dot: nettop, but not nettop.json. */
static void list(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir && errno != ENOENT)
		err(1, "%s", path);
	while (dir && (entry = readdir(dir))) {
		if (strchr(entry->d_name, '.'))
			continue;
		put(entry->d_name);
		put("\n");
	}
	if (dir)
		closedir(dir);
}

static void catch_signals(sigset_t *old)
{
	struct sigaction hup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	sigaction(SIGHUP, NULL, &hup);
	if (hup.sa_handler != SIG_IGN)	/* not under nohup */
		sigaddset(&set, SIGHUP);
	signal(SIGCHLD, SIG_DFL);	/* if ignored, no status would come */
	fds[SIGNALS].fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fds[SIGNALS].fd < 0)
		err(1, "signalfd");
	sigaddset(&set, SIGPIPE);	/* write() says it too */
	sigprocmask(SIG_BLOCK, &set, old);
}

int main(int argc, char **argv)
{
	const char *dir = secure_getenv("TAP_PROC");	/* for tests */
	bool follows = false;
	char path[PATH_MAX];
	sigset_t mask;
	char *end;
	int opt;

	if (!dir)
		dir = "/proc/tap";
	/* A closed standard stream must not become one of our files. */
	do
		opt = open("/dev/null", O_RDONLY);
	while (opt >= 0 && opt <= STDERR_FILENO);
	close(opt);
	catch_signals(&mask);

	while ((opt = getopt(argc, argv, "c:fhjln:tV")) != -1) {
		switch (opt) {
		case 'c':
			command = optarg;
			break;
		case 'f':
			follows = true;
			break;
		case 'h':
		case 'V':
			put(opt == 'h' ? usage : "tapcat " TAP_VERSION "\n");
			goto out;
		case 'j':
			json = true;
			break;
		case 'l':
			list(dir);
			goto out;
		case 'n':
			count = strtol(optarg, &end, 10);
			if (count <= 0 || *end)
				goto misused;
			break;
		case 't':
			trailer = true;
			break;
		default:
			goto misused;
		}
	}
	tool = argv[optind];
	if (argc - optind != 1 || strchr(tool, '/') || (command && count))
		goto misused;
	for (layout = layouts; layout->tool; layout++)
		if (!json && !strcmp(layout->tool, tool))
			break;

	snprintf(path, sizeof(path), "%s/%s%s", dir, tool, json ? ".json" : "");
	in = fopen(path, "re");
	if (!in && (errno == ENOENT || errno == ENODEV))
		errx(1, "%s: not loaded (insmod %s.ko or modprobe %s)",
		     tool, tool, tool);
	if (!in)
		err(1, "%s%s", path, errno == EACCES || errno == EPERM ?
		    " needs root or CAP_PERFMON" : "");
	setvbuf(in, buf, _IOFBF, sizeof(buf));
	if (follows || command || count)
		follow(lseek(fileno(in), 0, SEEK_CUR) >= 0 || errno != ESPIPE,
		       &mask);
	else
		while (next_line())
			put(line);
out:
	flush();
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
misused:
	fputs(usage, stderr);
	return 2;
}
