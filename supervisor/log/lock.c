/* SPDX-License-Identifier: ISC */
/*
 * Waits for the writer of a log. A blocking flock(2) has no limit of time, so a
 * child calls it, on the description that it shares with its parent: the lock
 * is then the parent's as well, and the parent waits for the child's end.
 */
#include "log/lock.h"

#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "common/log.h"
#include "common/loop.h"
#include "log/parts.h"

/* Returns true if the file system has no locks, as an old NFS. */
static bool
lock_unknown(void)
{
	return errno == EBADF || errno == ENOLCK || errno == EOPNOTSUPP ||
	       errno == EINVAL || errno == ENOSYS;
}

int
auditlock_take(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == -1 && !lock_unknown())
		return -1;
	return 0;
}

/* Wait for the child's end until the limit. */
static void
lock_watch(pid_t child)
{
	uint64_t end = clock_mono_us() + AUDITLOCK_MS * 1000ULL, now;
	struct pollfd p = {.events = POLLIN};

	if ((p.fd = (int)syscall(SYS_pidfd_open, child, 0)) == -1)
		return;
	while ((now = clock_mono_us()) < end &&
	       poll(&p, 1, (int)((end - now) / 1000 + 1)) == -1 &&
	       errno == EINTR)
		;
	close(p.fd);
}

/*
 * Lock the description, waiting at most AUDITLOCK_MS. Returns 0, or -1 with
 * errno set.
 */
static int
lock_limited(int fd)
{
	pid_t child, parent = getpid();

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return -1;
	if ((child = fork()) == -1)
		return -1;
	if (child == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 ||
		    getppid() != parent)
			_exit(1);
		while (flock(fd, LOCK_EX) == -1 && errno == EINTR)
			;
		_exit(0);
	}
	lock_watch(child);
	(void)kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) == -1 && errno == EINTR)
		;
	return flock(fd, LOCK_EX | LOCK_NB);
}

/* Wait until nobody writes to this file. Returns as auditlock_wait(). */
static int
lock_wait(int dirfd, const char *dir, const char *name, struct fault *fault)
{
	struct stat st;
	int fd, rv = 0;

	/* NFS locks only a file that is open for writing. */
	fd = openat(dirfd, name,
	    O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	/* Whoever opens it next says why it cannot be opened. */
	if (fd == -1)
		return 0;
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode))
		goto out;
	if (lock_limited(fd) == 0)
		goto out;
	if (lock_unknown())
		log_warn("%s/%s: its file system has no locks: an auditd of an "
			 "icsupervisor that was killed there is not noticed",
		    dir, name);
	else if (errno == EWOULDBLOCK)
		rv = fault_set_kind(fault, FAULT_BUSY,
		    "%s/%s: the auditd of an icsupervisor that was killed "
		    "still has the log, after %d seconds. Try again when it "
		    "has ended; to see it: ps -C auditd",
		    dir, name, AUDITLOCK_MS / 1000);
	else
		rv = fault_errno(fault, "%s/%s", dir, name);
out:
	close(fd);
	return rv;
}

int
auditlock_wait(int dirfd, const char *dir, struct fault *fault)
{
	char name[AUDITPARTS_NAME];
	unsigned older;

	if (auditparts_count(dirfd, &older) == -1)
		older = 0;
	/* auditd may not have taken the newest file yet: rotate.h. */
	if (older != 0 &&
	    lock_wait(dirfd, dir, auditparts_name(older, older, name), fault) ==
		-1)
		return -1;
	return lock_wait(
	    dirfd, dir, auditparts_name(older + 1, older, name), fault);
}
