/* SPDX-License-Identifier: ISC */
/*
 * Creates and locks the session directory. Holds descriptors of it; trusts
 * nothing below sandbox/ or home/, which the agent can write.
 */
#include "base/session.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/here.h"
#include "common/log.h"
#include "common/loop.h"

#define SESSION_LOG_MAX (64U << 20)

void
session_init(struct session *s)
{
	memset(s, 0, sizeof(*s));
	s->fd = s->sandbox = s->orientation = s->sockets = s->home = -1;
	s->run = s->log = s->audit = s->closing = s->margin = s->lock = -1;
	s->left = -1;
}

#define SESSION_LOCK "lock"

/* NFS cannot lock a directory: flock fails with EBADF. */
static bool
session_cannot_lock(void)
{
	return errno == EBADF || errno == ENOLCK || errno == EOPNOTSUPP ||
	       errno == EINVAL;
}

static int
session_in_use(const char *dir, struct fault *fault)
{
	return fault_set_kind(fault, FAULT_BUSY,
	    "session directory %s: another icsupervisor is running in it. "
	    "See: icctl status",
	    dir);
}

/*
 * Take both locks: on the file "lock", which works on network file systems, and
 * on the directory, which older versions check.
 */
static int
session_take(struct session *s, const char *dir, struct fault *fault)
{
	char host[65];

	s->lock = openat(s->fd, SESSION_LOCK,
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (s->lock == -1)
		return fault_errno(fault, "%s/" SESSION_LOCK, dir);
	if ((flock(s->lock, LOCK_EX | LOCK_NB) == -1 &&
		!session_cannot_lock()) ||
	    (flock(s->fd, LOCK_EX | LOCK_NB) == -1 && !session_cannot_lock())) {
		if (errno != EWOULDBLOCK)
			return fault_errno(fault, "session directory %s", dir);
		if (here_read(s->fd, SESSION_LOCK, host) != HERE_ELSEWHERE)
			return session_in_use(dir, fault);
		return fault_set_kind(fault, FAULT_BUSY,
		    "session directory %s: another icsupervisor is running in "
		    "it, on %s",
		    dir, host);
	}
	if (here_read(s->fd, SESSION_LOCK, host) == HERE_ELSEWHERE)
		return fault_set(fault,
		    "session directory %s: a session on %s still owns it, and "
		    "may be running there. If it is not, run: rm "
		    "%s/" SESSION_LOCK,
		    dir, host, dir);
	if (here_write(s->fd, SESSION_LOCK) == -1)
		return fault_errno(fault, "%s/" SESSION_LOCK, dir);
	s->locked = true;
	return 0;
}

static int
session_lock(struct session *s, const char *dir, struct fault *fault)
{
	struct stat st;

	s->made = mkdir(dir, 0700) == 0;
	if (!s->made && errno != EEXIST)
		return fault_errno(fault, "session directory %s%s", dir,
		    errno == ENOENT ? ": create its parent directory "
				      "first" : "");
	s->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd == -1 || fstat(s->fd, &st) == -1)
		return fault_errno(fault, "session directory %s", dir);
	if (paths_private(&st, "session directory", dir, fault) == -1)
		return -1;
	s->made = s->made || session_untouched(s->fd);
	/* By this name the directory is removed if the start fails. */
	if ((s->dir = paths_of_fd(s->fd)) == NULL)
		return fault_errno(fault, "session directory %s", dir);
	return session_take(s, dir, fault);
}

