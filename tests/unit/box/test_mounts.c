/* SPDX-License-Identifier: ISC */
/*
 * Tests the mounts that a policy adds to views: the cases of
 * tests/policy/cases/roots.txt, malformed files, very many directories, and
 * names that only resemble a place of the rules.
 */
#include <sys/stat.h>

#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/box/mounts.h"
#include "tap.h"
#include "unit/policyd/case_table.h"

static char top[256], home[300], ic[320];
static char *rules; /* rules of the current group */
static char said[16384];
static struct guards guards;

/* Replace @D by the tree. The caller frees the result. */
static char *
expand(const char *in)
{
	char *out;
	size_t n = 0;

	for (const char *p = in; *p != '\0'; p++)
		n += strncmp(p, "@D", 2) == 0 ? strlen(top) : 1;
	if ((out = malloc(n + 1)) == NULL)
		err(1, "malloc");
	for (n = 0; *in != '\0'; in++) {
		if (strncmp(in, "@D", 2) != 0) {
			out[n++] = *in;
			continue;
		}
		memcpy(out + n, top, strlen(top));
		n += strlen(top);
		in++;
	}
	out[n] = '\0';
	return out;
}

static void
make(const char *const *names, size_t n)
{
	char *at;

	for (size_t i = 0; i < n; i++) {
		at = expand(names[i]);
		if (mkdir(at, 0700) == -1)
			err(1, "%s", at);
		free(at);
	}
}

static void
make_link(const char *target, const char *name)
{
	char *from = expand(target), *at = expand(name);

	if (symlink(from, at) == -1)
		err(1, "%s", at);
	free(from);
	free(at);
}

static void
set_up(void)
{
	static const char *const dirs[] = {"@D/home", "@D/home/.ironcurtain",
	    "@D/home/docs", "@D/home/docs/private", "@D/home/docs/private/deep",
	    "@D/home/docs/other", "@D/home/docsx", "@D/home/out",
	    "@D/home/out/fixed", "@D/ws", "@D/ws/in"};
	const char *tmp = getenv("TMPDIR");
	struct paths p = {.home = ic, .user_home = home};
	struct fault fault;
	char *real;

	snprintf(
	    top, sizeof(top), "%s/mounts.XXXXXX", tmp == NULL ? "/tmp" : tmp);
	if (mkdtemp(top) == NULL || (real = realpath(top, NULL)) == NULL)
		err(1, "%s", top);
	snprintf(top, sizeof(top), "%s", real);
	free(real);
	make(dirs, nitems(dirs));
	make_link("@D/home/out", "@D/home/linked");
	make_link("docs/private", "@D/home/short");
	make_link("../out", "@D/home/docs/away");
	snprintf(home, sizeof(home), "%s/home", top);
	snprintf(ic, sizeof(ic), "%s/.ironcurtain", home);
	if (guards_init(&guards, &p, &fault) == -1)
		errx(1, "%s", fault.text);
}

static void
warn_row(const char *server, const struct mount *m, const char *why)
{
	size_t n = strlen(said);

	snprintf(said + n, sizeof(said) - n, "rule %s: %s\n", m->rule, why);
}

/*
 * Build the view that the text gives a server. Returns the number of mounts, or
 * -1.
 */
static int
view_of(const char *policy, const char *server, struct view *v)
{
	char name[65], *text = expand(policy), *at = expand("@D/ws");
	struct view_how how = {.guards = &guards, .workspace_path = at};
	struct server_def d = {.name = name};
	struct mounts ms;
	int n;

	snprintf(name, sizeof(name), "%s", server);
	memset(v, 0, sizeof(*v));
	said[0] = '\0';
	how.workspace = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (how.workspace == -1)
		err(1, "%s", at);
	if (mounts_read(&ms, span_str(text), home) == -1) {
		n = -1;
	} else {
		n = (int)ms.n;
		mounts_apply(&ms, v, &how, &d, warn_row);
		mounts_free(&ms);
	}
	close(how.workspace);
	free(at);
	free(text);
	return n;
}

static const char *
kind_of(const struct view *v, const char *path)
{
	static const char *const kinds[] = {
	    [PROTO_VIEW_READ] = "read",
	    [PROTO_VIEW_WRITE] = "write",
	    [PROTO_VIEW_HIDDEN] = "hidden",
	};
	char *at = expand(path);
	const char *kind = "none";

	for (unsigned i = 0; i < v->nrows; i++)
		if (strcmp(v->rows[i].path, at) == 0)
			kind = kinds[v->rows[i].kind];
	free(at);
	return kind;
}

static void
on_group(void *arg, const struct case_group *g)
{
	free(rules);
	if (asprintf(&rules, "{\"rules\":[%s]}", g->rules) == -1)
		err(1, "asprintf");
	printf("# %s\n", g->title);
}

static void
on_row(void *arg, const struct case_row *r)
{
	char *text = expand(r->text);
	struct view v;
	const char *got;
	bool good;

	(void)view_of(rules, r->tool, &v);
	got = kind_of(&v, r->args);
	good = strcmp(got, r->verdict) == 0 &&
	       (*text == '\0' ? *said == '\0' || strcmp(got, "none") != 0
			      : strstr(said, text) != NULL);
	ok(good, "%s %c %s (%s:%u)", r->statement, r->applies ? '+' : '-',
	    r->title, r->file, r->line);
	if (!good)
		printf("# %s is %s, want %s \"%s\"; said: %s\n", r->args, got,
		    r->verdict, text, said);
	view_close(&v);
	free(text);
}

