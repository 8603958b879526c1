/* SPDX-License-Identifier: ISC */
/* Answers of a token endpoint: complete or refused, however they are split. */
#include <stdio.h>
#include <string.h>

#include "mitmd/keyd/login/oauth.h"
#include "mitmd/keyd/login/token_answer.h"
#include "tap.h"

#define OK "HTTP/1.1 200 OK\r\n"

/* clang-format off */
static const struct row {
	const char *name, *text;
	bool closed;		/* the connection ends after it */
	unsigned status;	/* 0: not a valid answer */
	const char *body;
} rows[] = {
	{"a length", OK "content-length: 2\r\n\r\n{}", false, 200, "{}"},
	{"bytes behind it", OK "content-length: 2\r\n\r\n{}x", false, 200, "{}"},
	{"an error", "HTTP/1.1 400 No\r\ncontent-length: 2\r\n\r\n{}", false,
	    400, "{}"},
	{"chunks", OK "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n3\r\n"
	    "\"a\"\r\n1\r\n}\r\n0\r\n\r\n", false, 200, "{\"a\"}"},
	{"until the end", OK "\r\n{}", true, 200, "{}"},
	{"nothing", OK "content-length: 0\r\n\r\n", false, 200, ""},
	{"a length, cut", OK "content-length: 3\r\n\r\n{}", true, 0, NULL},
	{"chunks, cut", OK "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
	    true, 0, NULL},
	{"a head, cut", OK "a: b\r\n", true, 0, NULL},
	{"a redirect", "HTTP/1.1 302 No\r\nlocation: /\r\n\r\n", true, 0, NULL},
	{"an interim answer", "HTTP/1.1 100 Go\r\n\r\n", true, 0, NULL},
	{"a coding", OK "content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}",
	    true, 0, NULL},
	{"no coding, said", OK "content-encoding: identity\r\n"
	    "content-length: 2\r\n\r\n{}", false, 200, "{}"},
	{"two lengths", OK "content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
	    true, 0, NULL},
};
/* clang-format on */

static struct token_answer a;

/* Feed the text in steps. Returns true if the answer is complete at the end. */
static bool
whole(const char *text, size_t step, bool closed)
{
	size_t left = strlen(text), n, room;
	bool done = false;
	uint8_t *p;

	token_answer_begin(&a);
	while (left != 0 && !done) {
		p = token_answer_room(&a, &room);
		n = left < step ? left : step;
		if (room < n)
			return false;
		memcpy(p, text, n);
		if (token_answer_take(&a, n, &done) != NULL)
			return false;
		text += n;
		left -= n;
	}
	return done || (closed && token_answer_ends(&a));
}

static void
test_rows(void)
{
	static const size_t steps[] = {1, 2, 7, 1000};
	const struct row *r;
	unsigned good;
	bool is;

	for (size_t i = 0; i < nitems(rows); i++) {
		r = &rows[i];
		good = 0;
		for (size_t k = 0; k < 4; k++) {
			is = whole(r->text, steps[k], r->closed);
			good += is == (r->status != 0) &&
				(!is || (a.status == r->status &&
					    span_is(token_answer_body(&a),
						r->body)));
		}
		is_int(good, 4, "%s: %s, however it is cut", r->name,
		    r->status != 0 ? "taken" : "refused");
	}
}

static void
test_limits(void)
{
	static char text[8192], big[300000];
	size_t room;
	bool done;

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, OK "a: ", strlen(OK "a: "));
	ok(!whole(text, 1000, true), "a head of 8 KiB is too large");
	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, OK "\r\n", strlen(OK "\r\n"));
	ok(!whole(big, 1000, true), "so is a body without an end");
	(void)token_answer_room(&a, &room);
	ok(room < 1000, "for which there is no room");
	ok(whole(OK "content-length: 2\r\n\r\n{}", 1000, false), "the next");
	token_answer_begin(&a);
	is_int(token_answer_body(&a).len, 0, "nothing of it is left");
	memset(token_answer_room(&a, &room), 0, 1);
	(void)token_answer_take(&a, 0, &done);
	ok(!done && !token_answer_ends(&a), "no byte is no answer");
}

int
main(void)
{
	if (!ok(secret_prepare(65536) == 0 &&
		    token_answer_new(&a, OAUTH_MAX_ANSWER) == 0,
		"secret memory"))
		return tap_done();
	test_rows();
	test_limits();
	return tap_done();
}
