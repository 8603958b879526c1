/* SPDX-License-Identifier: ISC */
/*
 * Compares paths that begin at a known directory with the same paths walked
 * component by component, while the tree changes at random: directories are
 * moved, exchanged, removed, replaced by links, mounted over; protected files
 * get other names. Every field of both results is equal, after every change.
 * The seed is printed; the first argument sets the number of steps, the second
 * the seed.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "policyd/engine/known.h"

#define TEXT 2048

static struct rig rig;
static uint64_t seed;
static unsigned known, changes, paths, hits, mounts;

static unsigned
pick(unsigned n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)((seed * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

#define PICK(list) ((list)[pick(sizeof(list) / sizeof((list)[0]))])

static const char *const names[] = {"a", "b", "c", "d", "secret"};

/* A name below DIR/ws or DIR/out, of one to three components. */
static void
random_name(char *dst, size_t cap)
{
	unsigned depth = 1 + pick(3);
	int n = snprintf(dst, cap, "%s", pick(4) == 0 ? "out" : "ws");

	while (depth-- > 0 && (size_t)n < cap)
		n += snprintf(dst + n, cap - (size_t)n, "/%s", PICK(names));
}

static void
random_place(char *dst, size_t cap)
{
	char name[256];

	random_name(name, sizeof(name));
	snprintf(dst, cap, "%s/%s", rig.dir, name);
}

/* A path as an agent might write it. */
static void
random_path(char *dst, size_t cap)
{
	static const char *const noise[] = {"/", "/./", "//", "/../", "/a/../"};
	static const char *const starts[] = {"@D/ws", "@D/out",
	    "/workspace", "/workspace", "/workspace", "/opt/one", "/opt", "",
	    "@D/home/docs", "@D/alias", "~/docs",
	    "/workspace/a/row"};
	unsigned depth = 1 + pick(4);
	char text[TEXT];
	int n;

	n = snprintf(text, sizeof(text), "%s", PICK(starts));
	while (depth-- > 0)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%s",
		    n == 0	    ? ""
		    : pick(12) == 0 ? PICK(noise)
				    : "/",
		    pick(20) == 0 ? "new" : PICK(names));
	if (pick(20) == 0)
		snprintf(text + n, sizeof(text) - (size_t)n, "/");
	snprintf(dst, cap, "%s", rig_text(&rig, text));
}

static int
change_link(const char *at)
{
	static const char *const targets[] = {"../secret", "a", "/workspace/b",
	    "@D/home/docs", "@D/out/a", ".", "..", "none"};

	return symlink(rig_text(&rig, PICK(targets)), at);
}

/* Mount a directory on another one. Needs the right to. */
static int
change_mount(const char *from, const char *to)
{
	if (mount(from, to, NULL, MS_BIND, NULL) == -1)
		return -1;
	mounts++;
	return 0;
}

static int
change_hard_link(const char *at)
{
	static const char *const files[] = {"@D/home/private", "@D/ws/secret/k",
	    "@D/out/o"};
	char from[512];

	snprintf(from, sizeof(from), "%s", rig_text(&rig, PICK(files)));
	return link(from, at);
}

static int
change_file(const char *at)
{
	int fd = open(at, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	if (fd == -1)
		return -1;
	close(fd);
	return 0;
}

/* Make a directory; some cannot be watched, and some not be searched. */
static int
change_dir(const char *at)
{
	static const mode_t modes[] = {0700, 0700, 0700, 0700, 0300, 0600};

	return mkdir(at, PICK(modes));
}

/* Change something, if it is there. */
static int
change(void)
{
	char a[512], b[512];

	random_place(a, sizeof(a));
	random_place(b, sizeof(b));
	switch (pick(12)) {
	case 0:
	case 1:
		return change_dir(a);
	case 2:
		return rename(a, b);
	case 3:
		return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b,
		    RENAME_EXCHANGE);
	case 4:
		return rmdir(a);
	case 5:
		return remove(a) == -1 && errno != ENOENT ? -1 : change_link(a);
	case 6:
		return unlink(a);
	case 7:
		return change_hard_link(a);
	case 8:
		return change_mount(a, b);
	case 9:
		return umount2(a, MNT_DETACH);
	case 10:
		return mkfifo(a, 0600);
	default:
		return change_file(a);
	}
}

static bool
same_span(struct span a, struct span b)
{
	return (a.p == NULL) == (b.p == NULL) && span_eq(a, b);
}

static bool
same(const struct path *a, const struct path *b)
{
	const struct path_object *x = &a->object, *y = &b->object;

	for (unsigned i = 0; i < a->nhits && i < b->nhits; i++) {
		if (a->hits[i].place != b->hits[i].place ||
		    a->hits[i].len != b->hits[i].len ||
		    a->hits[i].fold != b->hits[i].fold)
			return false;
	}
	/*
	 * A walk takes the number of links of a row's own directory from when
	 * the row was made; nothing depends on it for directories.
	 */
	if (!S_ISDIR(x->mode) && x->nlink != y->nlink)
		return false;
	return same_span(a->view, b->view) && same_span(a->host, b->host) &&
	       a->row == b->row && a->exists == b->exists &&
	       a->missing == b->missing && x->dev == y->dev &&
	       x->ino == y->ino && x->mode == y->mode &&
	       x->fs == y->fs && a->nhits == b->nhits;
}

