/* SPDX-License-Identifier: ISC */
/*
 * Compiles a pattern into steps. An alternative, a group and an atom is a row
 * of steps that is entered at its first one and left behind its last one;
 * repetitions copy it.
 */
#include "icctl/schema/pattern.h"

#include <string.h>

#define PATTERN_DEPTH 256U
#define PATTERN_TIMES 1000U
#define PATTERN_MANY UINT32_MAX
#define PATTERN_LAST 0x10ffffU

struct reading {
	struct pattern *p;
	struct span rest;
	unsigned depth;
};

static int read_choice(struct reading *);

uint32_t
pattern_take(struct span *s)
{
	static const uint8_t mask[] = {0x7f, 0x1f, 0x0f, 0x07};
	const unsigned more = s->p[0] < 0xc0   ? 0
			      : s->p[0] < 0xe0 ? 1
			      : s->p[0] < 0xf0 ? 2
					       : 3;
	uint32_t c = s->p[0] & mask[more];
	size_t n = 1;

	for (; n <= more && n < s->len; n++)
		c = c << 6 | (s->p[n] & 0x3f);
	s->p += n;
	s->len -= n;
	return c;
}

static int
wrong(struct reading *r, const char *why)
{
	r->p->why = why;
	return -1;
}

/* Returns true if the rest begins with this, and takes it. */
static bool
takes(struct reading *r, const char *text)
{
	const size_t n = strlen(text);

	if (r->rest.len < n || memcmp(r->rest.p, text, n) != 0)
		return false;
	r->rest.p += n;
	r->rest.len -= n;
	return true;
}

static struct pattern_step *
add_step(struct reading *r, enum pattern_op op)
{
	struct pattern_step *s;

	if (r->p->n == PATTERN_CODE - 1) {
		r->p->why = "is too long, with its repetitions";
		return NULL;
	}
	s = &r->p->code[r->p->n++];
	*s = (struct pattern_step){.op = (uint8_t)op};
	return s;
}

/* Make room for a step before those from `at` on. */
static struct pattern_step *
insert_step(struct reading *r, unsigned at, enum pattern_op op)
{
	struct pattern_step *c = r->p->code;

	if (add_step(r, op) == NULL)
		return NULL;
	memmove(c + at + 1, c + at, (r->p->n - 1 - at) * sizeof(*c));
	c[at] = (struct pattern_step){.op = (uint8_t)op};
	return &c[at];
}

static int
add_range(struct reading *r, uint32_t from, uint32_t to)
{
	if (r->p->nranges == PATTERN_RANGES)
		return wrong(r, "has too many ranges of characters");
	r->p->ranges[r->p->nranges++] = (struct pattern_range){from, to};
	return 0;
}

