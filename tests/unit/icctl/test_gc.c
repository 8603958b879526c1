/* SPDX-License-Identifier: ISC */
/*
 * Tests how `icctl gc` decides whether a session lives and which ones it
 * removes, and that it removes nothing outside of a tree that an agent filled.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/tree.h"
#include "icctl/gc/look.h"
#include "icctl/gc/state.h"
#include "tap.h"

static const struct {
	const char *name;
	struct gc_facts f;
	enum gc_state want;
} states[] = {
    {"a session that ended", {.json = true, .log = true}, GC_ENDED},
    {"one whose lock is held",
	{.lock = GC_LOCK_TAKEN,
	    .owner = HERE_OURS,
	    .json = true,
	    .says_runs = true},
	GC_LIVING},
    {"one that starts, with its lock",
	{.lock = GC_LOCK_TAKEN, .owner = HERE_OURS, .fresh = true}, GC_LIVING},
    {"one that starts, before its lock", {.fresh = true}, GC_STARTING},
    {"killed",
	{.owner = HERE_OURS,
	    .named = true,
	    .json = true,
	    .says_runs = true,
	    .log = true},
	GC_CRASHED},
    {"killed while it started",
	{.owner = HERE_OURS, .named = true, .log = true}, GC_CRASHED},
    {"the machine was reset",
	{.owner = HERE_STALE,
	    .other_boot = true,
	    .json = true,
	    .says_runs = true},
	GC_CRASHED},
    {"its pid is used again, by another boot's process",
	{.owner = HERE_STALE,
	    .named = true,
	    .runs = true,
	    .other_boot = true,
	    .json = true,
	    .says_runs = true},
	GC_CRASHED},
    {"its lock file was removed, and it lives",
	{.named = true, .runs = true, .json = true, .says_runs = true},
	GC_LIVING},
    {"no locks here, and its process runs",
	{.lock = GC_LOCK_CANNOT,
	    .owner = HERE_OURS,
	    .named = true,
	    .runs = true,
	    .json = true,
	    .says_runs = true},
	GC_LIVING},
    {"no locks here, and its process is gone",
	{.lock = GC_LOCK_CANNOT,
	    .owner = HERE_OURS,
	    .named = true,
	    .json = true,
	    .says_runs = true},
	GC_CRASHED},
    {"no locks here, and of an older version",
	{.lock = GC_LOCK_CANNOT,
	    .owner = HERE_OURS,
	    .json = true,
	    .says_runs = true},
	GC_UNKNOWN},
    {"ended, and its pid is used again",
	{.named = true, .runs = true, .json = true}, GC_ENDED},
    {"another machine holds it",
	{.owner = HERE_ELSEWHERE, .json = true, .says_runs = true},
	GC_ELSEWHERE},
    {"another machine's, ended", {.json = true, .other_host = true},
	GC_ELSEWHERE},
    {"a start that was refused", {.lock = GC_LOCK_FREE}, GC_REFUSED},
};

static const struct {
	const char *text;
	int64_t want;
} spans[] = {{"45m", 2700}, {"12h", 43200}, {"30d", 2592000}, {"2w", 1209600},
    {"0", 0}, {"0d", 0}, {"5", -1}, {"", -1}, {"d", -1}, {"-1d", -1},
    {"1dd", -1}, {"1 d", -1}, {"999999999999999999999d", -1}, {"100001d", -1},
    {"+1d", -1}};

static const struct {
	int64_t older, newest, age;
	unsigned rank;
	bool want;
} rules[] = {
    {-1, -1, 31 * 86400, 10, true},
    {-1, -1, 31 * 86400, 9, false},
    {-1, -1, 29 * 86400, 50, false},
    {3600, -1, 3600, 0, true},
    {3600, -1, 3599, 99, false},
    {-1, 2, 0, 2, true},
    {-1, 2, 999999999, 1, false},
    {3600, 2, 7200, 2, true},
    {3600, 2, 7200, 1, false},
    {0, -1, 0, 0, true},
};

static void
decisions(void)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		ok(gc_state(&states[i].f) == states[i].want, "%s",
		    states[i].name);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		ok(gc_span(spans[i].text) == spans[i].want, "span \"%s\"",
		    spans[i].text);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct gc_rule r = {
		    .older = rules[i].older, .newest = rules[i].newest};

		ok(gc_removes(&r, rules[i].age, rules[i].rank) == rules[i].want,
		    "rule %zu", i);
	}
}

static void
need(int rv)
{
	if (rv == -1)
		err(1, "the tree");
}

static void
put(int dirfd, const char *name, const char *text)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd == -1 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "%s", name);
	close(fd);
}

static int
make(int dirfd, const char *name)
{
	int fd = -1;

	if (mkdirat(dirfd, name, 0700) == -1 ||
	    (fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY)) == -1)
		err(1, "%s", name);
	return fd;
}

/* Fill a tree with traps. `outside` is beside it. */
static void
traps(int top)
{
	int tree = make(top, "tree"), fd, next;

	fd = make(top, "outside");
	put(fd, "precious", "x");
	close(fd);
	need(symlinkat("../outside", tree, "link"));
	need(symlinkat("../outside/precious", tree, "file-link"));
	need(symlinkat("/", tree, "root"));
	put(tree, "plain", "some bytes");
	close(make(tree, "closed"));
	fd = make(tree, "locked");
	put(fd, "x", "x");
	close(fd);
	need(fchmodat(tree, "closed", 0, 0));
	need(fchmodat(tree, "locked", 0500, 0));
	need(mkfifoat(tree, "fifo", 0600));
	fd = tree;
	for (unsigned i = 0; i < 300; i++) {
		next = make(fd, "deep");
		put(next, "x", "x");
		close(fd);
		fd = next;
	}
	close(fd);
}

