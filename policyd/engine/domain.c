/* SPDX-License-Identifier: ISC */
/*
 * Parses URLs of arguments and writes them in canonical form, which is both
 * matched and sent. Its input comes from the agent; it keeps no state.
 */
#include "engine/domain.h"

#include "engine/domain_url.h"

static const char hex[] = "0123456789ABCDEF";

struct out {
	uint8_t *p;
	size_t len;
};

static void
put(struct out *o, struct span s)
{
	if (s.len != 0)
		memcpy(o->p + o->len, s.p, s.len);
	o->len += s.len;
}

static void
put_str(struct out *o, const char *s)
{
	put(o, span_str(s));
}

/*
 * Escape bytes that a URL must not contain. The text grows at most threefold.
 */
static void
put_escaped(struct out *o, struct span s, const char *also)
{
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (c > 0x20 && c < 0x7f && strchr(also, c) == NULL) {
			o->p[o->len++] = c;
			continue;
		}
		o->p[o->len++] = '%';
		o->p[o->len++] = (uint8_t)hex[c >> 4];
		o->p[o->len++] = (uint8_t)hex[c & 15];
	}
}

static int
find(struct span s, char c, size_t *at)
{
	const uint8_t *p = s.len == 0 ? NULL : memchr(s.p, c, s.len);

	if (p == NULL)
		return -1;
	*at = (size_t)(p - s.p);
	return 0;
}

static struct span
cut(struct span *s, size_t at, size_t skip)
{
	struct span head = span_of(s->p, at);

	s->p += at + skip;
	s->len -= at + skip;
	return head;
}

/* Control characters and backslashes: URL parsers disagree about them. */
int
url_check(struct span in, const char **why)
{
	*why = "is empty";
	if (in.len == 0)
		return -1;
	*why = "is longer than 8192 bytes";
	if (in.len > DOMAIN_MAX_URL)
		return -1;
	*why = "begins or ends with a space";
	if (in.p[0] == ' ' || in.p[in.len - 1] == ' ')
		return -1;
	for (size_t i = 0; i < in.len; i++) {
		*why = "holds a control character";
		if (in.p[i] < 0x20 || in.p[i] == 0x7f)
			return -1;
		*why = "holds a backslash";
		if (in.p[i] == '\\')
			return -1;
	}
	return 0;
}

/* Copy the scheme before ':' to dst in lower case. Returns its length, or 0. */
size_t
url_scheme(struct span in, char dst[URL_MAX_SCHEME])
{
	for (size_t i = 0; i < in.len && i < URL_MAX_SCHEME; i++) {
		uint8_t c = in.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (uint8_t)(c + ('a' - 'A'));
		if (c == ':')
			return i;
		if (!(c >= 'a' && c <= 'z') &&
		    (i == 0 || (!(c >= '0' && c <= '9') && c != '+' &&
				   c != '-' && c != '.')))
			return 0;
		dst[i] = (char)c;
	}
	return 0;
}

/* Split the text after "scheme://". */
int
url_split(struct span rest, struct url_parts *out, const char **why)
{
	struct span authority;
	size_t at;

	if (find(rest, '#', &at) == 0) {
		out->fragment = rest;
		rest = cut(&out->fragment, at, 1);
		out->has_fragment = true;
	}
	if (find(rest, '?', &at) == 0) {
		out->query = rest;
		rest = cut(&out->query, at, 1);
		out->has_query = true;
	}
	if (find(rest, '/', &at) == -1)
		at = rest.len;
	authority = cut(&rest, at, 0);
	out->path = rest;
	if (find(authority, '@', &at) == 0) {
		out->user = cut(&authority, at, 1);
		*why = "holds more than one @ before its path";
		if (find(authority, '@', &at) == 0)
			return -1;
		*why = "has an empty user";
		if (out->user.len == 0)
			return -1;
	}
	out->host = authority;
	if (authority.len != 0 && authority.p[0] == '[') {
		*why = "the host is not an IPv6 address";
		if (find(authority, ']', &at) == -1)
			return -1;
		out->host = cut(&authority, at + 1, 0);
		if (authority.len != 0 && authority.p[0] != ':')
			return -1;
	} else {
		if (find(authority, ':', &at) == -1)
			at = authority.len;
		out->host = cut(&authority, at, 0);
	}
	if (authority.len != 0)
		out->port = span_of(authority.p + 1, authority.len - 1);
	return 0;
}

static const char *
default_port(struct span scheme)
{
	if (span_is(scheme, "http") || span_is(scheme, "ws"))
		return "80";
	if (span_is(scheme, "https") || span_is(scheme, "wss"))
		return "443";
	if (span_is(scheme, "ssh") || span_is(scheme, "git+ssh"))
		return "22";
	if (span_is(scheme, "git"))
		return "9418";
	return "";
}

static bool
is_dot(struct span s)
{
	return span_is(s, ".") || span_ieq(s, SPAN("%2e"));
}

static bool
is_dotdot(struct span s)
{
	return span_is(s, "..") || span_ieq(s, SPAN(".%2e")) ||
	       span_ieq(s, SPAN("%2e.")) || span_ieq(s, SPAN("%2e%2e"));
}

/* Resolve dot segments, as every client does before it sends the URL. */
static void
put_path(struct out *o, struct span path)
{
	size_t base = o->len, at;
	struct span seg;
	bool last;

	if (path.len == 0)
		return;
	path = span_of(path.p + 1, path.len - 1);
	do {
		last = find(path, '/', &at) == -1;
		seg = cut(&path, last ? path.len : at, last ? 0 : 1);
		if (is_dotdot(seg)) {
			while (o->len > base && o->p[--o->len] != '/')
				continue;
			if (last)
				put_str(o, "/");
		} else if (is_dot(seg)) {
			if (last)
				put_str(o, "/");
		} else {
			put_str(o, "/");
			put_escaped(o, seg, "\"<>`{}^|");
		}
	} while (!last);
}

