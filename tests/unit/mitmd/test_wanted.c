/* SPDX-License-Identifier: ISC */
/*
 * Hosts on no list that a CONNECT waits for, and what a person may open. Uses
 * the real program, confined; it ends at a violation, so each violation has its
 * own.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"
#include "unit/mitmd/rig.h"

#define GLOBS "\"repositories\":[\"*\",\"*/*\"]"
#define FILE_OF(kind, hosts, more)                                             \
	"{\"name\":\"added-1\",\"kind\":\"" kind "\",\"hosts\":[" hosts        \
	"]" more "}"
#define WEB FILE_OF("web", "\"files.example.net\"", "")

static const char *program;

static void
begin(bool open, bool asks)
{
	memset(&rig, 0, sizeof(rig));
	rig_open = open;
	rig_asks = asks;
	rig_start(program);
}

static void
provider(unsigned index, const char *json)
{
	struct msg_PROVIDER m = {.index = (uint16_t)index,
	    .name = SPAN("added"),
	    .json = span_str(json)};

	chan_send(rig.sup, MSG_PROVIDER, &m, -1);
	loop_turns(&rig.loop);
}

static void
shut(const char *host, enum proto_shut why)
{
	struct msg_HOST_SHUT_GO m = {
	    .reason = (uint8_t)why, .host = span_str(host)};

	chan_send(rig.audit, MSG_HOST_SHUT_GO, &m, -1);
	loop_turns(&rig.loop);
}

static int
wants(const char *target, const char *agent)
{
	char text[1024];
	int fd = rig_dial();

	snprintf(text, sizeof(text), "CONNECT %s HTTP/1.1\r\n%s%s%s\r\n",
	    target, agent != NULL ? "User-Agent: " : "",
	    agent != NULL ? agent : "", agent != NULL ? "\r\n" : "");
	rig_send(fd, text);
	return fd;
}

static void
test_waits(void)
{
	const char *text;
	int a, b, c;

	begin(true, true);
	a = wants("Files.example.net:443", "curl/8.5.0");
	ok(rig_counted(&rig.wanted, 1) &&
		strcmp(rig.host, "files.example.net") == 0 &&
		strcmp(rig.agent, "curl") == 0,
	    "policyd is asked, for the name in its one spelling");
	b = wants("files.example.net:443", NULL);
	c = wants("other.example.net:443", "a\"b/1");
	ok(rig_counted(&rig.wanted, 2) &&
		strcmp(rig.host, "other.example.net") == 0 &&
		rig.agent[0] == '\0',
	    "once for each host; no word that is none");
	ok(rig.denied == 0, "all of them wait");
	provider(PROTO_FIRST_ADDED, WEB);
	ok(strstr(rig_read_until(a, "\r\n\r\n"), "HTTP/1.1 200 ") != NULL &&
		strstr(rig_read_until(b, "\r\n\r\n"), "HTTP/1.1 200 ") != NULL,
	    "opened: those that wait for it go on");
	shut("other.example.net", PROTO_SHUT_DENIED);
	text = rig_read_until(c, "(none)");
	ok(strstr(text, " 403 other.example.net:443 stays closed") != NULL &&
		rig_counted(&rig.denied, 1) &&
		strcmp(rig.code, "host-denied") == 0,
	    "denied: the others are refused, and it is recorded");
	close(a);
	close(b);
	close(c);
	a = wants("gone.example.net:443", NULL);
	(void)rig_counted(&rig.wanted, 3);
	close(a);
	shut("gone.example.net", PROTO_SHUT_EXPIRED);
	a = wants("files.example.net:443", NULL);
	ok(strstr(rig_read_until(a, "\r\n\r\n"), "HTTP/1.1 200 ") != NULL &&
		rig.wanted == 3 && rig_alive(),
	    "one that has left is no matter; an open host is not asked about");
	close(a);
	rig_stop();
}

static const char *const refused[] = {"localhost:443", "127.0.0.1:443",
    "10.0.0.1:443", "[::1]:443", "x.local:443", "x.internal:443", "x:443",
    "0x7f.1:443", "files.example.net:80", "files.example.net:0443",
    "files.example.net", "files.example.net.:443", "*.example.net:443",
    "files.example.net:443:443", "f_s.example.net:443"};

