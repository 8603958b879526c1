/* SPDX-License-Identifier: ISC */
/*
 * Opens audit.jsonl before anything runs: an earlier run's lines are checked
 * from first to last and continued, a torn last line is ended, disk space is
 * reserved.  Two descriptions of the file: auditd gets one; the other is ours
 * alone, for the closing record that a dead auditd cannot write.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "auditlog/line.h"
#include "auditlog/sum.h"
#include "session.h"

static const char *
auditfile_why(enum auditlog_check c)
{
	switch (c) {
	case AUDITLOG_GOOD:
	case AUDITLOG_FORM:
		break;
	case AUDITLOG_SEQ:
		return "lines are missing or repeated before it";
	case AUDITLOG_PREV:
		return "it does not continue the line before it";
	case AUDITLOG_BROKEN:
		return "it was changed after it was written";
	}
	return "it is no audit line";
}

/* Only the remains of a crash may be of no form: they have no end. */
static int
auditfile_check(struct session *s, struct span text, struct fault *fault)
{
	struct auditlog log = {.seq = 1, .hash = auditsum};
	enum auditlog_check c;
	const uint8_t *nl;
	size_t line = 0, n;

	while (text.len != 0) {
		line++;
		nl = memchr(text.p, '\n', text.len);
		n = nl == NULL ? text.len : (size_t)(nl - text.p);
		c = auditlog_verify(&log, span_of(text.p, n));
		if (c != AUDITLOG_GOOD &&
		    !(c == AUDITLOG_FORM && (n == 0 || text.p[n - 1] != '}')))
			return fault_set(fault,
			    "%s/audit.jsonl line %zu: %s. "
			    "Keep it as it is and use another --session-dir",
			    s->dir, line, auditfile_why(c));
		n += nl != NULL ? 1 : 0;
		text.p += n;
		text.len -= n;
	}
	s->seq = log.seq;
	memcpy(s->prev, log.prev, sizeof(s->prev));
	return 0;
}

int
session_audit_reader(const struct session *s)
{
	return openat(s->fd, "audit.jsonl", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static int
auditfile_resume(struct session *s, size_t size, struct fault *fault)
{
	uint8_t *p;
	int fd, rv;
	bool torn;

	if ((fd = session_audit_reader(s)) == -1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	rv = auditfile_check(s, span_of(p, size), fault);
	torn = p[size - 1] != '\n';
	(void)munmap(p, size);
	if (rv == 0 && torn && write(s->audit, "\n", 1) != 1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	return rv;
}

int
auditfile_open(struct session *s, struct fault *fault)
{
	const int flags =
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;

	s->seq = 1;
	s->audit = openat(s->fd, "audit.jsonl", flags, 0600);
	s->closing = openat(s->fd, "audit.jsonl", flags, 0600);
	if (s->audit == -1 || s->closing == -1 || fstat(s->audit, &st) == -1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return fault_set(fault,
		    "%s/audit.jsonl: not a plain file with "
		    "one name",
		    s->dir);
	if (st.st_size != 0 &&
	    auditfile_resume(s, (size_t)st.st_size, fault) == -1)
		return -1;
	if (auditfile_reserve(s) == -1)
		return fault_errno(fault,
		    "%s/audit.jsonl: cannot reserve %u "
		    "bytes of disk for the log",
		    s->dir, SESSION_RESERVE);
	return 0;
}

int
auditfile_reserve(struct session *s)
{
	struct stat st;

	if (fstat(s->closing, &st) == -1)
		return -1;
	if (fallocate(s->closing, FALLOC_FL_KEEP_SIZE, st.st_size,
		SESSION_RESERVE) == -1 &&
	    errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	return 0;
}

void
auditfile_trim(struct session *s)
{
	struct stat st;

	/* To its own length: frees what lies reserved behind it. */
	if (fstat(s->closing, &st) == 0 &&
	    ftruncate(s->closing, st.st_size) == -1)
		return;
}
