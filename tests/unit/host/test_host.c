/* SPDX-License-Identifier: ISC */
/*
 * Tests programs of the host: a program that the agent can change is neither
 * found nor started, whatever links lead to it, and the program that was found
 * is the one that is run later.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/base/jsonfile.h"
#include "supervisor/host/environ.h"
#include "supervisor/host/inflight.h"
#include "supervisor/host/program.h"
#include "supervisor/host/reach.h"
#include "supervisor/host/sockets.h"
#include "tap.h"

static char top[] = "/tmp/test_sup_host.XXXXXX";
static struct places places;

static char *at(const char *, ...) __attribute__((format(printf, 1, 2)));
static char *entry(const char *, ...)
    __attribute__((format(printf, 1, 2)));

static char *
at(const char *fmt, ...)
{
	static char path[64][1024];
	static unsigned i;
	char name[512];
	va_list ap;

	i = (i + 1) % 64;
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	snprintf(path[i], sizeof(path[0]), "%s/%s", top, name);
	return path[i];
}

static void
put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (fd == -1 ||
	    write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, mode) == -1 || close(fd) == -1)
		exit(99);
}

static void
place(const char *name)
{
	int fd = open(at("%s", name), O_PATH | O_CLOEXEC);

	if (fd == -1 || places_add(&places, fd) == -1)
		exit(99);
	close(fd);
}

static void
make(void)
{
	static const char *const dirs[] = {"ws", "ws/bin", "ws/sub", "host",
	    "host/bin", "host/more", "view", "view/bin", "other", "other/bin"};
	static const struct {
		const char *link, *to;
	} links[] = {{"host/into", "ws/bin"}, {"ws/out", "host/bin"},
	    {"host/through", "ws/out"}, {"host/dangling", "ws/none"},
	    {"host/loop", "host/loop"}, {"host/good", "host/bin"}};

	int fd;

	if (mkdtemp(top) == NULL)
		exit(99);
	for (size_t i = 0; i < nitems(dirs); i++)
		if (mkdir(at("%s", dirs[i]), 0700) == -1)
			exit(99);
	for (size_t i = 0; i < nitems(links); i++)
		if (symlink(at("%s", links[i].to), at("%s", links[i].link)) ==
		    -1)
			exit(99);
	if (symlink("../../host/bin/tool", at("ws/sub/tool")) == -1)
		exit(99);
	put(at("host/bin/tool"),
	    "#!/bin/sh\necho host \"$@\"; pwd; echo $LC_X\n", 0755);
	put(at("ws/bin/tool"), "#!/bin/sh\necho agent\n", 0755);
	put(at("ws/bin/only"), "#!/bin/sh\necho agent\n", 0755);
	put(at("view/file"), "x", 0600);
	place("ws");
	place("view");
	if ((fd = open(at("other"), O_PATH | O_CLOEXEC)) == -1 ||
	    places_add_other(&places, fd, "k3f9", false) == -1)
		exit(99);
	close(fd);
}

static void
test_places(void)
{
	static const struct {
		const char *path;
		const char *place; /* NULL: out of the agent's reach */
		bool there;
	} rows[] = {
	    {"ws", "ws", true},
	    {"ws/bin", "ws", true},
	    {"ws/bin/tool", "ws", true},
	    {"ws/none/at/all", "ws", false},
	    {"ws/../host/bin", "ws", true}, /* ws may become a link */
	    {"host/into/tool", "ws", true},
	    {"host/through/tool", "ws", true},
	    {"host/dangling", "ws", false},
	    {"view/bin", "view", true},
	    {"view/file", "view", true},
	    {"ws/sub/tool", "ws", true},
	    {"host/bin/tool", NULL, true},
	    {"host/good/tool", NULL, true},
	    {"host/bin/../more", NULL, true},
	    {"host/none", NULL, false},
	    {"host/loop", NULL, false},
	    {"host/bin/tool/x", NULL, false},
	};
	const char *got;
	int fd;

	for (size_t i = 0; i < nitems(rows); i++) {
		got = places_of(&places, at("%s", rows[i].path), &fd);
		is_str(got == NULL ? "" : got,
		    rows[i].place == NULL ? "" : at("%s", rows[i].place), "%s",
		    rows[i].path);
		ok((fd != -1) == rows[i].there, "%s is %sthere", rows[i].path,
		    rows[i].there ? "" : "not ");
		if (fd != -1)
			close(fd);
	}
	is_str(places_of(&places, at("other/bin"), NULL),
	    at("other of session k3f9"), "another agent's place has its name");
	ok(places_of(&places, "relative", &fd) == NULL && fd == -1,
	    "a relative path leads nowhere");
	ok(places_of(&places, "/", NULL) == NULL, "the root is nobody's");
}

