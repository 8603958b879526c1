/* SPDX-License-Identifier: ISC */
/*
 * A recursive parser over one text. The text is another program's file and may
 * be hostile: depth, sizes and keys are limited by the value tree, and the
 * parser never reads beyond the end.
 */
#include "icctl/mcp/toml.h"

#include <errno.h>
#include <string.h>

#define TOML_MAX_DEPTH 32U

struct toml {
	struct value_pool *pool;
	const uint8_t *p, *end;
	unsigned line;
	const char *what;
};

static struct value *toml_value(struct toml *, unsigned depth);

static void *
toml_bad(struct toml *t, const char *what)
{
	if (t->what == NULL)
		t->what = what;
	return NULL;
}

static int
toml_peek(const struct toml *t)
{
	return t->p < t->end ? *t->p : -1;
}

static bool
toml_take(struct toml *t, char c)
{
	if (toml_peek(t) != c)
		return false;
	t->p++;
	return true;
}

static bool
toml_take_word(struct toml *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0)
		return false;
	t->p += n;
	return true;
}

/* Skip blanks and, if `lines`, newlines and comments as well. */
static void
toml_skip(struct toml *t, bool lines)
{
	for (; t->p < t->end; t->p++) {
		if (*t->p == '#' && lines) {
			while (t->p < t->end && *t->p != '\n')
				t->p++;
			if (t->p == t->end)
				return;
		}
		if (*t->p == '\n' && lines)
			t->line++;
		else if (*t->p != ' ' && *t->p != '\t' &&
			 !(lines && *t->p == '\r'))
			return;
	}
}

/* Take the rest of a line, which may only contain a comment. */
static bool
toml_line_end(struct toml *t)
{
	toml_skip(t, false);
	if (toml_peek(t) == '#')
		while (t->p < t->end && *t->p != '\n')
			t->p++;
	(void)toml_take(t, '\r');
	if (t->p == t->end || *t->p == '\n')
		return true;
	toml_bad(t, "something follows the value on its line");
	return false;
}

