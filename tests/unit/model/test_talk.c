/* SPDX-License-Identifier: ISC */
/*
 * Turns against a provider on 127.0.0.1, a child process that answers request
 * after request from a list: which failures are tried again, and when, and what
 * ends a hostile answer.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "docker/model/model.h"
#include "tests/lib/tap.h"

#define SSE "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
#define CLOSE "Connection: close\r\n\r\n"
#define TEXT(t) "data: {\"choices\":[{\"delta\":{\"content\":\"" t "\"}}]}\n\n"
#define STOP                                                                   \
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define GOOD SSE CLOSE TEXT("hello") STOP "data: [DONE]\n\n"
#define REPLIES_MAX 8U

enum talk_after {
	AFTER_CLOSE,
	AFTER_FLOOD,
	AFTER_HANG
};

struct talk_reply {
	const char *bytes;
	enum talk_after after;
};

static struct {
	int port;
	pid_t pid;
	int requests; /* the child writes a byte for each */
	char base[64];
	unsigned again, again_shown;
	unsigned wait;
	char shown[64];
} talk;

static void
read_request(int fd)
{
	char buf[65536], *body;
	size_t n = 0, length;
	ssize_t got;

	for (;;) {
		if (n == sizeof(buf) - 1 ||
		    (got = read(fd, buf + n, sizeof(buf) - 1 - n)) <= 0)
			_exit(1);
		n += (size_t)got;
		buf[n] = '\0';
		if ((body = strstr(buf, "\r\n\r\n")) == NULL)
			continue;
		length =
		    strtoul(strstr(buf, "Content-Length: ") + 16, NULL, 10);
		if (n >= (size_t)(body + 4 - buf) + length)
			return;
	}
}

static void
serve(int listener, int report, const struct talk_reply *replies)
{
	static char flood[65536];
	int fd;

	signal(SIGPIPE, SIG_IGN);
	memset(flood, ':', sizeof(flood));
	for (size_t i = 0; i < REPLIES_MAX && replies[i].bytes != NULL; i++) {
		if ((fd = accept(listener, NULL, NULL)) == -1)
			_exit(1);
		read_request(fd);
		if (write(report, "r", 1) != 1 ||
		    write(fd, replies[i].bytes, strlen(replies[i].bytes)) < 0)
			_exit(1);
		if (replies[i].after == AFTER_FLOOD) {
			while (write(fd, flood, sizeof(flood)) > 0)
				continue;
		}
		if (replies[i].after == AFTER_HANG)
			(void)!read(fd, flood, 1);
		close(fd);
	}
	close(listener);
	_exit(0);
}

static void
provider_start(const struct talk_reply *replies)
{
	struct sockaddr_in sin = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);
	int fd, pipes[2];

	memset(&talk, 0, sizeof(talk));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(fd, (struct sockaddr *)&sin, len) == -1 ||
	    listen(fd, 8) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1 ||
	    pipe(pipes) == -1 || (talk.pid = fork()) == -1)
		exit(1);
	if (talk.pid == 0)
		serve(fd, pipes[1], replies);
	close(fd);
	close(pipes[1]);
	talk.requests = pipes[0];
	snprintf(talk.base, sizeof(talk.base), "http://127.0.0.1:%d",
	    ntohs(sin.sin_port));
}

/* Returns the number of requests that were made. */
static int
provider_stop(void)
{
	char all[REPLIES_MAX];
	ssize_t n;

	kill(talk.pid, SIGKILL);
	waitpid(talk.pid, NULL, 0);
	n = read(talk.requests, all, sizeof(all));
	close(talk.requests);
	return (int)n;
}

static void
show_text(void *arg, struct span text)
{
	span_copy(text, talk.shown, sizeof(talk.shown));
}

static void
show_again(void *arg, const char *why, unsigned ms, bool shown)
{
	talk.again++;
	talk.again_shown += shown;
	talk.wait = ms;
}

static const struct model_show show = {.text = show_text, .again = show_again};
static const struct model_show show_once = {.text = show_text};

