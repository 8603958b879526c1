/* SPDX-License-Identifier: ISC */
/*
 * Looks at the sizes of the files that git would read, before it does: a file
 * may claim any size without having any bytes. git names the files, and reads
 * none of them for it; no link is followed here.
 */
#include "repo/work.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define SIZES_TEXT ((size_t)64 << 20)
#define SIZES_NAMED 10U

struct sizes {
	struct repo_work *work;
	struct buf *leave; /* pathspecs of those that are left out */
	uint64_t total;
	unsigned nleft;
};

/* Returns the size of a plain file of the clone, or 0. */
static uint64_t
sizes_file(const struct repo_work *w, struct span name)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
	char path[4096];
	struct stat st;
	int fd, rv;

	if (span_copy(name, path, sizeof(path)) == -1)
		return 0;
	fd = (int)syscall(SYS_openat2, w->sandbox, path, &how, sizeof(how));
	if (fd == -1)
		return 0;
	rv = fstat(fd, &st);
	close(fd);
	return rv == 0 && S_ISREG(st.st_mode) && st.st_size > 0
		   ? (uint64_t)st.st_size
		   : 0;
}

static int
sizes_one(struct sizes *s, struct span name, struct fault *fault)
{
	const uint64_t n = sizes_file(s->work, name);
	char line[1200], shown[512];

	log_vis(name, shown, sizeof(shown));
	if (n <= REPO_MAX_FILE) {
		s->total += n;
		return 0;
	}
	buf_adds(s->leave, ":(top,exclude,literal)");
	buf_addspan(s->leave, name);
	buf_addc(s->leave, '\0');
	if (s->nleft++ >= SIZES_NAMED || s->work->say == NULL)
		return 0;
	snprintf(line, sizeof(line),
	    "left out: %s, because it has %llu MiB, and at most %llu are "
	    "read. It is in %.100s/sandbox",
	    shown, (unsigned long long)n >> 20,
	    (unsigned long long)REPO_MAX_FILE >> 20, s->work->dir);
	s->work->say(line);
	return 0;
}

/* Look at the files by which git decides what to read; it reads them whole. */
static int
sizes_rules(const struct repo_work *w, struct fault *fault)
{
	struct span rest, name;
	char shown[512];
	struct buf out;
	uint64_t n;
	int r;

	buf_init(&out, SIZES_TEXT);
	r = REPO_WORK_GIT(w, span_of("", 0), &out, fault, "ls-files", "-z",
	    "--cached", "--others", "--", ":(top,glob)**/.gitignore",
	    ":(top,glob)**/.gitattributes");
	rest = buf_span(&out);
	while (r == 0 && repo_next(&rest, &name))
		if ((n = sizes_file(w, name)) > REPO_MAX_RULES)
			r = fault_set(fault,
			    "%s has %llu MiB, and git would read it whole. "
			    "Remove it in %s/sandbox",
			    log_vis(name, shown, sizeof(shown)),
			    (unsigned long long)n >> 20, w->dir);
	buf_free(&out);
	return r == 0 ? 0 : -1;
}

int
repo_work_sizes(struct repo_work *w, struct buf *leave, struct fault *fault)
{
	struct sizes s = {.work = w, .leave = leave};
	struct span rest, name;
	struct buf out;
	int r;

	if (sizes_rules(w, fault) == -1)
		return -1;
	buf_init(&out, SIZES_TEXT);
	r = REPO_WORK_GIT(w, span_of("", 0), &out, fault, "ls-files", "-z",
	    "--cached", "--others", "--exclude-standard");
	rest = buf_span(&out);
	while (r == 0 && repo_next(&rest, &name))
		r = sizes_one(&s, name, fault);
	if (r == 0 && s.total > REPO_MAX_BYTES)
		r = fault_set(fault,
		    "the files of the clone have %llu MiB, and at most %llu "
		    "are read: remove some, or name them in .gitignore. They "
		    "are in %s/sandbox",
		    (unsigned long long)s.total >> 20,
		    (unsigned long long)REPO_MAX_BYTES >> 20, w->dir);
	buf_free(&out);
	return r == 0 ? 0 : -1;
}
