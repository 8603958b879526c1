/* SPDX-License-Identifier: ISC */
#include "auto/mention.h"

#include <string.h>
#include <strings.h>

#include "auto/asked.h"

enum kind {
	KIND_PATH,
	KIND_URL,
	KIND_REMOTE,
	KIND_MAIL,
	KIND_WORD
};

/* A name in the message, and how the thing relates to it. */
struct found {
	struct span name;
	unsigned levels; /* 0: it is the thing itself */
	struct span ext; /* the ending of what lies below, or empty */
};

struct candidate {
	enum kind kind;
	struct span home, value;
	struct found *found;
};

/* Returns false if there is no such role. */
static bool
kind_of(struct span role, enum kind *kind)
{
	static const struct {
		const char *role;
		enum kind kind;
	} rows[] = {
#define ROLE(id, name, category, effect, thing) {name, KIND_##thing},
#include "policyd/engine/role_rows.h"
	};

	for (size_t i = 0; i < nitems(rows); i++)
		if (span_is(role, rows[i].role)) {
			*kind = rows[i].kind;
			return true;
		}
	return false;
}

/* Returns true for text that is short and has no control characters. */
static bool
text_ok(struct span s)
{
	if (s.len == 0 || s.len > MENTION_MAX_TEXT)
		return false;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
	return true;
}

static struct span
without_slash(struct span s)
{
	while (s.len > 1 && s.p[s.len - 1] == '/')
		s.len--;
	return s;
}

/* Take the next component of a path. Returns false at its end. */
static bool
next_part(struct span *rest, struct span *part)
{
	size_t n = 0;

	while (rest->len != 0 && rest->p[0] == '/')
		*rest = span_of(rest->p + 1, rest->len - 1);
	while (n < rest->len && rest->p[n] != '/')
		n++;
	*part = span_of(rest->p, n);
	*rest = span_of(rest->p + n, rest->len - n);
	return n != 0;
}

static bool
part_is_secret(struct span part)
{
	static const char *const words[] = {"secret", "passw", "credential",
	    "token", "private", "id_rsa", "id_ed25519", "id_ecdsa", "id_dsa",
	    ".pem", ".key", ".p12", ".pfx", ".kdbx", "wallet", "shadow"};

	for (size_t i = 0; i < nitems(words); i++) {
		size_t n = strlen(words[i]);

		for (size_t k = 0; k + n <= part.len; k++)
			if (strncasecmp(
				(const char *)part.p + k, words[i], n) == 0)
				return true;
	}
	return false;
}

/* The extension, if it is a usual one: letters and digits, at most four. */
static struct span
part_ext(struct span part)
{
	size_t i = part.len;

	while (i > 0 && part.len - i < 4 &&
	       ((part.p[i - 1] >= 'a' && part.p[i - 1] <= 'z') ||
		   (part.p[i - 1] >= '0' && part.p[i - 1] <= '9')))
		i--;
	if (i < 2 || i == part.len || part.p[i - 1] != '.')
		return span_of(NULL, 0);
	return span_of(part.p + i - 1, part.len - i + 1);
}

/* Check what lies below the name. Returns false if a person should look. */
static bool
below_ok(struct span tail, struct found *f)
{
	struct span part;

	if (!text_ok(tail))
		return false;
	f->levels = 0;
	while (next_part(&tail, &part)) {
		if (part.p[0] == '.' || part_is_secret(part) ||
		    ++f->levels > MENTION_MAX_BELOW)
			return false;
		f->ext = part_ext(part);
	}
	return f->levels != 0;
}

/* Returns the rest of `value` behind "name/", or a NULL span. */
static struct span
tail_of(struct span value, struct span name)
{
	if (value.len <= name.len + 1 || !span_starts(value, name) ||
	    value.p[name.len] != '/')
		return span_of(NULL, 0);
	return span_of(value.p + name.len + 1, value.len - name.len - 1);
}

/* Returns true if a path has no empty, "." or ".." part. */
static bool
path_plain(struct span s)
{
	struct span part;

	if (memmem(s.p, s.len, "//", 2) != NULL)
		return false;
	while (next_part(&s, &part))
		if (span_is(part, ".") || span_is(part, ".."))
			return false;
	return true;
}

/* Returns true if too much lies below the directory. */
static bool
path_wide(struct span dir, struct span home)
{
	struct span rest = dir, part;
	unsigned n = 0;

	while (next_part(&rest, &part))
		n++;
	return n < 2 || span_eq(dir, home) || tail_of(home, dir).p != NULL;
}