/* Create and open a directory below `dirfd`, without following a link. */
static int
session_subdir(int dirfd, const char *name)
{
	if (mkdirat(dirfd, name, 0700) == -1 && errno != EEXIST)
		return -1;
	return openat(
	    dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int
session_home_dir(const struct paths *p, const char *name, int *fd)
{
	char *path;
	int rv = -1, save;

	if ((path = paths_join(p->home, name)) == NULL)
		return -1;
	if (mkdir(path, 0700) == 0 || errno == EEXIST) {
		*fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rv = *fd == -1 ? -1 : 0;
	}
	save = errno;
	free(path);
	errno = save;
	return rv;
}

int
session_open(struct session *s, const struct paths *p, const char *dir,
    struct fault *fault)
{
	struct stat st;
	int sessions;

	session_init(s);
	if (session_home_dir(p, "run", &s->run) == -1 ||
	    session_home_dir(p, "sessions", &sessions) == -1)
		return fault_errno(fault, "IRONCURTAIN_HOME %s", p->home);
	close(sessions);
	if (session_lock(s, dir, fault) == -1)
		return -1;
	if ((s->sandbox = session_subdir(s->fd, "sandbox")) == -1 ||
	    (s->orientation = session_subdir(s->fd, "orientation")) == -1 ||
	    (s->sockets = session_subdir(s->fd, "sockets")) == -1 ||
	    (s->home = session_subdir(s->fd, "home")) == -1)
		return fault_errno(fault, "session directory %s", s->dir);
	/*
	 * A container's user, who is another user, must be able to enter them.
	 */
	if (fchmod(s->orientation, 0755) == -1 ||
	    fchmod(s->sockets, 0755) == -1)
		return fault_errno(fault, "session directory %s", s->dir);
	s->log = openat(s->fd, "session.log",
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
	    0600);
	if (s->log == -1 && errno != ENXIO)
		return fault_errno(fault, "%s/session.log", s->dir);
	/* Opening a FIFO without a reader fails with ENXIO. */
	if (s->log == -1 || fstat(s->log, &st) == -1 || !S_ISREG(st.st_mode))
		return fault_set(
		    fault, "%s/session.log: not a plain file", s->dir);
	return auditfile_open(s, fault);
}

static bool
session_name_ok(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n != 0 && n <= 56 && s[n] == '\0' && s[0] != '.' && s[0] != '-';
}

/* Returns true if a link of that name leads to a session that runs. */
static bool
session_runs(int run, const char *name)
{
	bool runs = false;
	int fd, lock;

	fd = openat(run, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd == -1)
		return false;
	lock = openat(
	    fd, SESSION_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (flock(fd, LOCK_SH | LOCK_NB) == -1 && errno == EWOULDBLOCK)
		runs = true;
	if (lock != -1 && flock(lock, LOCK_SH | LOCK_NB) == -1)
		runs = true;
	if (lock != -1)
		close(lock);
	close(fd);
	return runs;
}

/* Returns true if this machine may remove the link: its session has ended. */
static bool
session_left(const struct session *s, const char *name)
{
	char beside[300], host[65];

	switch (here_read(s->run, here_beside(name, beside), host)) {
	case HERE_ELSEWHERE:
		return false;
	case HERE_STALE:
		return true;
	case HERE_OURS:
	case HERE_UNKNOWN:
		break;
	}
	/* A session takes its lock before it makes its link. */
	return !session_runs(s->run, name);
}

static void
session_unlink(const struct session *s, const char *name)
{
	char beside[300];

	(void)unlinkat(s->run, name, 0);
	(void)unlinkat(s->run, here_beside(name, beside), 0);
}

/*
 * Remove links of an icsupervisor that was killed, and links to this session.
 */
static int
session_sweep(struct session *s)
{
	char target[4096];
	struct dirent *e;
	DIR *dir;
	ssize_t n;
	int fd;

	if ((fd = openat(s->run, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
	    -1)
		return -1;
	if ((dir = fdopendir(fd)) == NULL) {
		close(fd);
		return -1;
	}
	while ((e = readdir(dir)) != NULL) {
		n = readlinkat(s->run, e->d_name, target, sizeof(target));
		if (n == -1)
			continue;
		if ((n == (ssize_t)strlen(s->dir) &&
			memcmp(target, s->dir, (size_t)n) == 0) ||
		    session_left(s, e->d_name))
			session_unlink(s, e->d_name);
	}
	closedir(dir);
	return 0;
}

int
session_link(struct session *s, const struct paths *p, struct fault *fault)
{
	const char *base = strrchr(s->dir, '/');
	char beside[300];

	base = base == NULL ? s->dir : base + 1;
	if (!session_name_ok(base))
		base = "session";
	if (session_sweep(s) == -1)
		return fault_errno(fault, "%s/run", p->home);
	snprintf(s->id, sizeof(s->id), "%s", base);
	for (unsigned try = 0; try < 16; try++) {
		if (symlinkat(s->dir, s->run, s->id) == 0) {
			s->linked = true;
			return here_write(s->run, here_beside(s->id, beside)) ==
				       0
				   ? 0
				   : fault_errno(
					 fault, "%s/run/%s", p->home, beside);
		}
		if (errno != EEXIST)
			break;
		snprintf(s->id, sizeof(s->id), "%.50s-%06x", base,
		    arc4random() & 0xffffffU);
	}
	return fault_errno(fault, "%s/run/%s", p->home, s->id);
}

void
session_close(struct session *s)
{
	int *fds[] = {&s->closing, &s->margin, &s->audit, &s->sandbox,
	    &s->orientation, &s->sockets, &s->home, &s->run, &s->log, &s->lock,
	    &s->fd};
	char target[4096];
	ssize_t n;

	if (s->linked) {
		n = readlinkat(s->run, s->id, target, sizeof(target));
		if (n == (ssize_t)strlen(s->dir) &&
		    memcmp(target, s->dir, (size_t)n) == 0)
			session_unlink(s, s->id);
		session_unlisten(s->fd);
	}
	/* auditd has the other description of the log. */
	if (s->closing != -1)
		auditfile_trim(s);
	/* Release the directory: any machine may continue in it. */
	if (s->locked && ftruncate(s->lock, 0) == -1)
		log_warn("%s/" SESSION_LOCK, s->dir);
	for (size_t i = 0; i < nitems(fds); i++)
		if (*fds[i] != -1)
			close(*fds[i]);
	free(s->dir);
	session_init(s);
}

void
session_log(struct session *s, const char *who, struct span text)
{
	char vis[2200], line[2400];
	int n;

	if (s->log == -1 || s->logged > SESSION_LOG_MAX)
		return;
	/* Workers escape texts from outside before they log them. */
	log_vis_again(text, vis, sizeof(vis));
	n = snprintf(line, sizeof(line), "%llu.%03llu %s: %s\n",
	    (unsigned long long)(clock_wall_us() / 1000000),
	    (unsigned long long)(clock_wall_us() / 1000 % 1000), who,
	    s->logged + sizeof(line) > SESSION_LOG_MAX
		? "(this log is full; nothing more is kept)"
		: vis);
	if (n <= 0)
		return;
	if (s->logged + sizeof(line) > SESSION_LOG_MAX)
		s->logged = SESSION_LOG_MAX;
	s->logged += (size_t)n;
	/* A full disk loses log lines, never the session. */
	if (write(s->log, line, (size_t)n) == -1)
		return;
}
