/* SPDX-License-Identifier: ISC */
/*
 * Puts a workspace back as the plan says. Each path is compared with what the
 * plan has for it before it is touched; one that has changed since is left as
 * it is, and reported. A directory is opened without following links, and
 * everything happens through its descriptor. Files are written under another
 * name and renamed, so that a restore that is killed leaves whole files, and
 * can be repeated.
 */
#include "workers/snap/snap.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/confine/pledge.h"
#include "common/sha256.h"

struct place {
	int dir;     /* the directory that the path is in */
	mode_t mode; /* the mode that it gets again at the end, if `opened` */
	bool opened;
	char path[SNAP_PATH];
	const char *name;
	char making[sizeof(SNAP_MAKING) + 20]; /* until it is whole */
};

static void
failed(const struct plan_row *r, const char *why)
{
	snap_row(SNAP_FAILED, r->later,
	    r->from != NULL ? r->from->path : r->to->path, why);
}

/* Open the directory of a path. Returns 0, or -1 with errno set. */
static int
place_open(struct place *p, int tree, struct span path)
{
	char *slash;

	if (span_copy(path, p->path, sizeof(p->path)) == -1)
		return -1;
	p->dir = -1;
	p->opened = false;
	slash = strrchr(p->path, '/');
	p->name = slash == NULL ? p->path : slash + 1;
	if (slash != NULL)
		*slash = '\0';
	p->dir = snap_openat(
	    tree, slash == NULL ? "." : p->path, O_RDONLY | O_DIRECTORY);
	return p->dir == -1 ? -1 : 0;
}

/*
 * Let the owner write a directory that is closed to it, as those of Go's
 * modules are, for as long as it is worked in.
 */
static void
place_unlock(struct place *p)
{
	struct stat st;

	if (pledge_fstat(p->dir, &st) == -1 || (st.st_mode & 0300) == 0300)
		return;
	p->mode = st.st_mode & 07777;
	p->opened = fchmod(p->dir, p->mode | 0300) == 0;
}

static void
place_close(struct place *p)
{
	if (p->opened)
		(void)fchmod(p->dir, p->mode);
	p->opened = false;
	if (p->dir != -1)
		close(p->dir);
	p->dir = -1;
}

/* Returns true if a file has this content. */
static bool
place_has(const struct place *p, struct span hex)
{
	uint8_t sum[SNAP_SUM];
	char text[SHA256_HEX];
	struct stat st;
	uint64_t size;
	bool same;
	int fd;

	if ((fd = snap_openat(p->dir, p->name, O_RDONLY | O_NONBLOCK)) == -1)
		return false;
	same = pledge_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       store_hash(fd, sum, &size) == 0 &&
	       span_is(hex, sha256_hex(sum, text));
	close(fd);
	return same;
}

/* Returns true if the path is what the entry says, or absent for NULL. */
static bool
place_is(const struct place *p, const struct entry *e)
{
	char target[SNAP_PATH];
	struct stat st;
	ssize_t n;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return e == NULL && errno == ENOENT;
	if (e == NULL)
		return false;
	switch (e->kind) {
	case ENTRY_DIR:
		return S_ISDIR(st.st_mode) && (st.st_mode & 0777) == e->mode;
	case ENTRY_FILE:
		return S_ISREG(st.st_mode) && (st.st_mode & 0777) == e->mode &&
		       place_has(p, e->text);
	case ENTRY_LINK:
		n = readlinkat(p->dir, p->name, target, sizeof(target));
		return n > 0 && span_eq(e->text, span_of(target, (size_t)n));
	case ENTRY_OTHER:
		return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
		       !S_ISLNK(st.st_mode);
	case ENTRY_LEFT:
		break;
	}
	return false;
}

/* Take away what the plan says goes away, or gives room to another kind. */
static int
remove_one(const struct place *p, const struct plan_row *r)
{
	if (place_is(p, NULL))
		return 0;
	/* A directory that lost what was in it has other times, not modes. */
	if (!place_is(p, r->from)) {
		failed(r, "it changed after the plan was made");
		return -1;
	}
	if (unlinkat(p->dir, p->name,
		r->from->kind == ENTRY_DIR ? AT_REMOVEDIR : 0) == -1) {
		failed(r, strerror(errno));
		return -1;
	}
	return 0;
}

/* Returns true if the row's old kind must be gone before the new one comes. */
static bool
row_removes(const struct plan_row *r)
{
	if (r->what == SNAP_GO)
		return true;
	return r->what == SNAP_BACK && r->from->kind != r->to->kind &&
	       (r->from->kind == ENTRY_DIR || r->to->kind == ENTRY_DIR);
}