static bool
match_path(const struct candidate *c, struct span name)
{
	uint8_t full[MENTION_MAX_TEXT + 4096];
	struct span dir = without_slash(name), tail;
	struct span value = without_slash(c->value);

	if (span_is(name, "~") || span_starts(name, SPAN("~/"))) {
		if (c->home.len == 0 || c->home.len > 4096)
			return false;
		memcpy(full, c->home.p, c->home.len);
		memcpy(full + c->home.len, dir.p + 1, dir.len - 1);
		dir = span_of(full, c->home.len + dir.len - 1);
	}
	if (dir.len == 0 || dir.p[0] != '/' || !path_plain(dir))
		return false;
	c->found->levels = 0;
	if (span_eq(value, dir))
		return true;
	tail = tail_of(value, dir);
	return tail.p != NULL && path_plain(value) &&
	       !path_wide(dir, c->home) && below_ok(tail, c->found);
}

static bool
is_scheme(struct span s, const char *scheme)
{
	size_t n = strlen(scheme);

	return s.len > n && strncasecmp((const char *)s.p, scheme, n) == 0;
}

/* Hosts whose names with a path stand for https:// and them. */
static bool
is_forge(struct span s)
{
	static const char *const hosts[] = {
	    "github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/"};

	for (size_t i = 0; i < nitems(hosts); i++)
		if (is_scheme(s, hosts[i]))
			return true;
	return false;
}

/* Returns the URL without its scheme, https only; or a NULL span. */
static struct span
url_rest(struct span s, bool bare)
{
	if (is_scheme(s, "https://"))
		return span_of(s.p + 8, s.len - 8);
	return bare && is_forge(s) ? s : span_of(NULL, 0);
}

/* Returns the length of the host and port. */
static size_t
host_len(struct span s)
{
	size_t n = 0;

	while (n < s.len && strchr("/?#", s.p[n]) == NULL)
		n++;
	return n;
}

/* Below a URL only plain words can follow: a query could carry data out. */
static bool
url_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') ||
			(s.p[i] >= 'A' && s.p[i] <= 'Z') ||
			(s.p[i] >= '0' && s.p[i] <= '9') ||
			strchr("-._~/", s.p[i]) != NULL))
			return false;
	return path_plain(s);
}

static struct span
without_git(struct span s)
{
	s = without_slash(s);
	if (s.len > 4 && memcmp(s.p + s.len - 4, ".git", 4) == 0)
		s.len -= 4;
	return s;
}

static bool
match_url(const struct candidate *c, struct span name)
{
	bool remote = c->kind == KIND_REMOTE;
	struct span said, value, tail;
	size_t n;

	if (remote && span_eq(name, c->value))
		return true;
	said = url_rest(without_slash(name), remote);
	value = url_rest(without_slash(c->value), false);
	if (remote) {
		said = without_git(said);
		value = without_git(value);
	}
	if (said.len == 0 || value.len == 0 || said.p == NULL ||
	    value.p == NULL || (n = host_len(said)) == 0 ||
	    memchr(said.p, '@', n) != NULL || host_len(value) != n ||
	    strncasecmp((const char *)said.p, (const char *)value.p, n) != 0)
		return false;
	said = span_of(said.p + n, said.len - n);
	value = span_of(value.p + n, value.len - n);
	c->found->levels = 0;
	if (span_eq(said, value))
		return true;
	tail = tail_of(value, said);
	return tail.p != NULL && url_plain(said) && url_plain(tail) &&
	       below_ok(tail, c->found);
}

static bool
match(const struct candidate *c, struct span name)
{
	*c->found = (struct found){.name = name};
	if (!text_ok(name))
		return false;
	switch (c->kind) {
	case KIND_PATH:
		return match_path(c, name);
	case KIND_URL:
	case KIND_REMOTE:
		return match_url(c, name);
	case KIND_MAIL:
		return span_ieq(name, c->value);
	case KIND_WORD:
		return span_eq(name, c->value);
	}
	return false;
}

static bool
is_space(uint8_t b)
{
	return b == ' ' || b == '\t' || b == '\n' || b == '\r';
}

/* Signs that end a name, and are not part of one. */
static bool
is_sign(uint8_t b)
{
	return strchr("\"'`<>()[]{}|,;", b) != NULL && b != '\0';
}

