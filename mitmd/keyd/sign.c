/* SPDX-License-Identifier: ISC */
/*
 * The header lines that sign a request. The signature covers everything that
 * determines where the request goes and what it asks for: method, path, query,
 * host, body, date, session token, and every header that the agent may send.
 */
#include "keyd/head.h"

#include <errno.h>
#include <stdio.h>

#include "provider/provider.h"

struct sign_out {
	uint8_t *p;
	size_t cap, len;
	int error;
};

static void
sign_put(struct sign_out *o, struct span s)
{
	if (o->error != 0)
		return;
	if (s.len > o->cap - o->len) {
		o->error = ENOBUFS;
		return;
	}
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < 0x20 || s.p[i] > 0x7e) {
			o->error = EBADMSG;
			return;
		}
		o->p[o->len++] = s.p[i];
	}
}

static void
sign_put_field(struct sign_out *o, const char *name, struct span value)
{
	sign_put(o, span_str(name));
	sign_put(o, SPAN(": "));
	sign_put(o, value);
	if (o->error == 0 && o->cap - o->len < 2)
		o->error = ENOBUFS;
	if (o->error != 0)
		return;
	o->p[o->len++] = '\r';
	o->p[o->len++] = '\n';
}

/*
 * Collect keyd's own fields and the agent's. Returns 0, or -1 if there are too
 * many or the list is malformed.
 */
static int
sign_fields(const struct keyd_head *h, struct span host, const char *body,
    struct sigv4_field f[SIGV4_MAX_FIELDS], unsigned *n)
{
	struct span rest = h->headers, name, value;
	int r;

	f[(*n)++] = (struct sigv4_field){SPAN("host"), host};
	f[(*n)++] =
	    (struct sigv4_field){SPAN("x-amz-content-sha256"), span_str(body)};
	f[(*n)++] = (struct sigv4_field){SPAN("x-amz-date"), span_str(h->date)};
	if (h->key.token.len != 0)
		f[(*n)++] = (struct sigv4_field){
		    SPAN("x-amz-security-token"), h->key.token};
	while ((r = provider_unpack(&rest, &name, &value)) == 1) {
		if (name.len != 0 && name.p[0] == ':')
			continue;
		if (*n == SIGV4_MAX_FIELDS)
			return -1;
		f[(*n)++] = (struct sigv4_field){name, value};
	}
	return r;
}

int
keyd_sign_compose(const struct keyd_head *h, struct span host, uint8_t *dst,
    size_t cap, size_t *len)
{
	struct sigv4_field f[SIGV4_MAX_FIELDS];
	struct sign_out o = {dst, cap, 0, 0};
	struct sigv4_request r = {.method = h->method,
	    .prefix = h->prefix,
	    .path = h->path,
	    .query = h->query,
	    .fields = f,
	    .date = h->date};
	char body[SIGV4_HEX];
	size_t n = 0;

	sigv4_hex(h->body, body);
	r.body = body;
	errno = EBADMSG;
	if (sign_fields(h, host, body, f, &r.nfields) == -1)
		return -1;
	sign_put(&o, SPAN("authorization: "));
	if (o.error == 0 && sigv4_sign(&h->key, h->sign, &r, o.p + o.len,
				o.cap - o.len, &n) == -1)
		o.error = errno == ENOBUFS ? ENOBUFS : EBADMSG;
	o.len += n;
	/* End that line, and write the others. */
	if (o.error == 0 && o.cap - o.len < 2)
		o.error = ENOBUFS;
	if (o.error == 0) {
		o.p[o.len++] = '\r';
		o.p[o.len++] = '\n';
	}
	sign_put_field(&o, "x-amz-content-sha256", span_str(body));
	sign_put_field(&o, "x-amz-date", span_str(h->date));
	if (h->key.token.len != 0)
		sign_put_field(&o, "x-amz-security-token", h->key.token);
	if (o.error != 0) {
		explicit_bzero(dst, o.len);
		errno = o.error;
		return -1;
	}
	*len = o.len;
	return 0;
}
