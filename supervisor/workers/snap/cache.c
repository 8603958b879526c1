/* SPDX-License-Identifier: ISC */
/*
 * Digests of the files that the last walk read. One is used again if device,
 * inode, size and both times are the same, and if the file was not changed so
 * shortly before that walk that a later change could have the same time. An
 * agent can set a file's mtime, but not its ctime.
 */
#include "workers/snap/snap.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/confine/pledge.h"

#define CACHE_MAGIC "icundo3"
/* Clocks of file systems go in steps of at most this. */
#define CACHE_RACY_NS 50000000
#define CACHE_READ (1U << 18)

struct cache_head {
	char magic[8];
	int64_t walked;
	uint64_t bytes; /* the store has */
};

struct cache_row {
	struct cache_key key;
	uint8_t sum[SNAP_SUM];
	uint32_t len; /* the path that follows */
};

static int
cache_read(struct cache *c, int fd)
{
	struct stat st;
	uint8_t *room;
	ssize_t n = 0;

	/* Without a guess, what was read is copied again and again. */
	if (pledge_fstat(fd, &st) == -1 ||
	    buf_room(&c->old, (size_t)st.st_size + CACHE_READ) == NULL)
		return -1;
	do {
		if ((room = buf_room(&c->old, CACHE_READ)) == NULL)
			return -1;
		n = read(fd, room, CACHE_READ);
		if (n > 0)
			buf_grow(&c->old, (size_t)n);
	} while (n > 0 || (n == -1 && errno == EINTR));
	return n == 0 ? 0 : -1;
}

void
cache_load(struct cache *c, struct store *s, size_t max)
{
	struct cache_head h;
	int fd;

	buf_init(&c->old, max);
	buf_init(&c->made, max);
	c->at = c->same = 0;
	c->walked = 0;
	s->bytes = UINT64_MAX;
	fd = openat(
	    s->fd, SNAP_CACHE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return;
	if (cache_read(c, fd) == 0 && c->old.len >= sizeof(h)) {
		memcpy(&h, buf_span(&c->old).p, sizeof(h));
		if (memcmp(h.magic, CACHE_MAGIC, sizeof(h.magic)) == 0) {
			c->walked = h.walked;
			s->bytes = c->bytes = h.bytes;
			c->at = c->same = sizeof(h);
		}
	}
	close(fd);
	if (c->at == 0)
		buf_reset(&c->old, 0);
}

static int
cache_look(struct cache *c, struct span path, const struct cache_key *key,
    uint8_t sum[SNAP_SUM])
{
	struct span all = buf_span(&c->old);
	struct cache_row row;
	struct span name;
	int r;

	while (all.len - c->at >= sizeof(row)) {
		memcpy(&row, all.p + c->at, sizeof(row));
		if (row.len > all.len - c->at - sizeof(row))
			break;
		name = span_of(all.p + c->at + sizeof(row), row.len);
		if ((r = manifest_cmp(name, path)) > 0)
			return 0;
		c->at += sizeof(row) + row.len;
		if (r < 0) {
			c->differs = true;
			continue;
		}
		if (row.key.dev != key->dev || row.key.ino != key->ino ||
		    row.key.size != key->size || row.key.mtime != key->mtime ||
		    row.key.ctime != key->ctime)
			return 0;
		memcpy(sum, row.sum, SNAP_SUM);
		return key->ctime >= c->walked - CACHE_RACY_NS ? 2 : 1;
	}
	return 0;
}

int
cache_find(struct cache *c, struct span path, const struct cache_key *key,
    uint8_t sum[SNAP_SUM])
{
	int known = cache_look(c, path, key, sum);

	c->differs = c->differs || known != 1;
	if (!c->differs)
		c->same = c->at;
	return known;
}

void
cache_reset(struct cache *c)
{
	buf_reset(&c->old, 0);
	c->at = c->same = 0;
}

/* Nothing is made as long as it would be what was read. */
static void
cache_differs(struct cache *c)
{
	const struct span all = buf_span(&c->old);

	if (c->same > sizeof(struct cache_head) &&
	    buf_room(&c->made, all.len) != NULL)
		buf_add(&c->made, all.p + sizeof(struct cache_head),
		    c->same - sizeof(struct cache_head));
	c->same = 0;
}

void
cache_add(struct cache *c, struct span path, const struct cache_key *key,
    const uint8_t sum[SNAP_SUM])
{
	struct cache_row row;

	if (!c->differs)
		return;
	cache_differs(c);
	memset(&row, 0, sizeof(row));
	row.key = *key;
	row.len = (uint32_t)path.len;
	memcpy(row.sum, sum, SNAP_SUM);
	buf_add(&c->made, &row, sizeof(row));
	buf_addspan(&c->made, path);
}

int
cache_save(struct cache *c, const struct store *s, int64_t walked)
{
	struct cache_head h = {CACHE_MAGIC, walked, s->bytes};
	int fd, rv = -1;

	/* All of it is as it was: an earlier start of the walk is no harm. */
	if (!c->differs && c->at == c->old.len && s->bytes == c->bytes)
		return 0;
	cache_differs(c);
	(void)unlinkat(s->fd, SNAP_MAKING, 0);
	fd = openat(s->fd, SNAP_MAKING,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return -1;
	if (!c->made.failed && span_write(fd, span_of(&h, sizeof(h))) == 0 &&
	    span_write(fd, buf_span(&c->made)) == 0 &&
	    renameat(s->fd, SNAP_MAKING, s->fd, SNAP_CACHE) == 0)
		rv = 0;
	close(fd);
	return rv;
}

void
cache_free(struct cache *c)
{
	buf_free(&c->old);
	buf_free(&c->made);
}