static int
turn(const struct model_show *how, unsigned attempts, int cancel,
    struct model_answer *out)
{
	struct model_options o = {.dialect = MODEL_CHAT,
	    .base = talk.base,
	    .key = "k",
	    .name = "m",
	    .attempts = attempts,
	    .idle_ms = 1000,
	    .total_ms = 20000,
	    .cancel_fd = cancel};
	char said[] = "hi", why[MODEL_WHY_MAX];
	struct model_message m = {.role = MODEL_USER, .text = said};
	struct model *model = model_new(&o, why);
	int r;

	if (!ok(model != NULL, "a model: %s", why))
		exit(tap_done());
	r = model_turn(model, "be brief", &m, 1, NULL, 0, how, out);
	model_free(model);
	return r;
}

struct talk_row {
	const char *name;
	struct talk_reply replies[REPLIES_MAX];
	const struct model_show *show;
	int requests; /* made */
	enum model_error error;
	const char *said; /* in the sentence, or the text */
	unsigned again_shown;
	unsigned wait; /* announced before the last attempt, in ms */
};

#define STATUS(s, more)                                                        \
	"HTTP/1.1 " s " X\r\nContent-Length: 2\r\n" more CLOSE "{}"

/* clang-format off */
static const struct talk_row talk_rows[] = {
	{"a good answer", {{GOOD, 0}}, &show, 1, MODEL_OK, "hello", 0, 0},
	{"an error of the server is tried again",
	    {{STATUS("500", ""), 0}, {GOOD, 0}}, &show, 2, MODEL_OK, "hello", 0, 0},
	{"an overloaded one, too", {{STATUS("529", ""), 0}, {GOOD, 0}}, &show, 2, MODEL_OK,
	    "hello", 0, 0},
	{"Retry-After is honoured", {{STATUS("429", "Retry-After: 1\r\n"), 0}, {GOOD, 0}},
	    &show, 2, MODEL_OK, "hello", 0, 1000},
	{"in milliseconds, too", {{STATUS("429", "retry-after-ms: 70\r\n"), 0}, {GOOD, 0}},
	    &show, 2, MODEL_OK, "hello", 0, 70},
	{"an hour is not waited for", {{STATUS("429", "Retry-After: 3600\r\n"), 0}, {GOOD, 0}},
	    &show, 1, MODEL_TRANSIENT, "status 429", 0, 0},
	{"x-should-retry: false is honoured",
	    {{STATUS("503", "x-should-retry: false\r\n"), 0}, {GOOD, 0}},
	    &show, 1, MODEL_TRANSIENT, "status 503", 0, 0},
	{"a refusal is final", {{STATUS("400", ""), 0}, {GOOD, 0}}, &show, 1, MODEL_HARD,
	    "status 400", 0, 0},
	{"a refused key is final", {{STATUS("401", ""), 0}, {GOOD, 0}}, &show, 1,
	    MODEL_AUTHENTICATION, "key", 0, 0},
	{"attempts are limited", {{STATUS("500", ""), 0}, {STATUS("500", ""), 0},
	    {STATUS("500", ""), 0}, {GOOD, 0}}, &show, 3, MODEL_TRANSIENT, "status 500", 0, 0},
	{"text that broke off is void, which is said",
	    {{SSE CLOSE TEXT("bad"), 0}, {GOOD, 0}}, &show, 2, MODEL_OK, "hello", 1, 0},
	{"or else not asked for again",
	    {{SSE CLOSE TEXT("bad"), 0}, {GOOD, 0}}, &show_once, 1, MODEL_TRANSIENT,
	    "broke off", 0, 0},
	{"a connection that is closed at once is tried again",
	    {{"", 0}, {GOOD, 0}}, &show, 2, MODEL_OK, "hello", 0, 0},
	{"an answer that is no stream", {{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	    "Content-Length: 2\r\n" CLOSE "{}", 0}}, &show, 1, MODEL_HARD, "not a stream", 0, 0},
	{"a stream without end", {{SSE CLOSE, AFTER_FLOOD}}, &show, 1, MODEL_HARD,
	    "over 4 MB", 0, 0},
	{"an error without end", {{"HTTP/1.1 500 X\r\n" CLOSE, AFTER_FLOOD}, {GOOD, 0}},
	    &show, 2, MODEL_OK, "hello", 0, 0},
	{"a provider that falls silent", {{SSE CLOSE TEXT("x"), AFTER_HANG}}, &show_once, 1,
	    MODEL_TRANSIENT, "sent nothing for 1 seconds", 0, 0},
	{"a redirection is not followed",
	    {{"HTTP/1.1 302 X\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n" CLOSE, 0}},
	    &show, 1, MODEL_HARD, "status 302", 0, 0},
	{"the connection may break after the end",
	    {{"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999\r\n"
	    CLOSE TEXT("hello") STOP "data: [DONE]\n\n", 0}}, &show, 1, MODEL_OK, "hello", 0, 0},
};
/* clang-format on */

