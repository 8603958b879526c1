/* SPDX-License-Identifier: ISC */
/*
 * Walks through the workspace for a checkpoint: keeps the contents that the
 * store lacks, and lists what it finds. The agent may change the workspace
 * meanwhile. No link is followed, no other file system is entered, and what
 * cannot be read for certain is left out, so that no undo touches it.
 */
#include "workers/snap/walk.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <linux/openat2.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/confine/pledge.h"
#include "common/loop.h"
#include "common/sha256.h"

#define WALK_DEPTH 200U
#define WALK_TRIES 3U

/* Names that are left out by default: what tools make again by themselves. */
static const char *const usual[] = {
    "node_modules", "target", ".venv", "__pycache__", ".next"};

int
snap_openat(int dir, const char *name, int flags)
{
	struct open_how how = {
	    .flags = (uint64_t)(unsigned)(flags | O_NOFOLLOW | O_CLOEXEC),
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

/* Open without a new access time; only the owner may ask for that. */
static int
walk_open(int dir, const char *name, int flags)
{
	int fd = snap_openat(dir, name, flags | O_RDONLY | O_NOATIME);

	if (fd == -1 && errno == EPERM)
		fd = snap_openat(dir, name, flags | O_RDONLY);
	return fd;
}

int
walk_fail(struct walk *w, const char *why)
{
	snprintf(w->why, sizeof(w->why), "%.190s", why);
	return -1;
}

static int
walk_emit(struct walk *w, enum entry_kind kind, uint32_t mode, uint64_t size,
    struct span text)
{
	const struct entry e = {.kind = kind,
	    .mode = mode & 0777,
	    .size = size,
	    .path = span_of(w->path, w->len),
	    .text = text};

	if (++w->files > w->how->limits.files) {
		snprintf(w->why, sizeof(w->why),
		    "the workspace has more than %u entries (undo.maxFiles)",
		    w->how->limits.files);
		return -1;
	}
	if (w->counts)
		return 0;
	manifest_add(&w->manifest, &e);
	return w->manifest.failed ? walk_fail(w, "the list is too long") : 0;
}

/* Leave out what nobody expects in a checkpoint. */
static int
walk_leave(struct walk *w, const char *why)
{
	w->left++;
	return walk_emit(w, ENTRY_LEFT, 0, 0, span_str(why));
}

/* Leave out what could not be kept: an undo names it, also if it is new. */
static int
walk_lack(struct walk *w, const char *why)
{
	w->left++;
	return walk_emit(w, ENTRY_LEFT, ENTRY_LACKS, 0, span_str(why));
}

/* Leave out what could not be opened or read, unless it is gone. */
static int
walk_error(struct walk *w, int error)
{
	switch (error) {
	case ENOENT:
		return 0;
	case EXDEV:
		return walk_leave(w, "another file system");
	case EACCES:
		return walk_lack(w,
		    "Permission denied (chmod -R u+rwX opens it "
		    "for undo, which sets its mode back)");
	case ELOOP:
	case ENOTDIR:
		w->loose++;
		return walk_lack(w, "it changed while it was read");
	case ENOSPC:
	case EDQUOT:
		return walk_fail(w, "the disk of the store is full");
	case ENOMEM:
		return walk_fail(w, strerror(error));
	default:
		return walk_lack(w, strerror(error));
	}
}

/* Returns true if one of the names is this one, or this path. */
static bool
walk_named(
    const struct walk *w, const char *const *list, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0 ||
		    (strchr(list[i], '/') != NULL &&
			span_is(span_of(w->path, w->len), list[i])))
			return true;
	return false;
}

/* Returns true if git keeps its objects here, which an undo never removes. */
static bool
walk_objects(const struct walk *w, int dir, const char *name)
{
	const struct span path = span_of(w->path, w->len);
	struct stat st;

	if (!w->git || strcmp(name, "objects") != 0 ||
	    span_find(path, SPAN("/refs/")) != NULL ||
	    span_find(path, SPAN("/logs/")) != NULL)
		return false;
	return fstatat(dir, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (path.len > 12 &&
		   memcmp(path.p + path.len - 12, "/lfs/objects", 12) == 0);
}

static int walk_each(struct walk *, int dir, const struct walk_list *);

/* Returns true if a tool has marked the directory as one that it can remake. */
static bool
walk_tagged(int dir, const struct walk_list *l)
{
	static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55";
	static const char name[] = "CACHEDIR.TAG";
	char text[sizeof(tag) - 1];
	struct stat st;
	bool is = false;
	int fd;

	if (!walk_list_has(l, name))
		return false;
	if ((fd = walk_open(dir, name, O_NONBLOCK)) == -1)
		return false;
	if (pledge_fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		is = read(fd, text, sizeof(text)) == (ssize_t)sizeof(text) &&
		     memcmp(text, tag, sizeof(text)) == 0;
	close(fd);
	return is;
}

/* Keep an open directory and what is in it, unless it is a cache. */
static int
walk_open_directory(struct walk *w, int fd, const char *name, bool wanted)
{
	const bool git = w->git;
	struct walk_list l;
	struct stat st;
	int rv;

	if (walk_names(fd, &l) == -1 || pledge_fstat(fd, &st) == -1) {
		rv = walk_error(w, errno);
	} else if (!wanted && walk_tagged(fd, &l)) {
		rv = walk_leave(w, "a cache, as its CACHEDIR.TAG says");
	} else if ((rv = walk_emit(w, ENTRY_DIR, st.st_mode, 0, SPAN(""))) ==
		   0) {
		w->git = git || strcmp(name, ".git") == 0;
		w->depth++;
		rv = walk_each(w, fd, &l);
		w->depth--;
		w->git = git;
	}
	walk_list_free(&l);
	return rv;
}

static int
walk_directory(struct walk *w, int parent, const char *name)
{
	const bool wanted =
	    walk_named(w, w->how->include, w->how->ninclude, name);
	int fd, rv;

	if (walk_objects(w, parent, name))
		return walk_leave(w, "objects of git");
	if (!wanted && walk_named(w, usual, nitems(usual), name))
		return walk_leave(w, "made by tools");
	if (w->depth == WALK_DEPTH || w->len > SNAP_PATH - 300)
		return walk_lack(w, "too deep");
	if ((fd = walk_open(parent, name, O_DIRECTORY)) == -1)
		return walk_error(w, errno);
	rv = walk_open_directory(w, fd, name, wanted);
	close(fd);
	return rv;
}

static int
walk_link(struct walk *w, int dir, const char *name)
{
	char target[SNAP_PATH];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n == -1 && errno == EINVAL)
		return walk_error(w, ELOOP);
	if (n == -1)
		return walk_error(w, errno);
	if ((size_t)n == sizeof(target))
		return walk_lack(w, "the link is too long");
	return walk_emit(w, ENTRY_LINK, 0, 0, span_of(target, (size_t)n));
}

int64_t
walk_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct cache_key
walk_key(const struct stat *st)
{
	return (struct cache_key){.dev = (uint64_t)st->st_dev,
	    .ino = (uint64_t)st->st_ino,
	    .size = (uint64_t)st->st_size,
	    .mtime = walk_ns(st->st_mtim),
	    .ctime = walk_ns(st->st_ctim)};
}

/* Returns the reason why a file of this size has no room, or NULL. */
static const char *
walk_no_room(const struct walk *w, const struct stat *st)
{
	const struct snap_limits *l = &w->how->limits;
	const uint64_t weight = store_weight(st);

	/* Its blocks would be shared, and the store would hold them. */
	if ((uint64_t)st->st_size > l->file)
		return w->store->bytes > l->store ||
			       weight > l->store - w->store->bytes
			   ? "no room is left in the store (undo.maxStoreMb)"
			   : NULL;
	return w->added > w->room || weight > w->room - w->added
		   ? "no room is left for this checkpoint (undo.maxTurnMb, "
		     "maxStoreMb, minFreePercent)"
		   : NULL;
}

/* Returns the reason why an open file cannot be saved, or NULL. */
static const char *
walk_refuse(
    const struct walk *w, int fd, const struct stat *st, char *why, size_t cap)
{
	const uint64_t limit = w->how->limits.file;

	if ((uint64_t)st->st_size <= limit || store_shares(w->store, fd))
		return walk_no_room(w, st);
	snprintf(why, cap, "larger than %llu MiB (undo.maxFileMb)",
	    (unsigned long long)limit >> 20);
	return why;
}

/* Keep an open file. Returns 0, 1 if it changed meanwhile, or -1. */
static int
walk_read(
    struct walk *w, int fd, bool likely, struct stat *st, uint8_t sum[SNAP_SUM])
{
	const uint64_t limit = w->how->limits.file;
	uint64_t size;
	struct stat after;
	struct cache_key a, b;
	int rv;

	/*
	 * A program may have the file mapped. Its next change sets the times
	 * only if the page has begun to be written to the disk since the last.
	 */
	(void)sync_file_range(
	    fd, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE);
	rv = store_put(w->store, fd,
	    (uint64_t)st->st_size > limit ? UINT64_MAX : limit, likely, sum,
	    &size, &w->added);
	if (rv == -1)
		return -1;
	if (pledge_fstat(fd, &after) == -1)
		return -1;
	a = walk_key(st);
	b = walk_key(&after);
	*st = after;
	return rv == 1 || size != b.size || memcmp(&a, &b, sizeof(a)) != 0;
}

static int
walk_file(struct walk *w, int dir, const char *name, struct stat *st)
{
	struct cache_key key = walk_key(st);
	const struct span path = span_of(w->path, w->len);
	uint8_t sum[SNAP_SUM];
	char hex[SHA256_HEX], text[120];
	const char *why;
	int known, fd, rv;

	known = cache_find(&w->cache, path, &key, sum);
	if (known == 1)
		goto known;
	if ((fd = walk_open(dir, name, O_NONBLOCK)) == -1)
		return walk_error(w, errno);
	if (pledge_fstat(fd, st) == -1 || !S_ISREG(st->st_mode)) {
		close(fd);
		return walk_error(w, ELOOP);
	}
	if ((why = walk_refuse(w, fd, st, text, sizeof(text))) != NULL) {
		close(fd);
		return walk_lack(w, why);
	}
	rv = walk_read(w, fd, known == 2, st, sum);
	for (unsigned i = 1; rv == 1 && i < WALK_TRIES; i++)
		rv = walk_read(w, fd, false, st, sum);
	if (rv == -1)
		rv = errno;
	close(fd);
	if (rv > 1)
		return walk_error(w, rv);
	if (rv == 1) {
		w->loose++;
		return walk_lack(w, "it changed while it was read");
	}
	key = walk_key(st);
known:
	cache_add(&w->cache, path, &key, sum);
	return walk_emit(w, ENTRY_FILE, st->st_mode, key.size,
	    span_str(sha256_hex(sum, hex)));
}

/*
 * Save what has this name. The kind of a directory or a link need not be asked
 * for: if the name is something else by now, it cannot be opened, or read.
 */
static int
walk_one(struct walk *w, int dir, const struct walk_name *e)
{
	unsigned type = (unsigned)DTTOIF(e->type);
	struct stat st;

	if (w->counts && e->type != DT_DIR && e->type != DT_UNKNOWN)
		return walk_emit(w, ENTRY_OTHER, 0, 0, SPAN(""));
	if (e->type != DT_DIR && e->type != DT_LNK) {
		if (fstatat(dir, e->name, &st, AT_SYMLINK_NOFOLLOW) == -1)
			return walk_error(w, errno);
		type = st.st_mode & S_IFMT;
	}
	if (walk_named(w, w->how->leave, w->how->nleave, e->name) &&
	    !walk_named(w, w->how->include, w->how->ninclude, e->name))
		return walk_leave(w, "undo.leaveOut");
	switch (type) {
	case S_IFDIR:
		return walk_directory(w, dir, e->name);
	case S_IFREG:
		if (w->counts)
			return walk_emit(w, ENTRY_OTHER, 0, 0, SPAN(""));
		return walk_file(w, dir, e->name, &st);
	case S_IFLNK:
		return walk_link(w, dir, e->name);
	default:
		return walk_emit(w, ENTRY_OTHER, 0, 0, SPAN(""));
	}
}

/* Go on with everything in an open directory. */
static int
walk_each(struct walk *w, int dir, const struct walk_list *l)
{
	const size_t len = w->len;
	size_t more;
	int rv = 0;

	for (size_t i = 0; i < l->n && rv == 0; i++) {
		more = strlen(l->names[i].name);
		if (len != 0)
			w->path[w->len++] = '/';
		memcpy(w->path + w->len, l->names[i].name, more);
		w->len += more;
		rv = walk_one(w, dir, &l->names[i]);
		w->len = len;
	}
	return rv;
}

int
walk_in(struct walk *w, int dir)
{
	struct walk_list l;
	int rv;

	rv = walk_names(dir, &l) == -1 ? walk_fail(w, strerror(errno))
				       : walk_each(w, dir, &l);
	walk_list_free(&l);
	return rv;
}
