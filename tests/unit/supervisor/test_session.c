/* SPDX-License-Identifier: ISC */
/*
 * Tests the session directory: modes, the lock, paths of any length, traps that
 * an agent left in its home, and audit logs that may or must not be continued.
 */
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/base/here.h"
#include "supervisor/base/session.h"
#include "supervisor/log/line.h"
#include "tap.h"

static char top[] = "/tmp/test_sup_session.XXXXXX";
static struct paths paths;
static char ic[256];

static const char *
at(const char *name)
{
	static char path[4][8192];
	static unsigned i;

	i = (i + 1) % 4;
	snprintf(path[i], sizeof(path[i]), "%s/%s", top, name);
	return path[i];
}

static void
test_tree(void)
{
	struct session s, second;
	struct fault fault;
	struct stat st;
	char want[1024];
	int fd;

	ok(session_open(&s, &paths, at("a"), &fault) == 0, "made");
	ok(stat(at("a"), &st) == 0 && (st.st_mode & 07777) == 0700, "0700");
	ok(fstatat(s.fd, "home", &st, 0) == 0 && (st.st_mode & 07777) == 0700,
	    "the agent's home is private");
	ok(fstatat(s.fd, "audit.jsonl", &st, 0) == 0 &&
		(st.st_mode & 07777) == 0600 && st.st_size == 0,
	    "an empty log");
	ok(session_open(&second, &paths, at("a"), &fault) == -1,
	    "not twice at once");
	snprintf(want, sizeof(want),
	    "session directory %s: another "
	    "icsupervisor is running in it. See: icctl status",
	    at("a"));
	is_str(fault.text, want, "and says why");
	ok(fault.kind == FAULT_BUSY, "and its kind says so, too");
	session_close(&second);
	ok(session_link(&s, &paths, &fault) == 0, "linked");
	is_str(s.id, "a", "by its own name");
	fd = session_listen(s.sockets, "proxy.sock", 0666);
	ok(fd != -1 && fstatat(s.sockets, "proxy.sock", &st, 0) == 0 &&
		S_ISSOCK(st.st_mode) && (st.st_mode & 0777) == 0666,
	    "a socket for anyone who can come near");
	close(fd);
	session_close(&s);
	ok(lstat(at("home/run/a"), &st) == -1 && errno == ENOENT,
	    "the link is gone at the end");
	(void)chmod(at("a"), 0755);
	ok(session_open(&s, &paths, at("a"), &fault) == -1, "loose mode");
	snprintf(want, sizeof(want),
	    "session directory %s: other users can enter it (mode 0755). Run: "
	    "chmod 700 %s",
	    at("a"), at("a"));
	is_str(fault.text, want, "and says how to mend it");
	ok(fault.kind == FAULT_OTHER, "which is another kind");
	session_close(&s);
	ok(session_open(&s, &paths, at("no/where"), &fault) == -1 &&
		strstr(fault.text, "create its parent directory first") != NULL,
	    "no parent");
	session_close(&s);
}

static void
test_long(void)
{
	char path[8192];
	struct session s;
	struct fault fault;
	int fd;

	snprintf(path, sizeof(path), "%s", top);
	for (unsigned i = 0; i < 12; i++) {
		size_t n = strlen(path);

		snprintf(path + n, sizeof(path) - n, "/%0200u", i);
		if (mkdir(path, 0700) == -1)
			exit(99);
	}
	strlcat(path, "/s", sizeof(path));
	ok(session_open(&s, &paths, path, &fault) == 0, "a path of %zu bytes",
	    strlen(path));
	fd = session_listen(s.fd, "control.sock", 0600);
	ok(fd != -1, "and its socket");
	close(fd);
	session_close(&s);
}