static void
show(const char *which, enum path_error e, const struct path *p)
{
	printf("#  %s: %s; host %.*s, view %.*s, %s, %u missing, inode %llu, "
	       "%u hits\n",
	    which, path_strerror(e), (int)p->host.len,
	    p->host.p == NULL ? "" : (const char *)p->host.p, (int)p->view.len,
	    p->view.p == NULL ? "" : (const char *)p->view.p,
	    p->exists ? "exists" : "does not exist", p->missing,
	    (unsigned long long)p->object.ino, p->nhits);
}

/* Resolve a path in both ways. Returns false if they differ. */
static bool
compare(const struct server *s, const char *text)
{
	struct path_env env;
	struct path fast = {0}, slow = {0}, alone;
	enum path_error f, w;

	value_pool_reset(rig.pool);
	engine_path_env(rig.engine, s, rig.pool, &env);
	paths++;
	known += known_resolve(&env, span_str(text), &alone);
	f = path_resolve(&env, span_str(text), &fast);
	env.known = NULL;
	w = path_resolve(&env, span_str(text), &slow);
	hits += w == PATH_OK && slow.nhits != 0;
	if (f == w && (f != PATH_OK || same(&fast, &slow)))
		return true;
	printf("# %s for %s\n", text, s == NULL ? "nobody" : s->name);
	show("known", f, &fast);
	show("walked", w, &slow);
	return false;
}

/* Unmount everything below DIR. Returns true if there was something. */
static bool
unmount_one(void)
{
	char line[4096], place[2048];
	bool found = false;
	FILE *f = fopen("/proc/self/mountinfo", "re");

	if (f == NULL)
		err(1, "mountinfo");
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "%*s %*s %*s %*s %2047s", place) == 1 &&
		    span_starts(span_str(place), span_str(rig.dir)) &&
		    umount2(place, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			found = true;
	}
	fclose(f);
	return found;
}

static bool opened;

static int
open_up(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	if (flag == FTW_DNR || (flag == FTW_D && (st->st_mode & 0700) != 0700))
		opened = chmod(path, 0700) == 0 || opened;
	return 0;
}

/* Put what is left of the tree aside, and plant another one. */
static void
plant(void)
{
	static const char *const dirs[] = {"ws/secret", "ws/secret/a", "ws/a",
	    "ws/a/b", "ws/a/b/c", "ws/a/b/c/d", "ws/b", "ws/b/a", "ws/c",
	    "ws/c/a",
	    "out/a", "out/a/b", "out/b", "out/b/secret"};
	static const char *const files[] = {"ws/secret/k", "ws/a/c", "ws/a/b/d",
	    "ws/a/b/c/a", "ws/b/b", "out/a/a", "out/b/c"};
	char from[512], to[512];
	static unsigned n;

	while (unmount_one())
		continue;
	for (size_t i = 0; i < 2 * nitems(names); i++) {
		snprintf(from, sizeof(from), "%s/%s/%s", rig.dir,
		    i % 2 == 0 ? "ws" : "out", names[i / 2]);
		snprintf(to, sizeof(to), "%s/aside/%u", rig.dir, n++);
		if (rename(from, to) == -1 && errno != ENOENT)
			err(1, "%s", from);
	}
	for (size_t i = 0; i < nitems(dirs); i++)
		rig_dir(&rig, dirs[i]);
	for (size_t i = 0; i < nitems(files); i++)
		rig_file(&rig, files[i]);
	/* Not to be read: it cannot be watched. */
	snprintf(from, sizeof(from), "%s/ws/c", rig.dir);
	if (chmod(from, 0300) == -1)
		err(1, "%s", from);
	rig_must_load(&rig, PROTO_RULES_POLICY,
	    "{\"rules\":[{\"name\":\"n\",\"if\":{\"paths\":{\"roles\":"
	    "[\"read-path\"],\"within\":\"@D/ws/secret\"}},\"then\":\"deny\","
	    "\"reason\":\"r\"},{\"name\":\"m\",\"if\":{\"paths\":{\"roles\":"
	    "[\"read-path\"],\"within\":\"@D/home/private\"}},\"then\":"
	    "\"deny\",\"reason\":\"r\"}]}");
}

