/* SPDX-License-Identifier: ISC */
/*
 * Makes the copy of /etc. It is written beside its place and renamed there, so
 * that a copy with its name is complete. Everything in it is a file of this
 * user's that all may read; the sandbox has it on a read-only mount.
 */
#include "workers/survey/etc_copy.h"

#include <sys/file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/sha256.h"
#include "base/tree.h"
#include "workers/survey/etc_judge.h"
#include "workers/survey/etc_made.h"
#include "workers/survey/etc_walk.h"
#include "box/system/survey.h"

/*
 * A file that was changed in this many seconds before it was looked at can be
 * changed again with the same time: its copy is not taken a second time.
 */
#define ETC_FRESH 2
#define ETC_MAX_TOTAL ((size_t)64 << 20)

/* The digest of /etc as it is. */
struct digest {
	struct etc_walk w;
	uint8_t *text;
	size_t len, cap;
	time_t newest;
};

struct copying {
	struct etc_walk w;
	struct etc_copied *out;
	int dirs[ETC_MAX_DEPTH + 2]; /* directories of the copy, the last one
					is open for writing */
	uint8_t *room;               /* ETC_MAX_LARGE + 1 bytes */
	size_t total;
};

/* Add bytes to the text that is hashed. */
static int
digest_add(struct digest *d, const void *p, size_t n)
{
	uint8_t *more;
	size_t cap;

	if (n > d->cap - d->len) {
		cap = (d->cap == 0 ? 262144 : 2 * d->cap) + n;
		if ((more = realloc(d->text, cap)) == NULL)
			return -1;
		d->text = more;
		d->cap = cap;
	}
	memcpy(d->text + d->len, p, n);
	d->len += n;
	return 0;
}

static int
digest_visit(
    struct etc_walk *w, int dirfd, const char *name, const struct stat *st)
{
	struct digest *d = (struct digest *)w;
	/* Each entry of a directory is looked at, and its own time says
	 * nothing. */
	const bool timed = !S_ISDIR(st->st_mode);
	const int64_t what[] = {(int64_t)st->st_ino, st->st_mode, st->st_uid,
	    st->st_gid, timed ? st->st_size : 0, timed ? st->st_mtim.tv_sec : 0,
	    timed ? st->st_mtim.tv_nsec : 0, timed ? st->st_ctim.tv_sec : 0,
	    timed ? st->st_ctim.tv_nsec : 0};

	(void)dirfd;
	(void)name;
	if (w->depth == 0 && etc_made_up_name(w->path))
		return 1;
	if (timed && st->st_ctim.tv_sec > d->newest)
		d->newest = st->st_ctim.tv_sec;
	if (digest_add(d, w->path, strlen(w->path) + 1) == -1)
		return -1;
	return digest_add(d, what, sizeof(what));
}

/*
 * Write the name of the copy. Sets `fresh` if /etc was changed just now.
 * Returns 0, or -1 with errno set.
 */
static int
digest_name(const struct etc_how *how, char name[ETC_NAME], bool *fresh)
{
	struct digest d = {.w = {.visit = digest_visit}};
	const int64_t ids[] = {how->uid, how->gid, ETC_MADE};
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];
	struct timespec now;
	struct stat st;
	int rv = -1;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(how->etc, &st) == 0 &&
	    digest_visit(&d.w, how->etc, "", &st) == 0 &&
	    digest_add(&d, ids, sizeof(ids)) == 0 &&
	    digest_add(&d, how->version, strlen(how->version)) == 0 &&
	    etc_walk(&d.w, how->etc) == 0) {
		sha256_span(span_of(d.text, d.len), sum);
		sha256_hex(sum, hex);
		(void)snprintf(name, ETC_NAME, SURVEY_PREFIX "%.32s", hex);
		*fresh = d.newest >= now.tv_sec - ETC_FRESH;
		rv = 0;
	}
	free(d.text);
	return rv;
}

static int
copy_link(struct copying *c, int dirfd, const char *name)
{
	char text[PATH_MAX];
	ssize_t n;

	n = readlinkat(dirfd, name, text, sizeof(text) - 1);
	if (n == -1)
		return 0;
	text[n] = '\0';
	c->out->links++;
	return symlinkat(text, c->dirs[c->w.depth], name);
}

/* Read a file into `room`. Returns the number of bytes, or -1. */
static ssize_t
copy_read(struct copying *c, int fd, const struct stat *st)
{
	const size_t max = (size_t)st->st_size + 1;
	size_t len = 0;
	ssize_t n;

	while (len < max) {
		n = read(fd, c->room + len, max - len);
		if (n == 0)
			break;
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		len += (size_t)n;
	}
	/* It grows at this moment. */
	return len == max ? -1 : (ssize_t)len;
}