#define ALLOW(dir)                                                             \
	"{\"name\":\"r\",\"then\":\"allow\",\"if\":{\"paths\":{\"within\":"    \
	"\"" dir "\"}}}"

/* Malformed rules, which policyd reports; here they add nothing to a view. */
static void
test_odd(void)
{
	static const struct {
		const char *text;
		int n;
	} odd[] = {
	    {"", 0},
	    {"{", 0},
	    {"[]", 0},
	    {"{\"rules\":{}}", 0},
	    {"{\"rules\":[null,1,[],\"x\"]}", 0},
	    {"{\"rules\":[{}]}", 0},
	    {"{\"rules\":[" ALLOW("home/docs") "]}", 0},
	    {"{\"rules\":[" ALLOW("") "]}", 0},
	    {"{\"rules\":[" ALLOW("@D/home/./docs") "]}", 0},
	    {"{\"rules\":[" ALLOW("@D/home/out/../docs") "]}", 0},
	    {"{\"rules\":[" ALLOW("~user/docs") "]}", 0},
	    {"{\"rules\":[" ALLOW("~docs") "]}", 0},
	    {"{\"rules\":[{\"name\":null,\"then\":\"allow\",\"if\":{\"paths\":{"
	     "\"within\":\"@D/home/docs\"}}}]}",
		0},
	    {"{\"rules\":[{\"then\":\"allow\",\"if\":{\"paths\":{"
	     "\"within\":\"@D/home/docs\"}}}]}",
		0},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":\"allow\",\"if\":{\"paths\":"
	     "{\"within\":null}}}]}",
		0},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":\"allow\",\"if\":null}]}",
		0},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":null,\"if\":{\"paths\":"
	     "{\"within\":\"@D/home/docs\"}}}]}",
		1},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":\"Allow\",\"if\":{\"paths\":"
	     "{\"within\":\"@D/home/docs\"}}}]}",
		1},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":\"allow\",\"if\":{\"server\""
	     ":[null],\"paths\":{\"within\":\"@D/home/docs\"}}}]}",
		1},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":\"allow\",\"if\":{\"server\""
	     ":[],\"paths\":{\"within\":\"@D/home/docs\"}}}]}",
		1},
	    {"{\"rules\":[{\"name\":\"r\",\"then\":\"allow\",\"if\":{\"paths\":"
	     "{\"roles\":[null,\"read\"],\"within\":\"@D/home/docs\"}}}]}",
		1},
	};
	struct view v;

	for (size_t i = 0; i < nitems(odd); i++) {
		is_int(view_of(odd[i].text, "fs", &v), odd[i].n, "rules of %s",
		    odd[i].text);
		is_int(v.nrows, 0, "no row of it");
		view_close(&v);
	}
}

static void
test_names(void)
{
	struct view v;

	(void)view_of("{\"rules\":[" ALLOW("@D//home/docs/") "]}", "fs", &v);
	is_str(kind_of(&v, "@D/home/docs"), "write",
	    "slashes do not matter; no role is named: each");
	view_close(&v);
	/* docsx begins like docs but is not below it. */
	(void)view_of(
	    "{\"rules\":[{\"name\":\"d\",\"then\":\"deny\",\"if\":{"
	    "\"paths\":{\"within\":\"~/docsx\"}}}," ALLOW("~/docs") "]}",
	    "fs", &v);
	is_str(kind_of(&v, "@D/home/docs"), "write", "a name that begins so");
	is_str(kind_of(&v, "@D/home/docsx"), "none", "is no part");
	view_close(&v);
	(void)view_of(
	    "{\"rules\":[{\"name\":\"d\",\"then\":\"deny\",\"if\":{"
	    "\"paths\":{\"within\":\"~/docs\"}}}," ALLOW("~/docsx") "]}",
	    "fs", &v);
	is_str(kind_of(&v, "@D/home/docsx"), "write", "nor the other way");
	view_close(&v);
}

/*
 * More mounts than a view holds: the rest is reported, and none is cut in two.
 */
static void
test_many(void)
{
	char *text = NULL, *more, dir[64];
	const char *name = dir;
	struct view v;
	unsigned n = 0;

	if (asprintf(&text, "{\"rules\":[") == -1)
		err(1, "asprintf");
	for (unsigned i = 0; i < VIEW_MAX_ROWS + 3; i++) {
		snprintf(dir, sizeof(dir), "@D/home/many%02u", i);
		make(&name, 1);
		if (asprintf(&more,
			"%s%s{\"name\":\"m%02u\",\"then\":\"allow\",\"if\":{"
			"\"paths\":{\"within\":\"%s\"}}}",
			text, i == 0 ? "" : ",", i, dir) == -1)
			err(1, "asprintf");
		free(text);
		text = more;
	}
	if (asprintf(&more, "%s]}", text) == -1)
		err(1, "asprintf");
	free(text);
	is_int(view_of(more, "fs", &v), VIEW_MAX_ROWS + 3, "all are read");
	is_int(v.nrows, VIEW_MAX_ROWS, "as many as a view takes");
	for (const char *p = said; (p = strstr(p, "too many paths")) != NULL;
	     p++)
		n++;
	is_int(n, 3, "the others are named");
	view_close(&v);
	free(more);
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

int
main(int argc, char **argv)
{
	const struct case_reader rows = {.group = on_group, .row = on_row};

	set_up();
	case_read(argc > 1 ? argv[argc - 1] : "tests/policy", "cases/roots.txt",
	    &rows);
	test_odd();
	test_names();
	test_many();
	free(rules);
	(void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done();
}