/* A walk may pass places that agents write through servers only. */
static void
test_views(void)
{
	static struct places mixed, other;
	struct paths_id id;
	struct stat st;
	int view, ws;

	view = open(at("view"), O_PATH | O_CLOEXEC);
	ws = open(at("ws"), O_PATH | O_CLOEXEC);
	if (view == -1 || ws == -1 || fstat(view, &st) == -1 ||
	    places_add_view(&mixed, view) == -1 || places_add(&mixed, ws) == -1)
		exit(99);
	id = (struct paths_id){st.st_dev, st.st_ino};
	is_str(places_of(&mixed, at("view/bin"), NULL), at("view"),
	    "code may not be where a server writes");
	mixed.direct = true;
	ok(places_of(&mixed, at("view/bin"), NULL) == NULL,
	    "no agent writes there itself");
	is_str(places_of(&mixed, at("ws/bin"), NULL), at("ws"),
	    "the workspace is still one");
	mixed.direct = false;
	other = mixed;
	places_pass(&other, &id);
	ok(places_of(&other, at("view/bin"), NULL) == NULL &&
		places_of(&mixed, at("view/bin"), NULL) != NULL,
	    "a server's own directory is passed in a copy");
	if (places_add(&mixed, view) == -1 ||
	    places_add_view(&mixed, ws) == -1 ||
	    places_add_other(&mixed, ws, "k3f9", true) == -1)
		exit(99);
	mixed.direct = true;
	is_str(places_of(&mixed, at("view/bin"), NULL), at("view"),
	    "if an agent writes it as well, it is the agent's");
	is_str(places_of(&mixed, at("ws/bin"), NULL), at("ws"),
	    "a server that writes there, too, changes nothing");
	other = mixed;
	places_pass(&other, &id);
	ok(places_of(&other, at("view/bin"), NULL) != NULL,
	    "the agent's place is not passed");
	places_clear(&mixed);
	close(view);
	close(ws);
}

static unsigned ntold;

static void
told(const char *element, const char *where)
{
	ntold++;
}

static void
test_list(void)
{
	char list[4096], *got;

	snprintf(list, sizeof(list), "%s:/usr/bin::.:%s:bin:%s:/bin:%s:%s",
	    at("ws/bin"), at("host/into"), at("host/bin"), at("ws/none"),
	    at("host/none"));
	got = host_list_clean(&places, list, told);
	snprintf(list, sizeof(list), "/usr/bin:%s:/bin:%s", at("host/bin"),
	    at("host/none"));
	is_str(got, list, "a list without the agent's and relative elements");
	is_int(ntold, 3, "each that was left out is told");
	free(got);
	got = host_list_clean(&places, at("ws"), NULL);
	is_str(got, "", "nothing may be left");
	free(got);
}

