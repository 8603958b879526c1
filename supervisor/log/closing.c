/* SPDX-License-Identifier: ISC */
/*
 * Composes and appends the last records of a log through icsupervisor's own
 * description of the file. The log is read backwards from its end: it was
 * checked when it was opened, and only icsupervisor and auditd have written to
 * it since.
 */
#include "log/closing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLOSING_MAX (1U << 20)
#define CLOSING_BLOCK 65536

/*
 * Returns the offset after the last newline of the file, or -1 if it cannot be
 * read.
 */
static off_t
closing_whole(int fd, off_t size)
{
	char buf[CLOSING_BLOCK], *nl;
	off_t from;
	ssize_t n;

	for (off_t to = size; to > 0; to = from) {
		from = to > CLOSING_BLOCK ? to - CLOSING_BLOCK : 0;
		n = pread(fd, buf, (size_t)(to - from), from);
		if (n != (ssize_t)(to - from))
			return -1;
		if ((nl = memrchr(buf, '\n', (size_t)n)) != NULL)
			return from + (nl - buf) + 1;
	}
	return 0;
}

/*
 * Set `log` from the record that ends at `whole`. Returns 0, or -1 if it cannot
 * be read.
 */
static int
closing_tail(int fd, off_t whole, struct auditlog *log)
{
	static const char key[] = ",\"seq\":";
	char buf[CLOSING_BLOCK + 1];
	off_t from = whole > CLOSING_BLOCK ? whole - CLOSING_BLOCK : 0;
	char *hash, *p;
	ssize_t n;

	n = pread(fd, buf, (size_t)(whole - from), from);
	if (n != (ssize_t)(whole - from) || n <= (ssize_t)AUDITLOG_TAIL)
		return -1;
	buf[n] = '\0';
	hash = buf + n - 1 - AUDITLOG_TAIL + 9;
	if (sha256_unhex(span_of(hash, AUDITLOG_HEX), log->prev) == -1)
		return -1;
	/*
	 * `seq` follows all members whose values may be long: search backwards.
	 */
	for (p = hash; p > buf; p--)
		if (strncmp(p, key, sizeof(key) - 1) == 0)
			break;
	if (p == buf)
		return -1;
	log->seq = strtoull(p + sizeof(key) - 1, NULL, 10) + 1;
	return 0;
}

/*
 * Read the log up to its last newline, at `whole`. Returns the number of bytes
 * after that, or -1.
 */
static off_t
closing_read(const struct session *s, struct auditlog *log, off_t *whole)
{
	int fd = session_audit_reader(s);
	off_t size, rv = -1;

	if (fd == -1)
		return -1;
	if ((size = lseek(fd, 0, SEEK_END)) != -1 &&
	    (*whole = closing_whole(fd, size)) != -1 &&
	    (*whole == 0 || closing_tail(fd, *whole, log) == 0))
		rv = size - *whole;
	close(fd);
	return rv;
}

/* Make room: drop the bytes after `whole`, and free the reserved disk space. */
static void
closing_room(struct auditclosing *c, off_t whole)
{
	if (c->session->margin != -1)
		close(c->session->margin);
	c->session->margin = -1;
	if (c->torn == 0 || ftruncate(c->session->closing, whole) == -1)
		return;
	c->cut = c->torn;
	c->torn = 0;
}

int
auditclosing_begin(struct auditclosing *c, struct session *s, bool cut)
{
	off_t torn, whole;

	auditfile_settle(s);
	memset(c, 0, sizeof(*c));
	c->session = s;
	c->log = (struct auditlog){.seq = s->seq};
	memcpy(c->log.prev, s->prev, sizeof(c->log.prev));
	if ((torn = closing_read(s, &c->log, &whole)) == -1)
		return -1;
	c->torn = (size_t)torn;
	if (cut)
		closing_room(c, whole);
	buf_init(&c->out, CLOSING_MAX);
	/* End a line that a crash cut short; it does not count as a record. */
	if (c->torn != 0)
		buf_addc(&c->out, '\n');
	return 0;
}

void
auditclosing_add(struct auditclosing *c, const char *event, struct span detail)
{
	struct auditlog_line l;

	auditlog_begin(&l, &c->log, &c->out, event);
	if (detail.len != 0)
		auditlog_json(&l, "detail", detail);
	(void)auditlog_end(&l);
}

int
auditclosing_end(struct auditclosing *c)
{
	struct span s = buf_span(&c->out);
	off_t before = lseek(c->session->closing, 0, SEEK_END);
	ssize_t n;
	int rv = -1, save;

	if (c->session->margin != -1)
		close(c->session->margin);
	c->session->margin = -1;
	n = write(c->session->closing, s.p, s.len);
	if (n == (ssize_t)s.len)
		rv = 0;
	else if (n != -1)
		errno = ENOSPC;
	save = errno;
	/* Remove a closing record that was written only in part. */
	if (n > 0 && rv == -1 && before != -1 &&
	    ftruncate(c->session->closing, before) == -1)
		save = errno;
	buf_free(&c->out);
	errno = save;
	return rv;
}

int
auditfile_last(const struct session *s, struct checkpoint *c)
{
	off_t whole;

	c->log = (struct auditlog){.seq = 1};
	c->part = s->older + 1;
	if (closing_read(s, &c->log, &whole) == -1 || whole == 0)
		return -1;
	c->offset = (uint64_t)whole;
	return 0;
}