static void
test_seed(void)
{
	struct session s;
	struct fault fault;
	struct stat st;

	if (session_open(&s, &paths, at("b"), &fault) == -1)
		exit(99);
	ok(session_seed(s.home, ".claude/x.json", 0600, SPAN("{}")) == 0 &&
		fstatat(s.home, ".claude/x.json", &st, 0) == 0 &&
		st.st_size == 2,
	    "a file in a new directory");
	(void)mkdir(at("victim"), 0700);
	if (symlinkat(at("victim"), s.home, ".trap") == -1 ||
	    symlinkat(at("victim/y"), s.home, "plain") == -1)
		exit(99);
	ok(session_seed(s.home, ".trap/x", 0600, SPAN("owned")) == -1 &&
		stat(at("victim/x"), &st) == -1,
	    "a directory that is a link");
	ok(session_seed(s.home, "plain", 0600, SPAN("new")) == 0 &&
		stat(at("victim/y"), &st) == -1 &&
		fstatat(s.home, "plain", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISREG(st.st_mode),
	    "a link in its place is replaced");
	ok(session_seed(s.home, "../out", 0600, SPAN("x")) == -1 &&
		errno == EINVAL,
	    "not upwards");
	ok(session_seed(s.home, "/abs", 0600, SPAN("x")) == -1, "not absolute");
	session_close(&s);
}

/* Append n records; `detail` is a JSON object, or NULL. */
static void
append(const struct session *s, struct auditlog *log, unsigned n,
    const char *event, const char *detail)
{
	struct auditlog_line l;
	struct buf b;
	struct span out;

	buf_init(&b, 65536);
	while (n-- != 0) {
		auditlog_begin(&l, log, &b, event);
		if (detail != NULL)
			auditlog_json(&l, "detail", span_str(detail));
		if (auditlog_end(&l) == -1)
			exit(99);
	}
	out = buf_span(&b);
	if (write(s->audit, out.p, out.len) != (ssize_t)out.len)
		exit(99);
	buf_free(&b);
}

static void
test_audit(void)
{
	struct auditlog log = {.seq = 1};
	struct session s;
	struct fault fault;
	char want[1024];
	int fd;

	if (session_open(&s, &paths, at("c"), &fault) == -1)
		exit(99);
	is_int(s.seq, 1, "the first line has number 1");
	append(&s, &log, 3, "test", NULL);
	session_close(&s);
	ok(session_open(&s, &paths, at("c"), &fault) == 0, "opened again");
	is_int(s.seq, 4, "it goes on");
	is_mem(s.prev, 32, log.prev, 32, "from the last hash");
	ok(write(s.audit, "{\"torn", 6) == 6, "a torn line");
	session_close(&s);
	ok(session_open(&s, &paths, at("c"), &fault) == 0, "is survived");
	is_int(s.seq, 4, "and is no record");
	is_int(s.torn, 6, "the first record shall say its length");
	append(&s, &log, 1, "start", "{\"torn\":6}");
	session_close(&s);
	ok(session_open(&s, &paths, at("c"), &fault) == 0, "nor in the way");
	is_int(s.seq, 5, "of the next");
	session_close(&s);
	fd = open(at("c/audit.jsonl"), O_WRONLY);
	ok(pwrite(fd, "X", 1, 12) == 1, "a changed line");
	close(fd);
	ok(session_open(&s, &paths, at("c"), &fault) == -1, "ends it");
	snprintf(want, sizeof(want),
	    "%s/audit.jsonl line 1: it was changed "
	    "after it was written. Keep it as it is and use another "
	    "--session-dir",
	    at("c"));
	is_str(fault.text, want, "with its number");
	session_close(&s);
}

/*
 * A home directory that several machines share, on a file system that cannot
 * lock directories, such as NFS. The test replaces libc's flock().
 */
static bool no_dir_locks, no_locks;

int
flock(int fd, int how)
{
	struct stat st;

	if (no_locks ||
	    (no_dir_locks && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))) {
		errno = EBADF;
		return -1;
	}
	return (int)syscall(SYS_flock, fd, how);
}

/* Returns true if somebody has the newest file of the log for writing. */
static bool
written(const struct session *s)
{
	int fd = openat(s->fd, "audit.jsonl", O_WRONLY | O_CLOEXEC);
	bool is = fd == -1 || syscall(SYS_flock, fd, LOCK_EX | LOCK_NB) == -1;

	close(fd);
	return is;
}