static size_t
toml_utf8(uint32_t c, uint8_t out[4])
{
	if (c < 0x80) {
		out[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (uint8_t)(0xc0 | c >> 6);
		out[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (uint8_t)(0xe0 | c >> 12);
		out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		out[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (uint8_t)(0xf0 | c >> 18);
	out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	out[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

/* Read \uXXXX or \UXXXXXXXX after the letter. Returns the bytes written, or 0.
 */
static size_t
toml_unicode(struct toml *t, unsigned digits, uint8_t out[4])
{
	uint32_t c = 0;
	int d;

	for (unsigned i = 0; i < digits; i++, t->p++) {
		d = toml_peek(t);
		if (d >= '0' && d <= '9')
			c = c << 4 | (uint32_t)(d - '0');
		else if ((d | 0x20) >= 'a' && (d | 0x20) <= 'f')
			c = c << 4 | (uint32_t)((d | 0x20) - 'a' + 10);
		else
			return 0;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return toml_utf8(c, out);
}

/* Read one escape after its backslash. Returns the bytes written, or 0. */
static size_t
toml_escape(struct toml *t, uint8_t out[4])
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	int c = toml_peek(t);
	const char *at;

	if (c == 'u' || c == 'U') {
		t->p++;
		return toml_unicode(t, c == 'u' ? 4 : 8, out);
	}
	if (c <= 0 || (at = strchr(from, c)) == NULL)
		return 0;
	t->p++;
	out[0] = (uint8_t)to[at - from];
	return 1;
}

/* A backslash ends a line of a long string: skip white space. */
static bool
toml_folded(struct toml *t)
{
	const uint8_t *p = t->p;

	while (p < t->end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	if (p == t->end || *p != '\n')
		return false;
	for (t->p = p;
	     t->p < t->end && strchr(" \t\r\n", *t->p) != NULL && *t->p != '\0';
	     t->p++)
		t->line += *t->p == '\n';
	return true;
}

/* Returns true if the string ends here, and takes its closing quotes. */
static bool
toml_closes(struct toml *t, char quote, bool large)
{
	const char three[] = {quote, quote, quote, '\0'};

	if (!large)
		return toml_take(t, quote);
	/*
	 * Two quotes may come directly before the three that close the string.
	 */
	if (t->end - t->p > 3 && t->p[3] == (uint8_t)quote)
		return false;
	return toml_take_word(t, three);
}

/* Read a string, whose opening quotes were taken, into `*out`. */
static bool
toml_text(struct toml *t, char quote, bool large, struct span *out)
{
	uint8_t *dst = value_pool_alloc(t->pool, (size_t)(t->end - t->p) + 4);
	size_t n = 0, had = (size_t)(t->end - t->p) + 4, add;

	if (dst == NULL)
		return toml_bad(t, "it is too large") != NULL;
	if (large) {
		(void)toml_take(t, '\r');
		if (toml_take(t, '\n'))
			t->line++;
	}
	while (!toml_closes(t, quote, large)) {
		if (t->p == t->end || (*t->p == '\n' && !large))
			return toml_bad(t, "a string does not end") != NULL;
		if (*t->p < ' ' && strchr("\t\r\n", *t->p) == NULL)
			return toml_bad(t,
				   "a string has a control character") != NULL;
		t->line += *t->p == '\n';
		if (*t->p != '\\' || quote == '\'') {
			dst[n++] = *t->p++;
			continue;
		}
		t->p++;
		if (large && toml_folded(t))
			continue;
		if ((add = toml_escape(t, dst + n)) == 0)
			return toml_bad(t, "a string has a bad escape") != NULL;
		n += add;
	}
	value_pool_trim(t->pool, dst, had, n);
	*out = span_of(dst, n);
	if (!utf8_valid(*out))
		return toml_bad(t, "a string is not UTF-8") != NULL;
	return true;
}

static bool
toml_string(struct toml *t, struct span *out)
{
	if (toml_take_word(t, "\"\"\""))
		return toml_text(t, '"', true, out);
	if (toml_take_word(t, "'''"))
		return toml_text(t, '\'', true, out);
	if (toml_take(t, '"'))
		return toml_text(t, '"', false, out);
	if (toml_take(t, '\''))
		return toml_text(t, '\'', false, out);
	return toml_bad(t, "a value is missing") != NULL;
}

static bool
toml_bare(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/* Read one part of a key. */
static bool
toml_key(struct toml *t, struct span *out)
{
	const uint8_t *start = t->p;

	if (toml_peek(t) == '"' || toml_peek(t) == '\'')
		return toml_string(t, out);
	while (toml_bare(toml_peek(t)))
		t->p++;
	*out = span_of(start, (size_t)(t->p - start));
	if (out->len == 0)
		return toml_bad(t, "a key is missing") != NULL;
	return true;
}

/* Returns the member of that name, which belongs to the tree. */
static struct value *
toml_member(struct value *o, struct span key)
{
	for (struct value *v = o->child; v != NULL; v = v->next)
		if (span_eq(v->key, key))
			return v;
	return NULL;
}

static struct value *
toml_put(struct toml *t, struct value *o, struct span key, struct value *v)
{
	if (v == NULL)
		return NULL;
	if (value_set(o, key, v) == -1)
		return toml_bad(t, errno == EEXIST ? "a key is given twice"
						   : "it is too large");
	return v;
}

/* Enter the table `key` of `o`, which is created if necessary. */
static struct value *
toml_enter(struct toml *t, struct value *o, struct span key)
{
	struct value *v = toml_member(o, key);

	if (v == NULL)
		return toml_put(t, o, key, value_new(t->pool, VALUE_OBJECT));
	if (v->type == VALUE_ARRAY && v->last != NULL)
		v = v->last;
	if (v->type != VALUE_OBJECT)
		return toml_bad(t, "a key is given twice");
	return v;
}

/* Read "a.b.c": `*o` becomes the table that contains the last part, `*key`. */
static bool
toml_path(struct toml *t, struct value **o, struct span *key)
{
	unsigned depth = 0;

	for (;;) {
		toml_skip(t, false);
		if (!toml_key(t, key))
			return false;
		toml_skip(t, false);
		if (!toml_take(t, '.'))
			return true;
		if (++depth > TOML_MAX_DEPTH)
			return toml_bad(t, "it is nested too deeply") != NULL;
		if ((*o = toml_enter(t, *o, *key)) == NULL)
			return false;
	}
}

static bool
toml_pair(struct toml *t, struct value *o, unsigned depth)
{
	struct span key;

	if (!toml_path(t, &o, &key))
		return false;
	if (!toml_take(t, '='))
		return toml_bad(t, "= is missing after a key") != NULL;
	toml_skip(t, false);
	return toml_put(t, o, key, toml_value(t, depth)) != NULL;
}

static struct value *
toml_array(struct toml *t, unsigned depth)
{
	struct value *a = value_new(t->pool, VALUE_ARRAY);

	for (;;) {
		toml_skip(t, true);
		if (toml_take(t, ']'))
			return a != NULL ? a : toml_bad(t, "it is too large");
		if (value_append(a, toml_value(t, depth)) == -1)
			return toml_bad(t, "it is too large");
		toml_skip(t, true);
		if (!toml_take(t, ',') && toml_peek(t) != ']')
			return toml_bad(t, "a comma is missing in an array");
	}
}

static struct value *
toml_inline(struct toml *t, unsigned depth)
{
	struct value *o = value_new(t->pool, VALUE_OBJECT);

	if (o == NULL)
		return toml_bad(t, "it is too large");
	toml_skip(t, false);
	if (toml_take(t, '}'))
		return o;
	for (;;) {
		if (!toml_pair(t, o, depth))
			return NULL;
		toml_skip(t, false);
		if (toml_take(t, '}'))
			return o;
		if (!toml_take(t, ','))
			return toml_bad(t, "a comma is missing in a table");
	}
}

/*
 * Numbers and dates. A plain decimal integer stays a number; all others become
 * strings, because no setting that is read here is a number.
 */
static struct value *
toml_scalar(struct toml *t)
{
	const uint8_t *start = t->p;
	struct value *v;
	struct span s;
	int64_t n = 0;

	while (toml_bare(toml_peek(t)) || strchr(".:+", toml_peek(t)) != NULL) {
		if (toml_peek(t) <= 0)
			break;
		t->p++;
	}
	s = span_of(start, (size_t)(t->p - start));
	if (s.len == 0)
		return toml_bad(t, "a value is missing");
	if (s.len > 64)
		return toml_bad(t, "a number is too long");
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || s.len > 18) {
			v = value_new_string(t->pool, s);
			return v != NULL ? v : toml_bad(t, "it is too large");
		}
		n = n * 10 + (s.p[i] - '0');
	}
	v = value_new_number(t->pool, n);
	return v != NULL ? v : toml_bad(t, "it is too large");
}

static struct value *
toml_value(struct toml *t, unsigned depth)
{
	enum value_type word = VALUE_NULL;
	struct value *v;
	struct span s;

	if (depth == TOML_MAX_DEPTH)
		return toml_bad(t, "it is nested too deeply");
	switch (toml_peek(t)) {
	case '"':
	case '\'':
		if (!toml_string(t, &s))
			return NULL;
		v = value_new_string(t->pool, s);
		return v != NULL ? v : toml_bad(t, "it is too large");
	case '[':
		t->p++;
		return toml_array(t, depth + 1);
	case '{':
		t->p++;
		return toml_inline(t, depth + 1);
	default:
		break;
	}
	if (toml_take_word(t, "true"))
		word = VALUE_TRUE;
	else if (toml_take_word(t, "false"))
		word = VALUE_FALSE;
	if (word == VALUE_NULL)
		return toml_scalar(t);
	v = value_new(t->pool, word);
	return v != NULL ? v : toml_bad(t, "it is too large");
}

/* Read "[a.b]" or "[[a.b]]" and return the table that follows it. */
static struct value *
toml_header(struct toml *t, struct value *root)
{
	bool many = toml_take(t, '[');
	struct value *o = root, *list;
	struct span key;

	if (!toml_path(t, &o, &key))
		return NULL;
	if (!toml_take(t, ']') || (many && !toml_take(t, ']')))
		return toml_bad(t, "] is missing after a table's name");
	if (!many)
		return toml_enter(t, o, key);
	if ((list = toml_member(o, key)) == NULL)
		list = toml_put(t, o, key, value_new(t->pool, VALUE_ARRAY));
	if (list == NULL || list->type != VALUE_ARRAY)
		return toml_bad(t, "a key is given twice");
	o = value_new(t->pool, VALUE_OBJECT);
	if (value_append(list, o) == -1)
		return toml_bad(t, "it is too large");
	return o;
}

const struct value *
toml_read(struct value_pool *pool, struct span text, struct toml_fail *fail)
{
	struct toml t = {
	    .pool = pool, .p = text.p, .end = text.p + text.len, .line = 1};
	struct value *root = value_new(pool, VALUE_OBJECT), *table = root;

	if (root == NULL)
		toml_bad(&t, "it is too large");
	while (t.what == NULL) {
		toml_skip(&t, true);
		if (t.p == t.end)
			return root;
		if (toml_take(&t, '['))
			table = toml_header(&t, root);
		else if (!toml_pair(&t, table, 0))
			break;
		if (t.what == NULL)
			(void)toml_line_end(&t);
	}
	*fail = (struct toml_fail){t.line, t.what};
	return NULL;
}
