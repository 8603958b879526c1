/* SPDX-License-Identifier: ISC */
/*
 * A policy is put in place as a set. Each system call of an installation fails
 * in turn, alone and with all that follow, and the process is killed before each
 * of them: a reader finds all of the old files or all of the new ones.
 */
#include "files/policy_install.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"
#include "files/policydir.h"
#include "tap.h"

enum fail_mode { FAIL_NEVER, FAIL_ONCE, FAIL_ON, FAIL_KILL };

static struct {
	char top[PATH_MAX], dir[PATH_MAX], pending[PATH_MAX];
	enum fail_mode how;
	unsigned step, calls; /* the call that fails, and how many there were */
	bool quick;	      /* without waiting for the disk */
	bool watch;	      /* count the calls, and those without the lock */
	unsigned watched, unlocked;
} env;

static bool is_free(int lock);

/* Returns true if this call fails. */
static bool
injected(void)
{
	if (env.watch) {
		env.watched++;
		env.unlocked += is_free(LOCK_SH);
	}
	if (env.how == FAIL_NEVER)
		return false;
	env.calls++;
	if (env.calls == env.step && env.how == FAIL_KILL)
		_exit(9);
	errno = ENOSPC;
	return env.calls == env.step ||
	       (env.calls > env.step && env.how == FAIL_ON);
}

int __real_rename(const char *, const char *);
int __wrap_rename(const char *, const char *);
int __real_mkdir(const char *, mode_t);
int __wrap_mkdir(const char *, mode_t);
int __real_unlink(const char *);
int __wrap_unlink(const char *);
int __real_unlinkat(int, const char *, int);
int __wrap_unlinkat(int, const char *, int);
int __real_fsync(int);
int __wrap_fsync(int);
ssize_t __real_write(int, const void *, size_t);
ssize_t __wrap_write(int, const void *, size_t);

int
__wrap_rename(const char *a, const char *b)
{
	return injected() ? -1 : __real_rename(a, b);
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
	return injected() ? -1 : __real_mkdir(path, mode);
}

int
__wrap_unlink(const char *path)
{
	return injected() ? -1 : __real_unlink(path);
}

int
__wrap_unlinkat(int dirfd, const char *path, int flags)
{
	return injected() ? -1 : __real_unlinkat(dirfd, path, flags);
}

int
__wrap_fsync(int fd)
{
	return injected() ? -1 : env.quick ? 0 : __real_fsync(fd);
}

ssize_t
__wrap_write(int fd, const void *p, size_t n)
{
	return injected() ? -1 : __real_write(fd, p, n);
}

static const char *const old_names[] = {"compiled-policy.json",
    "tool-annotations.json", "dynamic-lists.json", "test-scenarios.json",
    "constitution.md", "servers/a/compiled-policy.json"};
static const struct policy_move moves[] = {{"constitution.md", true},
    {"servers/a/compiled-policy.json", false},
    {"servers/b/compiled-policy.json", false}, {"test-scenarios.json", false},
    {"compiled-policy.json", false}, {"tool-annotations.json", false},
    {"dynamic-lists.json", false}};

static void
put(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%.2000s/%.200s", dir, name);
	if ((f = fopen(path, "we")) == NULL || fputs(text, f) == EOF ||
	    fclose(f) == EOF)
		err(1, "%s", path);
}

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
make_dirs(const char *dir)
{
	static const char *const subs[] = {"", "/servers", "/servers/a",
	    "/servers/b"};
	char path[PATH_MAX];

	for (size_t i = 0; i < nitems(subs); i++) {
		snprintf(path, sizeof(path), "%.2000s%s", dir, subs[i]);
		(void)mkdir(path, 0700);
	}
}

/* Begin again, with a policy in the directory if it is not the first. */
static void
prepare(bool first)
{
	env.how = FAIL_NEVER;
	(void)nftw(env.dir, drop, 16, FTW_DEPTH | FTW_PHYS);
	if (mkdir(env.dir, 0700) == -1)
		err(1, "%s", env.dir);
	if (!first) {
		make_dirs(env.dir);
		for (size_t i = 0; i < nitems(old_names); i++)
			put(env.dir, old_names[i], "old");
	}
	make_dirs(env.pending);
	for (size_t i = 0; i < nitems(moves); i++)
		if (!moves[i].remove)
			put(env.pending, moves[i].name, "new");
}

/* Append the text of a file, or "-". */
static void
take(const char *path, char *dst, size_t cap)
{
	char text[64] = "-";
	FILE *f = path == NULL ? NULL : fopen(path, "re");
	size_t n;

	if (f != NULL) {
		n = fread(text, 1, sizeof(text) - 1, f);
		text[n] = '\0';
		fclose(f);
	}
	(void)strlcat(dst, text, cap);
	(void)strlcat(dst, " ", cap);
}

/* Read the policy as a session does. Returns its texts. */
static const char *
seen(void)
{
	const char *none[PROTO_RULES_LAST + 1] = {NULL};
	static char text[400];
	struct policydir p;
	struct fault fault;

	text[0] = '\0';
	if (policydir_files(&p, env.top, env.top, env.dir, none, &fault) == -1)
		return "fault";
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		take(p.files[k], text, sizeof(text));
	policydir_free(&p);
	return text;
}

/* Read all files where they belong. */
static const char *
placed(void)
{
	static char text[400];
	char path[PATH_MAX];

	text[0] = '\0';
	for (size_t i = 0; i < nitems(moves); i++) {
		snprintf(path, sizeof(path), "%.2000s/%.200s", env.dir,
		    moves[i].name);
		take(path, text, sizeof(text));
	}
	return text;
}