/* auditd's description of the log is locked as long as it has it. */
static void
test_log_lock(void)
{
	struct session s;
	struct fault fault;
	int fd = -1;

	ok(session_open(&s, &paths, at("lk"), &fault) == 0 && written(&s),
	    "the log is locked (%s)", fault.text);
	ok(auditfile_rotate(&s, false, &fd) == 0 && written(&s),
	    "so is the next file");
	close(fd);
	ok(!written(&s), "until the writer ends");
	close(s.audit);
	s.audit = -1;
	session_close(&s);
	no_locks = true;
	ok(session_open(&s, &paths, at("lk"), &fault) == 0,
	    "a file system without locks (%s)", fault.text);
	session_close(&s);
	no_locks = false;
}

static void
machine(const char *host, const char *boot)
{
	(void)strlcpy(here()->host, host, sizeof(here()->host));
	(void)strlcpy(here()->boot, boot, sizeof(here()->boot));
}

static bool
linked(const char *name)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "home/run/%s", name);
	return lstat(at(path), &st) == 0;
}

static void
test_shared(void)
{
	struct session a, b, c;
	struct fault fault;
	char want[1024], host[65];
	int run;

	no_dir_locks = true;
	machine("one", "1111");
	ok(session_open(&a, &paths, at("m1"), &fault) == 0 &&
		session_link(&a, &paths, &fault) == 0,
	    "where directories cannot be locked (%s)", fault.text);
	ok(session_open(&c, &paths, at("m1"), &fault) == -1 &&
		strstr(fault.text, "another icsupervisor is running in it. "
				   "See: icctl status") != NULL,
	    "not twice at once: %s", fault.text);
	session_close(&c);
	ok(session_open(&c, &paths, at("m3"), &fault) == 0 &&
		session_link(&c, &paths, &fault) == 0 && linked("m1"),
	    "a second session here leaves the first one's link");
	session_close(&c);

	machine("two", "2222");
	ok(session_open(&c, &paths, at("m1"), &fault) == -1 &&
		strstr(fault.text, "is running in it, on one") != NULL,
	    "another machine is told where: %s", fault.text);
	session_close(&c);
	/*
	 * The session's files are locked in a way that this machine does not
	 * see.
	 */
	(void)syscall(SYS_flock, a.lock, LOCK_UN);
	(void)syscall(SYS_flock, a.audit, LOCK_UN);
	ok(session_open(&c, &paths, at("m1"), &fault) == -1, "no lock seen");
	snprintf(want, sizeof(want),
	    "session directory %s: a session on one still owns it, and may be "
	    "running there. If it is not, run: rm %s/lock",
	    at("m1"), at("m1"));
	is_str(fault.text, want, "its name is enough");
	session_close(&c);
	ok(session_open(&b, &paths, at("m2"), &fault) == 0 &&
		session_link(&b, &paths, &fault) == 0,
	    "a session of another machine");
	ok(linked("m1") && linked("m2"), "which leaves the first one's link");
	run = open(at("home/run"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is_int(here_read(run, ".m1.host", host), HERE_ELSEWHERE, "by its host");
	is_str(host, "one", "which it names");
	session_close(&b);
	ok(linked("m1") && !linked("m2"), "at its end, too");

	/* The first machine was rebooted: its old files belong to nobody. */
	machine("one", "3333");
	is_int(here_read(run, ".m1.host", host), HERE_STALE, "an earlier boot");
	close(run);
	ok(session_open(&b, &paths, at("m4"), &fault) == 0 &&
		session_link(&b, &paths, &fault) == 0 && !linked("m1"),
	    "its links are swept");
	session_close(&b);
	ok(session_open(&b, &paths, at("m1"), &fault) == 0,
	    "its directory can be used again (%s)", fault.text);
	session_close(&b);
	session_close(&a);
	machine("two", "2222");
	ok(session_open(&b, &paths, at("m4"), &fault) == 0,
	    "one that was given back, by any machine (%s)", fault.text);
	session_close(&b);
	no_dir_locks = false;
}

int
main(void)
{
	char cmd[] = "/bin/rm";
	char *const argv[] = {cmd, (char[]){"-rf"}, top, NULL};

	if (mkdtemp(top) == NULL)
		return 99;
	snprintf(ic, sizeof(ic), "%s/home", top);
	if (mkdir(ic, 0700) == -1)
		return 99;
	paths.home = ic;
	test_tree();
	test_long();
	test_seed();
	test_log_lock();
	test_shared();
	test_audit();
	if (fork() == 0) {
		execv(cmd, argv);
		_exit(127);
	}
	return tap_done();
}
