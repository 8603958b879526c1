/* SPDX-License-Identifier: ISC */
/*
 * Tests the live set with sessions that this test plays: they come and go, are
 * slow, talk nonsense, and one of them never delays another.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/icctl.h"
#include "icctl/live/live.h"
#include "tap.h"

#define DIGEST                                                                 \
	"ceb02dd97220b7e6a3131478d4dc88ebdbf3f45aa21b2218e76bb7d770ec973c"

static char home[] = "/tmp/ic-live-XXXXXX";
static struct loop loop;
static struct live *set;
static struct {
	unsigned lists, holds, items, replies, events;
	bool ok;
	char code[32], op[16];
	uint64_t token;
} seen;

/* A session, as its user's programs see it. */
struct played {
	char dir[200], link[200];
	int listener, conn;
	char in[8192];
	size_t len;
};

static void
on_changed(void *arg, struct live_session *s, enum live_change what)
{
	seen.lists += what == LIVE_LIST;
	seen.holds += what == LIVE_HOLD;
	seen.items += what == LIVE_ACTIVITY;
}

static void
on_replied(void *arg, struct live_session *s, const struct live_reply *r)
{
	seen.replies++;
	seen.ok = r->ok;
	seen.token = r->token;
	(void)strlcpy(seen.op, r->op, sizeof(seen.op));
	(void)strlcpy(seen.code, r->ok ? "" : r->code, sizeof(seen.code));
}

static void
on_event(void *arg, struct live_session *s, json_object *o)
{
	seen.events++;
}

static const struct live_ops ops = {on_changed, on_replied, on_event};

/* Run the loop until `*n` is at least `want`; at most 5 s. */
static bool
until(const unsigned *n, unsigned want)
{
	for (unsigned i = 0; i < 500 && *n < want; i++)
		if (loop_once(&loop, 10) == -1)
			err(1, "loop");
	return *n >= want;
}

static void
play_socket(struct played *p)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int n = snprintf(
	    sun.sun_path, sizeof(sun.sun_path), "%s/control.sock", p->dir);

	(void)unlink(sun.sun_path);
	p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (n < 0 || p->listener == -1 ||
	    bind(p->listener, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    listen(p->listener, 4) == -1)
		err(1, "%s", sun.sun_path);
}

static void
play_begin(struct played *p, const char *id, bool answers)
{
	p->listener = p->conn = -1;
	p->len = 0;
	(void)snprintf(p->dir, sizeof(p->dir), "%s/sessions/%s", home, id);
	(void)snprintf(p->link, sizeof(p->link), "%s/run/%s", home, id);
	if (mkdir(p->dir, 0700) == -1)
		err(1, "%s", p->dir);
	if (answers)
		play_socket(p);
	if (symlink(p->dir, p->link) == -1)
		err(1, "%s", p->link);
}

static void
play_end(struct played *p)
{
	(void)unlink(p->link);
	if (p->conn != -1)
		close(p->conn);
	if (p->listener != -1)
		close(p->listener);
	p->conn = p->listener = -1;
}

static bool
play_accept(struct played *p)
{
	for (unsigned i = 0; i < 500 && p->conn == -1; i++) {
		(void)loop_once(&loop, 10);
		p->conn = accept4(p->listener, NULL, NULL, SOCK_NONBLOCK);
	}
	return p->conn != -1;
}

static void
play_say(struct played *p, const char *text)
{
	while (send(p->conn, text, strlen(text), MSG_NOSIGNAL) == -1) {
		if (errno != EAGAIN)
			err(1, "send");
		(void)loop_once(&loop, 10);
	}
}

/* Returns true once a request has come that contains the text. */
static bool
play_asked(struct played *p, const char *text)
{
	ssize_t n;

	for (unsigned i = 0; i < 500; i++) {
		(void)loop_once(&loop, 10);
		n = recv(p->conn, p->in + p->len, sizeof(p->in) - 1 - p->len,
		    MSG_DONTWAIT);
		if (n > 0)
			p->len += (size_t)n;
		p->in[p->len] = '\0';
		if (strstr(p->in, text) != NULL)
			return true;
	}
	return false;
}

#define HOLD(id)                                                               \
	"{\"id\":\"" id                                                        \
	"\",\"server\":\"fs\",\"tool\":\"read\\u001b[2J\",\"effect\":"         \
	"\"Reads x\",\"digest\":\"" DIGEST                                     \
	"\",\"rule\":\"r\",\"reason\":\"w\",\"arguments\":\"{}\","             \
	"\"asks\":[],\"resources\":[],\"expires_ms\":300000}"
