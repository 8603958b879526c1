/* SPDX-License-Identifier: ISC */
/*
 * Tests places under other names: the effect on a rule of a file system that
 * ignores case, of a hard link, and of a bind mount. If the kernel has no such
 * file system, two hard links that differ only in case simulate it. Also paths
 * so deep that they are looked up in pieces.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static struct rig rig;

/* Load a rule about DIR/<where>, then one about everything. */
static void
rules(const char *where, const char *then, const char *rest)
{
	char text[1024];

	snprintf(text, sizeof(text),
	    "{\"rules\":[{\"name\":\"place\",\"if\":{\"paths\":{\"roles\":"
	    "[\"read-path\"],\"within\":\"@D/%s\"}},\"then\":\"%s\","
	    "\"reason\":\"r\"}%s%s%s]}",
	    where, then,
	    rest == NULL ? "" : ",{\"name\":\"rest\",\"if\":{},\"then\":\"",
	    rest == NULL ? "" : rest,
	    rest == NULL ? "" : "\",\"reason\":\"r\"}");
	rig_must_load(&rig, PROTO_RULES_POLICY, text);
}

static void
is_decided(const char *path, enum proto_status want, const char *rule,
    const char *what)
{
	struct decision d;
	char args[1024];

	snprintf(args, sizeof(args), "{\"path\":\"%s\"}", path);
	rig_eval(&rig, "filesystem", "read", args, &d);
	ok(d.status == want && span_is(d.rule, rule), "%s: %s", what, path);
	if (d.status != want || !span_is(d.rule, rule))
		printf("# %s %.*s\n", rig_status[d.status], (int)d.rule.len,
		    (const char *)d.rule.p);
}

static void
hard_link(const char *from, const char *to)
{
	char a[512], b[512];

	snprintf(a, sizeof(a), "%s/%s", rig.dir, from);
	snprintf(b, sizeof(b), "%s/%s", rig.dir, to);
	if (link(a, b) == -1)
		err(1, "%s", b);
}

static void
test_names(void)
{
	rig_file(&rig, "out/Note");
	hard_link("out/Note", "out/NOTE");
	hard_link("out/Note", "out/alias");
	rig_file(&rig, "out/other");
	rules("out/Note", "deny", "escalate");
	is_decided("@D/out/Note", PROTO_DENY, "place", "denied");
	is_decided("@D/out/NOTE", PROTO_DENY, "place", "denied in capitals");
	is_decided("@D/out/alias", PROTO_DENY, "place", "denied by inode");
	is_decided("@D/out/other", PROTO_ESCALATE, "rest", "another file");
	rules("out/Note", "escalate", "allow");
	is_decided("@D/out/NOTE", PROTO_ESCALATE, "place", "asked about");
	is_decided("@D/out/alias", PROTO_ESCALATE, "place", "asked about");
	rules("out/Note", "allow", NULL);
	is_decided("@D/out/Note", PROTO_ALLOW, "place", "allowed");
	is_decided("@D/out/NOTE", PROTO_ALLOW, "place",
	    "allowed where only case differs");
	is_decided("@D/out/alias", PROTO_DENY, "default-deny",
	    "an inode alone allows nothing");
	is_decided("@D/out/other", PROTO_DENY, "default-deny", "another file");
	/* Rules name both: each name also means the other. */
	rules("out/NOTE", "deny", "allow");
	is_decided("@D/out/Note", PROTO_DENY, "place", "either name");
}

/*
 * A rule that withholds counts the links on the way, one that allows only the
 * end.
 */
static void
test_through(void)
{
	rig_dir(&rig, "out/limit");
	rig_link(&rig, "../other", "out/limit/leave");
	rig_link(&rig, "@D/out/other", "out/limit/jump");
	rig_link(&rig, "limit", "out/enter");
	rules("out/limit", "deny", "escalate");
	is_decided("@D/out/limit/leave", PROTO_DENY, "place", "led out");
	is_decided("@D/out/limit/jump", PROTO_DENY, "place", "led out");
	is_decided("@D/out/limit/../other", PROTO_ESCALATE, "rest", "went out");
	is_decided("@D/out/enter/x", PROTO_DENY, "place", "led in");
	rules("out/limit", "allow", NULL);
	is_decided("@D/out/limit/leave", PROTO_DENY, "default-deny",
	    "led out of what is allowed");
}

/* A directory under a second name; needs the right to mount. */
static void
test_mounts(void)
{
	char from[512], to[512];

	rig_dir(&rig, "out/Dir");
	rig_dir(&rig, "out/DIR");
	rig_dir(&rig, "out/mnt");
	rig_file(&rig, "out/Dir/f");
	rules("out/Dir", "deny", "escalate");
	snprintf(from, sizeof(from), "%s/out/Dir", rig.dir);
	snprintf(to, sizeof(to), "%s/out/mnt", rig.dir);
	if (mount(from, to, NULL, MS_BIND, NULL) == -1) {
		ok(true, "a mount shows it elsewhere # SKIP %s",
		    strerror(errno));
		return;
	}
	is_decided("@D/out/mnt/f", PROTO_DENY, "place", "mounted elsewhere");
	is_decided("@D/out/mnt/new", PROTO_DENY, "place", "to be made there");
	rules("out/Dir", "allow", NULL);
	is_decided("@D/out/mnt/f", PROTO_DENY, "default-deny",
	    "a mount elsewhere is not allowed");
	snprintf(to, sizeof(to), "%s/out/DIR", rig.dir);
	if (mount(from, to, NULL, MS_BIND, NULL) == -1)
		err(1, "mount");
	is_decided("@D/out/DIR/f", PROTO_ALLOW, "place",
	    "one whose name differs in case");
	rules("out/Dir", "deny", "escalate");
	is_decided("@D/out/DIR/f", PROTO_DENY, "place", "denied there, too");
	(void)umount2(to, MNT_DETACH);
	snprintf(to, sizeof(to), "%s/out/mnt", rig.dir);
	(void)umount2(to, MNT_DETACH);
}

