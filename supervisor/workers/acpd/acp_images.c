/* SPDX-License-Identifier: ISC */
#include "workers/acpd/acp_images.h"

#include <string.h>
#include <strings.h>

#define TAG_NAME 8U /* bytes of the longest name of a tag, and one */

/* The beginning of a line, which may give a name an address: "[a]: b". */
enum images_line {
	LINE_BEGIN,
	LINE_LABEL, /* behind "[" */
	LINE_NAMED, /* behind "]" */
	LINE_TEXT,
};

static bool
images_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
images_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * Returns true if an address that begins here is that of a file beside the
 * text, or an image by itself. Its end must be in this piece.
 */
static bool
images_is_near(struct span s)
{
	size_t i = 0;

	while (i < s.len && (s.p[i] == ' ' || s.p[i] == '<'))
		i++;
	s = span_of(s.p + i, s.len - i);
	if (span_starts(s, SPAN("data:image/")) ||
	    span_starts(s, SPAN("file:///workspace/")))
		return true;
	if (span_starts(s, SPAN("//")))
		return false;
	for (i = 0; i < s.len; i++) {
		if (strchr(") >\n", s.p[i]) != NULL && s.p[i] != '\0')
			return true;
		if (!images_letter(s.p[i]) &&
		    !(s.p[i] >= '0' && s.p[i] <= '9') &&
		    (s.p[i] == '\0' || strchr("._-/#", s.p[i]) == NULL))
			return false;
	}
	return false;
}

/* Returns true if a tag that loads something may begin with these letters. */
static bool
images_is_tag(struct span s)
{
	static const char *const tags[] = {"img", "image", "picture", "source",
	    "video", "audio", "iframe", "frame", "embed", "object", "link",
	    "svg", "use", "input", "track", "script", "style", "base", "meta",
	    "body", "table", "td"};
	size_t n = 0;

	while (n < s.len && n < TAG_NAME && images_letter(s.p[n]))
		n++;
	if (n == 0 || (n < s.len && !images_blank(s.p[n]) && s.p[n] != '/'))
		return false;
	for (size_t i = 0; i < nitems(tags); i++) {
		const size_t len = strlen(tags[i]);

		/* The name may go on in the next piece. */
		if ((n == len || (n == s.len && n < len)) &&
		    strncasecmp((const char *)s.p, tags[i], n) == 0)
			return true;
	}
	return false;
}

/* Follow the beginning of a line. Returns true at the ":" of "[a]:". */
static bool
images_defines(struct acp_images *m, uint8_t c)
{
	switch ((enum images_line)m->line) {
	case LINE_BEGIN:
		/* Behind the marks of quotations and lists. */
		if (c == '[')
			m->line = LINE_LABEL;
		else if (strchr(" \t>*-+.)0123456789", c) == NULL || c == '\0')
			m->line = LINE_TEXT;
		return false;
	case LINE_LABEL:
		if (c == ']' && m->before != '\\')
			m->line = LINE_NAMED;
		return false;
	case LINE_NAMED:
		m->line = LINE_TEXT;
		return c == ':';
	case LINE_TEXT:
		break;
	}
	return false;
}

static void
images_line_end(struct acp_images *m)
{
	/* A name may go on in the next line. */
	if (m->line != LINE_LABEL || m->blank)
		m->line = LINE_BEGIN;
	if (m->blank)
		m->here = false;
	m->blank = true;
}

/*
 * Returns the byte that is put between what was before and `rest`, which begins
 * with the next byte, or 0.
 */
static uint8_t
images_before(struct acp_images *m, struct span rest)
{
	if (rest.p[0] == '[' && m->before == '!') {
		m->image = m->here = true;
		return m->defined ? '\\' : 0;
	}
	if (m->before == '<' && images_is_tag(rest))
		return ' ';
	return 0;
}

/* Returns the byte that follows the first one of `s`, which was copied, or 0.
 */
static uint8_t
images_after(struct acp_images *m, struct span s)
{
	const uint8_t c = s.p[0];
	const struct span next = span_of(s.p + 1, s.len - 1);
	const bool target = c == '(' && m->closed;

	m->closed = c == ']';
	if (c == '\n') {
		images_line_end(m);
	} else {
		m->blank = m->blank && images_blank(c);
		if (images_defines(m, c) && !images_is_near(next)) {
			if (m->image)
				return '#';
			m->defined = true;
		}
	}
	return target && m->here && !images_is_near(next) ? '#' : 0;
}

size_t
acp_images(struct acp_images *m, struct span piece, uint8_t *dst)
{
	size_t len = 0;
	uint8_t more;

	if (!m->going)
		m->blank = m->going = true;
	for (size_t i = 0; i < piece.len; i++) {
		const struct span s = span_of(piece.p + i, piece.len - i);

		if ((more = images_before(m, s)) != 0) {
			if (dst != NULL)
				dst[len] = more;
			len++;
		}
		if (dst != NULL)
			dst[len] = s.p[0];
		len++;
		if ((more = images_after(m, s)) != 0) {
			if (dst != NULL)
				dst[len] = more;
			len++;
		}
		m->before = s.p[0];
	}
	return len;
}
