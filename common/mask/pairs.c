/* SPDX-License-Identifier: ISC */
/*
 * Values that a name announces, in a text of unknown syntax: "password=x",
 * "apiKey": "x", Authorization: Bearer x, --token x, <secret>x</secret>,
 * "name": "DB_PASSWORD", "value": "x", set("X-Api-Key", "x"), passphrase "x",
 * and the pairs of .netrc. Each looks ahead by a fixed number of bytes, and a
 * value is walked once.
 */
#include "common/mask/mask_priv.h"

#define LEAST_TOKEN 8U /* a shorter value of a key is none */
#define LONG_WORD 20U  /* letters only: this long is no name of a variable */
#define LONG_KEY 16U   /* a value after a blank is a key from this length on */
#define FORM_WITHIN 512U /* a longer value is no part of a form */
#define GAP 16U          /* bytes between a name and its value */
#define BLOCK 64U        /* bytes before the lines of a block */
#define LINES 64U        /* lines of a block */
#define WEB_KEY 40U      /* base64 digits of a private number */

static bool
is_quote(uint8_t c)
{
	return mask_among(c, "\"'`");
}

static size_t
skip(const struct mask_scan *m, size_t at, const char *set, size_t most)
{
	const size_t end = at + most;

	while (at < end && mask_among(mask_at(m, at), set))
		at++;
	return at;
}

/* Returns the place after "value" and its mark, or 0. */
static size_t
pair_value_member(const struct mask_scan *m, size_t at)
{
	at = skip(m, at, "\\\"'`,; \t\r\n", GAP);
	if (!span_starts(mask_rest(m, at, m->s.len), SPAN("value")))
		return 0;
	at = skip(m, at + 5, "\\\"'`", 3);
	at = skip(m, at, " \t", GAP);
	if (mask_at(m, at) != ':' && mask_at(m, at) != '=')
		return 0;
	return at + 1;
}

/*
 * Returns the place after the comma between two strings, which begins the
 * second one, or 0: "X-Api-Key", "x".
 */
static size_t
pair_comma(const struct mask_scan *m, size_t at)
{
	if (mask_at(m, at) != ',')
		return 0;
	at = skip(m, at + 1, " \t", GAP);
	return is_quote(mask_at(m, skip(m, at, "\\", 4))) ? at : 0;
}

/*
 * Returns the place after the mark between a name and its value in a text with
 * the escapes of an address, or 0: "password%3Dx", "%22password%22%3A%22x".
 */
static size_t
pair_escaped(const struct mask_scan *m, size_t at, uint8_t *mark)
{
	const struct span quoted = SPAN("%22");

	if (mask_at(m, at) != '%')
		return 0;
	if (span_starts(mask_rest(m, at, m->s.len), quoted))
		at += 3;
	if (m->s.len - at < 3 || m->s.p[at] != '%' || m->s.p[at + 1] != '3' ||
	    ((m->s.p[at + 2] | 0x20) != 'd' && (m->s.p[at + 2] | 0x20) != 'a'))
		return 0;
	*mark = (m->s.p[at + 2] | 0x20) == 'd' ? '=' : ':';
	at += 3;
	for (unsigned n = 0; n < 2; n++)
		if (span_starts(mask_rest(m, at, m->s.len), SPAN("%20")))
			at += 3;
	if (span_starts(mask_rest(m, at, m->s.len), quoted))
		at += 3;
	return at;
}

/*
 * Returns the place of a string after the type of its name, or `at`:
 * "password: string = 'x'".
 */
static size_t
pair_typed(struct mask_scan *m, size_t at)
{
	size_t i = skip(m, at, " \t", GAP), from = i;

	while (i - from < 2 * GAP &&
	       (mask_is(mask_at(m, i), MASK_WORD) ||
		   mask_among(mask_at(m, i), ".[]<>|?")))
		i++;
	m->steps += i - from;
	if (i == from)
		return at;
	i = skip(m, i, " \t", GAP);
	if (mask_at(m, i) != '=')
		return at;
	i = skip(m, i + 1, " \t", GAP);
	return is_quote(mask_at(m, i)) ? i : at;
}

/*
 * Hide the lines of a block of YAML: "password: |". Returns false if none
 * begins at `at`.
 */
static bool
pair_block(struct mask_scan *m, size_t at, struct mask_hit *hit)
{
	size_t from, end, deep, i;

	at = skip(m, at, " \t", GAP);
	if (mask_at(m, at) != '|' && mask_at(m, at) != '>')
		return false;
	at = skip(m, at + 1, "+-0123456789", 3);
	if (mask_at(m, at) != '\n')
		return false;
	from = end = i = skip(m, at + 1, " \t", BLOCK);
	deep = from - at - 1;
	for (unsigned n = 0; n < LINES && deep != 0 && i - at > deep; n++) {
		while (i < m->s.len && m->s.p[i] != '\n')
			i++;
		end = at = i;
		if (i >= m->s.len)
			break;
		i = skip(m, at + 1, " \t", deep);
	}
	m->steps += end - from + GAP;
	if (end - from < 4 || mask_refers(mask_rest(m, from, end)))
		return false;
	mask_hide(hit, from, end);
	return true;
}

