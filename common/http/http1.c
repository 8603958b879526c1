/* SPDX-License-Identifier: ISC */
/*
 * HTTP/1.1 heads, parsed in one pass with one table of character classes;
 * results are spans.  No state, no allocation, no trust in the input.  Anything
 * that is accepted has only one meaning; heads that are sent on are composed
 * from the parsed fields, never copied.
 */
#include "common/http/http1.h"

/* Character classes (RFC 9110 5.6.2, 5.5; RFC 9112 3). */
#define METHOD 1U /* upper-case method */
#define TOKEN 2U
#define TARGET 4U /* visible ASCII */
#define VALUE 8U  /* field value or reason phrase */

#define V VALUE
#define S (VALUE | TARGET)
#define W (VALUE | TARGET | TOKEN)
#define M (VALUE | TARGET | TOKEN | METHOD)

/* clang-format off */
static const uint8_t class[256] = {
	['\t'] = V, [' '] = V,
	['!'] = W, ['"'] = S, ['#' ... '\''] = W, ['(' ... ')'] = S,
	['*' ... '+'] = W, [','] = S, ['-'] = M, ['.'] = W, ['/'] = S,
	['0' ... '9'] = W, [':' ... '@'] = S, ['A' ... 'Z'] = M,
	['[' ... ']'] = S, ['^' ... '`'] = W, ['a' ... 'z'] = W,
	['{'] = S, ['|'] = W, ['}'] = S, ['~'] = W, [0x80 ... 0xff] = V,
};
/* clang-format on */

#undef V
#undef S
#undef W
#undef M

/*
 * The parser's position.  An error sets `reason`; a failure without a reason
 * means that the input ended.
 */
struct cursor {
	const uint8_t *p, *end;
	const char *reason;
	bool large;
	bool response;
};

static bool
bad(struct cursor *c, const char *reason)
{
	c->reason = reason;
	return false;
}

/*
 * Record why the byte at the cursor is not allowed; `otherwise` if it is
 * neither NUL nor LF.
 */
static bool
bad_byte(struct cursor *c, const char *otherwise)
{
	if (*c->p == '\0')
		return bad(c, "NUL in head");
	if (*c->p == '\n')
		return bad(c, "bare LF");
	return bad(c, otherwise);
}

/* Take CR LF.  `otherwise` is the reason if something else is there. */
static bool
take_crlf(struct cursor *c, const char *otherwise)
{
	if (c->p == c->end)
		return false;
	if (*c->p != '\r')
		return bad_byte(c, otherwise);
	if (c->p + 1 == c->end)
		return false;
	if (c->p[1] != '\n')
		return bad(c, "bare CR");
	c->p += 2;
	return true;
}

/* Take a run of at most `max` bytes of the class `of`. */
static struct span
take_run(struct cursor *c, unsigned of, size_t max)
{
	const uint8_t *start = c->p, *stop = c->end;

	if ((size_t)(stop - start) > max)
		stop = start + max;
	while (c->p < stop && (class[*c->p] & of) != 0)
		c->p++;
	return span_of(start, (size_t)(c->p - start));
}

/*
 * Take the constant `text`; `reason` is recorded at the first byte that
 * differs.
 */
static bool
take_text(struct cursor *c, const char *text, const char *reason)
{
	for (; *text != '\0'; text++, c->p++) {
		if (c->p == c->end)
			return false;
		if (*c->p != (uint8_t)*text)
			return bad(c, reason);
	}
	return true;
}

static bool
take_method(struct cursor *c, struct http1_head *h)
{
	if (c->p == c->end)
		return false;
	if (*c->p == '\r' || *c->p == '\n')
		return bad(c, "empty line before the request");
	h->method = take_run(c, METHOD, HTTP1_MAX_METHOD + 1);
	if (h->method.len > HTTP1_MAX_METHOD)
		return bad(c, "method is too long");
	if (c->p == c->end)
		return false;
	if (*c->p == ' ') {
		if (h->method.len == 0)
			return bad(c, "method is empty");
		if (span_eq(h->method, SPAN("PRI")))
			return bad(c, "HTTP/2 preface");
		c->p++;
		return true;
	}
	if (*c->p >= 'a' && *c->p <= 'z')
		return bad(c, "method is not upper case");
	return bad_byte(c, "bad character in method");
}

