/* SPDX-License-Identifier: ISC */
/*
 * Reduces values to the forms that rules which deny or ask are compared with.
 * Its input comes from the agent; results live in the caller's pool.
 */
#include "engine/spelling.h"

#define DECODE_ROUNDS 8 /* %252e decodes to %2e, which is a dot */

struct span
spell_alias(struct span host)
{
	static const struct {
		const char *also, *name;
	} table[] = {
	    {"ssh.github.com", "github.com"},
	    {"www.github.com", "github.com"},
	    {"altssh.gitlab.com", "gitlab.com"},
	    {"www.gitlab.com", "gitlab.com"},
	    {"altssh.bitbucket.org", "bitbucket.org"},
	    {"www.bitbucket.org", "bitbucket.org"},
	};

	for (size_t i = 0; i < nitems(table); i++) {
		if (span_is(host, table[i].also))
			return span_str(table[i].name);
	}
	return host;
}

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Undo percent escapes once, in place. Returns the new length. */
static size_t
decode_once(uint8_t *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '%' && len - i > 2 && hex_digit(p[i + 1]) != -1 &&
		    hex_digit(p[i + 2]) != -1) {
			p[n++] = (uint8_t)(hex_digit(p[i + 1]) << 4 |
					   hex_digit(p[i + 2]));
			i += 2;
			continue;
		}
		p[n++] = p[i];
	}
	return n;
}

static void
lower(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (uint8_t)(p[i] + ('a' - 'A'));
	}
}

/* Copy in lower case, with percent escapes decoded until none is left. */
static struct span
plain(struct value_pool *pool, struct span in)
{
	size_t len = in.len, was;
	uint8_t *p;

	if ((p = value_pool_alloc(pool, in.len + 1)) == NULL)
		return span_of(NULL, 0);
	if (in.len != 0)
		memcpy(p, in.p, in.len);
	for (unsigned i = 0; i < DECODE_ROUNDS; i++) {
		lower(p, len);
		was = len;
		if ((len = decode_once(p, len)) == was)
			break;
	}
	lower(p, len);
	return span_of(p, len);
}

static bool
is_blank(uint8_t c)
{
	return c <= ' ' || c == 0x7f;
}

