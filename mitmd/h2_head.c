/* SPDX-License-Identifier: ISC */
/*
 * Collects HTTP/2 header fields into a head. Everything is copied: HPACK's
 * memory is valid only until the next field.
 */
#include "h2_head.h"

static const char *const head_pseudo[H2_PSEUDOS] = {
    [H2_METHOD] = ":method",
    [H2_SCHEME] = ":scheme",
    [H2_AUTHORITY] = ":authority",
    [H2_PATH] = ":path",
};

/* Hop-by-hop fields are forbidden in HTTP/2 (RFC 9113 8.2.2). */
static const char *const head_hop[] = {"connection", "keep-alive",
    "proxy-connection", "transfer-encoding", "upgrade", "http2-settings", "te"};

void
h2_head_init(struct h2_head *h)
{
	memset(h, 0, sizeof(*h));
	buf_init(&h->mem, H2_MAX_LIST);
}

void
h2_head_free(struct h2_head *h)
{
	buf_free(&h->mem);
}

void
h2_head_begin(struct h2_head *h)
{
	buf_reset(&h->mem, 4096);
	h->seen = h->n = 0;
	h->list = 0;
	h->sized = h->large = false;
	h->bad = NULL;
}

static bool
head_is_token(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Lower case only: another reader might fold the name. */
static bool
head_name_ok(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (!head_is_token(s.p[i]))
			return false;
	}
	return s.len != 0;
}

static bool
head_value_ok(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if ((s.p[i] < 0x20 && s.p[i] != '\t') || s.p[i] == 0x7f)
			return false;
	}
	return s.len == 0 ||
	       (s.p[0] != ' ' && s.p[0] != '\t' && s.p[s.len - 1] != ' ' &&
		   s.p[s.len - 1] != '\t');
}

/* Printable ASCII without spaces. */
static bool
head_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < 0x21 || s.p[i] > 0x7e)
			return false;
	}
	return s.len != 0;
}

static void
head_bad(struct h2_head *h, const char *why)
{
	if (h->bad == NULL)
		h->bad = why;
}

static void
head_copy(
    struct h2_head *h, struct h2_field *f, struct span name, struct span value)
{
	f->name = h->mem.len;
	f->nname = name.len;
	f->value = f->name + name.len;
	f->nvalue = value.len;
	buf_addspan(&h->mem, name);
	buf_addspan(&h->mem, value);
	if (h->mem.failed) {
		f->nname = f->nvalue = 0;
		h->large = true;
		head_bad(h, "headers too large");
	}
}

static void
head_take_pseudo(struct h2_head *h, struct span name, struct span value)
{
	unsigned i;

	for (i = 0; i < H2_PSEUDOS && !span_is(name, head_pseudo[i]); i++)
		;
	if (i == H2_PSEUDOS)
		head_bad(h, "unknown pseudo-header");
	else if ((h->seen & 1U << i) != 0)
		head_bad(h, "pseudo-header given twice");
	else if (h->n != 0)
		head_bad(h, "pseudo-header after other headers");
	else if (!head_plain(value))
		head_bad(h, "empty pseudo-header, or one that holds more than "
			    "plain ASCII");
	else
		head_copy(h, &h->pseudo[i], name, value);
	if (h->bad == NULL)
		h->seen |= 1U << i;
}

void
h2_head_field(struct h2_head *h, struct span name, struct span value)
{
	size_t size = name.len + value.len + 32;

	if (h->bad != NULL)
		return;
	if (size > H2_MAX_LIST - h->list || h->n == HTTP1_MAX_HEADERS - 2) {
		h->large = true;
		head_bad(h, "headers too large");
		return;
	}
	h->list += size;
	if (name.len != 0 && name.p[0] == ':') {
		head_take_pseudo(h, name, value);
		return;
	}
	if (!head_name_ok(name))
		head_bad(h, "header name is no lower-case token");
	if (!head_value_ok(value))
		head_bad(h, "control character or outer space in a header");
	for (size_t i = 0; i < nitems(head_hop); i++) {
		if (span_is(name, head_hop[i]))
			head_bad(h, "header of HTTP/1.1's connections");
	}
	if (h->bad != NULL)
		return;
	h->sized |= span_is(name, "content-length");
	head_copy(h, &h->fields[h->n++], name, value);
}

static struct span
head_name(const struct h2_head *h, const struct h2_field *f)
{
	return span_of(buf_span(&h->mem).p + f->name, f->nname);
}

static struct span
head_value(const struct h2_head *h, const struct h2_field *f)
{
	return span_of(buf_span(&h->mem).p + f->value, f->nvalue);
}

static struct span
head_pseudo_value(const struct h2_head *h, enum h2_pseudo i)
{
	if ((h->seen & 1U << i) == 0)
		return span_of(NULL, 0);
	return head_value(h, &h->pseudo[i]);
}

static void
head_add(struct http1_head *out, struct span name, struct span value)
{
	out->headers[out->nheaders].name = name;
	out->headers[out->nheaders++].value = value;
}

static const char *
head_check(const struct h2_head *h, bool ends, const struct http1_head *out)
{
	bool tunnel = span_is(out->method, "CONNECT");
	struct span scheme = head_pseudo_value(h, H2_SCHEME), s;

	if (h->bad != NULL)
		return h->bad;
	if (out->method.p == NULL)
		return "no :method";
	if (out->method.len > HTTP1_MAX_METHOD)
		return "method too long";
	for (size_t i = 0; i < out->method.len; i++) {
		if (out->method.p[i] < 'A' || out->method.p[i] > 'Z')
			return "method is not in upper case";
	}
	/* A CONNECT: refused later as such. */
	if (tunnel)
		return NULL;
	if (!span_is(scheme, "https"))
		return ":scheme is not https";
	if (out->target.p == NULL)
		return "no :path";
	if (out->target.len > HTTP1_MAX_TARGET)
		return "target too long";
	if ((h->seen & 1U << H2_AUTHORITY) == 0)
		return "no :authority";
	for (unsigned i = 0; i < h->n && ends; i++) {
		s = head_value(h, &h->fields[i]);
		if (span_is(head_name(h, &h->fields[i]), "content-length") &&
		    !span_is(s, "0"))
			return "Content-Length without a body";
	}
	return NULL;
}

enum http1_result
h2_head_end(struct h2_head *h, bool ends, struct http1_head *out)
{
	struct span authority = head_pseudo_value(h, H2_AUTHORITY), name, value;
	const struct h2_field *f;

	out->method = head_pseudo_value(h, H2_METHOD);
	out->target = head_pseudo_value(h, H2_PATH);
	out->status = 0;
	out->http10 = false;
	out->nheaders = 0;
	out->size = 0;
	out->large = h->large;
	out->reason = head_check(h, ends, out);
	if (out->reason != NULL)
		return HTTP1_BAD;
	head_add(out, SPAN("host"), authority);
	for (unsigned i = 0; i < h->n; i++) {
		f = &h->fields[i];
		name = head_name(h, f);
		value = head_value(h, f);
		/* A Host equal to :authority is permitted (RFC 9113 8.3.1). */
		if (span_is(name, "host") && span_eq(value, authority))
			continue;
		head_add(out, name, value);
	}
	if (!ends && !h->sized)
		head_add(out, SPAN("transfer-encoding"), SPAN("chunked"));
	return HTTP1_OK;
}