static bool
take_target(struct cursor *c, struct http1_head *h)
{
	h->target = take_run(c, TARGET, HTTP1_MAX_TARGET + 1);
	if (h->target.len > HTTP1_MAX_TARGET)
		return bad(c, "target is too long");
	if (c->p == c->end)
		return false;
	if (*c->p == ' ') {
		if (h->target.len == 0)
			return bad(c, "target is empty");
		c->p++;
		return true;
	}
	if (*c->p == '\r' || *c->p == '\n')
		return bad(c, "request line without a version");
	if (*c->p >= 0x80)
		return bad(c, "non-ASCII byte in target");
	return bad_byte(c, "control character in target");
}

/* Take HTTP/1.1, or HTTP/1.0 too if `old`. */
static bool
take_version(
    struct cursor *c, struct http1_head *h, bool old, const char *missing)
{
	if (!take_text(c, "HTTP/", missing))
		return false;
	if (!take_text(c, "1.", "HTTP version is not 1.1"))
		return false;
	if (c->p == c->end)
		return false;
	if (*c->p != '1' && !(old && *c->p == '0'))
		return bad(c, "HTTP version is not 1.1");
	h->http10 = *c->p++ == '0';
	return true;
}

static bool
take_request_line(struct cursor *c, struct http1_head *h)
{
	if (!take_method(c, h) || !take_target(c, h))
		return false;
	return take_version(c, h, span_eq(h->method, SPAN("CONNECT")),
		   "no HTTP version after the target") &&
	       take_crlf(c, "text after the HTTP version");
}