static struct span
trim(struct span s)
{
	while (s.len != 0 && is_blank(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len != 0 && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

/* Append a segment at `at`, or resolve it. Returns the new end. */
static size_t
put_segment(uint8_t *p, size_t at, struct span seg)
{
	if (seg.len == 0 || span_is(seg, "."))
		return at;
	if (span_is(seg, "..")) {
		while (at != 0 && p[--at] != '/')
			continue;
		return at;
	}
	if (at != 0)
		p[at++] = '/';
	memmove(p + at, seg.p, seg.len);
	return at + seg.len;
}

/* Cut off every trailing ".git" and "/.git". */
static size_t
cut_git(const uint8_t *p, size_t len)
{
	while (len > 4 && memcmp(p + len - 4, ".git", 4) == 0) {
		len -= 4;
		while (len != 0 && p[len - 1] == '/')
			len--;
	}
	return len;
}

/* In place, drop the segments between slashes that name nothing. */
static struct span
reduce(uint8_t *p, size_t len)
{
	size_t at = 0, start = 0;
	struct span seg;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && p[i] != '/' && p[i] != '\\')
			continue;
		/* The output never overtakes the input. */
		seg = trim(span_of(p + start, i - start));
		at = put_segment(p, at, seg);
		start = i + 1;
	}
	return span_of(p, cut_git(p, at));
}

struct span
spell_path(struct value_pool *pool, struct span in)
{
	struct span all = plain(pool, in);

	return all.p == NULL ? all
			     : reduce((uint8_t *)(uintptr_t)all.p, all.len);
}

static int
room(struct value_pool *pool, struct spellings *out, size_t n)
{
	out->n = 0;
	out->list = value_pool_alloc(pool, (n + 1) * sizeof(*out->list));
	return out->list == NULL ? -1 : 0;
}

static void
add(struct spellings *out, struct span text, enum host_kind kind)
{
	out->list[out->n++] = (struct spelling){text, kind};
}

/* Add host/path. */
static int
add_joined(struct value_pool *pool, struct spellings *out, struct span host,
    struct span path)
{
	uint8_t *p;

	if (path.len == 0)
		return 0;
	if ((p = value_pool_alloc(pool, host.len + 1 + path.len)) == NULL)
		return -1;
	if (host.len != 0)
		memcpy(p, host.p, host.len);
	p[host.len] = '/';
	memcpy(p + host.len + 1, path.p, path.len);
	add(out, span_of(p, host.len + 1 + path.len), HOST_NONE);
	return 0;
}

int
spell_domain(
    struct value_pool *pool, const struct domain *d, struct spellings *out)
{
	struct span host = d->host, path, alias;
	enum host_kind kind = d->kind;

	if (room(pool, out, 5) == -1)
		return -1;
	path = spell_path(
	    pool, span_of(d->full.p + d->host.len, d->full.len - d->host.len));
	if (path.p == NULL)
		return -1;
	if (kind == HOST_NONE) {
		/* file://host/path: add it both as a path and on that host. */
		if (add_joined(pool, out, host, path) == -1)
			return -1;
		if (d->seen.len == 0)
			return 0;
		add(out, path, HOST_NONE);
		host = d->seen;
		kind = d->seen_kind;
		path.len = 0;
	}
	add(out, host, kind);
	if (add_joined(pool, out, host, path) == -1)
		return -1;
	alias = spell_alias(host);
	if (alias.p == host.p)
		return 0;
	add(out, alias, kind);
	return add_joined(pool, out, alias, path);
}

/* Returns an upper limit on the number of pieces. */
static size_t
count_pieces(struct span s, const char *separators)
{
	size_t n = 1;

	for (size_t i = 0; i < s.len; i++)
		n += s.p[i] <= ' ' || strchr(separators, s.p[i]) != NULL;
	return n;
}

/* Get the next non-empty piece. Returns false if there is none. */
static bool
next_piece(struct span *rest, const char *separators, struct span *piece)
{
	size_t n;

	do {
		for (n = 0; n < rest->len; n++) {
			if (rest->p[n] <= ' ' ||
			    strchr(separators, rest->p[n]) != NULL)
				break;
		}
		*piece = span_of(rest->p, n);
		if (n < rest->len)
			n++;
		rest->p += n;
		rest->len -= n;
	} while (piece->len == 0 && rest->len != 0);
	return piece->len != 0;
}

/* Get the next part, which may be empty. Returns false if there is none. */
static bool
next_part(struct span *rest, char separator, struct span *part)
{
	const uint8_t *end;

	if (rest->p == NULL)
		return false;
	end = rest->len == 0 ? NULL : memchr(rest->p, separator, rest->len);
	*part =
	    span_of(rest->p, end == NULL ? rest->len : (size_t)(end - rest->p));
	*rest = end == NULL ? span_of(NULL, 0)
			    : span_of(end + 1, rest->len - part->len - 1);
	return true;
}

/*
 * Returns the host in "scheme://user@host:port/path"; each other part is
 * optional.
 */
static struct span
host_in(struct span s)
{
	struct span host = s;

	for (size_t i = 0; i + 3 <= s.len; i++) {
		if (memcmp(s.p + i, "://", 3) == 0) {
			host = span_of(s.p + i + 3, s.len - i - 3);
			break;
		}
	}
	for (size_t i = 0; i < host.len; i++) {
		if (strchr("/?#\\", host.p[i]) != NULL)
			host.len = i;
	}
	for (size_t i = host.len; i-- > 0;) {
		if (host.p[i] != '@')
			continue;
		host = span_of(host.p + i + 1, host.len - i - 1);
		break;
	}
	for (size_t i = 0; i < host.len && host.p[0] != '['; i++) {
		if (host.p[i] == ':')
			host.len = i;
	}
	while (host.len != 0 && host.p[host.len - 1] == '.')
		host.len--;
	return host;
}

int
spell_hosts(struct value_pool *pool, struct span in, struct spellings *out)
{
	static const char separators[] = ",;<>()\"'";
	char name[DOMAIN_MAX_HOST + 1];
	struct span text = plain(pool, in), piece, host;
	enum host_kind kind;
	const char *why;
	uint8_t *copy;
	size_t len;

	if (text.p == NULL ||
	    room(pool, out, 2 * count_pieces(text, separators)) == -1)
		return -1;
	while (next_piece(&text, separators, &piece)) {
		if (host_normalise(host_in(piece), name, &len, &kind, &why) ==
		    -1)
			continue;
		if ((copy = value_pool_alloc(pool, len)) == NULL)
			return -1;
		memcpy(copy, name, len);
		host = span_of(copy, len);
		add(out, host, kind);
		if (spell_alias(host).p != host.p)
			add(out, spell_alias(host), kind);
	}
	return 0;
}

/*
 * Choices that lead to different readings of a mail header; see spell_emails().
 */
struct mail_reading {
	bool comments; /* drop (comments), else treat them as blanks */
	bool at;       /* drop blanks around @ */
	bool dots;     /* drop blanks around dots as well */
};

static bool
mail_glues(const struct mail_reading *r, uint8_t c)
{
	return (r->at && c == '@') || (r->dots && c == '.');
}

/* Clean the text in place by one reading. Quotes and backslashes always go. */
static size_t
mail_clean(const struct mail_reading *r, uint8_t *p, size_t len)
{
	unsigned depth = 0;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = p[i] < ' ' ? ' ' : p[i];

		if (c == '"' || c == '\\')
			continue;
		if (c == '(' || c == ')') {
			depth += c == '(';
			depth -= c == ')' && depth != 0;
			c = ' ';
			if (r->comments)
				continue;
		}
		if (r->comments && depth != 0)
			continue;
		if (c == ' ' && n != 0 && mail_glues(r, p[n - 1]))
			continue;
		while (mail_glues(r, c) && n != 0 && p[n - 1] == ' ')
			n--;
		p[n++] = c;
	}
	return n;
}

