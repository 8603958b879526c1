/* SPDX-License-Identifier: ISC */
/*
 * Opens audit.jsonl before anything runs: checks an earlier run's lines, from
 * the first or from the checkpoint, and continues them, ends a torn last line,
 * and reserves disk space. There are two descriptions of the file: one goes to
 * auditd, the other stays with icsupervisor for the closing record that a dead
 * auditd cannot write. While the session runs, begins another file when auditd
 * says that this one has its size.
 */
#include "base/session.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "log/lock.h"
#include "log/scan.h"

int
session_audit_reader(const struct session *s)
{
	return openat(s->fd, "audit.jsonl", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Check the log. Returns 0 with `scan` filled in, or -1 with the fault set.
 */
static int
auditfile_scan(struct session *s, struct auditscan *scan, struct fault *fault)
{
	struct checkpoint from;
	bool known = checkpoint_read(s->fd, &from, &s->checked);

	if (known && checkpoint_fits(&from, s->fd)) {
		if (auditscan(s->fd, s->dir, &from, 0, scan, fault) == -1)
			return -1;
		s->unchecked = from;
	}
	/* The message about a broken line counts lines from the first. */
	if (s->unchecked.offset == 0 || !auditscan_good(scan)) {
		s->unchecked.offset = 0;
		if (auditscan(s->fd, s->dir, NULL, 0, scan, fault) == -1)
			return -1;
	}
	if (!auditscan_good(scan))
		return auditscan_fault(scan, s->dir,
		    "Keep it as it is and use another --session-dir", fault);
	if (known && from.log.seq > scan->seq)
		s->ended = from.log.seq;
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
	if (auditlock_wait(s->fd, s->dir, fault) == -1)
		return -1;
	if (auditparts_settle(s->fd) == -1 && errno != ENODATA)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
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
	/* auditd gets this description: nobody else may write until it ends. */
	if (auditlock_take(s->audit) == -1)
		return fault_errno(fault, "%s/audit.jsonl", s->dir);
	s->size = (uint64_t)st.st_size;
	if (!auditparts_any(s->fd))
		return 0;
	if (auditfile_scan(s, scan, fault) == -1)
		return -1;
	s->older = scan->part - 1;
	s->begun.part = scan->part;
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
		    "%s/audit.jsonl: free some space there, %u bytes of disk "
		    "are needed for the log",
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

/* Free the blocks that are reserved after the end of a file. */
static void
auditfile_cut(int fd)
{
	struct stat st;

	if (fd != -1 && fstat(fd, &st) == 0 && ftruncate(fd, st.st_size) == -1)
		return;
}

void
auditfile_trim(struct session *s)
{
	if (s->margin != -1)
		close(s->margin);
	s->margin = -1;
	auditfile_cut(s->closing);
	auditfile_left(s);
}

int
auditfile_rotate(struct session *s, bool sync, int *fd)
{
	int fds[2];

	if (s->left != -1) {
		errno = EBUSY;
		return -1;
	}
	if (auditparts_rotate(s->fd, &s->older, SESSION_RESERVE, fds) == -1)
		return -1;
	/*
	 * Until then auditd holds the lock of the old file: auditlock_wait().
	 */
	if (auditlock_take(fds[1]) == -1)
		log_warn("%s/audit.jsonl: cannot be locked", s->dir);
	if (sync && fsync(s->fd) == -1)
		log_warn("%s", s->dir);
	s->left = s->closing;
	s->closing = fds[0];
	*fd = fds[1];
	return 0;
}

void
auditfile_left(struct session *s)
{
	if (s->left == -1)
		return;
	auditfile_cut(s->left);
	close(s->left);
	s->left = -1;
}

void
auditfile_settle(struct session *s)
{
	struct stat st;

	/* auditd has not come so far as to write to the new file. */
	if (s->left == -1 || fstat(s->closing, &st) == -1 || st.st_size != 0 ||
	    auditparts_settle(s->fd) == -1)
		return;
	close(s->closing);
	s->closing = s->left;
	s->left = -1;
	s->older--;
}