static void
trees(int top)
{
	struct tree t = {.dry = true, .top = -1}, u = {.top = -1};
	struct stat st;

	traps(top);
	(void)fstat(top, &st);
	t.dev = u.dev = st.st_dev;
	tree_whole(&t, top, "tree");
	ok(t.bytes != 0 && fstatat(top, "tree/plain", &st, 0) == 0,
	    "a dry run measures, and removes nothing");
	ok(fstatat(top, "tree/closed", &st, 0) == 0 && (st.st_mode & 0777) == 0,
	    "nor does it change rights");
	tree_whole(&u, top, "tree");
	ok(!u.failed && fstatat(top, "tree", &st, 0) == -1 && errno == ENOENT,
	    "a tree of traps is removed, to any depth");
	ok(u.bytes >= t.bytes, "and its size is told");
	ok(fstatat(top, "outside/precious", &st, 0) == 0,
	    "no link is followed");
	need(symlinkat("outside", top, "tree"));
	u = (struct tree){.dev = t.dev, .top = -1};
	tree_whole(&u, top, "tree");
	ok(u.failed && fstatat(top, "outside/precious", &st, 0) == 0,
	    "a link in the tree's place is refused");
	need(unlinkat(top, "tree", 0));
	close(make(top, "tree"));
	u = (struct tree){.dev = t.dev + 1, .top = -1};
	put(top, "tree/x", "x");
	close(make(top, "tree/sub"));
	tree_whole(&u, top, "tree");
	ok(u.failed && fstatat(top, "tree/sub", &st, 0) == 0,
	    "another file system is not entered");
}

static enum gc_state
looked(int top, const char *name, struct gc_look *l)
{
	struct stat st;

	(void)fstat(top, &st);
	if (gc_look(l, top, name, (uint64_t)st.st_dev, time(NULL) + 3600) == -1)
		return GC_UNKNOWN;
	return l->state;
}

static void
looks(int top)
{
	struct gc_look l;
	char text[300];
	int fd, lock;

	fd = make(top, "session");
	ok(looked(top, "session", &l) == GC_REFUSED, "an empty directory");
	gc_release(&l);
	snprintf(text, sizeof(text),
	    "{\"state\":\"running\",\"pid\":%d,\"pidStart\":%llu,"
	    "\"boot\":\"%s\",\"host\":\"%s\",\"agent\":\"codex\"}",
	    (int)getpid(), (unsigned long long)here_start(getpid()),
	    here()->boot, here()->host);
	put(fd, "session.json", text);
	ok(looked(top, "session", &l) == GC_LIVING,
	    "no lock, and the very process that is named runs");
	ok(strcmp(l.agent, "codex") == 0, "its agent is known");
	gc_release(&l);
	snprintf(text, sizeof(text),
	    "{\"state\":\"running\",\"pid\":%d,\"pidStart\":%llu,"
	    "\"boot\":\"%s\",\"host\":\"%s\"}",
	    (int)getpid(), (unsigned long long)here_start(getpid()) + 1,
	    here()->boot, here()->host);
	put(fd, "session.json", text);
	ok(looked(top, "session", &l) == GC_CRASHED,
	    "its pid belongs to a later process");
	gc_release(&l);
	(void)here_write(fd, "lock");
	lock = openat(fd, "lock", O_RDWR);
	(void)flock(lock, LOCK_EX);
	ok(looked(top, "session", &l) == GC_LIVING, "its lock is held");
	gc_release(&l);
	close(lock);
	put(fd, "lock", "elsewhere 12345678-0000\n");
	ok(looked(top, "session", &l) == GC_ELSEWHERE &&
		strcmp(l.host, "elsewhere") == 0,
	    "another machine's lock");
	gc_release(&l);
	put(fd, "lock", "");
	put(fd, "session.json", "{\"state\":\"ended\"}");
	close(make(fd, "sandbox"));
	ok(looked(top, "session", &l) == GC_ENDED && !l.work, "ended");
	ok(flock(fd, LOCK_EX | LOCK_NB) == -1,
	    "while it is looked at, nobody can start in it");
	gc_release(&l);
	put(fd, "sandbox/result", "x");
	ok(looked(top, "session", &l) == GC_ENDED && l.work,
	    "files in its workspace are work");
	gc_release(&l);
	need(symlinkat("session", top, "alias"));
	ok(gc_look(&l, top, "alias", 0, 0) == -1, "a link is no session");
	close(fd);
}

int
main(void)
{
	char dir[] = "/tmp/gc-XXXXXX", command[64];
	int top;

	decisions();
	if (mkdtemp(dir) == NULL ||
	    (top = open(dir, O_RDONLY | O_DIRECTORY)) == -1)
		err(1, "%s", dir);
	trees(top);
	looks(top);
	close(top);
	snprintf(command, sizeof(command), "/bin/rm -rf %s", dir);
	if (chdir("/") == -1 || system(command) != 0)
		errx(1, "%s", command);
	return tap_done();
}
