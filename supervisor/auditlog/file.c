/* SPDX-License-Identifier: ISC */
/*
 * Opens audit.jsonl before anything runs: checks an earlier run's lines, from
 * the first or from the checkpoint, and continues them, ends a torn last line,
 * and reserves disk space. There are two descriptions of the file: one goes to
 * auditd, the other stays with icsupervisor for the closing record that a dead
 * auditd cannot write.
 */
#include "session.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "auditlog/scan.h"

int
session_audit_reader(const struct session *s)
{
	return openat(s->fd, "audit.jsonl", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* Returns true if the chain holds, up to a line that a crash cut short. */
static bool
scan_good(const struct auditscan *scan)
{
	return scan->check == AUDITLOG_GOOD || scan->tail;
}

/*
 * Check the file. Returns 0 with `scan` filled in, or -1 with the fault
 * set.
 */
static int
auditfile_scan(
    struct session *s, size_t size, struct auditscan *scan, struct fault *fault)
{
	struct checkpoint from;
	struct span all;
	uint8_t *p;
	int fd;

	if ((fd = session_audit_reader(s)) == -1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	p = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	all = span_of(p, size);
	if (checkpoint_read(s->fd, &from) && checkpoint_fits(&from, all)) {
		auditscan_from(all, &from, scan);
		s->unchecked = from;
	}
	/* The message about a broken line counts lines from the first. */
	if (s->unchecked.offset == 0 || !scan_good(scan)) {
		auditscan(all, scan);
		s->unchecked.offset = 0;
	}
	scan->unended = p[size - 1] != '\n';
	(void)munmap(p, size);
	if (!scan_good(scan))
		return fault_set(fault,
		    "%s/audit.jsonl line %zu: %s. Keep it as it is and use "
		    "another --session-dir",
		    s->dir, scan->line, auditscan_why(scan->check));
	return 0;
}

int
auditfile_attach(struct session *s, struct auditscan *scan, struct fault *fault)
{
	/* Do not wait for a reader if the file is a FIFO. */
	const int flags =
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	struct stat st;

	memset(scan, 0, sizeof(*scan));
	s->seq = 1;
	s->audit = openat(s->fd, "audit.jsonl", flags, 0600);
	s->closing = openat(s->fd, "audit.jsonl", flags, 0600);
	if (s->audit == -1 || s->closing == -1 || fstat(s->audit, &st) == -1) {
		if (errno != ENXIO)
			return fault_errno(fault, "%s/audit.jsonl", s->dir);
		st = (struct stat){.st_nlink = 1};
	}
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return fault_set(fault,
		    "%s/audit.jsonl: not a plain file with "
		    "one name",
		    s->dir);
	if (st.st_size == 0)
		return 0;
	if (auditfile_scan(s, (size_t)st.st_size, scan, fault) == -1)
		return -1;
	s->begun.offset = scan->whole;
	s->begun.log.seq = scan->seq;
	memcpy(s->begun.log.prev, scan->hash, sizeof(scan->hash));
	s->seq = scan->seq;
	s->torn = scan->cut;
	memcpy(s->prev, scan->hash, sizeof(s->prev));
	return 0;
}

/*
 * Reserve disk space for the closing record, which may have to be written when
 * the disk is full. The file has no name, so it is freed however this process
 * ends.
 */
static int
auditfile_margin(struct session *s)
{
	static const char name[] = "audit.margin", zero[4096];

	(void)unlinkat(s->fd, name, 0);
	s->margin = openat(s->fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->margin == -1)
		return -1;
	(void)unlinkat(s->fd, name, 0);
	if (fallocate(s->margin, 0, 0, SESSION_MARGIN) == 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	for (size_t i = 0; i < SESSION_MARGIN / sizeof(zero); i++)
		if (write(s->margin, zero, sizeof(zero)) != sizeof(zero))
			return -1;
	return 0;
}

int
auditfile_open(struct session *s, struct fault *fault)
{
	struct auditscan scan;

	if (auditfile_attach(s, &scan, fault) == -1)
		return -1;
	if (scan.unended && write(s->audit, "\n", 1) != 1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	if (auditfile_reserve(s) == -1 || auditfile_margin(s) == -1)
		return fault_errno(fault,
		    "%s/audit.jsonl: cannot reserve %u "
		    "bytes of disk for the log",
		    s->dir, SESSION_RESERVE + SESSION_MARGIN);
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

	if (s->margin != -1)
		close(s->margin);
	s->margin = -1;
	/*
	 * Truncate to the current length, to free the blocks reserved after it.
	 */
	if (fstat(s->closing, &st) == 0 &&
	    ftruncate(s->closing, st.st_size) == -1)
		return;
}