/* Trim quotes and dots that a reader would not count as part of the address. */
static struct span
mail_trim(struct span s)
{
	while (s.len != 0 && s.p[0] == '\'') {
		s.p++;
		s.len--;
	}
	while (s.len != 0 && (s.p[s.len - 1] == '\'' || s.p[s.len - 1] == '.'))
		s.len--;
	return s;
}

int
spell_emails(struct value_pool *pool, struct span in, struct spellings *out)
{
	static const char separators[] = ",;<>:";
	static const struct mail_reading readings[] = {
	    {false, false, false}, {true, true, false}, {true, true, true}};
	size_t n = nitems(readings);
	struct span text, piece;

	if (room(pool, out, n * count_pieces(in, ",;<>:%()")) == -1)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if ((text = plain(pool, in)).p == NULL)
			return -1;
		text.len = mail_clean(
		    &readings[i], (uint8_t *)(uintptr_t)text.p, text.len);
		while (next_piece(&text, separators, &piece))
			add(out, mail_trim(piece), HOST_NONE);
	}
	return 0;
}

static struct span
without_prefix(struct span s)
{
	static const char *const prefixes[] = {
	    "refs/heads/", "refs/tags/", "heads/", "tags/"};

	while (s.len != 0 && (s.p[0] == '+' || is_blank(s.p[0]))) {
		s.p++;
		s.len--;
	}
	for (size_t i = 0; i < nitems(prefixes); i++) {
		struct span prefix = span_str(prefixes[i]);

		if (s.len > prefix.len && span_starts(s, prefix))
			return span_of(s.p + prefix.len, s.len - prefix.len);
	}
	return s;
}

/* Returns an identifier, or a branch's short name. p == NULL: out of memory. */
static struct span
short_name(struct value_pool *pool, struct span s)
{
	size_t was;

	if ((s = spell_path(pool, s)).p == NULL)
		return s;
	do {
		was = s.len;
		s = without_prefix(s);
		s = reduce((uint8_t *)(uintptr_t)s.p, s.len);
	} while (s.len != was);
	return s;
}

int
spell_identifiers(
    struct value_pool *pool, struct span in, struct spellings *out)
{
	struct span text = plain(pool, in), piece;

	if (text.p == NULL ||
	    room(pool, out, count_pieces(text, ":") + 1) == -1)
		return -1;
	if ((piece = short_name(pool, text)).p == NULL)
		return -1;
	add(out, piece, HOST_NONE);
	if (text.len == 0 || memchr(text.p, ':', text.len) == NULL)
		return 0;
	while (next_part(&text, ':', &piece)) {
		if ((piece = short_name(pool, piece)).p == NULL)
			return -1;
		add(out, piece, HOST_NONE);
	}
	return 0;
}