static const char *
in(char **env, const char *name)
{
	size_t n = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static char *
entry(const char *fmt, ...)
{
	va_list ap;
	char *out;

	va_start(ap, fmt);
	if (vasprintf(&out, fmt, ap) == -1)
		exit(99);
	va_end(ap);
	return out;
}

/* Variables that lead into the workspace in forms of many programs. */
static void
test_environ(void)
{
	const char *ws = at("ws"), *host = at("host");
	char *listed[] = {"PYTHONPATH", "NODE_OPTIONS", "AWS_PROFILE", NULL};
	char *from[] = {entry("PATH=%s/bin:/usr/bin", ws),
	    entry("LD_LIBRARY_PATH=/lib"), entry("PWD=%s", host),
	    entry("HOME=%s", host), entry("LC_TIME=C"), entry("LC_ALL="),
	    entry("LOGNAME=%s/x", ws), entry("PYTHONPATH=%s", host),
	    entry("NODE_OPTIONS=--require \"%s/x.js\"", ws),
	    entry("AWS_PROFILE=prod"), entry("VAULT_ADDR=https://v:8200"),
	    entry("OF_MINE=x"), entry("EDITOR=vi"), NULL};
	const struct environ_how how = {
	    .places = &places, .user_home = top, .listed = listed};
	char **env = host_environ(&how, from), lost[64];
	struct fault fault;

	is_str(in(env, "PATH"), "/usr/bin", "PATH is cleaned");
	is_str(in(env, "HOME"), host, "HOME stays");
	is_str(in(env, "LC_TIME"), "C", "the locale stays");
	is_str(in(env, "LC_ALL"), "", "an empty variable stays");
	ok(in(env, "LOGNAME") == NULL, "one that leads there does not");
	is_str(in(env, "PYTHONPATH"), host, "a listed variable");
	is_str(in(env, "AWS_PROFILE"), "prod", "another one");
	ok(in(env, "NODE_OPTIONS") == NULL, "a listed one that leads there");
	ok(in(env, "LD_LIBRARY_PATH") == NULL && in(env, "PWD") == NULL &&
		in(env, "VAULT_ADDR") == NULL && in(env, "OF_MINE") == NULL,
	    "no others");
	jsonfile_strings_free(env);
	ok(host_environ_check(&how, from, "notify", &fault) == -1 &&
		strstr(fault.text, "NODE_OPTIONS") != NULL &&
		strstr(fault.text, ws) != NULL,
	    "it is refused by name: %s", fault.text);
	is_int(host_environ_lost(&how, from, false, lost, sizeof(lost)), 2,
	    "those that are known to be needed");
	is_str(lost, "LD_LIBRARY_PATH, VAULT_ADDR", "by name");
	is_int(host_environ_lost(&how, from, true, lost, sizeof(lost)), 3,
	    "and others");
	is_str(lost, "LD_LIBRARY_PATH, VAULT_ADDR, OF_MINE",
	    "but none that matters to terminals only");
	is_int(
	    host_environ_lost(&how, from, true, lost, 20), 3, "as many as fit");
	is_str(lost, "LD_LIBRARY_PATH", "and no part of a name");
	for (size_t i = 0; from[i] != NULL; i++)
		free(from[i]);
}

/* Texts of many forms, of which a part leads into the workspace, or none. */
static void
test_reach(void)
{
	static const struct {
		const char *text; /* W: the workspace; T: the directory above */
		bool reached;
	} rows[] = {
	    {"W", true},
	    {"W/none", true},
	    {"Wider", false},
	    {"--require=W-2/x", false},
	    {"--require=W.old", false},
	    {"W x", true},
	    {"--require=W/x.js", true},
	    {"--require \"W/x.js\"", true},
	    {"-IW/lib", true},
	    {"'W/a b'", true},
	    {"/usr/lib:W:/lib", true},
	    {"/usr/lib W/b.so", true},
	    {"a=W;b", true},
	    {"{\"path\":\"W\"}", true},
	    {"file://W/x", true},
	    {"@W/args", true},
	    {"W,/usr", true},
	    {"T/host/into", true},
	    {"T/host/../ws", true},
	    {"T/none/../ws", false},
	    {"//T/ws", true},
	    {"~/ws/x", true},
	    {"$HOME/ws/x", true},
	    {"${HOME}/ws", true},
	    {"${HOME:-/}/ws", true},
	    {"cd \"$HOME\" && exec ws/x", false}, /* refused as text */
	    {"$(cat ~/ws/x)", true},
	    {"~user/ws/x", true},
	    {"x/ws/y", false},
	    {"ws", false},
	    {"T/host", false},
	    {"T/host/bin/tool", false},
	    {"https://vault.example.org:8200/ws", false},
	    {"prod", false},
	    {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", false},
	    {"", false},
	    {"/", false},
	    {"///", false},
	};
	char text[4096];

	for (size_t i = 0; i < nitems(rows); i++) {
		text[0] = '\0';
		for (const char *c = rows[i].text; *c != '\0'; c++)
			if (*c == 'W')
				(void)strlcat(text, at("ws"), sizeof(text));
			else if (*c == 'T')
				(void)strlcat(text, top, sizeof(text));
			else
				(void)strlcat(
				    text, (char[]){*c, '\0'}, sizeof(text));
		ok((reach_text(&places, top, text) != NULL) == rows[i].reached,
		    "%s: %s", rows[i].text,
		    rows[i].reached ? "leads there" : "does not");
	}
	ok(reach_path(&places, at("ws/x")) != NULL &&
		reach_path(&places, at("ws/x") + 1) != NULL &&
		reach_path(&places, at("host")) == NULL &&
		reach_path(&places, "") == NULL,
	    "a path, also from the root");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ok(reach_text(&places, top, text) == NULL, "a long word");
}

/* Command lines in which an interpreter takes its program as text, or not. */
static void
test_inline(void)
{
	static const struct {
		char *words[7];
		const char *option; /* NULL: none */
	} rows[] = {
	    {{"/bin/sh", "-c", "x"}, "-c"},
	    {{"bash", "-euc", "x"}, "-euc"},
	    {{"bash", "-o", "pipefail", "-c", "x"}, "-c"},
	    {{"dash", "-c"}, "-c"},
	    {{"fish", "--command=x"}, "--command=x"},
	    {{"/usr/bin/python3.11", "-Ic", "x"}, "-Ic"},
	    {{"python3", "-W", "ignore", "-c", "x"}, "-c"},
	    {{"python3", "-Wignore::Deprecation", "x"}, NULL},
	    {{"python3", "-m", "pass.cli", "-c"}, NULL},
	    {{"perl", "-0777ne", "x"}, "-0777ne"},
	    {{"perl", "-MData::Dumper", "x"}, NULL},
	    {{"perl", "-E", "x"}, "-E"},
	    {{"ruby", "-rjson", "-e", "x"}, "-e"},
	    {{"node", "--eval", "x"}, "--eval"},
	    {{"node", "-pe", "x"}, "-pe"},
	    {{"node", "-r", "/etc/passwd", "-e", "x"}, NULL},
	    {{"deno", "eval", "x"}, "eval"},
	    {{"php8.2", "-r", "x"}, "-r"},
	    {{"lua5.4", "-e", "x"}, "-e"},
	    {{"awk", "{print}", "x"}, "{print}"},
	    {{"awk", "-f", "/x", "y"}, NULL},
	    {{"env", "X=1", "sh", "-c", "x"}, "-c"},
	    {{"env", "-S", "sh x"}, "-S"},
	    {{"timeout", "5", "bash", "-lc", "x"}, "-lc"},
	    {{"su", "me", "-c", "x"}, "-c"},
	    {{"sh", "/etc/passwd", "-c"}, NULL},
	    {{"pass", "show", "-c", "x"}, NULL},
	    {{"op", "read", "op://prod/env"}, NULL},
	    {{"vault", "kv", "get", "-field=c", "x"}, NULL},
	};
	char *hidden[] = {"/home/u/bin/tell", "-c", "x", NULL};
	const char *got, *program = "";

	for (size_t i = 0; i < nitems(rows); i++) {
		got = reach_inline(rows[i].words, "/usr/bin/true", &program);
		is_str(got == NULL ? "" : got,
		    rows[i].option == NULL ? "" : rows[i].option, "%s %s",
		    rows[i].words[0], rows[i].words[1]);
	}
	got = reach_inline(hidden, "/usr/bin/bash", &program);
	ok(got != NULL && strcmp(program, hidden[0]) == 0,
	    "an interpreter under another name");
}

/*
 * Run the program with the arguments a and b. Returns its output, at most 500
 * bytes.
 */
static const char *
run(const struct host_program *p)
{
	static char text[512];
	char *const argv[] = {entry("name"), entry("a"), entry("b c"), NULL};
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {.argv = argv, .nfds = 3, .fds = {-1, -1, -1}};
	int ends[2], code, status;
	size_t len = 0;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) == -1)
		exit(99);
	s.fds[1] = s.fds[2] = ends[1];
	text[0] = '\0';
	if (host_program_start(p, &places, &s, &sp) == 0) {
		close(ends[1]);
		ends[1] = -1;
		if (spawn_check(&sp) == -1)
			snprintf(text, sizeof(text), "not started");
		while (
		    (n = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0)
			text[len += (size_t)n] = '\0';
		(void)spawn_reap(sp.pidfd, true, &code, &status);
		close(sp.pidfd);
	}
	for (size_t i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	close(ends[0]);
	if (ends[1] != -1)
		close(ends[1]);
	return text;
}

static bool
find(struct host_program *p, const char *name, struct fault *fault)
{
	static char path[2048], clean[2048];
	const struct host_how how = {.places = &places,
	    .path = clean,
	    .path_env = path,
	    .user_home = at("host")};
	char *list;

	snprintf(path, sizeof(path), "%s:%s:%s:/usr/bin:/bin", at("ws/bin"),
	    at("host/into"), at("host/bin"));
	list = host_list_clean(&places, path, NULL);
	snprintf(clean, sizeof(clean), "%s", list);
	free(list);
	fault->text[0] = '\0';
	return host_program_find(p, &how, "notify", name, fault) == 0;
}

static void
test_find(void)
{
	static const struct {
		const char *name;
		const char *why; /* NULL: found */
	} rows[] = {
	    {"tool", NULL},
	    {"~/bin/tool", NULL},
	    {"/bin/echo", NULL},
	    {"only", "the agent can write"},
	    {"none-such", "not found in PATH"},
	    {"./tool", "write the whole path"},
	    {"bin/tool", "write the whole path"},
	    {"", "write the whole path"},
	    {"/tmp", "is not a file"},
	    {"~/into/tool", "the agent can write"},
	    {"~/through/tool", "the agent can write"},
	    {"/none/such", "No such file"},
	    {"/etc/passwd", "Permission denied"},
	};
	struct host_program p;
	struct fault fault;
	bool found;

	for (size_t i = 0; i < nitems(rows); i++) {
		found = find(&p, rows[i].name, &fault);
		ok(found == (rows[i].why == NULL) &&
			(found || strstr(fault.text, rows[i].why) != NULL),
		    "\"%s\": %s (%s)", rows[i].name,
		    rows[i].why == NULL ? "found" : rows[i].why, fault.text);
		ok(found || p.refused == (rows[i].why != NULL &&
					     strcmp(rows[i].why,
						 "the agent can write") == 0),
		    "\"%s\": refused or only missing", rows[i].name);
		if (found)
			host_program_free(&p);
	}
}

static void
test_run(void)
{
	struct host_program p;
	struct fault fault;
	char text[1024];

	if (setenv("LC_X", "value", 1) == -1 || chdir(at("ws")) == -1)
		exit(99);
	ok(find(&p, "tool", &fault), "a script in PATH (%s)", fault.text);
	is_str(run(&p), "host a b c\n/\nvalue\n",
	    "its own interpreter, arguments, directory / and environment");
	/* Rename and replace it, as an agent would if it could. */
	(void)rename(at("host/bin/tool"), at("host/bin/old"));
	put(at("host/bin/tool"), "#!/bin/sh\necho another\n", 0755);
	is_str(
	    run(&p), "host a b c\n/\nvalue\n", "what was found is what runs");
	host_program_free(&p);
	(void)rename(at("host/bin/old"), at("host/bin/tool"));

	ok(find(&p, "/bin/echo", &fault), "a binary (%s)", fault.text);
	is_str(run(&p), "a b c\n", "runs by its descriptor");
	host_program_free(&p);

	/*
	 * env looks the name up in PATH, but must not find the agent's program.
	 */
	put(at("ws/bin/interp"), "#!/bin/sh\necho agent\n", 0755);
	put(at("host/more/interp"), "#!/bin/sh -e\necho interp $1 $3\n", 0755);
	put(at("host/bin/byenv"), "#!/usr/bin/env interp\n", 0755);
	ok(!find(&p, "byenv", &fault) && p.refused &&
		strstr(fault.text, "ws/bin/interp") != NULL,
	    "an interpreter that only the agent has (%s)", fault.text);
	(void)rename(at("host/more/interp"), at("host/bin/interp"));
	ok(find(&p, "byenv", &fault), "one that the host has (%s)", fault.text);
	snprintf(text, sizeof(text), "%s", run(&p));
	ok(strncmp(text, "interp /proc/self/fd/", 21) == 0 &&
		strstr(text, " b c\n") != NULL,
	    "a script that interprets a script: %s", text);
	host_program_free(&p);

	put(at("host/bin/options"), "#!/usr/bin/env -i sh\n", 0755);
	ok(!find(&p, "options", &fault) && !p.refused, "%s", fault.text);
	put(at("host/bin/split"), "#!/usr/bin/env -S sh -e\nfalse\necho on\n",
	    0755);
	ok(find(&p, "split", &fault), "env -S (%s)", fault.text);
	is_str(run(&p), "", "with its argument");
	host_program_free(&p);
	put(at("host/bin/direct"), "", 0755);
	snprintf(text, sizeof(text), "#!%s\n", at("ws/bin/interp"));
	put(at("host/bin/direct"), text, 0755);
	ok(!find(&p, "direct", &fault) && p.refused,
	    "an interpreter in the workspace by its path (%s)", fault.text);
	snprintf(text, sizeof(text), "#!%s\n", at("host/bin/self"));
	put(at("host/bin/self"), text, 0755);
	ok(!find(&p, "self", &fault), "its own interpreter (%s)", fault.text);
}

/* A start that fails reports the step that failed. */
static void
test_steps(void)
{
	char *const argv[] = {entry("x"), NULL};
	char *const env[] = {NULL};
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {.path = "/bin/true",
	    .argv = argv,
	    .envp = env,
	    .cwd = "/none/such",
	    .fds = {-1, -1, -1},
	    .nfds = 3};
	int code, status;

	ok(spawn_start(&s, &sp) == 0 && spawn_check(&sp) == -1, "no directory");
	is_int(errno, ENOENT, "its errno");
	is_str(spawn_step(), ": cannot enter the directory to start it in",
	    "it is named");
	(void)spawn_reap(sp.pidfd, true, &code, &status);
	close(sp.pidfd);
	s.cwd = NULL;
	s.path = "/none/such";
	ok(spawn_start(&s, &sp) == 0 && spawn_check(&sp) == -1, "no program");
	is_str(spawn_step(), "", "its path says all");
	(void)spawn_reap(sp.pidfd, true, &code, &status);
	close(sp.pidfd);
	free(argv[0]);
}

static char sockets[1024];

static void
socket_found(const char *path)
{
	(void)strlcat(sockets, path, sizeof(sockets));
	(void)strlcat(sockets, ";", sizeof(sockets));
}

/* Bind a socket; changes directory for a relative name. */
static int
listens(const char *dir, const char *name, int type, bool listening)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	(void)strlcpy(sun.sun_path, name, sizeof(sun.sun_path));
	if (fd == -1 || chdir(dir) == -1 ||
	    bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    (listening && listen(fd, 1) == -1))
		exit(99);
	return fd;
}

/* Returns the number of sockets found; `sockets` has their paths. */
static unsigned
sockets_look(bool ask)
{
	struct sockets_seen seen;

	sockets[0] = '\0';
	host_sockets(&seen, &places, ask, socket_found);
	ok(seen.known == ask && !seen.cut, "the kernel was %sasked",
	    ask ? "" : "not ");
	return seen.found;
}

/* Each kind of socket by itself: found, or rightly not. */
static void
test_sockets(void)
{
	static const struct {
		const char *what, *dir, *name, *path;
		int type;
		bool listening, found;
		/* After the bind: `moved` is renamed to, `linked` linked. */
		const char *moved, *linked;
	} rows[] = {
	    {"stream, by its path", "", "ws/s1", "ws/s1", SOCK_STREAM, true,
		true, NULL, NULL},
	    {"seqpacket, by its path", "", "ws/s2", "ws/s2", SOCK_SEQPACKET,
		true, true, NULL, NULL},
	    {"datagram", "", "view/s3", "view/s3", SOCK_DGRAM, false, true,
		NULL, NULL},
	    {"by a relative name", "ws/sub", "s4", "ws/sub/s4", SOCK_STREAM,
		true, true, NULL, NULL},
	    {"by a name with a directory", "ws", "sub/s5", "ws/sub/s5",
		SOCK_STREAM, true, true, NULL, NULL},
	    {"through a link", "", "host/into/s6", "ws/bin/s6", SOCK_STREAM,
		true, true, NULL, NULL},
	    {"bound, not listening", "", "ws/s7", NULL, SOCK_STREAM, false,
		false, NULL, NULL},
	    {"elsewhere", "", "host/s8", NULL, SOCK_STREAM, true, false, NULL,
		NULL},
	    {"elsewhere, by a relative name", "host", "s9", NULL, SOCK_STREAM,
		true, false, NULL, NULL},
	    {"renamed in its directory", "", "ws/s10.123", "ws/s10",
		SOCK_STREAM, true, true, "ws/s10", NULL},
	    {"moved there from elsewhere", "", "host/s11", "ws/sub/s11",
		SOCK_STREAM, true, true, "ws/sub/s11", NULL},
	    {"moved away", "", "ws/s12", NULL, SOCK_STREAM, true, false,
		"host/s12", NULL},
	    {"linked there from elsewhere", "", "host/s13", "view/s13",
		SOCK_STREAM, true, true, NULL, "view/s13"},
	    {"a datagram socket, linked and unlinked", "", "host/s14",
		"ws/bin/s14", SOCK_DGRAM, false, true, "host/s14.old",
		"ws/bin/s14"},
	    {"bound by a relative name and renamed", "ws", "s15.9", "ws/s15",
		SOCK_SEQPACKET, true, true, "ws/s15", NULL},
	};
	char want[1100];
	int fd;

	for (size_t i = 0; i < nitems(rows); i++) {
		const bool here = rows[i].dir[0] == '\0';

		fd = listens(at("%s", rows[i].dir),
		    here ? at("%s", rows[i].name) : rows[i].name, rows[i].type,
		    rows[i].listening);
		if ((rows[i].linked != NULL &&
			link(at("%s", rows[i].name),
			    at("%s", rows[i].linked)) == -1) ||
		    (rows[i].moved != NULL &&
			rename(here ? at("%s", rows[i].name)
				    : at("%s/%s", rows[i].dir, rows[i].name),
			    at("%s", rows[i].moved)) == -1))
			exit(99);
		is_int(sockets_look(true), rows[i].found, "a socket: %s",
		    rows[i].what);
		want[0] = '\0';
		if (rows[i].found)
			snprintf(
			    want, sizeof(want), "%s;", at("%s", rows[i].path));
		is_str(sockets, want, "... by the path where it is now");
		close(fd);
	}
	/* The files remain, but nobody listens on them. */
	is_int(sockets_look(true), 0, "sockets that nobody has open");
	is_int(sockets_look(false), 12,
	    "without the kernel's word every socket file counts: %s", sockets);
	/* A file of another session's agent is out of ours' reach. */
	fd = listens("/", at("other/s16"), SOCK_STREAM, true);
	is_int(sockets_look(true), 0, "a socket where another agent writes");
	close(fd);
}

/* This process holds many descriptors in flight, and is named in time only. */
static void
test_holders(void)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int[100]))];
	} control = {.bytes = ""};
	struct iovec iov = {"x", 1};
	struct msghdr mh = {.msg_iov = &iov,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&mh);
	char names[256], ours[32];
	int fds[100], pair[2];

	for (size_t i = 0; i < 100; i++)
		fds[i] = STDIN_FILENO;
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cm), fds, sizeof(fds));
	ok(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0 &&
		sendmsg(pair[0], &mh, 0) == 1,
	    "100 descriptors are in flight");
	snprintf(ours, sizeof(ours), "(pid %ld)", (long)getpid());
	ok(strstr(inflight_holders(names, sizeof(names), 10000), ours) != NULL,
	    "the process that holds them is named: %s", names);
	is_str(inflight_holders(names, sizeof(names), 0), "",
	    "without time, none is");
	close(pair[0]);
	close(pair[1]);
}

int
main(void)
{
	char *const rm[] = {"rm", "-rf", top, NULL};
	pid_t pid;

	if (spawn_init() == -1)
		return 99;
	make();
	test_holders();
	test_places();
	test_views();
	test_list();
	test_environ();
	test_reach();
	test_inline();
	test_find();
	test_run();
	test_sockets();
	test_steps();
	places_clear(&places);
	if ((pid = fork()) == 0) {
		execv("/bin/rm", rm);
		_exit(127);
	}
	return tap_done();
}