static void
test_refused(void)
{
	unsigned n = 0;
	int fd;

	begin(true, true);
	for (size_t i = 0; i < nitems(refused); i++) {
		fd = wants(refused[i], "curl/8");
		(void)rig_read_until(fd, "(none)");
		n += rig_closed ? 1 : 0;
		close(fd);
	}
	ok(n == nitems(refused) && rig_counted(&rig.denied, n) &&
		rig.wanted == 0,
	    "what is no public host at port 443 is refused unasked");
	fd = rig_dial();
	rig_send(fd, "CONNECT early.example.net:443 HTTP/1.1\r\n\r\nx");
	(void)rig_read_until(fd, "(none)");
	ok(rig_closed && rig_counted(&rig.denied, n + 1) && rig.wanted == 0 &&
		strcmp(rig.code, "early") == 0,
	    "and one that does not wait for its answer");
	close(fd);
	ok(rig_alive(), "mitmd is content");
	rig_stop();
}

static const struct {
	const char *target, *agent;
	bool asked;
} unasked[] = {
    {"News.example.net:443", "curl/8", false},
    {"news.example.net:443", NULL, false},
    {"raw.example.net:443", "codex_rs/0.1", false},
    {"last.example.net:443", "x", false},
    {"none.example.net:443", NULL, false},
    {"news.example.net:443", "codex_rs/0.1", false},
    /* each of these is another host, or another program */
    {"raw.example.net:443", "codex_rs2/0.1", true},
    {"a.news.example.net:443", "codex_rs/0.1", true},
    {"ews.example.net:443", "codex_rs/0.1", true},
    {"last.example.net:443", NULL, true},
    {"none.example.net:443", "curl/8", true},
};

static void
test_unasked(void)
{
	unsigned asked = 0, refused_so = 0;
	int fds[nitems(unasked)];

	rig_unasked = "news.example.net\nraw.example.net codex_rs\n"
		      "none.example.net -\nlast.example.net x\n";
	begin(true, true);
	for (size_t i = 0; i < nitems(unasked); i++) {
		fds[i] = wants(unasked[i].target, unasked[i].agent);
		if (unasked[i].asked) {
			ok(rig_counted(&rig.wanted, ++asked), "%s: asked",
			    unasked[i].target);
			continue;
		}
		(void)rig_read_until(fds[i], "(none)");
		ok(rig_closed && rig_counted(&rig.denied, ++refused_so) &&
			strcmp(rig.code, "host-unasked") == 0 &&
			rig.wanted == 0,
		    "%s: refused without a question", unasked[i].target);
	}
	for (size_t i = 0; i < nitems(unasked); i++)
		close(fds[i]);
	ok(rig_alive(), "mitmd is content");
	rig_stop();
	rig_unasked = "";
}

static const struct {
	const char *name;
	const char *json;
	bool good;
} files[] = {
    {"a registry with two hosts",
	FILE_OF("registry", "\"i.example.net\",\"f.example.net\"",
	    ",\"registry\":\"pypi\""),
	true},
    {"a registry with three",
	FILE_OF("registry",
	    "\"i.example.net\",\"f.example.net\",\"g.example.net\"",
	    ",\"registry\":\"pypi\""),
	false},
    {"a git server to fetch from",
	FILE_OF("git", "\"git.example.net\"", "," GLOBS ",\"push\":\"deny\""),
	true},
    {"one that takes pushes", FILE_OF("git", "\"git.example.net\"", "," GLOBS),
	false},
    {"one with a credential",
	FILE_OF("git", "\"git.example.net\"",
	    "," GLOBS ",\"push\":\"deny\",\"credential\":{\"env\":\"T\","
	    "\"basic\":\"x\"}"),
	false},
    {"two web hosts", FILE_OF("web", "\"a.example.net\",\"b.example.net\"", ""),
	false},
};

static void
test_kinds(void)
{
	for (size_t i = 0; i < nitems(files); i++) {
		begin(true, true);
		provider(PROTO_FIRST_ADDED, files[i].json);
		if (files[i].good) {
			int fd = wants(i == 0 ? "f.example.net:443"
					      : "git.example.net:443",
			    NULL);

			ok(strstr(rig_read_until(fd, "\r\n\r\n"),
			       "HTTP/1.1 200 ") != NULL,
			    "%s: opened", files[i].name);
			close(fd);
		} else {
			ok(rig_until(&rig.ended), "%s: the end", files[i].name);
		}
		rig_stop();
	}
	begin(true, false);
	provider(PROTO_FIRST_ADDED, files[2].json);
	ok(rig_until(&rig.ended),
	    "where nobody asks, only web hosts are added");
	rig_stop();
	begin(true, false);
	shut("x.example.net", PROTO_SHUT_DENIED);
	ok(rig_until(&rig.ended), "nor is any shut");
	rig_stop();
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	program = argv[1];
	test_waits();
	test_refused();
	test_unasked();
	test_kinds();
	return tap_done();
}
