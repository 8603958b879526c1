/* SPDX-License-Identifier: ISC */
/*
 * Writes text from outside into tables and pages. It is made visible first
 * (common/visible.h), so that controls and what hides or reorders are escapes,
 * and then quoted as the format wants it.
 */
#include "icctl/past/past.h"

#include <string.h>

#include "common/visible.h"

#define ESCAPE_MAX (128U << 20)

/*
 * Returns true if spreadsheets take the text for a formula: by its first
 * character, which blanks do not hide from all of them. A wide one is escaped.
 */
static bool
is_formula(struct span s)
{
	while (s.len != 0 && s.p[0] == ' ')
		s = span_of(s.p + 1, s.len - 1);
	return s.len != 0 && memchr("=+-@\t\r\n|%", s.p[0], 9) != NULL;
}

void
past_csv(FILE *to, struct span s)
{
	struct buf b;
	struct span v;
	bool quoted;

	buf_init(&b, ESCAPE_MAX);
	if (is_formula(s))
		buf_addc(&b, '\'');
	(void)visible_add(&b, s, 0);
	v = buf_span(&b);
	quoted = b.len != 0 && (memchr(v.p, '"', v.len) != NULL ||
				   memchr(v.p, ',', v.len) != NULL ||
				   memchr(v.p, ';', v.len) != NULL ||
				   memchr(v.p, ' ', v.len) != NULL);
	if (quoted)
		putc('"', to);
	for (size_t i = 0; i < v.len; i++) {
		if (v.p[i] == '"')
			putc('"', to);
		putc(v.p[i], to);
	}
	if (quoted)
		putc('"', to);
	buf_free(&b);
}

void
past_html(FILE *to, struct span s)
{
	struct buf b;
	struct span v;

	buf_init(&b, ESCAPE_MAX);
	(void)visible_add(&b, s, 0);
	v = buf_span(&b);
	for (size_t i = 0; i < v.len; i++)
		switch (v.p[i]) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			putc(v.p[i], to);
		}
	buf_free(&b);
}

/* Decode a code point. Returns its length; a byte that is none is itself. */
static size_t
code_point(struct span s, size_t i, uint32_t *cp)
{
	const uint8_t c = s.p[i];
	size_t n = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (n > s.len - i)
		n = 1;
	*cp = n == 1 ? c : c & (0x7fU >> n);
	for (size_t k = 1; k < n; k++)
		*cp = *cp << 6 | (s.p[i + k] & 0x3fU);
	return n;
}

void
past_json(FILE *to, struct span s)
{
	uint32_t cp;
	size_t n;

	for (size_t i = 0; i < s.len; i += n) {
		n = code_point(s, i, &cp);
		if (cp >= 0x10000)
			fprintf(to, "\\u%04x\\u%04x",
			    0xd800 + ((cp - 0x10000) >> 10 & 0x3ff),
			    0xdc00 + ((cp - 0x10000) & 0x3ff));
		else if (cp >= 0x7f || cp < 0x20)
			fprintf(to, "\\u%04x", cp);
		else
			putc((int)cp, to);
	}
}
