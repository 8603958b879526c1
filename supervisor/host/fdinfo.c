/* SPDX-License-Identifier: ISC */
#include "host/fdinfo.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/loop.h"

/* The line of an epoll set for each of its descriptors, and of a socket. */
#define FDINFO_WATCH "tfd:"
#define FDINFO_FLYING "scm_fds:"

/* Returns false if the rest of the file is of no interest. */
static bool
fdinfo_line(struct fdinfo *f, const char *line)
{
	if (strncmp(line, FDINFO_WATCH, sizeof(FDINFO_WATCH) - 1) == 0)
		return f->enough != 0 && ++f->watches <= f->enough;
	if (strncmp(line, FDINFO_FLYING, sizeof(FDINFO_FLYING) - 1) == 0)
		f->flying +=
		    strtoull(line + sizeof(FDINFO_FLYING) - 1, NULL, 10);
	return true;
}

static void
fdinfo_file(struct fdinfo *f, int dir, const char *name)
{
	char line[256];
	FILE *in;
	int fd;

	if ((fd = openat(dir, name, O_RDONLY | O_CLOEXEC)) == -1)
		return;
	if ((in = fdopen(fd, "r")) == NULL) {
		close(fd);
		return;
	}
	while (fgets(line, sizeof(line), in) != NULL && fdinfo_line(f, line))
		;
	(void)fclose(in);
}

void
fdinfo_add(struct fdinfo *f, int proc)
{
	struct dirent *e;
	DIR *d;
	int fd;

	if ((fd = openat(proc, "fdinfo", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
	    -1)
		return;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	while (f->files < FDINFO_FILES && f->watches <= f->enough &&
	       (f->until == 0 || clock_mono_us() < f->until) &&
	       (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		f->files++;
		fdinfo_file(f, fd, e->d_name);
	}
	closedir(d);
}
