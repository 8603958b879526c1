/* SPDX-License-Identifier: ISC */
/*
 * Tests what no workspace or view may show: a guarded directory, its parents
 * and its contents, compared by object and not by name.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/base/paths.h"
#include "supervisor/box/view.h"
#include "tap.h"

static char top[] = "/tmp/test_sup_guards.XXXXXX";
static struct guards guards;

static char *
at(const char *name)
{
	static char path[8][512];
	static unsigned i;

	i = (i + 1) % 8;
	snprintf(path[i], sizeof(path[i]), "%s/%s", top, name);
	return path[i];
}

/* Expect a refusal that ends in `why`, or acceptance if it is NULL. */
static void
check(const char *name, const char *why)
{
	char want[1024];
	struct fault fault = {""};
	int fd, rv;

	if ((fd = open(at(name), O_PATH | O_CLOEXEC)) == -1) {
		ok(false, "%s cannot be opened", name);
		return;
	}
	rv = guards_check(&guards, fd, "workspace", at(name), &fault);
	close(fd);
	if (why == NULL) {
		ok(rv == 0, "%s is taken (%s)", name, fault.text);
		return;
	}
	snprintf(
	    want, sizeof(want), "workspace %s: refused, because it %s", at(name), why);
	is_str(rv == -1 ? fault.text : "taken", want, "%s", name);
}

static void
make(void)
{
	static const char *const dirs[] = {"home", "home/.ironcurtain",
	    "home/.ironcurtain/run", "home/.ironcurtain/sessions",
	    "home/.ironcurtain/sessions/s",
	    "home/.ironcurtain/sessions/s/sandbox",
	    "home/.ironcurtain/sessions/s/sandbox/deep", "home/work",
	    "home/work/a", "elsewhere", "elsewhere/session",
	    "elsewhere/session/x", "run", "run/sub", "runtime",
	    "runtime/below"};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd;

	for (size_t i = 0; i < nitems(dirs); i++)
		if (mkdir(at(dirs[i]), 0700) == -1)
			exit(99);
	if (symlink(at("elsewhere/session"),
		at("home/.ironcurtain/run/other")) == -1 ||
	    symlink(at("home/.ironcurtain"), at("home/work/link")) == -1 ||
	    symlink("/tmp", at("tmp")) == -1 ||
	    symlink("/var/tmp", at("vartmp")) == -1 ||
	    symlink("/run", at("sysrun")) == -1 ||
	    (fd = open(at("home/work/file"), O_CREAT | O_WRONLY, 0600)) == -1)
		exit(99);
	close(fd);
	fd =
	    open(at("home/.ironcurtain/config.json"), O_CREAT | O_WRONLY, 0600);
	close(fd);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/run/sub/s", top);
	if ((fd = socket(AF_UNIX, SOCK_STREAM, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		exit(99);
	close(fd);
}

static void
test_guards(void)
{
	char home[512], ic[512];
	struct paths p = {.home = ic, .user_home = home};
	struct fault fault;
	int own;

	snprintf(home, sizeof(home), "%s/home", top);
	snprintf(ic, sizeof(ic), "%s/home/.ironcurtain", top);
	setenv("SSH_AUTH_SOCK", at("run/sub/s"), 1);
	setenv("XDG_RUNTIME_DIR", at("runtime"), 1);
	ok(guards_init(&guards, &p, &fault) == 0, "guards");
	check("home", "is your home directory");
	check("home/work", NULL);
	check("home/work/a", NULL);
	check("home/work/file", NULL);
	check("home/.ironcurtain", "is IRONCURTAIN_HOME");
	check("home/work/link", "is IRONCURTAIN_HOME");
	check("home/.ironcurtain/sessions", "is inside IRONCURTAIN_HOME");
	check("home/.ironcurtain/config.json", "is inside IRONCURTAIN_HOME");
	check(
	    "home/.ironcurtain/sessions/s/sandbox", "is inside IRONCURTAIN_HOME");
	check("elsewhere/session", "is a session directory");
	check("elsewhere/session/x", "is inside a session directory");
	check("elsewhere", "contains a session directory");
	check("run/sub/s", "is the ssh agent");
	check("run/sub", "contains the ssh agent");
	check("run", "contains the ssh agent");
	check("", "contains your home directory");
	check("runtime", "is XDG_RUNTIME_DIR");
	check("runtime/below", "is inside XDG_RUNTIME_DIR");
	check("tmp",
	    "is where all programs put their temporary files and sockets");
	check("vartmp",
	    "is where all programs put their temporary files and sockets");
	check(
	    "sysrun", "is /run, where the sockets of the host's programs are");
	own = open(at("home/.ironcurtain/sessions/s/sandbox"), O_PATH);
	ok(guards_allow(&guards, own) == 0, "a session's own sandbox");
	check("home/.ironcurtain/sessions/s/sandbox", NULL);
	check("home/.ironcurtain/sessions/s/sandbox/deep",
	    "is inside IRONCURTAIN_HOME");
	close(own);
}

static void
test_root(void)
{
	struct fault fault;
	int root = open("/", O_PATH), a, b;

	ok(guards_check(&guards, root, "view", "/", &fault) == -1, "the root");
	is_str(
	    fault.text, "view /: refused, because it is the root "
			"directory", "says so");
	close(root);
	a = open(at("home/work/file"), O_PATH);
	b = open(at("home/work"), O_PATH);
	is_int(paths_within(a, b), 1, "a file lies within its directory");
	is_int(paths_within(b, b), 1, "a directory is itself");
	is_int(paths_within(b, a), 0, "a directory does not lie in its file");
	close(a);
	close(b);
}

static void
test_clean(void)
{
	static const struct {
		const char *in, *out;
	} cases[] = {{"/", "/"}, {"//a//b/", "/a/b"},
	    {"/a/.b/..c", "/a/.b/..c"}, {"/a/./b", NULL}, {"/a/..", NULL},
	    {"a", NULL}, {"", NULL}};
	char *out;

	for (size_t i = 0; i < nitems(cases); i++) {
		out = view_clean(cases[i].in);
		ok(out == NULL ? cases[i].out == NULL
			       : cases[i].out != NULL &&
				     strcmp(out, cases[i].out) == 0,
		    "view_clean \"%s\"", cases[i].in);
		free(out);
	}
}

int
main(void)
{
	char cmd[] = "/bin/rm";
	char *const argv[] = {cmd, (char[]){"-rf"}, top, NULL};

	if (mkdtemp(top) == NULL)
		return 99;
	make();
	test_guards();
	test_root();
	test_clean();
	if (fork() == 0) {
		execv(cmd, argv);
		_exit(127);
	}
	return tap_done();
}