/*
 * Returns the place after the mark between a name and its value, or 0; *mark is
 * ' ' where there is none but a blank, and ',' between two strings.
 */
static size_t
pair_mark(const struct mask_scan *m, size_t from, size_t end, uint8_t *mark)
{
	size_t at = skip(m, end, "\\\"'`]", 4), next;

	if ((next = pair_escaped(m, end, mark)) != 0)
		return next;
	next = skip(m, at, " \t", GAP);
	*mark = mask_at(m, next);
	/* "https://" and "Token::new" are none. */
	if (*mark == ':' &&
	    (mask_at(m, next + 1) == ':' ||
		(mask_at(m, next + 1) == '/' && mask_at(m, next + 2) == '/')))
		return 0;
	if (*mark == ':' || *mark == '=')
		return skip(m, next + 1, "=>~", 2);
	if (*mark == '>' && at == next && from >= 1 && m->s.p[from - 1] == '<')
		return next + 1;
	/* <property name="password">x */
	if (*mark == '>' && at != end)
		return next + 1;
	if (at != end && (next = pair_value_member(m, at)) != 0) {
		*mark = '=';
		return next;
	}
	if (at != end && (next = pair_comma(m, at)) != 0) {
		*mark = ',';
		return next;
	}
	*mark = ' ';
	return at == end && mask_among(mask_at(m, end), " \t") ? end + 1 : 0;
}

/*
 * Returns true if what follows the name of a key after a blank looks like one:
 * "configure set aws_secret_access_key x".
 */
static bool
pair_key(struct mask_scan *m, struct span name, size_t at)
{
	size_t end;

	if (memchr(name.p, '_', name.len) == NULL &&
	    memchr(name.p, '-', name.len) == NULL)
		return false;
	if (at >= m->s.len)
		return false;
	end = mask_run(m, at, MASK_VALUE);
	m->steps += MASK_MIXED;
	return end - at >= LONG_KEY && mask_mixed(mask_rest(m, at, end));
}

/* Returns true if the word before the name sets variables: "setenv X y". */
static bool
pair_set(const struct mask_scan *m, size_t from)
{
	static const char *const words[] = {
	    "setenv ", "setx ", "ENV ", "set -x ", "set -gx ", "set -Ux "};

	for (size_t i = 0; i < nitems(words); i++) {
		const size_t n = strlen(words[i]);

		if (from >= n && memcmp(m->s.p + from - n, words[i], n) == 0)
			return true;
	}
	return false;
}

/*
 * Returns true if a value follows its name after a blank: "--password x",
 * "requirepass x", "login me password x", passphrase "x".
 */
static bool
pair_spaced(struct mask_scan *m, size_t from, size_t end, enum mask_named kind,
    size_t at)
{
	const struct span name = mask_rest(m, from, end);

	if (kind == MASK_KEYED)
		return name.p[0] == '-';
	if (kind == MASK_QUERY || kind == MASK_PHRASE || mask_at(m, at) == '-')
		return false;
	if ((kind == MASK_PASSWORD && is_quote(mask_at(m, at))) ||
	    pair_set(m, from))
		return true;
	if (kind == MASK_TOKEN && name.p[0] != '-')
		return pair_key(m, name, at);
	return name.p[0] == '-' || span_is(name, "requirepass") ||
	       span_is(name, "masterauth") ||
	       (m->login != 0 && kind == MASK_PASSWORD &&
		   from - m->login < 200);
}

/* Find the end of a value in quotes, of which the first byte is at `at`. */
static size_t
pair_quoted(struct mask_scan *m, size_t at, uint8_t mark, bool escaped)
{
	size_t i = at;

	while (i < m->s.len && m->s.p[i] != mark) {
		if (m->s.p[i] == '\\' && !escaped)
			i++;
		i++;
	}
	if (i > m->s.len)
		i = m->s.len;
	m->steps += i - at;
	for (unsigned n = 0; n < GAP && escaped && i < m->s.len && i > at &&
			     m->s.p[i - 1] == '\\';
	     n++)
		i--;
	return i;
}

/* Find the end of a header's value: the line's, or that of a string around it.
 */
