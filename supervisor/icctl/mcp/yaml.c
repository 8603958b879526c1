/* SPDX-License-Identifier: ISC */
/*
 * A recursive parser over one text, which may be hostile: depth is limited
 * here, sizes and keys by the value tree, and nothing beyond the end is read.
 */
#include "icctl/mcp/yaml.h"

#include <string.h>

#define YAML_MAX_DEPTH 32U
#define YAML_MAX_TEXT 8192U
#define YAML_MAX_ANCHORS 256U

/* A value that aliases repeat. */
struct yaml_anchor {
	struct span name;
	const struct value *v;
};

struct yaml {
	struct value_pool *pool;
	struct yaml_anchor *anchors; /* the newest one last */
	size_t nanchors;
	const uint8_t *p, *end, *line_start;
	unsigned line;
	const char *what;
};

static struct value *yaml_block(struct yaml *, size_t indent, unsigned depth);
static struct value *yaml_flow(struct yaml *, unsigned depth);

static void *
yaml_bad(struct yaml *y, const char *what)
{
	if (y->what == NULL)
		y->what = what;
	return NULL;
}

static int
yaml_at(const struct yaml *y, size_t n)
{
	return (size_t)(y->end - y->p) > n ? y->p[n] : -1;
}

static bool
yaml_blank(int c)
{
	return c == ' ' || c == '\t';
}

/* Returns true at the end of a line or of the text. */
static bool
yaml_over(int c)
{
	return c == '\n' || c == '\r' || c == -1;
}

static void
yaml_blanks(struct yaml *y)
{
	while (yaml_blank(yaml_at(y, 0)))
		y->p++;
}

/* Skip blanks, and a comment behind them. Returns true at the line's end. */
static bool
yaml_rest(struct yaml *y)
{
	const uint8_t *before = y->p;

	yaml_blanks(y);
	if (yaml_at(y, 0) == '#' &&
	    (y->p != before || y->p == y->line_start || yaml_blank(y->p[-1])))
		while (!yaml_over(yaml_at(y, 0)))
			y->p++;
	return yaml_over(yaml_at(y, 0));
}

/* Go to the next line. */
static void
yaml_newline(struct yaml *y)
{
	if (yaml_at(y, 0) == '\r')
		y->p++;
	if (yaml_at(y, 0) == '\n')
		y->p++;
	y->line++;
	y->line_start = y->p;
}

/* Go to the next content. Returns its column, or -1 at the end. */
static int
yaml_next(struct yaml *y)
{
	for (;;) {
		if (yaml_at(y, 0) == -1)
			return -1;
		if (!yaml_rest(y))
			break;
		if (yaml_at(y, 0) == -1)
			return -1;
		yaml_newline(y);
	}
	for (const uint8_t *q = y->line_start; q < y->p; q++)
		if (*q == '\t') {
			yaml_bad(y, "a tab where spaces must indent");
			return -1;
		}
	if (y->p == y->line_start && yaml_at(y, 0) == '%') {
		yaml_bad(y, "directives are not read");
		return -1;
	}
	if (y->p - y->line_start > 4096) {
		yaml_bad(y, "is indented too far");
		return -1;
	}
	return (int)(y->p - y->line_start);
}

/* The line must end here. */
static bool
yaml_ends(struct yaml *y)
{
	if (yaml_rest(y))
		return true;
	yaml_bad(y, "something follows the value");
	return false;
}

/* Make a string of bytes that do not stay. */
static struct value *
yaml_copied(struct yaml *y, const uint8_t *text, size_t n)
{
	uint8_t *copy = value_pool_alloc(y->pool, n + 1);

	if (copy == NULL)
		return yaml_bad(y, "it is too large");
	memcpy(copy, text, n);
	return value_new_string(y->pool, span_of(copy, n));
}

