/* SPDX-License-Identifier: ISC */
/*
 * The grammar of regular expressions.  The text comes from an MCP server; it is
 * read once from left to right, with a bounded stack of open groups and a
 * bounded table of names.  Where Annex B and the flag "u" differ, the second is
 * the stricter one.
 */
#include "define/pattern.h"

#define PATTERN_DEPTH 64U
#define PATTERN_NAMES 64U
#define PATTERN_SET (-1) /* an escape that stands for several characters */

enum pattern_repeat {
	REPEAT_NO,
	REPEAT_YES,
	REPEAT_ANNEX_B
};

struct pattern {
	struct span s;
	size_t at;
	bool unicode;
	uint32_t groups; /* that capture */
	struct span names[PATTERN_NAMES];
	unsigned nnames;
	enum pattern_repeat
	    open[PATTERN_DEPTH]; /* whether each may be repeated */
	unsigned depth;
	const char *why;
};

static int
fail(struct pattern *p, const char *why)
{
	if (p->why == NULL)
		p->why = why;
	return -1;
}

/* Returns the byte at `at + ahead`, or -1 at the end. */
static int
peek(const struct pattern *p, size_t ahead)
{
	return ahead < p->s.len - p->at ? p->s.p[p->at + ahead] : -1;
}

static bool
take(struct pattern *p, const char *text)
{
	const struct span rest = span_of(p->s.p + p->at, p->s.len - p->at);
	const struct span want = span_str(text);

	if (!span_starts(rest, want))
		return false;
	p->at += want.len;
	return true;
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
hex_of(int c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read exactly `n` hex digits after `skip` bytes. Returns the value, or -1. */
static int32_t
read_hex(const struct pattern *p, size_t skip, unsigned n)
{
	int32_t v = 0;
	int d;

	for (unsigned i = 0; i < n; i++) {
		if ((d = hex_of(peek(p, skip + i))) == -1)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

/* Read a decimal number, which saturates. Returns false if there is none. */
static bool
read_decimal(struct pattern *p, uint32_t *n)
{
	int c;

	if (!is_digit(peek(p, 0)))
		return false;
	for (*n = 0; is_digit(c = peek(p, 0)); p->at++) {
		if (*n < UINT32_MAX / 16)
			*n = *n * 10 + (uint32_t)(c - '0');
	}
	return true;
}

/* Read the name of a group and the > after it. */
static int
read_name(struct pattern *p, struct span *name)
{
	size_t from = p->at;
	int c;

	for (; (c = peek(p, 0)) != -1 && c != '>'; p->at++) {
		if (!is_letter(c) && c != '_' && c != '$' && c < 0x80 &&
		    !(is_digit(c) && p->at != from))
			break;
	}
	*name = span_of(p->s.p + from, p->at - from);
	if (c != '>' || name->len == 0)
		return fail(p, "has a bad name for a group");
	p->at++;
	return 0;
}

static bool
name_known(const struct pattern *p, struct span name)
{
	for (unsigned i = 0; i < p->nnames; i++)
		if (span_eq(p->names[i], name))
			return true;
	return false;
}

/* Count the groups and collect their names, which may be used before. */
static int
find_groups(struct pattern *p)
{
	bool in_class = false;
	struct span name;
	int c;

	for (; (c = peek(p, 0)) != -1; p->at++) {
		if (c == '\\') {
			p->at += p->at + 1 < p->s.len;
		} else if (in_class) {
			in_class = c != ']';
		} else if (c == '[') {
			in_class = true;
		} else if (c == '(' && peek(p, 1) != '?') {
			p->groups++;
		} else if (c == '(' && peek(p, 2) == '<' && peek(p, 3) != '=' &&
			   peek(p, 3) != '!') {
			p->groups++;
			p->at += 3;
			if (read_name(p, &name) == -1)
				return -1;
			if (name_known(p, name))
				return fail(p, "has two groups of one name");
			if (p->nnames == PATTERN_NAMES)
				return fail(p, "has more than 64 named groups");
			p->names[p->nnames++] = name;
			p->at--;
		}
	}
	p->at = 0;
	return 0;
}

/* Properties of Unicode that every engine knows. */
static bool
is_property(struct span name)
{
	static const char *const names[] = {"ASCII", "Alphabetic", "Any",
	    "Emoji", "Letter", "Lowercase", "Number", "Punctuation",
	    "Uppercase", "White_Space", "C", "Cc", "Cf", "Cn", "Co", "Cs", "L",
	    "LC", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N",
	    "Nd", "Nl", "No", "P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps",
	    "S", "Sc", "Sk", "Sm", "So", "Z", "Zl", "Zp", "Zs"};

	for (size_t i = 0; i < nitems(names); i++)
		if (span_is(name, names[i]))
			return true;
	return false;
}

/* Read \p{NAME} after its letter. */
static int
read_property(struct pattern *p)
{
	size_t from = p->at + 1;
	int c;

	if (!p->unicode)
		return 'p';
	if (peek(p, 0) != '{')
		return fail(p, "has \\p without a property");
	while ((c = peek(p, 0)) != -1 && c != '}')
		p->at++;
	if (c == -1 || !is_property(span_of(p->s.p + from, p->at - from)))
		return fail(p, "has \\p with an unknown property");
	p->at++;
	return PATTERN_SET;
}

/* Read \uXXXX or \u{X}, after its letter. */
static int32_t
read_code(struct pattern *p)
{
	int32_t v = read_hex(p, 0, 4), d;

	if (v != -1) {
		p->at += 4;
		return v;
	}
	if (!p->unicode)
		return 'u';
	if (!take(p, "{"))
		return fail(p, "has a bad \\u escape");
	for (v = 0; (d = hex_of(peek(p, 0))) != -1; p->at++) {
		if ((v = v * 16 + d) > 0x10ffff)
			return fail(p, "has a bad \\u escape");
	}
	if (p->s.p[p->at - 1] == '{' || !take(p, "}"))
		return fail(p, "has a bad \\u escape");
	return v;
}

/* Read \0 or an octal escape; its first digit, `c`, has been read. */
static int32_t
read_octal(struct pattern *p, int c)
{
	int32_t v = c - '0';

	if (p->unicode) {
		if (c == '0' && !is_digit(peek(p, 0)))
			return 0;
		return fail(p, "has an octal escape");
	}
	if (c > '7')
		return c;
	for (unsigned i = 0; i < 2 && peek(p, 0) >= '0' && peek(p, 0) <= '7' &&
			     v * 8 + peek(p, 0) - '0' <= 0377;
	     i++, p->at++)
		v = v * 8 + peek(p, 0) - '0';
	return v;
}

static int32_t
read_control(struct pattern *p)
{
	int c = peek(p, 0);

	if (is_letter(c)) {
		p->at++;
		return c & 0x1f;
	}
	if (p->unicode)
		return fail(p, "has a bad \\c escape");
	/* In Annex B, this backslash is a letter like any other. */
	p->at--;
	return '\\';
}

/*
 * Read an escape that stands for characters; its letter `c` has been read.
 * Returns the character, PATTERN_SET, or PATTERN_SET with p->why.
 */
static int32_t
read_char_escape(struct pattern *p, int c)
{
	int32_t v;

	if (is_digit(c))
		return read_octal(p, c);
	switch (c) {
	case 'd':
	case 'D':
	case 'w':
	case 'W':
	case 's':
	case 'S':
		return PATTERN_SET;
	case 'p':
	case 'P':
		return read_property(p);
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case 'v':
		return '\v';
	case 'c':
		return read_control(p);
	case 'u':
		return read_code(p);
	case 'x':
		if ((v = read_hex(p, 0, 2)) == -1)
			return p->unicode ? fail(p, "has a bad \\x escape")
					  : 'x';
		p->at += 2;
		return v;
	default:
		break;
	}
	if (p->unicode && (c >= 0x80 || strchr("^$\\.*+?()[]{}|/", c) == NULL))
		return fail(p, "has an escape without a meaning");
	return c;
}

/* Read an escape outside a class. */
static int
read_escape(struct pattern *p, enum pattern_repeat *repeat)
{
	int c = peek(p, 1);
	struct span name;
	uint32_t n;

	*repeat = REPEAT_YES;
	if (c == -1)
		return fail(p, "ends with a backslash");
	p->at += 2;
	if (c == 'b' || c == 'B') {
		*repeat = REPEAT_NO;
	} else if (c == 'k' && (p->unicode || p->nnames != 0)) {
		if (!take(p, "<"))
			return fail(p, "has \\k without a name");
		if (read_name(p, &name) == -1)
			return -1;
		if (!name_known(p, name))
			return fail(
			    p, "refers to a group that it does not have");
	} else if (c >= '1' && c <= '9' && p->unicode) {
		p->at--;
		(void)read_decimal(p, &n);
		if (n > p->groups)
			return fail(
			    p, "refers to a group that it does not have");
	} else {
		(void)read_char_escape(p, c);
	}
	return p->why == NULL ? 0 : -1;
}

/* Read one member of a class. Returns it, or PATTERN_SET. */
static int32_t
read_class_atom(struct pattern *p)
{
	int32_t cp = peek(p, 0);
	int c;

	p->at++;
	if (cp == '\\') {
		if ((c = peek(p, 0)) == -1)
			return fail(p, "ends with a backslash");
		p->at++;
		if (c == 'b')
			return '\b';
		if (c == '-')
			return '-';
		return read_char_escape(p, c);
	}
	if (cp < 0xc0)
		return cp;
	/* The text is valid UTF-8. */
	cp &= cp < 0xe0 ? 0x1f : cp < 0xf0 ? 0x0f : 0x07;
	for (; (c = peek(p, 0)) != -1 && (c & 0xc0) == 0x80; p->at++)
		cp = cp << 6 | (c & 0x3f);
	return cp;
}

static int
read_class(struct pattern *p)
{
	int32_t from, to;

	(void)(take(p, "[^") || take(p, "["));
	while (!take(p, "]")) {
		if (peek(p, 0) == -1)
			return fail(p, "has [ without ]");
		from = read_class_atom(p);
		if (p->why != NULL)
			return -1;
		if (peek(p, 0) != '-' || peek(p, 1) == ']' || peek(p, 1) == -1)
			continue;
		p->at++;
		to = read_class_atom(p);
		if (p->why != NULL)
			return -1;
		if ((from == PATTERN_SET || to == PATTERN_SET) && p->unicode)
			return fail(p, "has a range that is none");
		if (from != PATTERN_SET && to != PATTERN_SET && from > to)
			return fail(p, "has a range whose ends are exchanged");
	}
	return 0;
}

static int
open_group(struct pattern *p)
{
	enum pattern_repeat repeat = REPEAT_YES;
	struct span name;

	p->at++;
	if (take(p, "?=") || take(p, "?!")) {
		repeat = REPEAT_ANNEX_B;
	} else if (take(p, "?<=") || take(p, "?<!")) {
		repeat = REPEAT_NO;
	} else if (take(p, "?<")) {
		if (read_name(p, &name) == -1)
			return -1;
	} else if (!take(p, "?:") && peek(p, 0) == '?') {
		return fail(p, "has a group that is not of ECMA-262, such as "
			       "(?i) or (?P<name>)");
	}
	if (p->depth == PATTERN_DEPTH)
		return fail(p, "is nested more than 64 deep");
	p->open[p->depth++] = repeat;
	return 0;
}

/*
 * Read {n}, {n,} or {n,m}. Returns 1, 0 if it is no such thing and nothing was
 * read, or -1.
 */
static int
read_braces(struct pattern *p)
{
	size_t from = p->at;
	uint32_t least, most;

	p->at++;
	if (!read_decimal(p, &least))
		goto none;
	most = UINT32_MAX;
	if (!take(p, ","))
		most = least;
	else
		(void)read_decimal(p, &most);
	if (!take(p, "}"))
		goto none;
	if (least > most)
		return fail(p, "has a repetition whose ends are exchanged");
	return 1;
none:
	p->at = from;
	if (p->unicode)
		return fail(p, "has a lone brace");
	return 0;
}

/* Read *, +, ? or braces. Returns 1, 0 if a brace is a letter here, or -1. */
static int
read_repeat(struct pattern *p, enum pattern_repeat repeat)
{
	int r = 1;

	if (peek(p, 0) == '{')
		r = read_braces(p);
	else
		p->at++;
	if (r != 1)
		return r;
	if (repeat == REPEAT_NO || (repeat == REPEAT_ANNEX_B && p->unicode))
		return fail(p, "repeats nothing");
	(void)take(p, "?");
	return 1;
}

/* Read what begins with the byte `c`, which has a meaning of its own. */
static int
read_special(struct pattern *p, int c, enum pattern_repeat *repeat)
{
	int r;

	switch (c) {
	case '\\':
		return read_escape(p, repeat);
	case '[':
		*repeat = REPEAT_YES;
		return read_class(p);
	case '(':
		*repeat = REPEAT_NO;
		return open_group(p);
	case ')':
		if (p->depth == 0)
			return fail(p, "has ) without (");
		*repeat = p->open[--p->depth];
		break;
	case '*':
	case '+':
	case '?':
	case '{':
		if ((r = read_repeat(p, *repeat)) == -1)
			return -1;
		*repeat = r == 1 ? REPEAT_NO : REPEAT_YES;
		if (r == 1)
			return 0;
		break;
	case ']':
	case '}':
		if (p->unicode)
			return fail(p, "has a lone bracket");
		*repeat = REPEAT_YES;
		break;
	default: /* ^ $ | */
		*repeat = REPEAT_NO;
		break;
	}
	p->at++;
	return 0;
}

const char *
pattern_check(struct span s, bool unicode)
{
	enum pattern_repeat repeat = REPEAT_NO;
	struct pattern p = {.s = s, .unicode = unicode};
	int c;

	if (find_groups(&p) == -1)
		return p.why;
	while ((c = peek(&p, 0)) != -1) {
		if (c != '\0' && strchr("\\[]()*+?{}^$|", c) != NULL) {
			if (read_special(&p, c, &repeat) == -1)
				return p.why;
		} else {
			repeat = REPEAT_YES;
			p.at++;
		}
	}
	return p.depth == 0 ? NULL : "has ( without )";
}
