// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: burn user|kernel CPU
 *
 * Keeps a CPU busy until it is killed: in user space, or in system calls that
 * take long.
 */
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[1 << 20];
	cpu_set_t set;
	int fd;

	if (argc != 3)
		errx(2, "usage: burn user|kernel CPU");
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[2]), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %s", argv[2]);
	if (!strcmp(argv[1], "user"))
		for (;;)
			;
	fd = open("/dev/zero", O_RDONLY);
	if (fd < 0)
		err(1, "/dev/zero");
	for (;;)
		if (read(fd, buf, sizeof(buf)) < 0)
			err(1, "read");
}