/* A directory that ignores case, if the kernel supports it. */
static void
test_casefold(void)
{
	char dir[512];
	int fd, flags = FS_CASEFOLD_FL;

	snprintf(dir, sizeof(dir), "%s/out/fold", rig.dir);
	rig_dir(&rig, "out/fold");
	if (mount("none", dir, "tmpfs", 0, "casefold") == -1) {
		ok(true, "a file system that ignores case # SKIP %s",
		    strerror(errno));
		return;
	}
	rig_dir(&rig, "out/fold/top");
	snprintf(dir, sizeof(dir), "%s/out/fold/top", rig.dir);
	if ((fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1 ||
	    ioctl(fd, FS_IOC_SETFLAGS, &flags) == -1)
		err(1, "%s", dir);
	close(fd);
	rig_dir(&rig, "out/fold/top/Dir");
	rig_file(&rig, "out/fold/top/Dir/f");
	rules("out/fold/top/Dir", "deny", "escalate");
	is_decided(
	    "@D/out/fold/top/DIR/F", PROTO_DENY, "place", "ignores case");
	is_decided(
	    "@D/out/fold/top/dir/new", PROTO_DENY, "place", "to be made there");
	rules("out/fold/top/Dir", "allow", NULL);
	is_decided("@D/out/fold/top/DIR/f", PROTO_ALLOW, "place",
	    "allowed in any case");
	snprintf(dir, sizeof(dir), "%s/out/fold", rig.dir);
	(void)umount2(dir, MNT_DETACH);
}

/* A limit on a missing directory applies without such a file system, too. */
static void
test_folded(void)
{
	struct place place = {.use = PLACE_LIMIT, .path = SPAN("/a/Keys")};
	struct path p = {.host = SPAN("/a/KEYS/x")};

	ok(!eval_within(rig.engine, &p, &place), "not there: case matters");
	p.object.fs = PATH_FS_FOLD;
	ok(eval_within(rig.engine, &p, &place),
	    "not there: case does not matter where it may not");
	p.host = SPAN("/a/KEYSx");
	ok(!eval_within(rig.engine, &p, &place), "not there: another name");
	p.host = SPAN("/a/KEYS/x");
	place.use = PLACE_GRANT;
	ok(!eval_within(rig.engine, &p, &place), "and nothing is allowed so");
}

static void
test_deep(void)
{
	const struct server *s = &rig.engine->servers[0];
	char text[4096], up[4096];
	struct path_env env;
	struct path p;
	struct stat st;
	size_t n = 0;
	int fd, next;

	n += (size_t)snprintf(text, sizeof(text), "/workspace");
	snprintf(up, sizeof(up), "%s/ws", rig.dir);
	if ((fd = open(up, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		err(1, "%s", up);
	for (unsigned i = 0; i < 300; i++) {
		if (mkdirat(fd, "deep", 0700) == -1 ||
		    (next = openat(
			 fd, "deep", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
			err(1, "deep");
		close(fd);
		fd = next;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "/deep");
	}
	if (symlinkat("../deep/new", fd, "link") == -1 ||
	    symlinkat("/workspace/a", fd, "home") == -1 ||
	    fstatat(fd, "", &st, AT_EMPTY_PATH) == -1)
		err(1, "deep");
	close(fd);
	engine_path_env(rig.engine, s, rig.pool, &env);
	ok(path_resolve(&env, span_of(text, n), &p) == PATH_OK && p.exists &&
		span_eq(p.view, span_of(text, n)) && p.object.ino == st.st_ino,
	    "300 directories deep");
	memcpy(up, text, n);
	memcpy(up + n, "/link", 5);
	ok(path_resolve(&env, span_of(up, n + 5), &p) == PATH_OK && !p.exists &&
		p.view.len == n + 4 && span_starts(p.view, span_of(text, n)),
	    "a link there that leads up and down");
	memcpy(up + n, "/home", 5);
	ok(path_resolve(&env, span_of(up, n + 5), &p) == PATH_OK &&
		span_is(p.view, "/workspace/a"),
	    "a link there that leads far away");
	memcpy(up + n, "/../..", 6);
	ok(path_resolve(&env, span_of(up, n + 6), &p) == PATH_OK &&
		p.view.len == n - 10,
	    "and up again");
	fd = open("/dev/null", O_PATH | O_CLOEXEC);
	close(fd);
	for (unsigned i = 0; i < 100; i++)
		(void)path_resolve(&env, span_of(up, n + 6), &p);
	next = open("/dev/null", O_PATH | O_CLOEXEC);
	is_int(next, fd, "no descriptor is left behind");
	close(next);
}

static void
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd == -1 || write(fd, text, strlen(text)) == -1)
		err(1, "%s", path);
	close(fd);
}

/* Enter a new mount namespace; without one, nothing is mounted. */
static void
own_mounts(void)
{
	unsigned uid = geteuid(), gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWNS) == -1) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == -1)
			return;
		put("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		put("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		put("/proc/self/gid_map", map);
	}
	(void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

int
main(void)
{
	own_mounts();
	rig_init(&rig, NULL);
	rig_server(&rig, 0, "filesystem", false, "");
	rig_must_load(&rig, PROTO_RULES_ANNOTATIONS, rig_annotations);
	test_names();
	test_through();
	test_mounts();
	test_casefold();
	test_folded();
	test_deep();
	rig_free(&rig);
	return tap_done();
}
