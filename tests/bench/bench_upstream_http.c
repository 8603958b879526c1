/* SPDX-License-Identifier: ISC */
/* Requests and answers of bench_upstream. Trusts requests to be well-formed. */
#include "bench_upstream.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench.h"

/* Returns 1 if all was written, 0 if the socket is full, -1 if it is gone. */
static int
up_write(struct conn *c)
{
	size_t n;
	int rv;

	while (c->out_at < c->out_len) {
		rv = SSL_write_ex(
		    c->ssl, c->out + c->out_at, c->out_len - c->out_at, &n);
		if (rv != 1) {
			rv = SSL_get_error(c->ssl, rv);
			return rv == SSL_ERROR_WANT_WRITE ? 0 : -1;
		}
		c->out_at += n;
	}
	c->out_at = c->out_len = 0;
	return 1;
}

static void
up_put(struct conn *c, const void *p, size_t len)
{
	if (len > sizeof(c->out) - c->out_len)
		errx(1, "an answer does not fit");
	memcpy(c->out + c->out_len, p, len);
	c->out_len += len;
}

static void
up_head(struct conn *c, unsigned status, const char *type, const char *framing)
{
	char head[512];
	int n;

	n = snprintf(head, sizeof(head),
	    "HTTP/1.1 %u %s\r\ncontent-type: %s\r\n"
	    "request-id: req_bench\r\n%s\r\n\r\n",
	    status, status == 200 ? "OK" : "Forbidden", type, framing);
	up_put(c, head, (size_t)n);
}

int
up_event(struct conn *c)
{
	char event[128], chunk[160];
	int n;

	n = snprintf(event, sizeof(event),
	    "event: tick\ndata: {\"t\":%llu,\"text\":\"some forty bytes of "
	    "text, as a model\"}\n\n",
	    (unsigned long long)bench_now());
	n = snprintf(chunk, sizeof(chunk), "%x\r\n%s\r\n", (unsigned)n, event);
	up_put(c, chunk, (size_t)n);
	if (--c->events == 0) {
		up_put(c, "0\r\n\r\n", 5);
		TAILQ_REMOVE(&up.streams, c, entry);
		c->streaming = false;
	}
	return up_write(c);
}

static uint64_t
up_asked(const struct conn *c, const char *name)
{
	const char *p;

	p = strstr(c->peek, name);
	return p == NULL ? 0 : strtoull(p + strlen(name), NULL, 10);
}

/* Answer a complete request. Returns 0, or -1 if the connection ends. */
static int
up_answer(struct conn *c)
{
	char framing[64];

	c->headed = false;
	c->peek[c->peeked] = '\0';
	c->peeked = 0;
	up.requests++;
	if (c->refuse) {
		up.refused++;
		up_head(c, 403, "text/plain", "content-length: 0");
		return up_write(c);
	}
	up.accepted++;
	if ((c->events = up_asked(c, "\"events\":")) != 0) {
		c->every = up_asked(c, "\"every_us\":") * 1000;
		up_head(
		    c, 200, "text/event-stream", "transfer-encoding: chunked");
		c->due = bench_now() + c->every;
		c->streaming = true;
		TAILQ_INSERT_TAIL(&up.streams, c, entry);
		return up_event(c);
	}
	if ((c->bytes = up_asked(c, "\"bytes\":")) != 0) {
		snprintf(framing, sizeof(framing), "content-length: %llu",
		    (unsigned long long)c->bytes);
		up_head(c, 200, "application/json", framing);
		/* One long string, like a large answer. */
		if (c->bytes > 9) {
			up_put(c, "{\"data\":\"", 9);
			c->bytes -= 9;
		}
		return up_write(c);
	}
	snprintf(framing, sizeof(framing), "content-length: %d", UP_ANSWER);
	up_head(c, 200, "application/json", framing);
	up_put(c, up.answer, UP_ANSWER);
	return up_write(c);
}

/* Returns a header's value in a NUL-terminated head, or "". */
static const char *
up_header(const char *head, const char *name, size_t *len)
{
	size_t want = strlen(name);

	*len = 0;
	for (const char *p = strstr(head, "\r\n"); p != NULL;
	     p = strstr(p, "\r\n")) {
		p += 2;
		if (strncasecmp(p, name, want) != 0 || p[want] != ':')
			continue;
		for (p += want + 1; *p == ' ';)
			p++;
		*len = strcspn(p, "\r");
		return p;
	}
	return "";
}

static void
up_head_read(struct conn *c, char *head)
{
	const char *v;
	size_t len;

	v = up_header(head, "content-length", &len);
	c->body = strtoull(v, NULL, 10);
	v = up_header(head, "x-api-key", &len);
	c->refuse = len != strlen(up.key) || memcmp(v, up.key, len) != 0;
	c->headed = true;
}

/* Take the input. Returns 0, or -1 if the connection ends. */
static int
up_take(struct conn *c)
{
	size_t used = 0, n;
	char *end;

	while (c->have - used != 0) {
		if (c->headed) {
			n = c->have - used;
			if (n > c->body)
				n = (size_t)c->body;
			if (c->peeked < UP_MAX_PEEK) {
				size_t k = UP_MAX_PEEK - c->peeked;

				k = k > n ? n : k;
				memcpy(c->peek + c->peeked, c->in + used, k);
				c->peeked += k;
			}
			used += n;
			c->body -= n;
		} else {
			end =
			    memmem(c->in + used, c->have - used, "\r\n\r\n", 4);
			if (end == NULL)
				break;
			end[3] = '\0';
			up_head_read(c, c->in + used);
			used = (size_t)(end + 4 - c->in);
		}
		if (c->headed && c->body == 0 && up_answer(c) == -1)
			return -1;
	}
	c->have -= used;
	memmove(c->in, c->in + used, c->have);
	return c->have == sizeof(c->in) ? -1 : 0;
}

int
up_read(struct conn *c)
{
	size_t n;
	int rv;

	for (;;) {
		rv = SSL_read_ex(
		    c->ssl, c->in + c->have, sizeof(c->in) - c->have, &n);
		if (rv != 1) {
			rv = SSL_get_error(c->ssl, rv);
			return rv == SSL_ERROR_WANT_READ ||
				       rv == SSL_ERROR_WANT_WRITE
				   ? 0
				   : -1;
		}
		c->have += n;
		if (up_take(c) == -1)
			return -1;
		/*
		 * Nothing is pending: save a read that would fail with EAGAIN.
		 */
		if (SSL_pending(c->ssl) == 0 && c->body == 0)
			return 0;
	}
}

int
up_bulk(struct conn *c)
{
	size_t n;
	int rv;

	while ((rv = up_write(c)) == 1 && c->bytes != 0) {
		n = c->bytes > sizeof(up.filler) ? sizeof(up.filler)
						 : (size_t)c->bytes;
		up_put(c, up.filler, n);
		c->bytes -= n;
	}
	return rv == -1 ? -1 : 0;
}