static void
test_random(unsigned long n)
{
	const struct server *servers[] = {&rig.engine->servers[0],
	    &rig.engine->servers[0], &rig.engine->servers[1], NULL};
	char recent[8][TEXT] = {{0}};
	const struct server *who[8] = {0};
	unsigned i = 0;

	for (unsigned long step = 0; step < n; step++) {
		if (step % 400 == 0)
			plant();
		if (pick(10) == 0)
			changes += change() == 0;
		i = pick(8);
		if (recent[i][0] == '\0' || pick(12) == 0) {
			random_path(recent[i], sizeof(recent[i]));
			who[i] = PICK(servers);
		}
		if (!compare(who[i], recent[i])) {
			ok(false, "step %lu of seed %llu", step,
			    (unsigned long long)seed);
			return;
		}
	}
	ok(true, "%lu paths, the same either way", n);
	printf("# %u known, %u with places, %u changes, %u mounts\n", known,
	    hits, changes, mounts);
	ok(known > paths / 20, "many began at a known directory");
	ok(hits > paths / 1000, "some led to places under other names");
}

/* One directory, in front of the user. */
static void
test_moves(void)
{
	const struct server *s = &rig.engine->servers[0];
	char a[512], b[512];

	rig_dir(&rig, "ws/p");
	rig_dir(&rig, "ws/p/q");
	rig_file(&rig, "ws/p/q/f");
	snprintf(a, sizeof(a), "%s/ws/p", rig.dir);
	snprintf(b, sizeof(b), "%s/ws/moved", rig.dir);
	known_drop(rig.engine->known);
	for (unsigned i = 0; i < 3; i++)
		ok(compare(s, "/workspace/p/q/f"), "time %u", i + 1);
	is_int((long)known_count(rig.engine->known), 1, "the directory is known");
	known = 0;
	ok(compare(s, "/workspace/p/q/none") && known == 1,
	    "a new name in it needs no walk");
	if (rename(a, b) == -1 || symlink("moved", a) == -1)
		err(1, "%s", a);
	ok(compare(s, "/workspace/p/q/f") && known == 1,
	    "a link in place of its parent is followed at once");
	is_int((long)known_count(rig.engine->known), 0, "nothing is known now");
	ok(compare(s, "/workspace/p/q/f") && compare(s, "/workspace/p/q/f") &&
		known == 1 && known_count(rig.engine->known) == 0,
	    "a path through a link is never known");
}

/*
 * When few descriptors are left, no directory becomes known: a message that
 * finds none free would end the session.
 */
static void
test_few_left(void)
{
	const struct server *s = &rig.engine->servers[0];
	int last = (int)(RIG_FILES - KNOWN_LEAVES), fds[RIG_FILES];
	unsigned n = 0;

	rig_dir(&rig, "ws/few");
	rig_file(&rig, "ws/few/f");
	known_drop(rig.engine->known);
	do {
		if ((fds[n] = fcntl(0, F_DUPFD_CLOEXEC, 3)) == -1)
			err(1, "descriptors");
	} while (fds[n++] < last - 1);
	for (unsigned i = 0; i < 3; i++)
		ok(compare(s, "/workspace/few/f"), "few left: time %u", i + 1);
	is_int((long)known_count(rig.engine->known), 0,
	    "few left: the directory is not kept");
	while (n > 0)
		close(fds[--n]);
}

static void
test_removed(void)
{
	const struct server *s = &rig.engine->servers[0];
	char dir[512];

	rig_dir(&rig, "ws/empty");
	snprintf(dir, sizeof(dir), "%s/ws/empty", rig.dir);
	for (unsigned i = 0; i < 3; i++)
		ok(compare(s, "/workspace/empty/new"), "time %u", i + 1);
	if (rmdir(dir) == -1)
		err(1, "%s", dir);
	rig_link(&rig, "@D/home", "ws/empty");
	ok(compare(s, "/workspace/empty/new"),
	    "a link in place of a removed directory is followed at once");
}

int
main(int argc, char **argv)
{
	struct timespec now;
	unsigned long n = 60000;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = (uint64_t)now.tv_sec * 1000000007U + (uint64_t)now.tv_nsec;
	/* Arguments that are no number are for the other tests. */
	if (argc > 1 && strtoul(argv[1], NULL, 10) != 0)
		n = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	printf("# seed %llu\n", (unsigned long long)seed);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1)
		printf("# without mounts: %s\n", strerror(errno));
	rig_init(&rig, NULL);
	rig_link(&rig, "ws", "alias");
	rig_dir(&rig, "aside");
	rig_server(&rig, 0, "filesystem", false, "");
	rig_row(&rig, 0, "/opt/one", "@D/out");
	rig_row(&rig, 0, "/workspace/a/row", "@D/out");
	if (engine_server(rig.engine, 1, SPAN("whole"), false,
		span_str(rig_text(&rig, "@D/ws")), SPAN(""), SPAN("")) == -1)
		err(1, "engine_server");
	rig_row(&rig, 1, "/", "/");
	plant();
	test_moves();
	test_few_left();
	test_removed();
	test_random(n);
	while (unmount_one())
		continue;
	/* Make removable what change_dir() closed. */
	do
		opened = false;
	while (nftw(rig.dir, open_up, 16, FTW_PHYS) == 0 && opened);
	rig_free(&rig);
	return tap_done();
}
