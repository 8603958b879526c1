/* SPDX-License-Identifier: ISC */
/*
 * Parses the answer of a token endpoint: one head and one body, both of limited
 * size. The body may hold a token, so all of it stays in the secret memory that
 * it is received in; chunks are joined in place. Trusts none of it.
 */
#include "keyd/login/token_answer.h"

#include "keyd/login/oauth.h"

#define TOKEN_MAX_HEAD 8192U

int
token_answer_new(struct token_answer *a, size_t max)
{
	a->mem = secret_new(TOKEN_MAX_HEAD + max);
	return a->mem != NULL ? 0 : -1;
}

void
token_answer_begin(struct token_answer *a)
{
	struct secret *mem = a->mem;
	size_t cap;
	uint8_t *p;

	p = secret_bytes(mem, &cap);
	explicit_bzero(p, cap);
	*a = (struct token_answer){.mem = mem};
}

uint8_t *
token_answer_room(struct token_answer *a, size_t *n)
{
	size_t cap;
	uint8_t *p = secret_bytes(a->mem, &cap);

	*n = cap - a->got;
	return p + a->got;
}

/*
 * Parse the head. Returns NULL if it is complete or incomplete, or the error.
 */
static const char *
answer_head(struct token_answer *a)
{
	static struct http1_head h;
	size_t cap;
	const uint8_t *p = secret_bytes(a->mem, &cap);

	switch (http1_response_more(span_of(p, a->got), &a->seen, &h)) {
	case HTTP1_MORE:
		return a->got > TOKEN_MAX_HEAD ? "head too large" : NULL;
	case HTTP1_BAD:
		return h.reason;
	case HTTP1_OK:
		break;
	}
	if (h.size > TOKEN_MAX_HEAD)
		return "head too large";
	if (h.status >= 300 && h.status < 400)
		return "a redirect, which is not followed";
	if (h.status < 200)
		return "neither an answer nor an error";
	for (unsigned i = 0; i < h.nheaders; i++) {
		if (span_ieq(h.headers[i].name, SPAN("content-encoding")) &&
		    !span_ieq(h.headers[i].value, SPAN("identity")))
			return "a coding that was not asked for";
	}
	if (http1_response_body(&h, false, &a->body) != HTTP1_OK)
		return a->body.reason;
	a->headed = true;
	a->status = h.status;
	a->head = a->raw = a->end = h.size;
	return NULL;
}

/* Join chunks in place. */
static const char *
answer_body(struct token_answer *a)
{
	struct span data;
	size_t cap, used;
	uint8_t *p = secret_bytes(a->mem, &cap);

	while (!a->body.done) {
		switch (http1_body_next(&a->body,
		    span_of(p + a->raw, a->got - a->raw), &data, &used)) {
		case HTTP1_BAD:
			return a->body.reason;
		case HTTP1_MORE:
		case HTTP1_OK:
			break;
		}
		if (data.len != 0)
			memmove(p + a->end, data.p, data.len);
		a->end += data.len;
		a->raw += used;
		if (a->raw == a->got)
			break;
	}
	return NULL;
}

const char *
token_answer_take(struct token_answer *a, size_t n, bool *done)
{
	const char *bad = NULL;

	a->got += n;
	if (!a->headed)
		bad = answer_head(a);
	if (bad == NULL && a->headed)
		bad = answer_body(a);
	*done = bad == NULL && a->headed && a->body.done;
	return bad;
}

bool
token_answer_ends(struct token_answer *a)
{
	return a->headed && http1_body_eof(&a->body) == HTTP1_OK;
}

struct span
token_answer_body(const struct token_answer *a)
{
	size_t cap;

	return span_of(secret_bytes(a->mem, &cap) + a->head, a->end - a->head);
}