static bool
is_clean(void)
{
	static const char *const names[] = {"in-force", "in-force.new",
	    "in-force.old"};
	char path[PATH_MAX];

	for (size_t i = 0; i < nitems(names); i++) {
		snprintf(path, sizeof(path), "%.2000s/%s", env.dir, names[i]);
		if (access(path, F_OK) == 0)
			return false;
	}
	return true;
}

#define SEEN_NEW "new new new "
#define PLACED_NEW "- new new new new new new "

static const char *
seen_old(bool first)
{
	return first ? "- - - " : "old old old ";
}

static const char *
placed_old(bool first)
{
	return first ? "- - - - - - - " : "old old - old old old old ";
}

/* Install with a failure at `step`. Returns the exit status of the child. */
static int
attempt(enum fail_mode how, unsigned step, unsigned *calls)
{
	struct fault fault = {""};
	int status, fds[2];
	pid_t pid;

	if (pipe(fds) == -1 || (pid = fork()) == -1)
		err(1, "fork");
	if (pid == 0) {
		env.how = how;
		env.step = step;
		env.calls = 0;
		status = policy_install(env.dir, env.pending, moves,
			     nitems(moves), &fault) == -1;
		if (status == 1 && fault.text[0] == '\0')
			status = 2;
		env.how = FAIL_NEVER;
		(void)__real_write(fds[1], &env.calls, sizeof(env.calls));
		_exit(status);
	}
	close(fds[1]);
	if (read(fds[0], calls, sizeof(*calls)) != sizeof(*calls))
		*calls = step;
	close(fds[0]);
	if (waitpid(pid, &status, 0) == -1 || !WIFEXITED(status))
		err(1, "waitpid");
	return WEXITSTATUS(status);
}

/* Returns a word for what is wrong after an attempt, or NULL. */
static const char *
wrong(bool first, int status, bool *was_new)
{
	struct fault fault = {""};

	*was_new = strcmp(seen(), SEEN_NEW) == 0;
	if (!*was_new && strcmp(seen(), seen_old(first)) != 0)
		return "a mixture is read";
	if (status == 0 && !*was_new)
		return "success, and the old one is read";
	if (status == 1 && *was_new)
		return "a failure, and the new one is read";
	if (status == 2)
		return "a failure without a reason";
	if (policy_install_recover(env.dir, &fault) == -1)
		return "it cannot be recovered";
	if (strcmp(placed(), *was_new ? PLACED_NEW : placed_old(first)) != 0)
		return "not the same after recovery";
	if (!is_clean())
		return "something is left";
	return NULL;
}

static void
test_steps(bool first, enum fail_mode how, const char *name)
{
	unsigned step, calls = 0, olds = 0, news = 0, bad = 0;
	const char *why;
	bool was_new;
	int status;

	for (step = 1; step < 500; step++) {
		prepare(first);
		status = attempt(how, step, &calls);
		if ((why = wrong(first, status, &was_new)) != NULL) {
			printf("# step %u: %s: read %s, placed %s\n", step, why,
			    seen(), placed());
			bad++;
		}
		olds += !was_new;
		news += was_new;
		if (calls < step)
			break;
	}
	ok(bad == 0, "%s%s: %u steps, all or nothing", name,
	    first ? ", of the first policy" : "", step - 1);
	ok(step > 15 && step < 500 && olds > 10 && news > 0,
	    "%s: before and after (%u, %u)", name, olds, news);
}

/* Returns true if another process could take this lock of the directory. */
static bool
is_free(int lock)
{
	int fd = open(env.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is;

	if (fd == -1)
		err(1, "%s", env.dir);
	is = flock(fd, lock | LOCK_NB) == 0;
	close(fd);
	return is;
}

/* Readers and installations keep out of each other's way. */
static void
test_locks(void)
{
	const char *none[PROTO_RULES_LAST + 1] = {NULL};
	struct policydir p;
	struct fault fault;

	prepare(false);
	is_int(policydir_files(&p, env.top, env.top, env.dir, none, &fault), 0,
	    "the files of a policy");
	ok(!is_free(LOCK_EX), "no installation begins while they are read");
	ok(is_free(LOCK_SH), "another reader does");
	policydir_free(&p);
	ok(is_free(LOCK_EX), "one begins afterwards");
	env.watched = env.unlocked = 0;
	env.watch = true;
	is_int(policy_install(env.dir, env.pending, moves, nitems(moves), &fault),
	    0, "an installation");
	env.watch = false;
	ok(env.watched > 20 && env.unlocked == 0,
	    "at none of its %u steps a reader begins", env.watched);
	ok(is_free(LOCK_EX), "and one does afterwards");
}

int
main(void)
{
	/*
	 * In memory, if there is such a place: a file system on a disk writes a
	 * file out when it replaces another one, and here that happens
	 * thousands of times.
	 */
	snprintf(env.top, sizeof(env.top), "/dev/shm/policy-install.XXXXXX");
	if (mkdtemp(env.top) == NULL) {
		snprintf(
		    env.top, sizeof(env.top), "/tmp/policy-install.XXXXXX");
		if (mkdtemp(env.top) == NULL)
			err(1, "mkdtemp");
	}
	snprintf(env.dir, sizeof(env.dir), "%.2000s/policy", env.top);
	snprintf(env.pending, sizeof(env.pending), "%.2000s/pending", env.dir);
	env.quick = true;
	for (int first = 0; first < 2; first++) {
		test_steps(first == 1, FAIL_ONCE, "one failure");
		test_steps(first == 1, FAIL_ON, "failures from there on");
		test_steps(first == 1, FAIL_KILL, "killed");
	}
	test_locks();
	env.how = FAIL_NEVER;
	(void)nftw(env.top, drop, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
