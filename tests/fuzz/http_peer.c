/* SPDX-License-Identifier: ISC */
/*
 * Reads HTTP/1.1 messages with our parser, for http_peer.py, which compares
 * with Node's. Standard input has a message after another: "Q" for a request or
 * "S" for a response, its length in four bytes, the highest first, and its
 * bytes. A line is written for each: "bad", "more", or "ok", its first line's
 * parts, its headers, its body, and whether that is complete, each in
 * hexadecimal.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/http/http1.h"

static void
put_hex(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		printf("%02x", s.p[i]);
}

/* Write the body that follows the head, and how it ends. */
static void
put_body(struct http1_body *b, struct span rest)
{
	enum http1_result r = HTTP1_OK;
	struct span data;
	size_t used;

	if (b->framing == HTTP1_NONE) {
		printf(" done\n");
		return;
	}
	while (r == HTTP1_OK && !b->done) {
		r = http1_body_next(b, rest, &data, &used);
		put_hex(data);
		rest = span_of(rest.p + used, rest.len - used);
	}
	printf(" %s\n", r == HTTP1_BAD              ? "bad"
			: b->framing == HTTP1_CLOSE ? "close"
			: b->done                   ? "done"
						    : "open");
}

static void
answer(bool request, struct span in)
{
	static struct http1_head head;
	struct http1_body body;
	enum http1_result r;

	r = request ? http1_request(in, &head) : http1_response(in, &head);
	if (r == HTTP1_MORE) {
		puts("more");
		return;
	}
	if (r == HTTP1_OK)
		r = request ? http1_request_body(&head, &body)
			    : http1_response_body(&head, false, &body);
	if (r != HTTP1_OK) {
		puts("bad");
		return;
	}
	printf("ok ");
	if (request) {
		put_hex(head.method);
		printf(" ");
		put_hex(head.target);
	} else {
		printf("%u -", head.status);
	}
	printf(" ");
	for (unsigned i = 0; i < head.nheaders; i++) {
		put_hex(head.headers[i].name);
		printf(":");
		put_hex(head.headers[i].value);
		printf(",");
	}
	printf(" ");
	put_body(&body, span_of(in.p + head.size, in.len - head.size));
}

int
main(void)
{
	uint8_t start[5], *text;
	size_t len;

	while (fread(start, sizeof(start), 1, stdin) == 1) {
		len = (size_t)start[1] << 24 | (size_t)start[2] << 16 |
		      (size_t)start[3] << 8 | start[4];
		/* An exact allocation lets ASan detect a read past the end. */
		if ((text = malloc(len == 0 ? 1 : len)) == NULL)
			err(1, "malloc");
		if (len != 0 && fread(text, len, 1, stdin) != 1)
			errx(1, "the last message is cut");
		answer(start[0] == 'Q', span_of(text, len));
		free(text);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
