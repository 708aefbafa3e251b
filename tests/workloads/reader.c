// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: reader FILE COUNT
 *
 * Opens a file, COUNT times seeks to its start and reads it with one read(),
 * and closes it: 2 * COUNT + 1 system calls while the file is open.
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[1 << 20];
	long count;
	int fd;

	if (argc != 3)
		errx(2, "usage: reader FILE COUNT");
	count = atol(argv[2]);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);
	while (count--)
		if (lseek(fd, 0, SEEK_SET) || read(fd, buf, sizeof(buf)) <= 0)
			err(1, "%s", argv[1]);
	close(fd);
	return 0;
}