static struct value *
yaml_quoted(struct yaml *y)
{
	static const char from[] = "0abtnvfre\"/\\ ";
	static const char to[] = "\0\a\b\t\n\v\f\r\x1b\"/\\ ";
	uint8_t text[YAML_MAX_TEXT];
	const uint8_t quote = *y->p++;
	const char *found;
	size_t n = 0;
	int c;

	for (;; y->p++) {
		c = yaml_at(y, 0);
		if (yaml_over(c))
			return yaml_bad(y, "a quotation does not end");
		if (n == sizeof(text))
			return yaml_bad(y, "a text is too long");
		if (c == quote && quote == '\'' && yaml_at(y, 1) == '\'') {
			y->p++;
		} else if (c == quote) {
			y->p++;
			return yaml_copied(y, text, n);
		} else if (c == '\\' && quote == '"') {
			c = yaml_at(y, 1);
			found = c > 0 ? strchr(from, c) : NULL;
			if (found == NULL)
				return yaml_bad(y, "an escape is not read");
			c = to[found - from];
			y->p++;
		}
		text[n++] = (uint8_t)c;
	}
}

/* Returns true if the plain text is a number that stays as it is. */
static bool
yaml_integer(struct span s)
{
	size_t i = s.len > 1 && s.p[0] == '-' ? 1 : 0;

	if (s.len - i > 15 || (s.p[i] == '0' && s.len - i > 1))
		return false;
	for (; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

/* Make the value of a plain scalar. */
static struct value *
yaml_plain(struct yaml *y, struct span s)
{
	int64_t n = 0;

	if (s.len == 0 || span_is(s, "~") || span_is(s, "null"))
		return value_new(y->pool, VALUE_NULL);
	if (span_is(s, "true") || span_is(s, "false"))
		return value_new(
		    y->pool, span_is(s, "true") ? VALUE_TRUE : VALUE_FALSE);
	if (!yaml_integer(s))
		return value_new_string(y->pool, s);
	for (size_t i = s.p[0] == '-'; i < s.len; i++)
		n = n * 10 + (s.p[i] - '0');
	return value_new_number(y->pool, s.p[0] == '-' ? -n : n);
}

/* Refuse what would give the text another meaning. */
static bool
yaml_marked(struct yaml *y)
{
	const int c = yaml_at(y, 0);

	if (c == '&' || c == '*') {
		yaml_bad(y, "an anchor or alias is not read here: only a value "
			    "may have an anchor or be an alias, and not both");
		return true;
	}
	if (c == '!') {
		yaml_bad(y, "tags are not read: write out the value");
		return true;
	}
	if (c == '@' || c == '`' || c == '%') {
		yaml_bad(y, "begins with a character that needs quotation "
			    "marks");
		return true;
	}
	return false;
}

/* Take a plain scalar; in a flow, it ends before its punctuation. */
static struct span
yaml_word(struct yaml *y, bool flow)
{
	const uint8_t *start = y->p, *last = y->p;
	int c;

	for (; !yaml_over(c = yaml_at(y, 0)); y->p++) {
		if (c == ':' && (yaml_blank(yaml_at(y, 1)) ||
				    yaml_over(yaml_at(y, 1)) ||
				    (flow && yaml_at(y, 1) != -1 &&
					strchr(",[]{}", yaml_at(y, 1)))))
			break;
		if (flow && c != 0 && strchr(",[]{}", c) != NULL)
			break;
		if (c == '#' && y->p > start && yaml_blank(y->p[-1]))
			break;
		if (!yaml_blank(c))
			last = y->p + 1;
	}
	y->p = last;
	return span_of(start, (size_t)(last - start));
}

/* Take the mark and the name of an anchor or alias. */
static struct span
yaml_name(struct yaml *y)
{
	const uint8_t *start = ++y->p;
	int c;

	while (!yaml_over(c = yaml_at(y, 0)) && !yaml_blank(c) &&
	       (c == 0 || strchr(",[]{}", c) == NULL))
		y->p++;
	if (y->p == start)
		yaml_bad(y, "an anchor or alias has no name");
	return span_of(start, (size_t)(y->p - start));
}

/* Give a value that was read the name of its anchor, if it has one. */
static struct value *
yaml_anchor(struct yaml *y, struct span name, struct value *v)
{
	if (v == NULL || name.len == 0)
		return v;
	if (y->nanchors == YAML_MAX_ANCHORS)
		return yaml_bad(y, "there are too many anchors");
	y->anchors[y->nanchors++] = (struct yaml_anchor){name, v};
	return v;
}

/*
 * Copy the value of an alias. A value has its anchor only when it is complete,
 * so none contains itself; the pool limits how much all copies may be.
 */
static struct value *
yaml_alias(struct yaml *y)
{
	const struct span name = yaml_name(y);
	struct value *v;

	if (y->what != NULL)
		return NULL;
	for (size_t i = y->nanchors; i-- != 0;) {
		if (!span_eq(y->anchors[i].name, name))
			continue;
		if ((v = value_copy(y->pool, y->anchors[i].v)) == NULL)
			return yaml_bad(y, "its aliases make it too large");
		return v;
	}
	return yaml_bad(y, "no anchor of this name precedes the alias");
}

/*
 * Copy the members that `map` does not have from one mapping of "<<" there. The
 * mapping itself stays whole: it may have an anchor, too.
 */
static bool
yaml_merge_one(struct yaml *y, struct value *map, const struct value *from)
{
	struct value *copy;

	if (from->type != VALUE_OBJECT) {
		yaml_bad(y, "a merge key (<<) needs a mapping, or a list of "
			    "mappings");
		return false;
	}
	for (const struct value *v = from->child; v != NULL; v = v->next) {
		if (value_getspan(map, v->key) != NULL)
			continue;
		copy = value_copy(y->pool, v);
		if (copy == NULL || value_set(map, v->key, copy) == -1) {
			yaml_bad(y, "its merge keys make it too large");
			return false;
		}
	}
	return true;
}

/*
 * Merge into a complete mapping what its key "<<" has, if there is one. Of
 * several mappings, the first that has a key decides.
 */
static struct value *
yaml_merge(struct yaml *y, struct value *map, const struct value *from)
{
	if (from == NULL)
		return map;
	if (from->type != VALUE_ARRAY)
		return yaml_merge_one(y, map, from) ? map : NULL;
	for (const struct value *v = from->child; v != NULL; v = v->next)
		if (!yaml_merge_one(y, map, v))
			return NULL;
	return map;
}

/*
 * Add a member to a mapping, or keep it in `*merge` if its key is "<<". Returns
 * 0, or -1 if `v` is NULL, the key is repeated or there are too many.
 */
static int
yaml_member(
    struct value *map, struct span key, struct value *v, struct value **merge)
{
	if (!span_is(key, "<<") || v == NULL)
		return value_set(map, key, v);
	if (*merge != NULL)
		return -1;
	*merge = v;
	return 0;
}

/* Take a key and its colon. Returns NULL if there is none. */
static struct value *
yaml_key(struct yaml *y, bool flow)
{
	const struct yaml before = *y;
	struct value *key;

	if (yaml_marked(y) || yaml_at(y, 0) == '[' || yaml_at(y, 0) == '{')
		return NULL;
	if (yaml_at(y, 0) == '"' || yaml_at(y, 0) == '\'')
		key = yaml_quoted(y);
	else
		key = value_new_string(y->pool, yaml_word(y, flow));
	if (key == NULL)
		return NULL;
	yaml_blanks(y);
	if (yaml_at(y, 0) != ':') {
		*y = before;
		return NULL;
	}
	y->p++;
	return key;
}

/* Skip blanks, comments and line ends in a flow. */
static void
yaml_gap(struct yaml *y)
{
	while (yaml_rest(y) && yaml_at(y, 0) != -1)
		yaml_newline(y);
}

static struct value *
yaml_flow_list(struct yaml *y, unsigned depth)
{
	struct value *list = value_new(y->pool, VALUE_ARRAY), *v;

	for (y->p++;;) {
		yaml_gap(y);
		if (yaml_at(y, 0) == ']')
			break;
		if ((v = yaml_flow(y, depth + 1)) == NULL ||
		    value_append(list, v) == -1)
			return yaml_bad(y, "a list is not read");
		yaml_gap(y);
		if (yaml_at(y, 0) == ',')
			y->p++;
		else if (yaml_at(y, 0) != ']')
			return yaml_bad(y, "a list does not end");
	}
	y->p++;
	return list;
}

static struct value *
yaml_flow_map(struct yaml *y, unsigned depth)
{
	struct value *map = value_new(y->pool, VALUE_OBJECT), *key, *v;
	struct value *merge = NULL;

	for (y->p++;;) {
		yaml_gap(y);
		if (yaml_at(y, 0) == '}')
			break;
		if ((key = yaml_key(y, true)) == NULL)
			return yaml_bad(y, "a key is missing");
		yaml_gap(y);
		if (yaml_at(y, 0) == ',' || yaml_at(y, 0) == '}')
			v = value_new(y->pool, VALUE_NULL);
		else
			v = yaml_flow(y, depth + 1);
		if (yaml_member(map, key->text, v, &merge) == -1)
			return yaml_bad(y, "a key is repeated, or not read");
		yaml_gap(y);
		if (yaml_at(y, 0) == ',')
			y->p++;
		else if (yaml_at(y, 0) != '}')
			return yaml_bad(y, "a mapping does not end");
	}
	y->p++;
	return yaml_merge(y, map, merge);
}

/* Take a value without an anchor in a flow, or a scalar on one line. */
static struct value *
yaml_flow_value(struct yaml *y, unsigned depth)
{
	if (depth > YAML_MAX_DEPTH)
		return yaml_bad(y, "is nested too deeply");
	switch (yaml_at(y, 0)) {
	case '[':
		return yaml_flow_list(y, depth);
	case '{':
		return yaml_flow_map(y, depth);
	case '"':
	case '\'':
		return yaml_quoted(y);
	default:
		if (yaml_marked(y))
			return NULL;
		return yaml_plain(y, yaml_word(y, depth > 0));
	}
}

/* Take a value in a flow, and its anchor. */
static struct value *
yaml_flow(struct yaml *y, unsigned depth)
{
	struct span name;

	if (yaml_at(y, 0) == '*')
		return yaml_alias(y);
	if (yaml_at(y, 0) != '&')
		return yaml_flow_value(y, depth);
	name = yaml_name(y);
	if (y->what != NULL)
		return NULL;
	yaml_gap(y);
	return yaml_anchor(y, name, yaml_flow_value(y, depth));
}

/* Skip a block text, whose lines are indented further than `indent`. */
static struct value *
yaml_text(struct yaml *y, int indent)
{
	int at;

	while (!yaml_over(yaml_at(y, 0)))
		y->p++;
	while (yaml_at(y, 0) != -1) {
		yaml_newline(y);
		for (at = 0; yaml_at(y, (size_t)at) == ' '; at++)
			;
		if (!yaml_over(yaml_at(y, (size_t)at)) && at <= indent)
			break;
		while (!yaml_over(yaml_at(y, 0)))
			y->p++;
	}
	return value_new(y->pool, VALUE_ARRAY);
}

/* Take what follows a key or a dash, and its anchor, if it has one. */
static struct value *
yaml_below_value(struct yaml *y, size_t indent, bool key, unsigned depth)
{
	struct value *v;
	struct yaml at;
	int next;

	if (yaml_rest(y)) {
		at = *y;
		next = yaml_next(y);
		if (y->what != NULL)
			return NULL;
		if (next > (int)indent ||
		    (key && next == (int)indent && yaml_at(y, 0) == '-' &&
			(yaml_blank(yaml_at(y, 1)) ||
			    yaml_over(yaml_at(y, 1)))))
			return yaml_block(y, (size_t)next, depth + 1);
		*y = at;
		return value_new(y->pool, VALUE_NULL);
	}
	if (yaml_at(y, 0) == '|' || yaml_at(y, 0) == '>')
		return yaml_text(y, (int)indent);
	v = yaml_at(y, 0) == '*' ? yaml_alias(y) : yaml_flow_value(y, 0);
	return v != NULL && yaml_ends(y) ? v : NULL;
}

/*
 * Take what follows a key or a dash at the column `indent`: a value on the same
 * line, or a block below. A sequence may stand at the column of its key.
 */
static struct value *
yaml_below(struct yaml *y, size_t indent, bool key, unsigned depth)
{
	struct span name;

	yaml_blanks(y);
	if (yaml_at(y, 0) != '&')
		return yaml_below_value(y, indent, key, depth);
	name = yaml_name(y);
	yaml_blanks(y);
	if (y->what != NULL || (yaml_at(y, 0) == '*' && yaml_marked(y)))
		return NULL;
	return yaml_anchor(y, name, yaml_below_value(y, indent, key, depth));
}

static bool
yaml_dash(const struct yaml *y)
{
	return yaml_at(y, 0) == '-' &&
	       (yaml_blank(yaml_at(y, 1)) || yaml_over(yaml_at(y, 1)));
}

/* Returns true if a mapping or a sequence begins here. */
static bool
yaml_leads(const struct yaml *y)
{
	struct yaml at = *y;

	if (yaml_dash(y))
		return true;
	return !yaml_rest(&at) && yaml_key(&at, false) != NULL;
}

static struct value *
yaml_list(struct yaml *y, size_t indent, unsigned depth)
{
	struct value *list = value_new(y->pool, VALUE_ARRAY), *v;
	int next;

	do {
		y->p++;
		yaml_blanks(y);
		/* A mapping may begin behind the dash. */
		v = yaml_leads(y) ? yaml_block(y,
					(size_t)(y->p - y->line_start),
					depth + 1)
				  : yaml_below(y, indent, false, depth);
		if (v == NULL || value_append(list, v) == -1)
			return yaml_bad(y, "a list is not read");
		next = yaml_next(y);
	} while (next == (int)indent && yaml_dash(y));
	if (next > (int)indent)
		return yaml_bad(y, "is indented where nothing may be");
	return y->what != NULL ? NULL : list;
}

static struct value *
yaml_map(struct yaml *y, size_t indent, unsigned depth)
{
	struct value *map = value_new(y->pool, VALUE_OBJECT), *key, *v;
	struct value *merge = NULL;
	int next;

	do {
		if ((key = yaml_key(y, false)) == NULL)
			return yaml_bad(y, "is neither a key nor a list");
		if (!yaml_over(yaml_at(y, 0)) && !yaml_blank(yaml_at(y, 0)))
			return yaml_bad(y, "no space follows a colon");
		v = yaml_below(y, indent, true, depth);
		if (yaml_member(map, key->text, v, &merge) == -1)
			return yaml_bad(y, "a key is repeated, or too much");
		next = yaml_next(y);
	} while (next == (int)indent && !yaml_dash(y) && y->what == NULL);
	if (next > (int)indent)
		return yaml_bad(y, "is indented where nothing may be");
	return y->what != NULL ? NULL : yaml_merge(y, map, merge);
}

static struct value *
yaml_block(struct yaml *y, size_t indent, unsigned depth)
{
	if (depth > YAML_MAX_DEPTH)
		return yaml_bad(y, "is nested too deeply");
	return yaml_dash(y) ? yaml_list(y, indent, depth)
			    : yaml_map(y, indent, depth);
}

const struct value *
yaml_read(struct value_pool *pool, struct span text, struct yaml_fail *fail)
{
	struct yaml_anchor anchors[YAML_MAX_ANCHORS];
	struct yaml y = {.pool = pool,
	    .anchors = anchors,
	    .p = text.p,
	    .end = text.p + text.len,
	    .line_start = text.p,
	    .line = 1};
	const struct value *root = NULL;
	int next = utf8_valid(text) ? yaml_next(&y) : -1;

	if (next == 0 && (size_t)(y.end - y.p) >= 3 &&
	    memcmp(y.p, "---", 3) == 0) {
		y.p += 3;
		next = yaml_ends(&y) ? yaml_next(&y) : -1;
	}
	if (!utf8_valid(text))
		yaml_bad(&y, "it is not UTF-8");
	else if (next == -1)
		yaml_bad(&y, "it is empty");
	else
		root = yaml_block(&y, (size_t)next, 0);
	if (root != NULL && y.what == NULL && yaml_next(&y) != -1)
		yaml_bad(&y, "is indented less than what precedes it");
	if (root == NULL || y.what != NULL) {
		*fail = (struct yaml_fail){
		    y.line, y.what != NULL ? y.what : "it is too large"};
		return NULL;
	}
	return root;
}