static int
put_authority(struct out *o, const struct url_parts *p, struct domain *d,
    const char **why)
{
	char host[DOMAIN_MAX_HOST + 1];
	uint64_t port;
	size_t len;

	if (host_normalise(p->host, host, &len, &d->kind, why) == -1)
		return -1;
	*why = "has a port that is none";
	if (p->port.len != 0 &&
	    (span_u64(p->port, 65535, &port) == -1 || port == 0))
		return -1;
	if (p->user.len != 0) {
		put(o, p->user);
		put_str(o, "@");
	}
	d->host = span_of(o->p + o->len, len);
	put(o, span_of(host, len));
	if (p->port.len != 0 && !span_is(p->port, default_port(p->scheme))) {
		put_str(o, ":");
		put(o, p->port);
	}
	return 0;
}

/*
 * Drop the root's slash and one at the end of a path, which no rule
 * distinguishes. Those in a query or fragment stay.
 */
static void
trim_path(struct out *o, size_t base, const struct url_parts *p)
{
	bool plain = !p->has_query && !p->has_fragment;

	if (o->len > base && o->p[o->len - 1] == '/' &&
	    (o->len == base + 1 || plain))
		o->len--;
}

int
url_compose(struct value_pool *pool, const struct url_parts *p, struct url *u,
    const char **why)
{
	size_t need = 16 + DOMAIN_MAX_HOST + p->scheme.len + p->user.len +
		      p->port.len +
		      3 * (p->path.len + p->query.len + p->fragment.len);
	struct out o = {.len = 0};
	size_t base;

	if ((o.p = value_pool_alloc(pool, need)) == NULL) {
		*why = NULL;
		return -1;
	}
	put(&o, p->scheme);
	put_str(&o, "://");
	if (put_authority(&o, p, &u->domain, why) == -1)
		return -1;
	u->domain.full = u->domain.host;
	u->domain.known = true;
	base = o.len;
	put_path(&o, p->path);
	trim_path(&o, base, p);
	if (p->has_query) {
		put_str(&o, "?");
		put_escaped(&o, p->query, "\"<>'");
	}
	if (p->has_fragment) {
		put_str(&o, "#");
		put_escaped(&o, p->fragment, "\"<>`");
	}
	u->text = span_of(o.p, o.len);
	value_pool_trim(pool, o.p, need, o.len);
	return 0;
}

/* Record the host after "scheme://"; only rules that deny or ask look at it. */
static int
see_host(struct value_pool *pool, struct span rest, struct domain *d,
    const char **why)
{
	char host[DOMAIN_MAX_HOST + 1];
	struct url_parts p = {0};
	uint8_t *copy;
	size_t len;

	if (url_split(rest, &p, why) == -1)
		return -1;
	if (p.host.len == 0)
		return 0;
	if (host_normalise(p.host, host, &len, &d->seen_kind, why) == -1)
		return -1;
	*why = NULL;
	if ((copy = value_pool_alloc(pool, len)) == NULL)
		return -1;
	memcpy(copy, host, len);
	d->seen = span_of(copy, len);
	return 0;
}

/*
 * A URL of an unsupported scheme (file:, data:, mailto:, ftp:). It matches no
 * pattern of a rule that allows.
 */
int
url_hostless(struct value_pool *pool, struct span in, size_t scheme_len,
    struct url *u, const char **why)
{
	struct span rest =
	    span_of(in.p + scheme_len + 1, in.len - scheme_len - 1);
	uint8_t *p;

	*why = NULL;
	if ((p = value_pool_alloc(pool, in.len)) == NULL)
		return -1;
	memcpy(p, in.p, in.len);
	for (size_t i = 0; i < scheme_len; i++) {
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (uint8_t)(p[i] + ('a' - 'A'));
	}
	*u = (struct url){.text = span_of(p, in.len)};
	u->domain.kind = HOST_NONE;
	u->domain.host = u->domain.full = SPAN("");
	u->domain.known = true;
	if (!span_starts(rest, SPAN("//")))
		return 0;
	return see_host(
	    pool, span_of(rest.p + 2, rest.len - 2), &u->domain, why);
}

int
url_parse(
    struct value_pool *pool, struct span in, struct url *u, const char **why)
{
	struct url_parts p = {0};
	char scheme[URL_MAX_SCHEME];
	size_t len;

	*u = (struct url){0};
	if (url_check(in, why) == -1)
		return -1;
	*why = "is not a URL with a scheme, such as https://host/path";
	if ((len = url_scheme(in, scheme)) == 0)
		return -1;
	p.scheme = span_of(scheme, len);
	if (!span_is(p.scheme, "http") && !span_is(p.scheme, "https") &&
	    !span_is(p.scheme, "ws") && !span_is(p.scheme, "wss")) {
		*why = "must have // after its scheme";
		if (span_is(p.scheme, "ftp") &&
		    !span_starts(
			span_of(in.p + len, in.len - len), SPAN("://")))
			return -1;
		return url_hostless(pool, in, len, u, why);
	}
	*why = "must have // after its scheme";
	if (in.len < len + 3 || memcmp(in.p + len, "://", 3) != 0)
		return -1;
	if (url_split(span_of(in.p + len + 3, in.len - len - 3), &p, why) == -1)
		return -1;
	*why = "holds a user or password: a URL may not carry credentials";
	if (p.user.len != 0)
		return -1;
	return url_compose(pool, &p, u, why);
}