#define WATCH(holds) "{\"ok\":true,\"session\":\"x\",\"holds\":[" holds "]}\n"
#define OTHER                                                                  \
	"{\"ok\":false,\"code\":\"not-found\",\"error\":\"no\"}\n"             \
	"{\"ok\":true,\"agent\":\"claude\",\"workspace\":\"/w\","              \
	"\"dir\":\"/d\"}\n"

static void
play_hello(struct played *p, const char *watch)
{
	unsigned lists = seen.lists;

	ok(play_accept(p), "a connection is made");
	play_say(p, watch);
	play_say(p, OTHER);
	ok(until(&seen.lists, lists + 1), "and the session is listed");
}

static void
test_lists(struct played *a, struct played *b)
{
	struct live_session *s;

	play_begin(a, "aaa", true);
	set = live_new(&loop, home, NULL, 1, &ops, NULL);
	ok(set != NULL && live_at(set, 0) == NULL,
	    "a session that has not answered is not listed");
	play_hello(a, WATCH(HOLD("k3f9")));
	s = live_at(set, 0);
	is_int(s->nholds, 1, "with the call that waits");
	ok(s->holds[0].whole && strcmp(s->holds[0].digest, DIGEST) == 0 &&
		s->holds[0].expires > loop_now(&loop),
	    "whole, with its digest and its time");
	play_begin(b, "bbb", false);
	(void)loop_once(&loop, 100);
	ok(live_at(set, 1) == NULL, "a link without a socket is not listed");
	play_socket(b);
	play_hello(b, WATCH(""));
	ok(live_at(set, 1) != NULL && live_find(set, "bbb") == live_at(set, 1),
	    "until the socket appears");
}

static void
test_events(struct played *a)
{
	struct live_session *s = live_find(set, "aaa");
	unsigned holds = seen.holds, items = seen.items;

	play_say(a, "{\"event\":\"hold\",\"hold\":" HOLD("m4g2") "}\n");
	ok(until(&seen.holds, holds + 1) && s->nholds == 2, "a call waits");
	ok(strstr(live_item(s, 0)->text, "fs__read\\x1b[2J") != NULL &&
		live_item(s, 0)->kind == LIVE_HELD,
	    "and is in the activity, escaped");
	play_say(a, "{\"event\":\"holdEnd\",\"id\":\"k3f9\","
		    "\"state\":\"denied\"}\n");
	ok(until(&seen.holds, holds + 2) && s->nholds == 1 &&
		strcmp(s->holds[0].id, "m4g2") == 0,
	    "one is answered, and the other one stays");
	is_str(live_item(s, 0)->state, "denied", "the history says how");
	for (unsigned i = 0; i < 2 * LIVE_RING; i++)
		play_say(a, "{\"event\":\"alarm\",\"who\":\"x\","
			    "\"text\":\"y\"}\n");
	ok(until(&seen.items, items + 2 + 2 * LIVE_RING) &&
		live_item(s, LIVE_RING - 1) != NULL &&
		live_item(s, LIVE_RING) == NULL,
	    "the activity is bounded");
}

static void
test_answers(struct played *a, struct played *b)
{
	struct live_session *s = live_find(set, "aaa"), *t;
	struct live_verdict v = {
	    .approve = true, .id = "m4g2", .digest = DIGEST, .because = ""};
	unsigned replies = seen.replies, holds = seen.holds;

	is_int(live_answer(s, &v, 7), 0, "an approval");
	ok(play_asked(a, "\"digest\":\"" DIGEST "\",\"op\":\"approve\""),
	    "goes out with the digest");
	/* The other session goes on while this one does not answer. */
	t = live_find(set, "bbb");
	play_say(b, "{\"event\":\"hold\",\"hold\":" HOLD("bbbb") "}\n");
	ok(until(&seen.holds, holds + 1) && t->nholds == 1,
	    "a session that is slow delays no other one");
	play_say(a, "{\"ok\":false,\"code\":\"late\",\"error\":\"late\"}\n");
	ok(until(&seen.replies, replies + 1) && !seen.ok && seen.token == 7 &&
		strcmp(seen.code, "late") == 0,
	    "its refusal is told, with the token");
	v.digest = "short";
	ok(live_answer(s, &v, 8) == -1 && errno == EINVAL,
	    "no answer without a whole digest");
	is_int(live_revoke(t, "g1", 9), 0, "a revocation");
	ok(play_asked(b, "\"op\":\"revoke\""), "goes out");
	v.digest = DIGEST;
	for (unsigned i = 0; i < 100; i++)
		(void)live_answer(s, &v, 100 + i);
	ok(live_answer(s, &v, 300) == -1 && errno == EBUSY,
	    "open requests are bounded");
}

