/* SPDX-License-Identifier: ISC */
/*
 * Writes a request head from checked values, without allocation. Every value
 * was checked against the provider file before; control characters are refused
 * here once more, because this is where they would do harm.
 */
#include "keyd/head.h"

#include <errno.h>

#include "provider/provider.h"

struct head_out {
	uint8_t *p;
	size_t cap, len;
	int error;
};

static void
head_put(struct head_out *o, struct span s)
{
	uint8_t c;

	if (o->error != 0)
		return;
	if (s.len > o->cap - o->len) {
		o->error = ENOBUFS;
		return;
	}
	for (size_t i = 0; i < s.len; i++) {
		c = s.p[i];
		if ((c < 0x20 && c != '\t') || c == 0x7f) {
			o->error = EBADMSG;
			return;
		}
		o->p[o->len++] = c;
	}
}

static void
head_put_eol(struct head_out *o)
{
	if (o->error != 0)
		return;
	if (o->cap - o->len < 2) {
		o->error = ENOBUFS;
		return;
	}
	o->p[o->len++] = '\r';
	o->p[o->len++] = '\n';
}

static void
head_put_u64(struct head_out *o, uint64_t n)
{
	uint8_t digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (uint8_t)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	head_put(o, span_of(digits + at, sizeof(digits) - at));
}

static void
head_put_field(struct head_out *o, struct span name, struct span value)
{
	head_put(o, name);
	head_put(o, SPAN(": "));
	head_put(o, value);
	head_put_eol(o);
}

/* Write Host. Returns its value, for the signature. */
static struct span
head_put_host(struct head_out *o, const struct keyd_head *h)
{
	bool literal = memchr(h->host.p, ':', h->host.len) != NULL;
	size_t at;

	head_put(o, SPAN("host: "));
	at = o->len;
	if (literal)
		head_put(o, SPAN("["));
	head_put(o, h->host);
	if (literal)
		head_put(o, SPAN("]"));
	if (h->port != (h->tls ? 443 : 80)) {
		head_put(o, SPAN(":"));
		head_put_u64(o, h->port);
	}
	head_put_eol(o);
	return o->error != 0 ? span_of(NULL, 0)
			     : span_of(o->p + at, o->len - 2 - at);
}

static void
head_put_signed(struct head_out *o, const struct keyd_head *h, struct span host)
{
	size_t n = 0;

	if (o->error != 0)
		return;
	if (keyd_sign_compose(h, host, o->p + o->len, o->cap - o->len, &n) ==
	    -1)
		o->error = errno;
	else
		o->len += n;
}

static void
head_put_line(struct head_out *o, const struct keyd_head *h)
{
	head_put(o, h->method);
	head_put(o, SPAN(" "));
	head_put(o, h->prefix);
	head_put(o, h->path);
	if (h->query.len != 0) {
		head_put(o, SPAN("?"));
		head_put(o, h->query);
	}
	head_put(o, SPAN(" HTTP/1.1"));
	head_put_eol(o);
}

/* Omit Content-Length where no body is expected (RFC 9110 8.6). */
static bool
head_has_length(const struct keyd_head *h)
{
	if (h->ws_key.len != 0)
		return false;
	return h->length != 0 || span_is(h->method, "POST") ||
	       span_is(h->method, "PUT") || span_is(h->method, "PATCH");
}

/* Request a WebSocket without extensions or subprotocols. */
static void
head_put_websocket(struct head_out *o, const struct keyd_head *h)
{
	head_put_field(o, SPAN("connection"), SPAN("Upgrade"));
	head_put_field(o, SPAN("upgrade"), SPAN("websocket"));
	head_put_field(o, SPAN("sec-websocket-version"), SPAN("13"));
	head_put_field(o, SPAN("sec-websocket-key"), h->ws_key);
}

/* Returns true if the comma-separated list has this entry. */
static bool
head_lists(struct span list, struct span entry)
{
	const uint8_t *comma;
	struct span one;

	while (list.len != 0) {
		comma = memchr(list.p, ',', list.len);
		one = list;
		if (comma != NULL)
			one.len = (size_t)(comma - list.p);
		list = span_of(list.p + one.len, list.len - one.len);
		if (comma != NULL)
			list = span_of(list.p + 1, list.len - 1);
		while (one.len != 0 && one.p[0] == ' ')
			one = span_of(one.p + 1, one.len - 1);
		while (one.len != 0 && one.p[one.len - 1] == ' ')
			one.len--;
		if (span_eq(one, entry))
			return true;
	}
	return false;
}

/* Returns the index of the added header with this name, or nadds. */
static unsigned
head_add(const struct keyd_head *h, struct span name)
{
	unsigned i = 0;

	while (i < h->nadds && !span_eq(h->adds[i].name, name))
		i++;
	return i;
}

static void
head_put_add(
    struct head_out *o, const struct keyd_head_add *a, struct span agents)
{
	head_put(o, a->name);
	head_put(o, SPAN(": "));
	if (a->append && agents.len != 0) {
		head_put(o, agents);
		if (!head_lists(agents, a->value)) {
			head_put(o, SPAN(","));
			head_put(o, a->value);
		}
	} else {
		head_put(o, a->value);
	}
	head_put_eol(o);
}

static void
head_put_allowed(struct head_out *o, const struct keyd_head *h)
{
	struct span headers = h->headers, name, value;
	uint32_t done = 0;
	unsigned i;
	int r;

	while ((r = provider_unpack(&headers, &name, &value)) == 1) {
		if (name.len != 0 && name.p[0] == ':')
			continue;
		if ((i = head_add(h, name)) < h->nadds) {
			head_put_add(o, &h->adds[i], value);
			done |= 1U << i;
		} else {
			head_put_field(o, name, value);
		}
	}
	if (r == -1 && o->error == 0)
		o->error = EBADMSG;
	for (i = 0; i < h->nadds; i++) {
		if ((done & 1U << i) == 0)
			head_put_add(o, &h->adds[i], span_of(NULL, 0));
	}
}

/*
 * The real key goes into the request here and nowhere else: in the provider's
 * header (authorization, x-api-key, ...), or in the form of a signature.
 */
static void
head_put_credential(
    struct head_out *o, const struct keyd_head *h, struct span host)
{
	if (h->sign != NULL) {
		head_put_signed(o, h, host);
	} else if (h->auth_header.len != 0) {
		head_put(o, h->auth_header);
		head_put(o, SPAN(": "));
		head_put(o, h->auth_prefix);
		head_put(o, h->credential);
		head_put_eol(o);
	}
}

int
keyd_head_compose(
    const struct keyd_head *h, uint8_t *dst, size_t cap, size_t *len)
{
	struct head_out o = {dst, cap, 0, 0};
	struct span host;

	head_put_line(&o, h);
	host = head_put_host(&o, h);
	head_put_credential(&o, h, host);
	head_put_field(&o, SPAN("accept-encoding"), SPAN("identity"));
	if (head_has_length(h)) {
		head_put(&o, SPAN("content-length: "));
		head_put_u64(&o, h->length);
		head_put_eol(&o);
	}
	if (h->ws_key.len != 0)
		head_put_websocket(&o, h);
	else if (h->close)
		head_put_field(&o, SPAN("connection"), SPAN("close"));
	head_put_allowed(&o, h);
	head_put_eol(&o);
	if (o.error != 0) {
		explicit_bzero(dst, o.len);
		errno = o.error;
		return -1;
	}
	*len = o.len;
	return 0;
}