static bool
take_status_line(struct cursor *c, struct http1_head *h)
{
	unsigned status = 0;

	if (!take_version(c, h, true, "status line does not begin with HTTP/"))
		return false;
	if (!take_text(c, " ", "no space after the HTTP version"))
		return false;
	for (unsigned i = 0; i < 3; i++, c->p++) {
		if (c->p == c->end)
			return false;
		if (*c->p < '0' || *c->p > '9')
			return bad(c, "status is not three digits");
		status = status * 10 + (*c->p - '0');
		if (i == 0 && (status < 1 || status > 5))
			return bad(c, "status is not 100 to 599");
	}
	if (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		return bad(c, "status is not three digits");
	if (!take_text(c, " ", "no space after the status"))
		return false;
	h->status = status;
	(void)take_run(c, VALUE, SIZE_MAX);
	return take_crlf(c, "control character in reason phrase");
}

static bool
take_name(struct cursor *c, struct http1_header *f)
{
	f->name = take_run(c, TOKEN, SIZE_MAX);
	if (c->p == c->end)
		return false;
	if (*c->p == ':') {
		if (f->name.len == 0)
			return bad(c, "header name is empty");
		c->p++;
		return true;
	}
	if (*c->p == ' ' || *c->p == '\t')
		return bad(c, f->name.len == 0 ? "folded header line"
					       : "space before colon");
	if (*c->p == '\r')
		return bad(c, "header line without a colon");
	return bad_byte(c, "bad character in header name");
}

static bool
is_framing(struct span name)
{
	return span_ieq(name, SPAN("content-length")) ||
	       span_ieq(name, SPAN("transfer-encoding"));
}

static bool
take_value(struct cursor *c, struct http1_header *f)
{
	const uint8_t *colon = c->p, *last;

	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
	/*
	 * Parsers disagree about odd white space around these two headers (a
	 * tab made some miss "chunked"), so a request may have a single space
	 * only.
	 */
	if (c->p != colon && (c->p != colon + 1 || *colon != ' ') &&
	    is_framing(f->name) && !c->response)
		return bad(c, "white space about a framing header");
	f->value = take_run(c, VALUE, SIZE_MAX);
	if (!take_crlf(c, "control character in header value"))
		return false;
	last = f->value.p + f->value.len;
	if (f->value.len == 0 || (last[-1] != ' ' && last[-1] != '\t'))
		return true;
	if (is_framing(f->name) && !c->response)
		return bad(c, "white space about a framing header");
	while (last > f->value.p && (last[-1] == ' ' || last[-1] == '\t'))
		last--;
	f->value.len = (size_t)(last - f->value.p);
	return true;
}

/* Take the header lines and the empty line. */
static bool
take_headers(struct cursor *c, struct http1_head *h)
{
	struct http1_header *f = h->headers;

	for (;; f++) {
		if (c->p == c->end)
			return false;
		if (*c->p == '\r' || *c->p == '\n')
			break;
		if (f == h->headers + HTTP1_MAX_HEADERS) {
			c->large = true;
			return bad(c, "more than 100 headers");
		}
		if (!take_name(c, f) || !take_value(c, f))
			return false;
	}
	h->nheaders = (unsigned)(f - h->headers);
	return take_crlf(c, "bare LF");
}

static enum http1_result
parse_head(struct span in, struct http1_head *h,
    bool (*take_line)(struct cursor *, struct http1_head *), bool response)
{
	struct cursor c;
	bool full;

	if (in.p == NULL)
		in = SPAN(""); /* arithmetic on a null pointer is undefined */
	full = in.len >= HTTP1_MAX_HEAD;
	c.p = in.p;
	c.end = in.p + (full ? HTTP1_MAX_HEAD : in.len);
	c.reason = NULL;
	c.large = false;
	c.response = response;
	h->method = h->target = span_of(NULL, 0);
	h->status = 0;
	h->nheaders = 0;
	h->reason = NULL;
	h->large = false;
	if (in.len == 0)
		return HTTP1_MORE;
	if (take_line(&c, h) && take_headers(&c, h)) {
		h->size = (size_t)(c.p - in.p);
		return HTTP1_OK;
	}
	if (c.reason == NULL && full) {
		c.large = true;
		c.reason = "head is larger than 64 KiB";
	}
	h->reason = c.reason;
	h->large = c.large;
	return c.reason == NULL ? HTTP1_MORE : HTTP1_BAD;
}

enum http1_result
http1_request(struct span in, struct http1_head *h)
{
	return parse_head(in, h, take_request_line, false);
}

enum http1_result
http1_response(struct span in, struct http1_head *h)
{
	return parse_head(in, h, take_status_line, true);
}

/*
 * Returns true if parsing again is useless: no line has ended since the last
 * time, and the input is not yet too large.
 */
static bool
nothing_new(struct span in, size_t *seen)
{
	size_t from = *seen;

	*seen = in.len;
	if (from == 0 || from > in.len || in.len >= HTTP1_MAX_HEAD)
		return false;
	return from == in.len ||
	       memchr(in.p + from, '\n', in.len - from) == NULL;
}

enum http1_result
http1_request_more(struct span in, size_t *seen, struct http1_head *h)
{
	if (nothing_new(in, seen))
		return HTTP1_MORE;
	return http1_request(in, h);
}

enum http1_result
http1_response_more(struct span in, size_t *seen, struct http1_head *h)
{
	if (nothing_new(in, seen))
		return HTTP1_MORE;
	return http1_response(in, h);
}

int
http1_header(const struct http1_head *h, const char *name, struct span *value)
{
	struct span want = span_str(name);
	int found = 0;

	for (unsigned i = 0; i < h->nheaders; i++) {
		if (h->headers[i].name.len != want.len ||
		    !span_ieq(h->headers[i].name, want))
			continue;
		if (found != 0)
			return -1;
		*value = h->headers[i].value;
		found = 1;
	}
	return found;
}
