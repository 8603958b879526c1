/* SPDX-License-Identifier: ISC */
/*
 * Splits a GraphQL document into words. Comments, blanks and commas are left
 * out. Block strings are refused: a value of many lines is sent as a variable.
 */
#include "common/forge/lex.h"

#include "common/forge/forge_priv.h"
#include "common/json/text.h"

static bool
is_name_start(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name(uint8_t c)
{
	return is_name_start(c) || text_is_digit(c);
}

struct span
lex_text(const struct lex *lex, const struct lex_token *t)
{
	return span_of(lex->text.p + t->at, t->len);
}

/* Returns the first byte that is not left out. */
static const uint8_t *
skip(const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		if (*p == '#') {
			while (p < end && *p != '\n' && *p != '\r')
				p++;
		} else if (*p == ' ' || *p == '\t' || *p == '\n' ||
			   *p == '\r' || *p == ',') {
			p++;
		} else {
			break;
		}
	}
	return p;
}

/* Returns the end of the string whose quote is at `p`, or NULL. */
static const uint8_t *
string_end(const uint8_t *p, const uint8_t *end)
{
	size_t n;

	for (p++; p < end; p += n) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\') {
			if (end - p < 2)
				return NULL;
			n = 2;
			continue;
		}
		if ((*p < 0x20 && *p != '\t') || *p == 0x7f ||
		    (n = text_utf8_len(p, end)) == 0)
			return NULL;
	}
	return NULL;
}

static const uint8_t *
number_end(const uint8_t *p, const uint8_t *end, enum lex_kind *kind)
{
	const uint8_t *stop;

	if (!text_number_end(p, end, &stop))
		return NULL;
	/* Section 2.9.1: no letter, digit or point directly after it. */
	if (stop < end && (is_name(*stop) || *stop == '.'))
		return NULL;
	*kind = LEX_INT;
	for (; p < stop; p++) {
		if (*p == '.' || *p == 'e' || *p == 'E')
			*kind = LEX_FLOAT;
	}
	return stop;
}

/* Returns the end of the word at `p` and its kind, or NULL with `*why`. */
static const uint8_t *
word_end(
    const uint8_t *p, const uint8_t *end, enum lex_kind *kind, const char **why)
{
	struct span rest = span_of(p, (size_t)(end - p));

	if (is_name_start(*p)) {
		*kind = LEX_NAME;
		while (p < end && is_name(*p))
			p++;
		return p;
	}
	if (span_starts(rest, SPAN("..."))) {
		*kind = LEX_SPREAD;
		return p + 3;
	}
	if (*p == '"') {
		*kind = LEX_STRING;
		*why = "a string does not end, or has a character that is not "
		       "permitted";
		if (!span_starts(rest, SPAN("\"\"\"")))
			return string_end(p, end);
		*why = "block strings are not permitted; send the text as a "
		       "variable";
		return NULL;
	}
	if (*p == '-' || text_is_digit(*p)) {
		*why = "a number is malformed";
		return number_end(p, end, kind);
	}
	*kind = LEX_PUNCTUATOR;
	if (*p != '\0' && strchr("!$():=[]{|}", *p) != NULL)
		return p + 1;
	*why = *p == '@'   ? "directives are not permitted"
	       : *p == '&' ? "definitions of types are not permitted"
			   : "a character is not permitted";
	return NULL;
}

int
lex_read(struct value_pool *pool, struct span text, struct lex *lex,
    struct forge_fail *fail)
{
	const uint8_t *p = text.p, *end = text.p + text.len, *stop;
	const size_t most =
	    text.len + 1 < LEX_MAX_TOKENS ? text.len + 1 : LEX_MAX_TOKENS;
	const char *why = "a character is not permitted";
	enum lex_kind kind = LEX_END;

	lex->text = text;
	lex->count = 0;
	lex->tokens = value_pool_alloc(pool, most * sizeof(*lex->tokens));
	if (lex->tokens == NULL)
		return forge_refuse(fail, "the query is too long");
	while (true) {
		p = skip(p, end);
		if (lex->count == most)
			return forge_refuse(fail,
			    "the query has too many "
			    "words (%u at most)",
			    LEX_MAX_TOKENS);
		if (p == end)
			break;
		if ((stop = word_end(p, end, &kind, &why)) == NULL)
			return forge_refuse(fail,
			    "at byte %zu of the query: "
			    "%s",
			    (size_t)(p - text.p), why);
		lex->tokens[lex->count++] = (struct lex_token){
		    kind, (uint32_t)(p - text.p), (uint32_t)(stop - p)};
		p = stop;
	}
	lex->tokens[lex->count] =
	    (struct lex_token){LEX_END, (uint32_t)text.len, 0};
	return 0;
}

/* Read four hexadecimal digits. */
static int
hex4(const uint8_t *p, const uint8_t *end, uint32_t *code)
{
	*code = 0;
	if (end - p < 4)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		uint8_t c = p[i] | 0x20;

		if (text_is_digit(p[i]))
			*code = *code << 4 | (uint32_t)(p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			*code = *code << 4 | (uint32_t)(c - 'a' + 10);
		else
			return -1;
	}
	return 0;
}

/* Decode the \u at `p`. Returns the number of bytes read, or 0. */
static size_t
unicode(const uint8_t *p, const uint8_t *end, uint32_t *code)
{
	uint32_t low;

	if (hex4(p + 2, end, code) == -1 || *code == 0 ||
	    (*code >= 0xdc00 && *code <= 0xdfff))
		return 0;
	if (*code < 0xd800 || *code > 0xdbff)
		return 6;
	if (end - p < 12 || p[6] != '\\' || p[7] != 'u' ||
	    hex4(p + 8, end, &low) == -1 || low < 0xdc00 || low > 0xdfff)
		return 0;
	*code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
	return 12;
}

int
lex_string(struct value_pool *pool, const struct lex *lex,
    const struct lex_token *t, struct span *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const uint8_t *p = lex->text.p + t->at + 1, *end = p + t->len - 2;
	const char *escape;
	uint8_t *d, *start;
	uint32_t code;
	size_t n;

	/* No escape is shorter than what it stands for. */
	if ((d = start = value_pool_alloc(pool, t->len)) == NULL)
		return -1;
	while (p < end) {
		if (*p != '\\') {
			*d++ = *p++;
			continue;
		}
		if (end - p < 2)
			return -1;
		if (p[1] == 'u') {
			if ((n = unicode(p, end, &code)) == 0)
				return -1;
			d += text_utf8_put(d, code);
			p += n;
			continue;
		}
		if (p[1] == '\0' || (escape = strchr(from, p[1])) == NULL)
			return -1;
		*d++ = (uint8_t)to[escape - from];
		p += 2;
	}
	*out = span_of(start, (size_t)(d - start));
	return 0;
}