static size_t
pair_line(struct mask_scan *m, size_t at)
{
	size_t i = at < m->s.len ? mask_run(m, at, MASK_LINE) : at;

	for (unsigned n = 0; n < GAP && i > at && mask_among(m->s.p[i - 1], " \t"); n++)
		i--;
	return i;
}

/* Cut a value where the next one of a form begins: "a=x&b=y". */
static size_t
pair_form(struct mask_scan *m, size_t at, size_t end)
{
	const bool escaped = at >= 3 && m->s.p[at - 3] == '%';
	const size_t most = end - at < FORM_WITHIN ? end : at + FORM_WITHIN;
	size_t n;

	for (size_t i = at; i < most; i++) {
		m->steps++;
		/* "&" and a quote, escaped. */
		if (escaped && m->s.p[i] == '%' && mask_at(m, i + 1) == '2' &&
		    (mask_at(m, i + 2) == '6' || mask_at(m, i + 2) == '2'))
			return i;
		if (m->s.p[i] != '&')
			continue;
		n = i + 1 < m->s.len ? mask_run(m, i + 1, MASK_NAME) : i + 1;
		if (n > i + 1 && mask_at(m, n) == '=')
			return i;
	}
	return end;
}

/* Returns true if a value without quotes is code, prose or too short. */
static bool
pair_no_value(const struct mask_scan *m, size_t at, size_t end,
    enum mask_named kind, bool tight)
{
	const struct span v = mask_rest(m, at, end);
	bool digit = false, other = false, dot = false, call = false;
	const uint8_t after = mask_at(m, end);

	for (size_t i = 0; i < v.len && i < 64 && !call; i++) {
		call = !other && i > 1 &&
		       (v.p[i] == '(' || v.p[i] == '[' || v.p[i] == '{');
		digit |= mask_is(v.p[i], MASK_DIGITS);
		dot |= v.p[i] == '.';
		other |= !mask_is(v.p[i], MASK_WORD) && v.p[i] != '.';
	}
	if (v.len < 4 || call)
		return true;
	if (digit || other)
		return false;
	/* Letters only: the name of a variable, or a word of a sentence. */
	if (kind != MASK_PASSWORD)
		return dot || v.len < LONG_WORD;
	return !tight && after == ' ' &&
	       mask_is(mask_at(m, end + 1), MASK_ALNUM) &&
	       !mask_is(mask_at(m, end + 1), MASK_DIGITS);
}

/* A header's scheme stays: "Bearer", "Basic". */
static size_t
pair_scheme(const struct mask_scan *m, size_t at, size_t end)
{
	size_t i = at;

	while (i < end && i < at + 20 && mask_is(m->s.p[i], MASK_NAME))
		i++;
	return i > at && i < end && m->s.p[i] == ' ' ? i + 1 : at;
}

/* Find the value that begins at or soon after `at`. */
static bool
pair_value(struct mask_scan *m, size_t at, enum mask_named kind, bool query,
    bool tight, struct mask_hit *hit)
{
	size_t end, start;
	bool bare = false;
	struct span v;

	at = skip(m, at, " \t", GAP);
	start = skip(m, at, "\\", 4);
	/* N'x', b"x" */
	if (start == at && is_quote(mask_at(m, at + 1)) &&
	    mask_among(m->s.p[at], "NBRbru"))
		at = ++start;
	if (is_quote(mask_at(m, start))) {
		end = pair_quoted(m, start + 1, m->s.p[start], start != at);
		at = start + 1;
		/* token=`cat file` */
		if (m->s.p[start] == '`' &&
		    memchr(m->s.p + at, ' ', end - at < GAP ? end - at : GAP))
			return false;
	} else if (kind == MASK_HEADER) {
		end = pair_line(m, at);
	} else {
		bare = true;
		end = at >= m->s.len ? at : mask_run(m, at, MASK_VALUE);
		end = pair_form(m, at, end);
	}
	if (kind == MASK_HEADER)
		at = pair_scheme(m, at, end);
	v = mask_rest(m, at, end);
	if (v.len == 0 || mask_refers(v) ||
	    (kind == MASK_KEYED && !mask_random(v)))
		return false;
	if (kind != MASK_PASSWORD && kind != MASK_HEADER &&
	    (v.len < LEAST_TOKEN || (v.len < 10 && mask_is_number(v))))
		return false;
	if (bare && (!query || kind == MASK_QUERY) &&
	    pair_no_value(m, at, end, kind, tight))
		return false;
	mask_hide(hit, at, end);
	return true;
}

/*
 * Returns true if the name is the first argument of a call: set("name", x),
 * fill("input[name='name']", x).
 */
static bool
pair_called(const struct mask_scan *m, size_t from)
{
	size_t i = from;

	for (unsigned n = 0;
	     n < 2 * GAP && i > 0 &&
	     (mask_is(m->s.p[i - 1], MASK_WORD) ||
		 mask_among(m->s.p[i - 1], "\"'`\\#.[]="));
	     n++)
		i--;
	return i != from && i > 0 && m->s.p[i - 1] == '(';
}