/* Try the words of the message. */
static bool
match_words(const struct candidate *c, struct span m)
{
	size_t from, to, i = 0;

	while (i < m.len) {
		while (i < m.len && (is_space(m.p[i]) || is_sign(m.p[i])))
			i++;
		from = i;
		while (i < m.len && !is_space(m.p[i]) && !is_sign(m.p[i]))
			i++;
		to = i;
		if (to > from && match(c, span_of(m.p + from, to - from)))
			return true;
		/* The end of a sentence. */
		while (to > from && strchr(".:!?", m.p[to - 1]) != NULL)
			to--;
		if (to > from && match(c, span_of(m.p + from, to - from)))
			return true;
	}
	return false;
}

/* Try what is in quotes, where names have blanks. */
static bool
match_quotes(const struct candidate *c, struct span m)
{
	const uint8_t *end;
	size_t n;

	for (size_t i = 0; i < m.len; i++) {
		if (strchr("\"'`", m.p[i]) == NULL || m.p[i] == '\0')
			continue;
		end = memchr(m.p + i + 1, m.p[i], m.len - i - 1);
		if (end == NULL)
			continue;
		n = (size_t)(end - (m.p + i + 1));
		if (n != 0 && match(c, span_of(m.p + i + 1, n)))
			return true;
	}
	return false;
}

static void
put_line(struct buf *b, const struct mention_thing *t, enum kind kind,
    const struct found *f)
{
	struct span name = f->name;

	buf_addspan(b, t->role);
	buf_adds(b, ": ");
	if (kind == KIND_URL) {
		name = url_rest(name, false);
		buf_adds(b, "a page at ");
		name.len = host_len(name);
	}
	if (f->levels != 0 && kind != KIND_URL)
		buf_printf(b, "something %u level%s below ", f->levels,
		    f->levels == 1 ? "" : "s");
	buf_addspan(b, name);
	if (f->ext.len != 0 && f->levels != 0 && kind == KIND_PATH) {
		buf_adds(b, ", its name ends in ");
		buf_addspan(b, f->ext);
	}
	buf_addc(b, '\n');
}

static bool
names_thing(void *arg, struct span word)
{
	return match(arg, word);
}

/*
 * Returns the reason why the message does not ask for what the call does to the
 * thing, or NULL.
 */
static const char *
not_asked(
    struct span message, const struct mention_thing *t, struct candidate *c)
{
	const enum asked what = asked_of_role(t->role);
	const struct span path = t->host.p != NULL ? t->host : t->value;

	if (what == ASKED_WRITE && c->kind == KIND_PATH &&
	    (asked_runs_later(path) || asked_runs_later(t->value)))
		return "the call writes a file that is run or obeyed later";
	return asked_check(message, what, names_thing, c);
}

const char *
mention_check(struct span message, struct span home,
    const struct mention_thing *things, size_t n, struct buf *lines)
{
	bool strong = false;

	if (n == 0 || n > MENTION_MAX_THINGS)
		return "the call touches nothing that a message could name, or "
		       "too much";
	for (size_t i = 0; i < n; i++)
		if (things[i].program &&
		    asked_of_role(things[i].role) == ASKED_WRITE)
			return "the call writes a program";
	for (size_t i = 0; i < n; i++) {
		const struct mention_thing *t = &things[i];
		struct found found;
		struct candidate c = {
		    KIND_WORD, without_slash(home), t->value, &found};
		const char *why;
		struct found shown;
		bool said, box = span_starts(t->value, SPAN("/workspace/"));

		if (!kind_of(t->role, &c.kind))
			return "a value of the call has a role that is not "
			       "known here";
		if (!text_ok(t->value) ||
		    (t->host.p != NULL && !text_ok(t->host)))
			return "a value of the call is too long, or has "
			       "control "
			       "characters";
		/* A person names places of this machine, or of /workspace. */
		if (t->host.p != NULL && !box)
			c.value = t->host;
		said = match_words(&c, message) || match_quotes(&c, message);
		if (!said && t->host.p != NULL && box) {
			c.value = t->host;
			said = match_words(&c, message) ||
			       match_quotes(&c, message);
		}
		if (!said)
			return "your message does not name everything that the "
			       "call touches";
		shown = found;
		if ((why = not_asked(message, t, &c)) != NULL)
			return why;
		strong = strong || c.kind != KIND_WORD;
		put_line(lines, t, c.kind, &shown);
	}
	if (!strong)
		return "the call touches no path, URL or address";
	return lines->failed ? "the call touches too much" : NULL;
}