static void
test_row(const struct talk_row *row)
{
	struct model_answer a;
	const char *said;
	int r;

	provider_start(row->replies);
	r = turn(row->show, 3, -1, &a);
	said = r == 0 ? a.text : a.why;
	is_str(model_error_name(a.error), model_error_name(row->error), "%s",
	    row->name);
	ok((r == 0) == (row->error == MODEL_OK) && said != NULL &&
		strstr(said, row->said) != NULL,
	    "says: %s", said);
	is_int(talk.again_shown, row->again_shown, "says what is void");
	if (row->wait != 0)
		is_int(talk.wait, row->wait, "waits as it was told");
	model_answer_free(&a);
	is_int(provider_stop(), row->requests, "makes so many requests");
}

static void
test_cancel(void)
{
	static const struct talk_reply hang[REPLIES_MAX] = {
	    {SSE CLOSE TEXT("x"), AFTER_HANG}};
	static const struct talk_reply fails[REPLIES_MAX] = {
	    {STATUS("429", "Retry-After: 30\r\n"), AFTER_CLOSE}};
	struct model_answer a;
	int fds[2];

	for (int i = 0; i < 2; i++) {
		provider_start(i == 0 ? hang : fails);
		if (pipe(fds) == -1)
			exit(1);
		if (fork() == 0) {
			/* Its first request has been made. */
			char c;

			if (read(talk.requests, &c, 1) != 1 ||
			    write(fds[1], "x", 1) != 1)
				_exit(1);
			_exit(0);
		}
		is_int(turn(&show, 3, fds[0], &a), -1, "a turn is interrupted");
		is_int(a.error, MODEL_CANCELLED,
		    i == 0 ? "while the answer comes" : "while it waits");
		model_answer_free(&a);
		close(fds[0]);
		close(fds[1]);
		provider_stop();
		wait(NULL);
	}
}

static void
test_options(void)
{
	static const struct model_options bad[] = {
	    {.dialect = MODEL_CHAT,
		.base = "http://example.com",
		.key = "k",
		.name = "m"},
	    {.dialect = MODEL_CHAT,
		.base = "file:///etc/passwd",
		.key = "k",
		.name = "m"},
	    {.dialect = MODEL_CHAT, .key = "k\r\nX: y", .name = "m"},
	    {.dialect = MODEL_CHAT, .key = "", .name = "m"},
	    {.dialect = MODEL_CHAT, .key = "k", .name = ""},
	    {.dialect = MODEL_GEMINI, .key = "k", .name = "../x"},
	    {.dialect = MODEL_GEMINI, .key = "k", .name = "a/b"},
	    {.dialect = MODEL_CHAT, .key = "k", .name = "a b"},
	};
	char why[MODEL_WHY_MAX];

	for (size_t i = 0; i < nitems(bad); i++) {
		ok(model_new(&bad[i], why) == NULL && *why != '\0',
		    "options that cannot be used: %s", why);
	}
}

int
main(void)
{
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < nitems(talk_rows); i++)
		test_row(&talk_rows[i]);
	test_cancel();
	test_options();
	return tap_done();
}
