/* SPDX-License-Identifier: ISC */
/*
 * Looks for what git should not open in a clone's git directory: named pipes,
 * where it would wait for a writer that never comes, and files that it reads
 * whole and that are larger than any of them is. No link is followed. A pipe that is made later is ended by
 * the time limit.
 */
#include "repo/work.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define PIPES_DEPTH 16U
#define PIPES_MAX 2000000U

struct pipes {
	const struct repo_work *work;
	unsigned long seen;
	bool parts; /* true where git reads files in parts, or not at all */
	struct fault *fault;
};

static int pipes_in(struct pipes *, int fd, unsigned depth);

static int
pipes_at(struct pipes *p, int dir, const struct dirent *e, unsigned depth)
{
	char shown[600];
	struct stat st;
	int fd, rv;

	if (++p->seen > PIPES_MAX)
		return fault_set(p->fault,
		    "the clone's .git has more than %u files; its files are "
		    "in %s/sandbox",
		    PIPES_MAX, p->work->dir);
	/* Not every file system tells the type. */
	if (e->d_type != DT_UNKNOWN && e->d_type != DT_FIFO &&
	    e->d_type != DT_DIR && (e->d_type != DT_REG || p->parts))
		return 0;
	if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return 0;
	if (S_ISFIFO(st.st_mode))
		return fault_set(p->fault,
		    "the clone's .git has a named pipe, %s, at which git would "
		    "wait forever. Remove it in %s/sandbox/.git",
		    log_vis(span_str(e->d_name), shown, sizeof(shown)),
		    p->work->dir);
	if (S_ISREG(st.st_mode) && !p->parts &&
	    strcmp(e->d_name, "index") != 0 &&
	    (uint64_t)st.st_size > REPO_MAX_RULES)
		return fault_set(p->fault,
		    "the clone's .git has a file of %llu MiB, %s, which git "
		    "would read whole. Remove it in %s/sandbox/.git",
		    (unsigned long long)st.st_size >> 20,
		    log_vis(span_str(e->d_name), shown, sizeof(shown)),
		    p->work->dir);
	if (!S_ISDIR(st.st_mode) || depth == PIPES_DEPTH)
		return 0;
	fd = openat(dir, e->d_name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return 0;
	if (depth == 0)
		p->parts = strcmp(e->d_name, "info") != 0 &&
			   strcmp(e->d_name, "refs") != 0;
	rv = pipes_in(p, fd, depth + 1);
	if (depth == 0)
		p->parts = false;
	return rv;
}

/* Look into a directory, which this closes. */
static int
pipes_in(struct pipes *p, int fd, unsigned depth)
{
	struct dirent *e;
	int rv = 0;
	DIR *d;

	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return 0;
	}
	while (rv == 0 && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rv = pipes_at(p, dirfd(d), e, depth);
	closedir(d);
	return rv;
}

int
repo_work_pipes(const struct repo_work *w, struct fault *fault)
{
	struct pipes p = {.work = w, .fault = fault};
	int fd;

	fd = openat(w->sandbox, ".git",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return fault_errno(fault, "%s/sandbox/.git", w->dir);
	return pipes_in(&p, fd, 0);
}
