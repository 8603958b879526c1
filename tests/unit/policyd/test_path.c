/* SPDX-License-Identifier: ISC */
/*
 * Tests the resolution of paths: in a server's view, on the host, through
 * links, and refusals with their reasons.
 */
#include "tap.h"
#include "unit/policyd/rig.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "policyd/engine/known.h"

static struct rig rig;

/*
 * The view: /workspace is DIR/ws, DIR/home/docs is itself, /opt/one is the file
 * DIR/out/o, /workspace/inner is DIR/out (mounted in the workspace).
 */
static const struct {
	const char *in;
	const char *view; /* NULL: outside the view */
	const char *host; /* NULL: refused */
	enum path_error error;
} rows[] = {
    /* plain */
    {"/workspace", "/workspace", "@D/ws", 0},
    {"/workspace/", "/workspace", "@D/ws", 0},
    {"//workspace//a", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/./a/.", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/sub/c", "/workspace/sub/c", "@D/ws/sub/c", 0},
    {"/workspace/a/b", "/workspace/a/b", "@D/ws/a/b", 0},
    {"/workspace/none/x/y", "/workspace/none/x/y", "@D/ws/none/x/y", 0},
    {"/workspace/none/../a", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/none/x/../../sub/c", "/workspace/sub/c", "@D/ws/sub/c", 0},
    {"/workspace/a b", "/workspace/a b", "@D/ws/a b", 0},
    {"/workspace/%2e%2e", "/workspace/%2e%2e", "@D/ws/%2e%2e", 0},
    {"/workspace/$HOME", "/workspace/$HOME", "@D/ws/$HOME", 0},
    {"/workspace/...", "/workspace/...", "@D/ws/...", 0},
    {"/workspace/~", "/workspace/~", "@D/ws/~", 0},
    {"/workspace/\xc3\xa4", "/workspace/\xc3\xa4", "@D/ws/\xc3\xa4", 0},
    /* relative to the server's working directory */
    {"a", "/workspace/a", "@D/ws/a", 0},
    {"./sub/../a", "/workspace/a", "@D/ws/a", 0},
    {"..", NULL, "/", 0},
    {".", "/workspace", "@D/ws", 0},
    /* home */
    {"~", NULL, "@D/home", 0},
    {"~/docs/d", "@D/home/docs/d", "@D/home/docs/d", 0},
    {"~/private", NULL, "@D/home/private", 0},
    /* .. in the view */
    {"/workspace/..", NULL, "/", 0},
    {"/workspace/../workspace/a", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/../../..", NULL, "/", 0},
    {"/workspace/../etc/hostname-not", NULL, "/etc/hostname-not", 0},
    {"/workspace/sub/../..", NULL, "/", 0},
    {"/workspace/sub/../../opt/one", "/opt/one", "@D/out/o", 0},
    {"@D/home/docs/..", NULL, "@D/home", 0},
    {"@D/home/docs/../docs/d", "@D/home/docs/d", "@D/home/docs/d", 0},
    {"@D/home/docs/../private", NULL, "@D/home/private", 0},
    /* a row that is a file, and a row within a row */
    {"/opt/one", "/opt/one", "@D/out/o", 0},
    {"/opt/one/x", "/opt/one/x", "@D/out/o/x", 0},
    {"/opt", NULL, "/opt", 0},
    {"/workspace/inner", "/workspace/inner", "@D/out", 0},
    {"/workspace/inner/o", "/workspace/inner/o", "@D/out/o", 0},
    {"/workspace/inner/../a", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/sub/../inner/o", "/workspace/inner/o", "@D/out/o", 0},
    /* by host path */
    {"@D/ws/a", "/workspace/a", "@D/ws/a", 0},
    {"@D/ws", "/workspace", "@D/ws", 0},
    {"@D/ws/new", "/workspace/new", "@D/ws/new", 0},
    {"@D/wsx", NULL, "@D/wsx", 0},
    {"@D/ws/inner", NULL, "@D/ws/inner", 0},
    {"@D/ws/inner/o", NULL, "@D/ws/inner/o", 0},
    {"@D/out/o", "/opt/one", "@D/out/o", 0},
    {"@D/out/x", "/workspace/inner/x", "@D/out/x", 0},
    {"@D", NULL, "@D", 0},
    {"/", NULL, "/", 0},
    {"@D/home/docs/deep/e", "@D/home/docs/deep/e", "@D/home/docs/deep/e", 0},
    /* links, as the server sees them */
    {"/workspace/l-rel", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/l-dir/c", "/workspace/sub/c", "@D/ws/sub/c", 0},
    {"/workspace/l-ws", "/workspace/b", "@D/ws/b", 0},
    {"/workspace/l-docs/d", "@D/home/docs/d", "@D/home/docs/d", 0},
    {"/workspace/l-up", NULL, "/home/private", 0},
    {"/workspace/l-host", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/l-priv", NULL, "@D/home/private", 0},
    {"/workspace/l-dang", NULL, "@D/home/none", 0},
    {"/workspace/l-dang/x", NULL, "@D/home/none/x", 0},
    {"/workspace/l-dang-rel", "/workspace/none/y", "@D/ws/none/y", 0},
    {"/workspace/l-l", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/l-dir/..", "/workspace", "@D/ws", 0},
    {"/workspace/l-deep/..", "@D/home/docs", "@D/home/docs", 0},
    {"/workspace/l-deep/../d", "@D/home/docs/d", "@D/home/docs/d", 0},
    {"/workspace/l-slash", NULL, "/", 0},
    {"/workspace/l-dot", "/workspace", "@D/ws", 0},
    {"/workspace/l-inner/o", "/workspace/inner/o", "@D/out/o", 0},
    {"@D/home/h-link", "@D/home/docs/d", "@D/home/docs/d", 0},
    {"@D/home/h-ws", NULL, "/workspace/b", 0},
    {"@D/home/h-abs/a", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/loop", NULL, NULL, PATH_LOOP},
    {"/workspace/loop2", NULL, NULL, PATH_LOOP},
    {"/workspace/chain40", "/workspace/a", "@D/ws/a", 0},
    {"/workspace/chain41", NULL, NULL, PATH_LOOP},
    {"/workspace/l-bad8", NULL, NULL, PATH_TEXT},
    /* refused texts */
    {"", NULL, NULL, PATH_EMPTY},
    {"~root", NULL, NULL, PATH_USER},
    {"~root/x", NULL, NULL, PATH_USER},
    {"~~", NULL, NULL, PATH_USER},
    {"file:///workspace/a", NULL, NULL, PATH_URL},
    {"File:a", NULL, NULL, PATH_URL},
    {"/workspace/\xff", NULL, NULL, PATH_TEXT},
    {"/workspace/\xc0\xaf", NULL, NULL, PATH_TEXT},
    {"/workspace/fifo", NULL, NULL, PATH_SPECIAL},
    {"/workspace/sock", NULL, NULL, PATH_SPECIAL},
    {"/workspace/l-fifo", NULL, NULL, PATH_SPECIAL},
    {"/dev/null", NULL, NULL, PATH_SPECIAL},
    {"/dev/../dev/null", NULL, NULL, PATH_SPECIAL},
    {"/proc/self/root", NULL, NULL, PATH_MAGIC},
    {"/proc/self/cwd/x", NULL, NULL, PATH_MAGIC},
    {"/proc/1/fd/0", NULL, NULL, PATH_MAGIC},
    {"/proc", NULL, NULL, PATH_MAGIC},
    {"/dev/fd/0", NULL, NULL, PATH_MAGIC},
    {"/dev/stdin", NULL, NULL, PATH_MAGIC},
    {"/sys/kernel", NULL, NULL, PATH_MAGIC},
    {"/workspace/l-proc", NULL, NULL, PATH_MAGIC},
};

static void
links(void)
{
	static const char *const all[][2] = {
	    {"a", "ws/l-rel"},
	    {"sub", "ws/l-dir"},
	    {"/workspace/b", "ws/l-ws"},
	    {"@D/home/docs", "ws/l-docs"},
	    {"../home/private", "ws/l-up"},
	    {"@D/ws/a", "ws/l-host"},
	    {"@D/home/private", "ws/l-priv"},
	    {"@D/home/none", "ws/l-dang"},
	    {"none/y", "ws/l-dang-rel"},
	    {"l-rel", "ws/l-l"},
	    {"@D/home/docs/deep", "ws/l-deep"},
	    {"/", "ws/l-slash"},
	    {".", "ws/l-dot"},
	    {"inner", "ws/l-inner"},
	    {"docs/d", "home/h-link"},
	    {"/workspace/b", "home/h-ws"},
	    {"@D/ws", "home/h-abs"},
	    {"loop", "ws/loop"},
	    {"loop3", "ws/loop2"},
	    {"loop2", "ws/loop3"},
	    {"x\xff", "ws/l-bad8"},
	    {"fifo", "ws/l-fifo"},
	    {"/proc/self/exe", "ws/l-proc"},
	};
	char name[32], target[32];

	for (size_t i = 0; i < nitems(all); i++)
		rig_link(&rig, all[i][0], all[i][1]);
	/* chainN goes through N links: chain1 -> a, chain2 -> chain1, ... */
	for (int i = 1; i <= 41; i++) {
		snprintf(name, sizeof(name), "ws/chain%d", i);
		snprintf(
		    target, sizeof(target), i == 1 ? "a" : "chain%d", i - 1);
		rig_link(&rig, target, name);
	}
}

static void
specials(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char name[512];
	int fd;

	snprintf(name, sizeof(name), "%s/ws/fifo", rig.dir);
	if (mkfifo(name, 0600) == -1)
		err(1, "mkfifo");
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%.90s/ws/sock", rig.dir);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		err(1, "bind");
	close(fd);
}

static enum path_error
resolve(const struct server *s, struct span text, struct path *p)
{
	struct path_env env;

	value_pool_reset(rig.pool);
	engine_path_env(rig.engine, s, rig.pool, &env);
	return path_resolve(&env, text, p);
}

static bool
same(struct span got, const char *want)
{
	if (want == NULL)
		return got.p == NULL;
	return got.p != NULL && span_is(got, rig_text(&rig, want));
}

static void
test_table(void)
{
	const struct server *s = &rig.engine->servers[0];
	enum path_error e;
	struct path p;
	char in[1024];
	bool good;

	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(in, sizeof(in), "%s", rig_text(&rig, rows[i].in));
		e = resolve(s, span_str(in), &p);
		good = e == rows[i].error &&
		       (e != PATH_OK || (same(p.view, rows[i].view) &&
					    same(p.host, rows[i].host)));
		ok(good, "path %zu (%s)", i,
		    rows[i].host == NULL ? path_strerror(rows[i].error)
					 : rows[i].host);
		if (!good)
			printf("# %s: %s, view %.*s, host %.*s\n", in,
			    path_strerror(e), (int)p.view.len,
			    (const char *)p.view.p, (int)p.host.len,
			    (const char *)p.host.p);
	}
}

static void
test_long(void)
{
	const struct server *s = &rig.engine->servers[0];
	char text[8192];
	struct path p;

	memset(text, 'x', sizeof(text));
	memcpy(text, "/workspace/", 11);
	ok(resolve(s, span_of(text, 11 + 255), &p) == PATH_OK,
	    "a name of 255 bytes");
	ok(resolve(s, span_of(text, 11 + 256), &p) == PATH_LONG,
	    "a name of 256 bytes");
	for (size_t i = 11; i < sizeof(text); i += 2)
		text[i] = '/';
	ok(resolve(s, span_of(text, 3001), &p) == PATH_OK,
	    "a path of 3,001 bytes");
	ok(resolve(s, span_of(text, 4096), &p) == PATH_LONG,
	    "a path of 4,096 bytes");
	/* The host path is longer and exceeds the limit. */
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "../", 3);
	ok(resolve(s, span_of(text, 4000), &p) == PATH_OK &&
		span_is(p.host, "/"),
	    "../ a thousand times is the root");
	for (size_t i = 0; i < 4000; i += 5)
		memcpy(text + i, "sub/.", 5);
	for (size_t i = 4; i < 4000; i += 5)
		text[i] = '.';
	ok(resolve(s, span_of(text, 4000), &p) == PATH_OK,
	    "many components that lead nowhere");
	for (size_t i = 0; i + 7 <= 4000; i += 7)
		memcpy(text + i, "sub/../", 7);
	ok(resolve(s, span_of(text, 3997), &p) == PATH_OK &&
		span_is(p.view, "/workspace"),
	    "sub/../ 571 times stays where it was");
	ok(resolve(s, span_of("a\0b", 3), &p) == PATH_NUL, "a NUL");
	ok(resolve(s, span_of("\0", 1), &p) == PATH_NUL, "only a NUL");
}

static void
test_object(void)
{
	const struct server *s = &rig.engine->servers[0];
	struct path p;
	struct stat st;
	char name[512];

	snprintf(name, sizeof(name), "%s/ws/sub/c", rig.dir);
	if (stat(name, &st) == -1)
		err(1, "%s", name);
	ok(resolve(s, SPAN("/workspace/l-dir/c"), &p) == PATH_OK &&
		p.object.dev == st.st_dev && p.object.ino == st.st_ino &&
		p.exists && p.row != NULL && p.row->kind == PROTO_VIEW_WRITE,
	    "device and inode of what is there");
	ok(resolve(s, SPAN("/workspace/sub/none"), &p) == PATH_OK &&
		!p.exists && S_ISDIR(p.object.mode),
	    "what is not there, and the directory it would be in");
	ok(resolve(NULL, SPAN("/workspace/a"), &p) == PATH_OK &&
		p.view.p == NULL && same(p.host, "@D/ws/a"),
	    "without a view, /workspace is still the workspace");
	ok(resolve(NULL, SPAN("/"), &p) == PATH_OK && p.exists &&
		span_is(p.host, "/"),
	    "the root");
}

/* A server without a sandbox sees the whole host and has no /workspace. */
static void
test_whole(void)
{
	const struct server *s = &rig.engine->servers[1];
	struct path p;

	ok(resolve(s, SPAN("/workspace/a"), &p) == PATH_OK &&
		same(p.view, "@D/ws/a") && same(p.host, "@D/ws/a"),
	    "whole host: /workspace is the directory itself");
	ok(resolve(s, SPAN("/workspace/l-ws"), &p) == PATH_OK &&
		same(p.view, "@D/ws/b"),
	    "whole host: in links too");
	ok(resolve(s, SPAN("sub/c"), &p) == PATH_OK &&
		same(p.view, "@D/ws/sub/c"),
	    "whole host: relative to where it was started");
	ok(resolve(s, SPAN("/"), &p) == PATH_OK && span_is(p.view, "/") &&
		p.exists,
	    "whole host: the root");
	ok(resolve(s, SPAN("/workspace/../.."), &p) == PATH_OK &&
		same(p.view, "@D") == false && p.view.p != NULL,
	    "whole host: .. of the directory itself");
	ok(resolve(s, SPAN("/proc/self/root"), &p) == PATH_MAGIC,
	    "whole host: proc all the same");
}

/* The limit for all paths of a call together. */
static void
test_budget(void)
{
	struct path_env env;
	unsigned budget = 3;
	struct path p;

	engine_path_env(rig.engine, &rig.engine->servers[0], rig.pool, &env);
	env.known = NULL; /* a path from a known directory is one step */
	env.budget = &budget;
	ok(path_resolve(&env, SPAN("/workspace/sub/c"), &p) == PATH_OK &&
		budget == 0,
	    "three components are three steps");
	ok(path_resolve(&env, SPAN("/workspace"), &p) == PATH_STEPS,
	    "and then no more");
}

static unsigned
steps(const char *text, struct path *p)
{
	struct path_env env;
	unsigned budget = 100;

	engine_path_env(rig.engine, &rig.engine->servers[1], rig.pool, &env);
	env.budget = &budget;
	if (path_resolve(&env, span_str(rig_text(&rig, text)), p) != PATH_OK)
		return 0;
	return 100 - budget;
}

static void
move(const char *from, const char *to)
{
	char a[512], b[512];

	snprintf(a, sizeof(a), "%s/%s", rig.dir, from);
	snprintf(b, sizeof(b), "%s/%s", rig.dir, to);
	if (rename(a, b) == -1)
		err(1, "%s", a);
}

/* The components of the workspace's own name are not looked up one by one. */
static void
test_anchor(void)
{
	struct path_anchor *a = rig.engine->anchor;
	struct path p;
	char dir[512];
	int fd;

	(void)steps("@D/ws/a", &p);
	is_int(steps("@D/ws/a", &p), 1, "only what is below the workspace");
	ok(same(p.host, "@D/ws/a") && same(p.view, "@D/ws/a") && p.exists,
	    "under its whole name");
	is_int(steps("@D/ws", &p), 0, "the workspace itself");
	ok(same(p.host, "@D/ws") && S_ISDIR(p.object.mode), "is there");
	fd = a->fd;
	ok(fd != -1, "its descriptor is kept");

	/* A link replaces it: the name leads elsewhere at once. */
	move("ws", "ws-moved");
	snprintf(dir, sizeof(dir), "%s/ws", rig.dir);
	if (symlink("out", dir) == -1)
		err(1, "%s", dir);
	ok(steps("@D/ws/o", &p) > 1 && same(p.host, "@D/out/o") && p.exists,
	    "a link in place of the workspace is followed");
	is_int(a->fd, -1, "and the descriptor is not kept");
	if (unlink(dir) == -1)
		err(1, "%s", dir);
	ok(steps("@D/ws/a", &p) > 1 && !p.exists, "a workspace that is gone");

	/* Another directory replaces it. */
	rig_dir(&rig, "ws");
	rig_file(&rig, "ws/new");
	(void)steps("@D/ws/new", &p);
	ok(steps("@D/ws/new", &p) == 1 && p.exists, "another one in its place");
	move("ws", "ws-other");
	move("ws-moved", "ws");
	ok(steps("@D/ws/new", &p) > 1 && !p.exists, "the first one again");
	ok(steps("@D/ws/a", &p) == 1 && p.exists, "and from there on");
}

/* A place on the way, under another name, is recorded for each path. */
static void
test_anchor_places(void)
{
	struct path p;
	char text[1024];

	snprintf(text, sizeof(text),
	    "{\"rules\":[{\"name\":\"n\",\"description\":\"d\","
	    "\"principle\":\"p\",\"reason\":\"r\",\"then\":\"deny\","
	    "\"if\":{\"paths\":{\"roles\":[\"read-path\"],"
	    "\"within\":\"%s/ws\"}}}]}",
	    rig.dir);
	rig_must_load(&rig, PROTO_RULES_POLICY, text);
	is_int(rig.engine->anchor->fd, -1, "new rules: to be seen again");
	ok(steps("@D/ws/a", &p) > 1 && steps("@D/ws/a", &p) == 1 &&
		p.nhits == 0,
	    "a place under its own name is no hit");
	snprintf(text, sizeof(text), "%s/ws", rig.dir);
	for (size_t i = 0; i < rig.engine->places.n; i++)
		if (span_is(rig.engine->places.list[i].path, text))
			rig.engine->places.list[i].path = SPAN("/another/name");
	anchor_drop(rig.engine->anchor);
	ok(steps("@D/ws/a", &p) > 1 && p.nhits == 1, "under another it is");
	ok(steps("@D/ws/a", &p) > 1 && p.nhits == 1, "for the next path, too");
}

/* A directory that cannot be searched hides its contents from every server. */
static void
test_closed(void)
{
	const struct server *s = &rig.engine->servers[0];
	char name[512];
	struct path p;

	rig_dir(&rig, "ws/closed");
	rig_file(&rig, "ws/closed/x");
	snprintf(name, sizeof(name), "%s/ws/closed", rig.dir);
	if (chmod(name, 0) == -1)
		err(1, "chmod");
	ok(resolve(s, SPAN("/workspace/closed/x"), &p) == PATH_OK &&
		span_is(p.view, "/workspace/closed/x") &&
		(geteuid() == 0 || !p.exists),
	    "a closed directory");
	if (chmod(name, 0700) == -1)
		err(1, "chmod");
}

static unsigned
open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 512; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static void
test_leaks(void)
{
	unsigned before;
	struct path p;
	char in[1024];

	known_drop(rig.engine->known);
	before = open_files();
	for (size_t i = 0; i < nitems(rows); i++) {
		snprintf(in, sizeof(in), "%s", rig_text(&rig, rows[i].in));
		(void)resolve(&rig.engine->servers[0], span_str(in), &p);
	}
	known_drop(rig.engine->known);
	is_int(open_files(), before, "no descriptor stays open");
}

int
main(void)
{
	rig_init(&rig, NULL);
	rig_dir(&rig, "ws/inner");
	links();
	specials();
	rig_server(&rig, 0, "filesystem", false, "");
	rig_row(&rig, 0, "/opt/one", "@D/out/o");
	rig_row(&rig, 0, "/workspace/inner", "@D/out");
	if (engine_server(rig.engine, 1, SPAN("whole"), false,
		span_str(rig_text(&rig, "@D/ws")), SPAN(""), SPAN("")) == -1)
		err(1, "engine_server");
	rig_row(&rig, 1, "/", "/");
	rig_must_load(&rig, PROTO_RULES_POLICY, "{\"rules\":[]}");
	test_table();
	test_long();
	test_object();
	test_whole();
	test_budget();
	test_closed();
	test_leaks();
	test_anchor();
	test_anchor_places();
	rig_free(&rig);
	return tap_done();
}