static int
copy_write(struct copying *c, const char *name, struct span text,
    const struct stat *st)
{
	const struct timespec times[] = {st->st_mtim, st->st_mtim};
	const mode_t mode = (st->st_mode & 01) != 0 ? 0555 : 0444;
	int fd, rv, save;

	fd = openat(c->dirs[c->w.depth], name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	rv = span_write(fd, text);
	if (rv == 0)
		rv = fchmod(fd, mode);
	if (rv == 0)
		rv = futimens(fd, times);
	save = errno;
	close(fd);
	errno = save;
	if (rv == 0) {
		c->out->files++;
		c->total += text.len;
	}
	return rv;
}

static int
copy_file(struct copying *c, int dirfd, const char *name)
{
	struct stat st;
	ssize_t n = -1;
	int fd;

	fd = openat(dirfd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd == -1) {
		c->out->left++;
		return 0;
	}
	if (fstat(fd, &st) == 0 && etc_shown(c->w.path, &st) &&
	    S_ISREG(st.st_mode))
		n = copy_read(c, fd, &st);
	close(fd);
	if (n != -1 && c->total + (size_t)n > ETC_MAX_TOTAL) {
		c->w.cut = true;
		n = -1;
	}
	if (n == -1 ||
	    etc_hidden_text(c->w.path, name, span_of(c->room, (size_t)n))) {
		c->out->left++;
		return 0;
	}
	return copy_write(c, name, span_of(c->room, (size_t)n), &st);
}

static int
copy_visit(
    struct etc_walk *w, int dirfd, const char *name, const struct stat *st)
{
	struct copying *c = (struct copying *)w;
	int fd;

	if (etc_left_out(w->path)) {
		c->out->left++;
		return 1;
	}
	if (S_ISLNK(st->st_mode))
		return copy_link(c, dirfd, name);
	if (S_ISREG(st->st_mode) && etc_shown(w->path, st))
		return copy_file(c, dirfd, name);
	if (!S_ISDIR(st->st_mode)) {
		c->out->left++;
		return 0;
	}
	/* A directory that is closed to others is there, and empty. */
	if (mkdirat(c->dirs[w->depth], name, 0755) == -1)
		return -1;
	if (!etc_shown(w->path, st)) {
		c->out->left++;
		return 1;
	}
	fd = openat(c->dirs[w->depth], name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return -1;
	c->dirs[w->depth + 1] = fd;
	return 0;
}

static int
copy_leave(struct etc_walk *w)
{
	struct copying *c = (struct copying *)w;

	close(c->dirs[w->depth + 1]);
	c->dirs[w->depth + 1] = -1;
	return 0;
}

/* Remove a directory of the store with all that is in it. */
static void
copy_remove(const struct etc_how *how, const char *name)
{
	struct tree t = {.strict = false};
	struct stat st;

	if (fstat(how->store, &st) == -1)
		return;
	t.dev = st.st_dev;
	tree_whole(&t, how->store, name);
}

/* Fill the directory `to` with the copy. */
static int
copy_all(const struct etc_how *how, int to, struct etc_copied *out)
{
	struct copying c = {
	    .w = {.visit = copy_visit, .leave = copy_leave}, .out = out};
	int rv = -1;

	for (size_t i = 1; i < nitems(c.dirs); i++)
		c.dirs[i] = -1;
	c.dirs[0] = to;
	out->files = out->links = out->left = 0;
	if ((c.room = malloc((size_t)ETC_MAX_LARGE + 1)) != NULL &&
	    etc_walk(&c.w, how->etc) == 0 &&
	    etc_made(to, how->uid, how->gid) == 0)
		rv = 0;
	for (size_t i = 1; i < nitems(c.dirs); i++)
		if (c.dirs[i] != -1)
			close(c.dirs[i]);
	free(c.room);
	out->cut = c.w.cut;
	return rv;
}

/* Make the copy, and give it its name. */
static int
copy_make(const struct etc_how *how, struct etc_copied *out, bool fresh)
{
	struct timespec now;
	char making[ETC_NAME], again[ETC_NAME];
	int to, rv;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	snprintf(making, sizeof(making), SURVEY_MAKING "%lld.%09ld.%d",
	    (long long)now.tv_sec, now.tv_nsec, (int)getpid());
	if (mkdirat(how->store, making, 0700) == -1 ||
	    (to = openat(how->store, making,
		 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		return -1;
	rv = flock(to, LOCK_EX);
	if (rv == 0 && (rv = copy_all(how, to, out)) == 0)
		rv = fchmod(to, 0755);
	/* It was changed while it was copied. */
	if (rv == 0 && !fresh &&
	    (digest_name(how, again, &fresh) == -1 ||
		strcmp(again, out->name) != 0))
		fresh = true;
	if (rv == 0 && fresh)
		snprintf(out->name, sizeof(out->name), SURVEY_PREFIX "%s",
		    making + sizeof(SURVEY_MAKING) - 1);
	if (rv == 0 &&
	    renameat(how->store, making, how->store, out->name) == -1) {
		/* Another session was faster. */
		rv = errno == EEXIST || errno == ENOTEMPTY ? 0 : -1;
		copy_remove(how, making);
	} else if (rv == -1) {
		copy_remove(how, making);
	}
	close(to);
	out->made = true;
	return rv;
}

/*
 * Remove copies that no session uses, and what a program that was killed has
 * left.
 */
static void
copy_sweep(const struct etc_how *how, const char *but)
{
	struct dirent *e;
	DIR *d;
	int fd;

	fd = openat(how->store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return;
	if ((d = fdopendir(fd)) == NULL) {
		close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if ((strncmp(e->d_name, SURVEY_PREFIX,
			 sizeof(SURVEY_PREFIX) - 1) != 0 &&
			strncmp(e->d_name, SURVEY_MAKING,
			    sizeof(SURVEY_MAKING) - 1) != 0) ||
		    strcmp(e->d_name, but) == 0)
			continue;
		fd = openat(how->store, e->d_name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			copy_remove(how, e->d_name);
		close(fd);
	}
	closedir(d);
}

int
etc_copy(const struct etc_how *how, struct etc_copied *out)
{
	struct stat st;
	bool fresh = false;

	memset(out, 0, sizeof(*out));
	if (digest_name(how, out->name, &fresh) == -1)
		return -1;
	if (!fresh &&
	    fstatat(how->store, out->name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (copy_make(how, out, fresh) == -1)
		return -1;
	copy_sweep(how, out->name);
	return 0;
}
