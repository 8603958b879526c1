/* SPDX-License-Identifier: ISC */
/*
 * The file audit.checkpoint, which has one line: its version, the number of the
 * log's file, the offset in it, the number of the next record, and the hash of
 * the last one. If a check was not finished, a second line has the same of the
 * place where it stopped, and the log's format and the lines before that place.
 */
#include "log/checkpoint.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/session.h"
#include "log/parts.h"

#define CHECKPOINT_NAME "audit.checkpoint"
#define CHECKPOINT_VERSION 2U
#define CHECKPOINT_MAX (240 + 2 * AUDITLOG_HEX)

/* Compose the file's text. Returns its length. */
static size_t
checkpoint_text(const struct checkpoint *c, const struct checked *done,
    char text[CHECKPOINT_MAX + 1])
{
	char hex[SHA256_HEX];
	size_t n;

	n = (size_t)snprintf(text, CHECKPOINT_MAX + 1,
	    "%u %" PRIu32 " %" PRIu64 " %" PRIu64 " %s\n", CHECKPOINT_VERSION,
	    c->part, c->offset, c->log.seq, sha256_hex(c->log.prev, hex));
	if (done == NULL || done->upto.offset == 0)
		return n;
	c = &done->upto;
	return n + (size_t)snprintf(text + n, CHECKPOINT_MAX + 1 - n,
		       "%" PRIu32 " %" PRIu64 " %" PRIu64 " %s %" PRId64
		       " %" PRIu64 "\n",
		       c->part, c->offset, c->log.seq,
		       sha256_hex(c->log.prev, hex), done->format, done->line);
}

/* Read the hash at `at` in the text. Returns false if there is none. */
static bool
checkpoint_hash(const char *text, size_t n, size_t at, struct checkpoint *c)
{
	return at + AUDITLOG_HEX < n &&
	       sha256_unhex(span_of(text + at, AUDITLOG_HEX), c->log.prev) == 0;
}

/* Read the second line, if there is one. */
static void
checkpoint_done(const char *text, size_t n, struct checked *done)
{
	const char *line = memchr(text, '\n', n);
	struct checkpoint *c = &done->upto;
	int at = 0;

	if (line == NULL || (size_t)(++line - text) == n)
		return;
	n -= (size_t)(line - text);
	if (sscanf(line, "%" SCNu32 " %" SCNu64 " %" SCNu64 " %n", &c->part,
		&c->offset, &c->log.seq, &at) != 3 ||
	    !checkpoint_hash(line, n, (size_t)at, c) ||
	    sscanf(line + at + AUDITLOG_HEX, " %" SCNd64 " %" SCNu64,
		&done->format, &done->line) != 2)
		c->offset = 0;
}

bool
checkpoint_read(int dirfd, struct checkpoint *c, struct checked *done)
{
	struct checked found = {.format = 0};
	char text[CHECKPOINT_MAX + 1], again[CHECKPOINT_MAX + 1];
	unsigned version;
	struct stat st;
	ssize_t n = -1;
	int fd, at = 0;

	memset(c, 0, sizeof(*c));
	if (done == NULL)
		done = &found;
	memset(done, 0, sizeof(*done));
	fd = openat(dirfd, CHECKPOINT_NAME,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && st.st_nlink == 1)
		n = read(fd, text, CHECKPOINT_MAX);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%u %" SCNu32 " %" SCNu64 " %" SCNu64 " %n", &version,
		&c->part, &c->offset, &c->log.seq, &at) != 4 ||
	    version != CHECKPOINT_VERSION || c->part == 0 || c->offset == 0 ||
	    !checkpoint_hash(text, (size_t)n, (size_t)at, c))
		return false;
	checkpoint_done(text, (size_t)n, done);
	/* Only the text that we would write ourselves is accepted. */
	return checkpoint_text(c, done, again) == (size_t)n &&
	       memcmp(text, again, (size_t)n) == 0;
}

static bool
checkpoint_there(const struct checkpoint *c, struct span log)
{
	const uint8_t *nl;
	size_t end;

	if (c->offset > log.len || log.p[c->offset - 1] != '\n')
		return false;
	end = c->offset - 1;
	nl = memrchr(log.p, '\n', end);
	return auditlog_hash_is(
	    nl == NULL ? span_of(log.p, end)
		       : span_of(nl + 1, (size_t)(log.p + end - nl - 1)),
	    c->log.prev);
}

bool
checkpoint_fits(const struct checkpoint *c, int dirfd)
{
	char name[AUDITPARTS_NAME];
	unsigned older;
	struct span log;
	bool fits;

	if (auditparts_count(dirfd, &older) == -1 || c->part > older + 1 ||
	    auditparts_map(
		dirfd, auditparts_name(c->part, older, name), &log) == -1)
		return false;
	fits = checkpoint_there(c, log);
	auditparts_unmap(&log);
	return fits;
}

bool
checkpoint_before(const struct checkpoint *a, const struct checkpoint *b)
{
	return a->part < b->part ||
	       (a->part == b->part && a->offset < b->offset);
}

int
checkpoint_write(
    int dirfd, const struct checkpoint *c, const struct checked *done)
{
	char text[CHECKPOINT_MAX + 1];
	size_t n = checkpoint_text(c, done, text);

	return session_write(dirfd, CHECKPOINT_NAME, 0600, span_of(text, n));
}

void
checkpoint_remove(int dirfd)
{
	(void)unlinkat(dirfd, CHECKPOINT_NAME, 0);
}