/*
 * Returns true if no sentence has the name and its value like that: "name=x",
 * "--name x".
 */
static bool
pair_tight(
    const struct mask_scan *m, size_t from, size_t end, size_t at, uint8_t mark)
{
	static const char *const words[] = {"option ", "flag ", "argument ",
	    "parameter ", "switch ", "value ", "with ", "from ", "must ",
	    "should ", "when ", "that ", "this ", "instead "};
	const struct span value = mask_rest(m, at, m->s.len);

	if (mark == '=')
		return at == end + 1;
	if (mark != ' ' || m->s.p[from] != '-')
		return mark == ' ' && pair_set(m, from);
	for (size_t i = 0; i < nitems(words); i++)
		if (span_starts(value, span_str(words[i])))
			return false;
	return true;
}

/* Hide the words of a seed. */
static bool
pair_phrase(struct mask_scan *m, size_t at, uint8_t mark, struct mask_hit *hit)
{
	size_t end;

	if (mark != ':' && mark != '=')
		return false;
	at = skip(m, at, " \t\"'\\", GAP);
	if ((end = mask_phrase(m, at)) == 0)
		return false;
	mask_hide(hit, at, end);
	return true;
}

/*
 * Returns true for the private members of a JSON Web Key, {"d": "x"}, if the
 * value at `at` is long enough to be one, and no digest.
 */
static bool
pair_web_key(struct mask_scan *m, struct span name, size_t at)
{
	static const char *const names[] = {
	    "d", "k", "p", "q", "dp", "dq", "qi"};
	bool hex = true;
	size_t end, i;

	at = skip(m, at, " \t", GAP);
	if (name.len > 2 || mask_at(m, at) != '"')
		return false;
	for (i = 0; i < nitems(names) && !span_is(name, names[i]); i++)
		continue;
	if (i == nitems(names))
		return false;
	end = at + 1 < m->s.len ? mask_run(m, at + 1, MASK_URL64) : at + 1;
	for (i = at + 1; i < end && i < at + WEB_KEY; i++)
		hex = hex && mask_is(m->s.p[i], MASK_HEX);
	m->steps += WEB_KEY;
	return end - at > WEB_KEY && mask_at(m, end) == '"' && !hex;
}

bool
mask_pair(struct mask_scan *m, size_t at, size_t end, struct mask_hit *hit)
{
	const uint8_t before = at == 0 ? 0 : m->s.p[at - 1];
	const struct span name = mask_rest(m, at, end);
	const bool query = before == '?' || before == '&';
	enum mask_named kind;
	size_t from = at;
	uint8_t mark;

	m->steps += name.len < 64 ? name.len : 64;
	if (span_is(name, "login") || span_is(name, "machine") ||
	    span_is(name, "nmcli"))
		m->login = end;
	m->steps += 4 * (size_t)GAP;
	if ((at = pair_mark(m, from, end, &mark)) == 0)
		return false;
	kind = mask_named(name);
	if (mark == ':' && before == '"' && pair_web_key(m, name, at))
		kind = MASK_TOKEN;
	if (kind == MASK_PHRASE || kind == MASK_TOKEN)
		if (pair_phrase(m, at, mark, hit))
			return true;
	/* The middle of "arn:aws:secretsmanager:::secret:x". */
	if (kind == MASK_NO_NAME || kind == MASK_PHRASE ||
	    (kind == MASK_QUERY && !query) ||
	    (before == ':' && mark == ':' && at == end + 1) ||
	    /* The result of a test: "PASS: name". */
	    (mark == ':' && span_is(name, "PASS")) ||
	    (mark == ' ' && !pair_spaced(m, from, end, kind, at)))
		return false;
	/* Names that are listed have no value: ["password", "token"]. */
	if (mark == ',' && kind != MASK_HEADER &&
	    memchr(name.p, '-', name.len) == NULL && !pair_called(m, from))
		return false;
	if (mark == ':' && pair_block(m, at, hit))
		return true;
	if (mark == ':')
		at = pair_typed(m, at);
	if (mark == ' ' && kind != MASK_KEYED)
		kind = MASK_PASSWORD;
	else if (kind == MASK_HEADER && mark != ':' && mark != ',')
		kind = MASK_TOKEN;
	else if (kind == MASK_TOKEN && mark == ':' && name.len > 2 &&
		 span_ieq(span_of(name.p, 2), SPAN("x-")))
		kind = MASK_HEADER;
	return pair_value(
	    m, at, kind, query, pair_tight(m, from, end, at, mark), hit);
}
