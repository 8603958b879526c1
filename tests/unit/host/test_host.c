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

#include "supervisor/config/jsonfile.h"
#include "supervisor/host/environ.h"
#include "supervisor/host/inflight.h"
#include "supervisor/host/program.h"
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
	    "host/bin", "host/more", "view", "view/bin"};
	static const struct {
		const char *link, *to;
	} links[] = {{"host/into", "ws/bin"}, {"ws/out", "host/bin"},
	    {"host/through", "ws/out"}, {"host/dangling", "ws/none"},
	    {"host/loop", "host/loop"}, {"host/good", "host/bin"}};

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
	put(at("host/bin/tool"), "#!/bin/sh\necho host \"$@\"; pwd; echo $X\n",
	    0755);
	put(at("ws/bin/tool"), "#!/bin/sh\necho agent\n", 0755);
	put(at("ws/bin/only"), "#!/bin/sh\necho agent\n", 0755);
	put(at("view/file"), "x", 0600);
	place("ws");
	place("view");
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
	ok(places_of(&places, "relative", &fd) == NULL && fd == -1,
	    "a relative path leads nowhere");
	ok(places_of(&places, "/", NULL) == NULL, "the root is nobody's");
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

static void
test_environ(void)
{
	const char *ws = at("ws"), *host = at("host");
	char *from[] = {entry("PATH=%s/bin:/usr/bin", ws),
	    entry("LD_LIBRARY_PATH=:%s/lib", ws), entry("PWD=%s", host),
	    entry("OLDPWD=/"), entry("PYTHONPATH=%s/py:%s/py", ws, host),
	    entry("LD_PRELOAD=%s/a.so %s/b.so", host, ws),
	    entry("NODE_OPTIONS=--max-old-space-size=9 --require=%s/x.js", ws),
	    entry("RUBYOPT=-r%s/x", ws), entry("BASH_ENV=%s/into/rc", host),
	    entry("TEXT=a word"), entry("HOME=%s", host), entry("EMPTY="),
	    entry("URL=https://example.org/ws"), entry("KEEP=%s/a,b", host),
	    NULL};
	char **env = host_environ(&places, from);

	is_str(in(env, "PATH"), "/usr/bin", "PATH is cleaned");
	ok(in(env, "LD_LIBRARY_PATH") == NULL, "LD_LIBRARY_PATH is gone");
	ok(in(env, "PWD") == NULL && in(env, "OLDPWD") == NULL,
	    "the directory is another one");
	ok(in(env, "PYTHONPATH") != NULL &&
		strcmp(in(env, "PYTHONPATH"), at("host/py")) == 0,
	    "any other list loses what is the agent's");
	ok(in(env, "LD_PRELOAD") == NULL, "LD_PRELOAD");
	ok(in(env, "NODE_OPTIONS") == NULL, "NODE_OPTIONS");
	ok(in(env, "RUBYOPT") == NULL, "RUBYOPT");
	ok(in(env, "BASH_ENV") == NULL, "a path that a link leads there");
	is_str(in(env, "TEXT"), "a word", "text stays");
	is_str(in(env, "HOME"), host, "HOME stays");
	is_str(in(env, "EMPTY"), "", "an empty variable stays");
	is_str(in(env, "URL"), "https://example.org/ws", "a URL stays");
	ok(in(env, "KEEP") != NULL, "paths elsewhere stay");
	jsonfile_strings_free(env);
	for (size_t i = 0; from[i] != NULL; i++)
		free(from[i]);
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

	if (setenv("X", "value", 1) == -1 || chdir(at("ws")) == -1)
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

/* Each kind of socket by itself: found, or rightly not. */
static void
test_sockets(void)
{
	const struct {
		const char *what, *dir, *name, *path;
		int type;
		bool listening, found;
	} rows[] = {
	    {"stream, by its path", "", at("ws/s1"), at("ws/s1"), SOCK_STREAM,
		true, true},
	    {"seqpacket, by its path", "", at("ws/s2"), at("ws/s2"),
		SOCK_SEQPACKET, true, true},
	    {"datagram", "", at("view/s3"), at("view/s3"), SOCK_DGRAM, false,
		true},
	    {"by a relative name", "ws/sub", "s4", at("ws/sub/s4"), SOCK_STREAM,
		true, true},
	    {"by a name with a directory", "ws", "sub/s5", at("ws/sub/s5"),
		SOCK_STREAM, true, true},
	    {"through a link", "", at("host/into/s6"), at("host/into/s6"),
		SOCK_STREAM, true, true},
	    {"bound, not listening", "", at("ws/s7"), "", SOCK_STREAM, false,
		false},
	    {"elsewhere", "", at("host/s8"), "", SOCK_STREAM, true, false},
	    {"elsewhere, by a relative name", "host", "s9", "", SOCK_STREAM,
		true, false},
	};
	int dir = open(at("ws"), O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char want[1100];

	for (size_t i = 0; i < nitems(rows); i++) {
		fd = listens(at("%s", rows[i].dir), rows[i].name, rows[i].type,
		    rows[i].listening);
		sockets[0] = '\0';
		is_int(host_sockets(&places, "/proc/net/unix", dir, at("ws"),
			   socket_found),
		    rows[i].found, "a socket: %s", rows[i].what);
		snprintf(want, sizeof(want), "%s%s", rows[i].path,
		    rows[i].found ? ";" : "");
		is_str(sockets, want, "... by that path");
		close(fd);
	}
	/* The files remain, but nobody listens on them. */
	is_int(host_sockets(
		   &places, "/proc/net/unix", dir, at("ws"), socket_found),
	    0, "a socket that nobody has open");
	is_int(host_sockets(&places, "/none", dir, at("ws"), socket_found), -1,
	    "no table");
	close(dir);
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
	test_list();
	test_environ();
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