static void
test_log(struct played *a)
{
	static const char text[] =
	    "{\"event\":\"call\",\"serverName\":\"fs\",\"toolName\":\"ls\","
	    "\"arguments\":{\"path\":\"/x\\u202e\"},\"policyDecision\":"
	    "{\"status\":\"deny\",\"rule\":\"no\",\"reason\":\"\"},"
	    "\"time\":\"2026-11-21T21:00:00.123456Z\"}\nnot json\n"
	    "{\"event\":\"usage\",\"model\":\"m\",\"in\":5,\"out\":7,"
	    "\"time\":\"2026-11-21T21:00:01.000000Z\"}\n{\"event\":";
	struct live_session *s = live_find(set, "aaa");
	unsigned items = seen.items;
	char path[300];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/audit.jsonl", a->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (write(fd, text, sizeof(text) - 1) == -1)
		err(1, "%s", path);
	ok(until(&seen.items, items + 2), "decisions are read from the log");
	is_str(live_item(s, 1)->text, "fs__ls  /x\\u{202e}  (no)",
	    "a denied call, escaped");
	ok(live_item(s, 1)->kind == LIVE_DENIED &&
		live_item(s, 0)->kind == LIVE_MODEL,
	    "and an answer of a model");
	close(fd);
}

/* A session is listed while it starts, by the options that it has. */
static void
test_starting(struct played *c)
{
	static const char said[] =
	    "{\"options\":[[\"agent\",\"claude\"],[\"workspace\",\"/w\\u001b\"],"
	    "[\"task\",7],\"x\"]}";
	unsigned lists = seen.lists;
	struct live_session *s = NULL;
	char path[240];
	FILE *f;

	play_begin(c, "ccc", true);
	(void)snprintf(path, sizeof(path), "%s/start.json", c->dir);
	if ((f = fopen(path, "w")) == NULL || fputs(said, f) == EOF ||
	    fclose(f) != 0)
		err(1, "%s", path);
	ok(play_accept(c), "a session that starts is asked");
	play_say(c, "{\"ok\":false,\"code\":\"starting\",\"error\":\"w\"}\n");
	ok(until(&seen.lists, lists + 1) &&
		(s = live_find(set, "ccc")) != NULL && s->starting &&
		s->is == LIVE_ABSENT,
	    "and is listed before it runs");
	if (s == NULL)
		return;
	is_str(s->state, "starting", "as one that is starting");
	is_str(s->agent, "claude", "with its agent");
	is_str(s->workspace, "/w\\x1b", "and its workspace, made visible");
	close(c->conn);
	c->conn = -1;
	lists = seen.lists;
	ok(play_accept(c), "it is asked again");
	play_say(c, WATCH(""));
	play_say(c, OTHER);
	ok(until(&seen.lists, lists + 1) && !s->starting &&
		s->is == LIVE_RUNS && strcmp(s->state, "starting") != 0,
	    "and then it runs");
	play_end(c);
}

static void
test_ends(struct played *a, struct played *b)
{
	unsigned lists = seen.lists, replies = seen.replies;

	play_say(b, "{\"event\":\"end\",\"why\":\"done\"}\n");
	play_end(b);
	ok(until(&seen.lists, lists + 1) &&
		live_find(set, "bbb")->is == LIVE_OVER &&
		live_find(set, "bbb")->nholds == 0,
	    "a session that ends is kept, without its calls");
	ok(seen.replies == replies + 1 && strcmp(seen.code, "lost") == 0,
	    "its open request is told");
	play_say(a, "no json at all\n");
	ok(until(&seen.replies, replies + 2), "nonsense ends a connection");
	close(a->conn);
	a->conn = -1;
	ok(live_find(set, "aaa")->is == LIVE_LOST && play_accept(a),
	    "which is made again");
	play_say(a, WATCH(""));
	for (unsigned i = 0; i < 500; i++)
		if (live_find(set, "aaa")->is != LIVE_RUNS)
			(void)loop_once(&loop, 10);
	is_int(live_find(set, "aaa")->is, LIVE_RUNS, "and it runs again");
}

int
main(void)
{
	static struct played a, b, c;
	char path[200], command[64];

	if (mkdtemp(home) == NULL || loop_init(&loop, LIVE_TIMERS) == -1)
		err(1, "%s", home);
	(void)snprintf(path, sizeof(path), "%s/sessions", home);
	(void)mkdir(path, 0700);
	(void)snprintf(path, sizeof(path), "%s/run", home);
	(void)mkdir(path, 0700);
	test_lists(&a, &b);
	test_events(&a);
	test_answers(&a, &b);
	test_log(&a);
	test_starting(&c);
	test_ends(&a, &b);
	play_end(&a);
	live_forget(set);
	live_free(set);
	loop_free(&loop);
	(void)snprintf(command, sizeof(command), "/bin/rm -rf %s", home);
	if (system(command) != 0)
		errx(1, "%s", command);
	return tap_done();
}