/* Add the characters of \d, \w or \s, or all others. */
static int
add_class(struct reading *r, uint8_t kind, bool others)
{
	static const struct pattern_range
	    digits[] = {{'0', '9'}},
	    words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
	    spaces[] = {{9, 13}, {32, 32}, {0xa0, 0xa0}, {0x1680, 0x1680},
		{0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
		{0x205f, 0x205f}, {0x3000, 0x3000}, {0xfeff, 0xfeff}};
	const struct pattern_range *set = kind == 'd'   ? digits
					  : kind == 'w' ? words
							: spaces;
	const size_t n = kind == 'd' ? 1 : kind == 'w' ? 4 : nitems(spaces);
	uint32_t next = 0;

	for (size_t i = 0; i < n; i++) {
		if (!others && add_range(r, set[i].from, set[i].to) == -1)
			return -1;
		if (others && set[i].from > next &&
		    add_range(r, next, set[i].from - 1) == -1)
			return -1;
		next = set[i].to + 1;
	}
	return others ? add_range(r, next, PATTERN_LAST) : 0;
}

/* Take `n` hexadecimal digits. */
static int
read_hex(struct reading *r, size_t n, uint32_t *c)
{
	uint64_t value = 0;
	uint8_t d;

	if (r->rest.len < n)
		return wrong(r, "has an escape that is cut");
	for (size_t i = 0; i < n; i++) {
		d = r->rest.p[i];
		if (d >= '0' && d <= '9')
			d = (uint8_t)(d - '0');
		else if ((d | 32) >= 'a' && (d | 32) <= 'f')
			d = (uint8_t)((d | 32) - 'a' + 10);
		else
			return wrong(r, "has an escape that is no number");
		value = value << 4 | d;
	}
	r->rest.p += n;
	r->rest.len -= n;
	*c = (uint32_t)value;
	return *c >= 0xd800 && *c <= 0xdfff
		   ? wrong(r, "has half a character (\\u of a surrogate)")
		   : 0;
}

/*
 * Read what follows a backslash and is one character. Returns 0, or -1 if it is
 * not known.
 */
static int
read_escape(struct reading *r, uint32_t *c)
{
	static const char names[] = "tnvfr0", values[] = "\t\n\v\f\r";
	const char *at;
	uint8_t d = r->rest.len == 0 ? 0 : r->rest.p[0];

	if (takes(r, "x"))
		return read_hex(r, 2, c);
	if (takes(r, "u"))
		return read_hex(r, 4, c);
	if (d != 0 && (at = strchr(names, d)) != NULL) {
		*c = (uint8_t)values[at - names];
	} else if (d <= ' ' || d >= 127 || (d >= '0' && d <= '9') ||
		   ((d | 32) >= 'a' && (d | 32) <= 'z')) {
		return wrong(r,
		    "has an escape that is not known here (references to "
		    "groups and \\p are not)");
	} else {
		*c = d;
	}
	r->rest.p++;
	r->rest.len--;
	return 0;
}

/* Returns 'd', 'w' or 's', and takes it, or 0. */
static uint8_t
take_class(struct reading *r, bool *others)
{
	const uint8_t d =
	    r->rest.len > 1 && r->rest.p[0] == '\\' ? r->rest.p[1] : 0;

	*others = d >= 'A' && d <= 'Z';
	if (d == 0 || strchr("dwsDWS", d) == NULL)
		return 0;
	r->rest.p += 2;
	r->rest.len -= 2;
	return d | 32;
}

/* Read a character of a class. */
static int
read_member(struct reading *r, uint32_t *c)
{
	if (r->rest.len == 0)
		return wrong(r, "has a [ without a ]");
	if (takes(r, "\\b")) {
		*c = '\b';
		return 0;
	}
	if (takes(r, "\\"))
		return read_escape(r, c);
	*c = pattern_take(&r->rest);
	return 0;
}

static int
read_set(struct reading *r)
{
	const unsigned at = r->p->nranges;
	struct pattern_step *s;
	uint32_t from, to;
	bool others;
	uint8_t kind;

	if ((s = add_step(r, PATTERN_SET)) == NULL)
		return -1;
	s->not = takes(r, "^");
	while (!takes(r, "]")) {
		if ((kind = take_class(r, &others)) != 0) {
			if (add_class(r, kind, others) == -1)
				return -1;
			continue;
		}
		if (read_member(r, &from) == -1)
			return -1;
		to = from;
		if (r->rest.len > 1 && r->rest.p[0] == '-' &&
		    r->rest.p[1] != ']') {
			(void)takes(r, "-");
			if (take_class(r, &others) != 0 ||
			    read_member(r, &to) == -1 || to < from)
				return wrong(r, "has a wrong range in []");
		}
		if (add_range(r, from, to) == -1)
			return -1;
	}
	s->at = (uint16_t)at;
	s->n = (uint16_t)(r->p->nranges - at);
	return 0;
}

/* Add a step for one character, or for those of a class. */
static int
add_one(struct reading *r, uint32_t c, uint8_t kind, bool others)
{
	struct pattern_step *s = add_step(r, PATTERN_SET);

	if (s == NULL)
		return -1;
	s->at = (uint16_t)r->p->nranges;
	if ((kind == 0 ? add_range(r, c, c) : add_class(r, kind, others)) == -1)
		return -1;
	s->n = (uint16_t)(r->p->nranges - s->at);
	return 0;
}

/* Any character that ends no line. */
static int
add_any(struct reading *r)
{
	struct pattern_step *s = add_step(r, PATTERN_SET);

	if (s == NULL)
		return -1;
	s->not = true;
	s->at = (uint16_t)r->p->nranges;
	s->n = 3;
	return add_range(r, '\n', '\n') == -1 || add_range(r, '\r', '\r') == -1
		   ? -1
		   : add_range(r, 0x2028, 0x2029);
}

static int
read_group(struct reading *r)
{
	const uint8_t *name;

	if (takes(r, "?<") && r->rest.len != 0 && r->rest.p[0] != '=' &&
	    r->rest.p[0] != '!') {
		if ((name = memchr(r->rest.p, '>', r->rest.len)) == NULL)
			return wrong(r, "has a name of a group that is cut");
		r->rest.len -= (size_t)(name + 1 - r->rest.p);
		r->rest.p = name + 1;
	} else if (!takes(r, "?:") && r->rest.len != 0 &&
		   (r->rest.p[0] == '?' || r->rest.p[-1] == '<')) {
		return wrong(r,
		    "looks ahead or behind, or sets flags, which is "
		    "not known here");
	}
	if (++r->depth > PATTERN_DEPTH)
		return wrong(r, "has too many groups in each other");
	if (read_choice(r) == -1)
		return -1;
	r->depth--;
	return takes(r, ")") ? 0 : wrong(r, "has a ( without a )");
}

/* Read one atom. Sets *once if it cannot be repeated. */
static int
read_atom(struct reading *r, bool *once)
{
	struct pattern_step *s;
	uint32_t c = 0;
	uint8_t kind;
	bool others;

	*once = false;
	if ((kind = take_class(r, &others)) != 0)
		return add_one(r, 0, kind, others);
	*once = true;
	if (takes(r, "^"))
		return add_step(r, PATTERN_START) == NULL ? -1 : 0;
	if (takes(r, "$"))
		return add_step(r, PATTERN_END) == NULL ? -1 : 0;
	if (takes(r, "\\b"))
		return add_step(r, PATTERN_WORD) == NULL ? -1 : 0;
	if (takes(r, "\\B")) {
		if ((s = add_step(r, PATTERN_WORD)) == NULL)
			return -1;
		s->not = true;
		return 0;
	}
	*once = false;
	if (takes(r, "("))
		return read_group(r);
	if (takes(r, "["))
		return read_set(r);
	if (takes(r, "."))
		return add_any(r);
	if (r->rest.p[0] != '\0' && strchr("*+?{", r->rest.p[0]) != NULL)
		return wrong(r, "repeats nothing");
	if (takes(r, "\\"))
		return read_escape(r, &c) == -1 ? -1 : add_one(r, c, 0, false);
	return add_one(r, pattern_take(&r->rest), 0, false);
}

/* Take a number. Returns false if there is none. */
static bool
take_times(struct reading *r, uint32_t *n)
{
	const size_t before = r->rest.len;

	for (*n = 0; r->rest.len != 0 && r->rest.p[0] >= '0' &&
		     r->rest.p[0] <= '9' && *n <= PATTERN_TIMES;
	     r->rest.p++, r->rest.len--)
		*n = *n * 10 + (r->rest.p[0] - '0');
	return r->rest.len != before;
}

/* Read how often an atom comes. Returns -1 if that is wrong. */
static int
read_times(struct reading *r, uint32_t *least, uint32_t *most)
{
	*least = *most = 1;
	if (takes(r, "*")) {
		*least = 0;
		*most = PATTERN_MANY;
	} else if (takes(r, "+")) {
		*most = PATTERN_MANY;
	} else if (takes(r, "?")) {
		*least = 0;
	} else if (takes(r, "{")) {
		if (!take_times(r, least))
			return wrong(r, "has a { without a number");
		*most = *least;
		if (takes(r, ",") && !take_times(r, most))
			*most = PATTERN_MANY;
		if (!takes(r, "}") || *least > PATTERN_TIMES ||
		    *most < *least ||
		    (*most != PATTERN_MANY && *most > PATTERN_TIMES))
			return wrong(r, "has a wrong number in {}");
	} else {
		return 0;
	}
	/* Lazy or greedy: whether it is found does not depend on it. */
	(void)takes(r, "?");
	return 0;
}

/* Append a copy of the steps. */
static int
add_copy(struct reading *r, const struct pattern_step *steps, unsigned len)
{
	if (r->p->n + len >= PATTERN_CODE)
		return wrong(r, "is too long, with its repetitions");
	memcpy(r->p->code + r->p->n, steps, len * sizeof(*steps));
	r->p->n += len;
	return 0;
}

/* Repeat the steps from `at` on. */
static int
repeat(struct reading *r, unsigned at, uint32_t least, uint32_t most)
{
	static struct pattern_step atom[PATTERN_CODE];
	const unsigned len = r->p->n - at;
	const uint32_t optional =
	    most == PATTERN_MANY ? least == 0 : most - least;
	struct pattern_step *s;

	memcpy(atom, r->p->code + at, len * sizeof(*atom));
	r->p->n = at;
	for (uint32_t i = 0; i < least; i++)
		if (add_copy(r, atom, len) == -1)
			return -1;
	for (uint32_t i = 0; i < optional; i++) {
		if ((s = add_step(r, PATTERN_SPLIT)) == NULL)
			return -1;
		s->a = 1;
		s->b = (int16_t)(len + 1 + (most == PATTERN_MANY));
		if (add_copy(r, atom, len) == -1)
			return -1;
	}
	if (most != PATTERN_MANY)
		return 0;
	/* Back to the last copy, or to the step that asks whether there is one.
	 */
	if ((s = add_step(r, least == 0 ? PATTERN_JUMP : PATTERN_SPLIT)) ==
	    NULL)
		return -1;
	s->a = (int16_t)(-(int)len - (least == 0));
	s->b = 1;
	return 0;
}

static int
read_row(struct reading *r)
{
	uint32_t least, most;
	unsigned at;
	bool once;

	while (r->rest.len != 0 && r->rest.p[0] != '|' && r->rest.p[0] != ')') {
		at = r->p->n;
		if (read_atom(r, &once) == -1 ||
		    read_times(r, &least, &most) == -1)
			return -1;
		if (least == 1 && most == 1)
			continue;
		if (once)
			return wrong(r, "repeats nothing");
		if (repeat(r, at, least, most) == -1)
			return -1;
	}
	return 0;
}

static int
read_choice(struct reading *r)
{
	const unsigned at = r->p->n;
	struct pattern_step *s;
	unsigned len;

	if (read_row(r) == -1)
		return -1;
	if (!takes(r, "|"))
		return 0;
	if (++r->depth > PATTERN_DEPTH)
		return wrong(r, "has too many alternatives");
	/* SPLIT, the first row, JUMP behind the others. */
	len = r->p->n - at;
	if ((s = insert_step(r, at, PATTERN_SPLIT)) == NULL)
		return -1;
	s->a = 1;
	s->b = (int16_t)(len + 2);
	if (add_step(r, PATTERN_JUMP) == NULL || read_choice(r) == -1)
		return -1;
	r->depth--;
	r->p->code[at + len + 1].a = (int16_t)(r->p->n - (at + len + 1));
	return 0;
}

int
pattern_compile(struct pattern *p, struct span text)
{
	struct reading r = {.p = p, .rest = text};

	p->n = p->nranges = 0;
	p->why = NULL;
	if (read_choice(&r) == -1)
		return -1;
	if (r.rest.len != 0)
		return wrong(&r, "has a ) without a (");
	p->code[p->n++] = (struct pattern_step){.op = PATTERN_MATCH};
	return 0;
}
