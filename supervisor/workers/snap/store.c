/* SPDX-License-Identifier: ISC */
/*
 * The objects of a store: the contents of files and manifests, each in a file
 * that its SHA-256 names and that nobody writes again. A file that is made has
 * another name until it is whole. Where the file system can, contents are
 * shared with the workspace instead of being copied (FICLONE).
 *
 * A large file has the SHA-256 of its size and of its blocks that have a byte
 * other than zero, each with its place: holes of any size cost nothing. All
 * bits of it are turned over, so that no content of a smaller file, which an
 * agent chooses, has the same name. Stores made before 2026-12 have the plain
 * SHA-256 of large files, too.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "workers/snap/snap.h"

#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <linux/fs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "common/confine/pledge.h"
#include "common/sha256.h"

#define STORE_BLOCK (256U << 10)
#define STORE_MANIFEST (256U << 20)
#define STORE_LARGE (128ULL << 20)
#define STORE_SPARSE (64U << 10) /* a block of a large file */

static uint8_t block[STORE_BLOCK];

int
store_open(struct store *s, bool write)
{
	int lock;

	if (write &&
	    ((mkdirat(s->fd, SNAP_OBJECTS, 0700) == -1 && errno != EEXIST) ||
		(mkdirat(s->fd, SNAP_TURNS, 0700) == -1 && errno != EEXIST)))
		return -1;
	/* Saves of several sessions follow each other; the end releases it. */
	lock = openat(s->fd, SNAP_LOCK,
	    (write ? O_RDWR | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK |
		O_CLOEXEC,
	    0600);
	if (lock == -1 || flock(lock, write ? LOCK_EX : LOCK_SH) == -1)
		return -1;
	s->objects = openat(s->fd, SNAP_OBJECTS,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	s->turns = openat(
	    s->fd, SNAP_TURNS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return s->objects == -1 || s->turns == -1 ? -1 : 0;
}

uint64_t
store_weight(const struct stat *st)
{
	const uint64_t size = (uint64_t)st->st_size,
		       has = (uint64_t)st->st_blocks * 512;

	return size >= STORE_LARGE && has < size ? has : size;
}

/* Hash a number, the same on all machines. */
static void
copy_number(SHA256_CTX *ctx, uint64_t n)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(n >> (8 * i));
	SHA256_Update(ctx, bytes, sizeof(bytes));
}

/* Find the next block that may have data. Returns `size` if none has. */
static uint64_t
copy_next(int fd, uint64_t at, uint64_t size)
{
	off_t data = lseek(fd, (off_t)at, SEEK_DATA);

	if (data == -1)
		return errno == ENXIO ? size : at;
	return (uint64_t)data <= at
		   ? at
		   : (uint64_t)data - (uint64_t)data % STORE_SPARSE;
}

/* Write `n` bytes of the block at this place. Returns 0, or -1. */
static int
copy_put(int to, uint64_t at, size_t n)
{
	if (lseek(to, (off_t)at, SEEK_SET) == -1)
		return -1;
	return span_write(to, span_of(block, n));
}

/* Do the work of store_copy() for a large file. */
static int
copy_large(int fd, int to, uint64_t size, uint8_t sum[SNAP_SUM])
{
	static const uint8_t zeros[STORE_SPARSE];
	uint64_t at, end = 0;
	SHA256_CTX ctx;
	size_t want;
	ssize_t n;

	SHA256_Init(&ctx);
	copy_number(&ctx, size);
	for (at = copy_next(fd, 0, size); at < size;
	     at = copy_next(fd, at + want, size)) {
		want = size - at < STORE_SPARSE ? (size_t)(size - at)
						: STORE_SPARSE;
		do
			n = pread(fd, block, want, (off_t)at);
		while (n == -1 && errno == EINTR);
		if (n != (ssize_t)want)
			return n == -1 ? -1 : 1;
		if (memcmp(block, zeros, want) == 0)
			continue;
		copy_number(&ctx, at);
		SHA256_Update(&ctx, block, want);
		if (to != -1 && copy_put(to, at, want) == -1)
			return -1;
		end = at + want;
	}
	block[0] = 0;
	if (to != -1 && end != size && copy_put(to, size - 1, 1) == -1)
		return -1;
	SHA256_Final(sum, &ctx);
	for (unsigned i = 0; i < SNAP_SUM; i++)
		sum[i] ^= 0xff;
	return 0;
}

/* Do the work of store_copy() for a file that is not large. */
static int
copy_plain(int fd, int to, uint64_t max, uint8_t sum[SNAP_SUM], uint64_t *size)
{
	SHA256_CTX ctx;
	ssize_t n;

	SHA256_Init(&ctx);
	for (*size = 0;; *size += (size_t)n) {
		n = pread(fd, block, sizeof(block), (off_t)*size);
		if (n == -1 && errno == EINTR) {
			n = 0;
			continue;
		}
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		if ((size_t)n > max - *size)
			return 1;
		SHA256_Update(&ctx, block, (size_t)n);
		if (to != -1 && span_write(to, span_of(block, (size_t)n)) == -1)
			return -1;
	}
	SHA256_Final(sum, &ctx);
	return 0;
}

/*
 * Read all of a file of at most `max` bytes, hash it, and write it to `to`,
 * unless that is -1. Returns 0, 1 if it is larger or shrinks, or -1 with errno
 * set.
 */
static int
store_copy(int fd, int to, uint64_t max, uint8_t sum[SNAP_SUM], uint64_t *size)
{
	struct stat st;

	if (pledge_fstat(fd, &st) == -1)
		return -1;
	*size = (uint64_t)st.st_size;
	if (*size > max)
		return 1;
	return *size >= STORE_LARGE ? copy_large(fd, to, *size, sum)
				    : copy_plain(fd, to, max, sum, size);
}

int
store_hash(int fd, uint8_t sum[SNAP_SUM], uint64_t *size)
{
	return store_copy(fd, -1, UINT64_MAX, sum, size) == 0 ? 0 : -1;
}

/* Returns true if the object is there. */
static bool
store_has(const struct store *s, const uint8_t sum[SNAP_SUM])
{
	char hex[SHA256_HEX];
	struct stat st;

	return fstatat(s->objects, sha256_hex(sum, hex), &st,
		   AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

static int
store_making(const struct store *s)
{
	(void)unlinkat(s->objects, SNAP_MAKING, 0);
	return openat(s->objects, SNAP_MAKING,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
}

/* Give what was made its name, unless the object is there already. */
static int
store_made(struct store *s, const uint8_t sum[SNAP_SUM], uint64_t bytes,
    uint64_t *added)
{
	char hex[SHA256_HEX];

	if (store_has(s, sum))
		return unlinkat(s->objects, SNAP_MAKING, 0);
	if (renameat(s->objects, SNAP_MAKING, s->objects,
		sha256_hex(sum, hex)) == -1)
		return -1;
	s->bytes += bytes;
	*added += bytes;
	return 0;
}

bool
store_shares(const struct store *s, int fd)
{
	int to = store_making(s);
	bool can;

	if (to == -1)
		return false;
	can = ioctl(to, FICLONE, fd) == 0;
	close(to);
	(void)unlinkat(s->objects, SNAP_MAKING, 0);
	return can;
}

/* Fill an object. Returns as store_copy() does. */
static int
store_fill(int to, int fd, uint64_t max, uint8_t sum[SNAP_SUM], uint64_t *size)
{
	if (ioctl(to, FICLONE, fd) == 0)
		return store_copy(to, -1, max, sum, size);
	/* Without a limit it was to be shared. */
	return max == UINT64_MAX ? 1 : store_copy(fd, to, max, sum, size);
}

int
store_put(struct store *s, int fd, uint64_t max, bool likely,
    uint8_t sum[SNAP_SUM], uint64_t *size, uint64_t *added)
{
	uint64_t none = 0;
	struct stat st;
	int to, rv;

	if (likely && store_copy(fd, -1, max, sum, size) == 0 &&
	    store_has(s, sum))
		return 0;
	if ((to = store_making(s)) == -1)
		return -1;
	rv = store_fill(to, fd, max, sum, size);
	if (rv == 0 && pledge_fstat(to, &st) == -1)
		rv = -1;
	if (close(to) == -1 && rv == 0)
		rv = -1;
	/* A large file that is shared adds nothing until it changes. */
	if (rv == 0)
		return store_made(s, sum, store_weight(&st),
		    max == UINT64_MAX ? &none : added);
	to = errno;
	(void)unlinkat(s->objects, SNAP_MAKING, 0);
	errno = to;
	return rv;
}

int
store_put_text(
    struct store *s, struct span text, uint8_t sum[SNAP_SUM], uint64_t *added)
{
	int to;

	sha256_span(text, sum);
	if (store_has(s, sum))
		return 0;
	if ((to = store_making(s)) == -1)
		return -1;
	if (span_write(to, text) == -1 ||
	    undo_record_sync(to, s->quick) == -1) {
		close(to);
		return -1;
	}
	close(to);
	return store_made(s, sum, text.len, added);
}

static int
store_object(const struct store *s, const char hex[65])
{
	return openat(
	    s->objects, hex, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int
store_take(const struct store *s, const char hex[65], int to)
{
	uint8_t sum[SNAP_SUM];
	char found[SHA256_HEX];
	int fd, rv, save;
	uint64_t size;

	if ((fd = store_object(s, hex)) == -1)
		return -1;
	if (ioctl(to, FICLONE, fd) == 0)
		rv = store_copy(to, -1, UINT64_MAX, sum, &size);
	else
		rv = store_copy(fd, to, UINT64_MAX, sum, &size);
	/* An old store has another name for a large file. */
	if (rv == 0 && size >= STORE_LARGE &&
	    strcmp(sha256_hex(sum, found), hex) != 0)
		rv = copy_plain(to, -1, UINT64_MAX, sum, &size);
	save = errno;
	close(fd);
	errno = save;
	if (rv == 0 && strcmp(sha256_hex(sum, found), hex) != 0) {
		errno = EBADMSG;
		rv = -1;
	}
	return rv == 0 ? 0 : -1;
}

int
store_text(const struct store *s, const char hex[65], size_t max, struct buf *b)
{
	uint8_t sum[SNAP_SUM], *room;
	char found[SHA256_HEX];
	ssize_t n;
	int fd;

	if ((fd = store_object(s, hex)) == -1)
		return -1;
	do {
		room = buf_room(b, 1U << 16);
		n = room == NULL ? -1 : read(fd, room, 1U << 16);
		if (n > 0)
			buf_grow(b, (size_t)n);
	} while (n > 0 && b->len <= max);
	close(fd);
	if (n == -1 || b->len > max)
		return n == -1 ? -1 : 1;
	sha256_span(buf_span(b), sum);
	if (strcmp(sha256_hex(sum, found), hex) == 0)
		return 0;
	errno = EBADMSG;
	return -1;
}

int
store_manifest(const struct store *s, const char hex[65], struct manifest *m)
{
	uint8_t sum[SNAP_SUM], *room;
	char found[SHA256_HEX];
	ssize_t n;
	int fd;

	memset(m, 0, sizeof(*m));
	buf_init(&m->text, STORE_MANIFEST);
	if ((fd = store_object(s, hex)) == -1)
		return -1;
	do {
		room = buf_room(&m->text, 1U << 16);
		n = room == NULL ? -1 : read(fd, room, 1U << 16);
		if (n > 0)
			buf_grow(&m->text, (size_t)n);
	} while (n > 0);
	close(fd);
	if (n == -1)
		return -1;
	sha256_span(buf_span(&m->text), sum);
	if (strcmp(sha256_hex(sum, found), hex) != 0) {
		errno = EBADMSG;
		return -1;
	}
	return manifest_read(m);
}