/* Write the file under another name. Returns 0, or -1 with errno set. */
static int
make_file(const struct store *s, const struct place *p, const struct entry *e)
{
	char hex[SHA256_HEX];
	int fd, rv = -1, save;

	if (span_copy(e->text, hex, sizeof(hex)) == -1)
		return -1;
	fd = openat(p->dir, p->making,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if (store_take(s, hex, fd) == 0 && fchmod(fd, e->mode & 0777) == 0)
		rv = 0;
	save = errno;
	if (close(fd) == -1 && rv == 0)
		return -1;
	errno = save;
	return rv;
}

static int
make_link(const struct place *p, const struct entry *e)
{
	char target[SNAP_PATH];

	if (span_copy(e->text, target, sizeof(target)) == -1)
		return -1;
	return symlinkat(target, p->dir, p->making);
}

/*
 * Choose the name of what is made. A directory that has the usual one is the
 * agent's and stays, and so another name is taken, which it cannot foresee.
 */
static void
place_making(struct place *p)
{
	struct timespec t;

	(void)strlcpy(p->making, SNAP_MAKING, sizeof(p->making));
	if (unlinkat(p->dir, p->making, 0) == 0 || errno == ENOENT)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(p->making, sizeof(p->making), SNAP_MAKING "%llu",
	    (unsigned long long)t.tv_sec * 1000000000 +
		(unsigned long long)t.tv_nsec);
}

/*
 * Give what was made its name. Nothing that appeared meanwhile is replaced if
 * the plan had nothing there.
 */
static int
make_name(const struct place *p, bool absent)
{
	if (!absent)
		return renameat(p->dir, p->making, p->dir, p->name);
	if (renameat2(p->dir, p->making, p->dir, p->name, RENAME_NOREPLACE) ==
	    0)
		return 0;
	/* Some file systems cannot do that. */
	if (errno != EINVAL || !place_is(p, NULL))
		return -1;
	return renameat(p->dir, p->making, p->dir, p->name);
}

static void
put_whole(const struct store *s, struct place *p, const struct plan_row *r)
{
	const bool absent = r->from == NULL || row_removes(r);
	int rv;

	if (!place_is(p, absent ? NULL : r->from)) {
		failed(r, "it changed after the plan was made");
		return;
	}
	place_making(p);
	rv = r->to->kind == ENTRY_FILE ? make_file(s, p, r->to)
				       : make_link(p, r->to);
	/* Writing took time: look again. */
	if (rv == 0 && !absent && !place_is(p, r->from)) {
		errno = EEXIST;
		rv = -1;
	}
	if (rv == 0)
		rv = make_name(p, absent);
	if (rv == 0)
		return;
	failed(r, errno == EBADMSG  ? "the stored copy is damaged"
		  : errno == ENOENT ? "the stored copy is gone"
		  : errno == EEXIST ? "it changed after the plan was made"
				    : strerror(errno));
	(void)unlinkat(p->dir, p->making, 0);
}

/* Change the mode of a directory or, if only that differs, of a file. */
static int
put_mode(const struct place *p, const struct entry *e)
{
	struct stat st;
	int fd, rv = -1, save;

	fd = snap_openat(p->dir, p->name,
	    O_RDONLY | O_NONBLOCK | (e->kind == ENTRY_DIR ? O_DIRECTORY : 0));
	if (fd == -1)
		return -1;
	if (pledge_fstat(fd, &st) == 0 &&
	    (e->kind == ENTRY_DIR || S_ISREG(st.st_mode)))
		rv = fchmod(fd, e->mode & 0777);
	save = errno;
	close(fd);
	errno = save;
	return rv;
}

static void
put_directory(const struct place *p, const struct plan_row *r)
{
	struct stat st;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISDIR(st.st_mode))
			failed(r, "something else is there");
		return;
	}
	/* It gets its mode when everything in it is there. */
	if (mkdirat(p->dir, p->name, 0700) == -1)
		failed(r, strerror(errno));
}

static void
put_one(const struct store *s, struct place *p, const struct plan_row *r)
{
	if (place_is(p, r->to))
		return;
	if (r->to->kind == ENTRY_DIR)
		put_directory(p, r);
	else
		put_whole(s, p, r);
}

/*
 * Treat a row: take away (pass 0), put (pass 1), or give a directory its mode
 * (pass 2). Each row is reported once.
 */
static void
each(const struct store *s, const struct plan_row *r, int tree, int pass)
{
	const struct entry *e = r->from != NULL ? r->from : r->to;
	struct place p;

	if (place_open(&p, tree, e->path) == -1) {
		/* With a directory everything in it has gone. */
		if (pass == 1 || (pass == 0 && errno != ENOENT))
			failed(r, errno == ELOOP || errno == ENOTDIR ||
					  errno == ENOENT
				      ? "its directory changed"
				      : strerror(errno));
		return;
	}
	if (pass != 2)
		place_unlock(&p);
	if (pass == 0)
		(void)remove_one(&p, r);
	else if (pass == 1)
		put_one(s, &p, r);
	else if (!place_is(&p, r->to) && put_mode(&p, r->to) == -1 &&
		 errno != ENOTDIR && errno != ELOOP && errno != ENOENT)
		failed(r, strerror(errno));
	place_close(&p);
}

void
snap_restore(const struct store *s, const struct plan *plan, int tree)
{
	const struct plan_row *r;

	for (size_t i = plan->n; i-- > 0;)
		if (row_removes(&plan->rows[i]))
			each(s, &plan->rows[i], tree, 0);
	for (size_t i = 0; i < plan->n; i++) {
		r = &plan->rows[i];
		if (r->what == SNAP_BACK || r->what == SNAP_COME)
			each(s, r, tree, 1);
	}
	for (size_t i = plan->n; i-- > 0;) {
		r = &plan->rows[i];
		if ((r->what == SNAP_BACK || r->what == SNAP_COME) &&
		    r->to->kind == ENTRY_DIR)
			each(s, r, tree, 2);
	}
}
