/* SPDX-License-Identifier: ISC */
/*
 * Extracts the text of a page with a scanner for tags, which is not a parser of
 * HTML.  Its input may be anything; it makes one pass, keeps a few words of
 * state, and writes no more than it read, apart from links and marks.
 */
#include "icfetch/icfetch.h"

#include <stdlib.h>
#include <string.h>

#include "common/json/text.h"

#define HREF_MAX 1024U
#define LIST_MAX 8U

struct page {
	struct buf *out;
	bool markdown;
	bool space;              /* write one before the next word */
	unsigned lines;          /* line breaks to write first */
	unsigned pre;            /* within <pre>: keep text as it is */
	const char *skip;        /* skip everything up to this end tag */
	unsigned depth;          /* nesting of lists */
	unsigned item[LIST_MAX]; /* next number; 0: a bullet */
	char href[HREF_MAX];
};

static uint8_t
lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static bool
among(const char *name, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

/* Write pending line breaks or a space, then the text as it is. */
static void
page_put(struct page *p, struct span s)
{
	if (p->out->len != 0)
		for (; p->lines != 0; p->lines--)
			buf_addc(p->out, '\n');
	else
		p->space = false;
	if (p->space && p->out->len != 0 &&
	    p->out->p[p->out->off + p->out->len - 1] != '\n')
		buf_addc(p->out, ' ');
	p->lines = 0;
	p->space = false;
	buf_addspan(p->out, s);
}

static void
page_break(struct page *p, unsigned lines)
{
	p->space = false;
	if (p->lines < lines)
		p->lines = lines;
}

/*
 * Decode a character reference at `s`.  Returns its length, or 0 if there is
 * none.
 */
static size_t
entity(struct span s, uint8_t dst[4], size_t *n)
{
	static const struct {
		const char *name;
		uint32_t c;
	} names[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'},
	    {"apos", '\''}, {"nbsp", ' '}, {"copy", 0xa9}, {"reg", 0xae},
	    {"deg", 0xb0}, {"middot", 0xb7}, {"laquo", 0xab}, {"raquo", 0xbb},
	    {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018},
	    {"rsquo", 0x2019}, {"ldquo", 0x201c}, {"rdquo", 0x201d},
	    {"bull", 0x2022}, {"hellip", 0x2026}, {"euro", 0x20ac},
	    {"trade", 0x2122}, {"rarr", 0x2192}, {"larr", 0x2190},
	    {"times", 0xd7}};
	char name[12], *end;
	uint32_t c = 0;
	size_t len = 1;

	while (len < s.len && len < sizeof(name) && s.p[len] != ';')
		len++;
	if (len < 2 || len >= s.len || s.p[len] != ';' ||
	    span_copy(span_of(s.p + 1, len - 1), name, sizeof(name)) == -1)
		return 0;
	if (name[0] == '#') {
		bool hex = name[1] == 'x' || name[1] == 'X';

		c = (uint32_t)strtoul(
		    name + (hex ? 2 : 1), &end, hex ? 16 : 10);
		if (*end != '\0')
			return 0;
	}
	for (size_t i = 0; i < nitems(names); i++)
		if (strcmp(name, names[i].name) == 0)
			c = names[i].c;
	if (c < ' ' || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*n = text_utf8_put(dst, c);
	return len + 1;
}

/* Copy the value of an attribute from the text of a tag; "" if it has none. */
static void
attribute(struct span tag, const char *name, char *dst, size_t cap)
{
	size_t n = strlen(name), i, from;
	uint8_t quote;

	dst[0] = '\0';
	for (i = 0; i + n + 1 < tag.len; i++) {
		if ((i != 0 && tag.p[i - 1] > ' ') || tag.p[i + n] != '=')
			continue;
		for (from = 0; from < n; from++)
			if (lower(tag.p[i + from]) != (uint8_t)name[from])
				break;
		if (from == n)
			break;
	}
	if (i + n + 1 >= tag.len)
		return;
	from = i + n + 1;
	quote = tag.p[from];
	if (quote == '"' || quote == '\'')
		from++;
	else
		quote = ' ';
	for (i = from; i < tag.len && tag.p[i] != quote; i++)
		continue;
	if (span_copy(span_of(tag.p + from, i - from), dst, cap) == -1 ||
	    strpbrk(dst, "\r\n()") != NULL)
		dst[0] = '\0';
}

static void
page_list(struct page *p, const char *name, bool end)
{
	if (end)
		p->depth -= p->depth != 0;
	page_break(p, p->depth == 0 ? 2 : 1);
	if (end)
		return;
	if (p->depth < LIST_MAX)
		p->item[p->depth] = name[0] == 'o';
	p->depth++;
}

static void
page_item(struct page *p)
{
	unsigned d = p->depth == 0 ? 0 : p->depth - 1;
	char mark[16];

	page_break(p, 1);
	page_put(p, SPAN(""));
	for (unsigned i = 0; i < d && i < LIST_MAX; i++)
		buf_adds(p->out, "  ");
	if (p->depth != 0 && d < LIST_MAX && p->item[d] != 0) {
		snprintf(mark, sizeof(mark), "%u. ", p->item[d]++);
		buf_adds(p->out, mark);
	} else {
		buf_adds(p->out, "- ");
	}
}

static void
page_link(struct page *p, struct span tag, bool end)
{
	if (!p->markdown)
		return;
	if (!end) {
		attribute(tag, "href", p->href, sizeof(p->href));
		if (p->href[0] == '#' ||
		    strncasecmp(p->href, "javascript:", 11) == 0)
			p->href[0] = '\0';
		if (p->href[0] != '\0')
			page_put(p, SPAN("["));
		return;
	}
	if (p->href[0] == '\0')
		return;
	p->space = false;
	page_put(p, SPAN("]("));
	buf_adds(p->out, p->href);
	buf_addc(p->out, ')');
	p->href[0] = '\0';
}

/* Apply the effect of a tag on the text around it. */
static void
page_mark(struct page *p, const char *name, struct span tag, bool end)
{
	static const char *const blocks[] = {"p", "div", "section", "article",
	    "header", "footer", "main", "nav", "aside", "table", "blockquote",
	    "form", "fieldset", "figure", "hr", "dl", "title", NULL};
	static const char *const rows[] = {
	    "br", "tr", "dt", "dd", "option", "figcaption", "caption", NULL};

	if (name[0] == 'h' && name[1] >= '1' && name[1] <= '6' &&
	    name[2] == '\0') {
		page_break(p, 2);
		if (p->markdown && !end) {
			page_put(p, SPAN(""));
			for (char c = '0'; c < name[1]; c++)
				buf_addc(p->out, '#');
			buf_addc(p->out, ' ');
		}
	} else if (strcmp(name, "pre") == 0) {
		if (p->markdown && end && p->pre != 0)
			page_put(p, SPAN("\n```"));
		page_break(p, 2);
		if (p->markdown && !end)
			page_put(p, SPAN("```\n"));
		p->pre = end ? 0 : 1;
	} else if (strcmp(name, "code") == 0 && p->markdown && p->pre == 0) {
		if (end)
			p->space = false;
		page_put(p, SPAN("`"));
	} else if (strcmp(name, "ul") == 0 || strcmp(name, "ol") == 0) {
		page_list(p, name, end);
	} else if (strcmp(name, "li") == 0) {
		if (!end)
			page_item(p);
	} else if (strcmp(name, "a") == 0) {
		page_link(p, tag, end);
	} else if (strcmp(name, "td") == 0 || strcmp(name, "th") == 0) {
		p->space = true;
	} else if (among(name, blocks)) {
		page_break(p, 2);
	} else if (among(name, rows)) {
		page_break(p, 1);
	}
}

/*
 * Process a tag; `s` begins with "<".  Returns the length of the tag, or 0 if
 * it is text.
 */
static size_t
page_tag(struct page *p, struct span s)
{
	static const char *const silent[] = {"script", "style", "noscript",
	    "svg", "template", "iframe", "object", NULL};
	char name[16];
	size_t i, n = 0, from;
	uint8_t quote = 0;
	bool end;

	if (span_starts(s, SPAN("<!--"))) {
		for (i = 4; i + 2 < s.len; i++)
			if (memcmp(s.p + i, "-->", 3) == 0)
				return i + 3;
		return s.len;
	}
	end = s.len > 1 && s.p[1] == '/';
	from = i = end ? 2 : 1;
	while (i < s.len && n + 1 < sizeof(name) && s.p[i] > ' ' &&
	       s.p[i] != '>' && s.p[i] != '/')
		name[n++] = (char)lower(s.p[i++]);
	name[n] = '\0';
	if (n == 0 || !((name[0] >= 'a' && name[0] <= 'z') || name[0] == '!' ||
			  name[0] == '?'))
		return 0;
	for (; i < s.len && (quote != 0 || s.p[i] != '>'); i++) {
		if (quote != 0)
			quote = s.p[i] == quote ? 0 : quote;
		else if ((s.p[i] == '"' || s.p[i] == '\'') && s.p[i - 1] == '=')
			quote = s.p[i];
	}
	if (p->skip != NULL) {
		if (end && strcmp(name, p->skip) == 0)
			p->skip = NULL;
		return p->skip == NULL ? (i < s.len ? i + 1 : s.len) : 1;
	}
	for (size_t k = 0; !end && silent[k] != NULL; k++)
		if (strcmp(name, silent[k]) == 0 && s.p[i - 1] != '/')
			p->skip = silent[k];
	if (p->skip == NULL)
		page_mark(p, name, span_of(s.p + from, i - from), end);
	return i < s.len ? i + 1 : s.len;
}

/*
 * Process text up to the next tag, white space or reference.  Returns its
 * length.
 */
static size_t
page_text(struct page *p, struct span s)
{
	uint8_t utf8[4];
	size_t i, n;

	if (s.p[0] == '&' && (i = entity(s, utf8, &n)) != 0) {
		if (n == 1 && utf8[0] == ' ')
			p->space = true;
		else
			page_put(p, span_of(utf8, n));
		return i;
	}
	if (p->pre == 0 && s.p[0] <= ' ') {
		p->space = true;
		return 1;
	}
	for (i = 1; i < s.len && s.p[i] != '<' && s.p[i] != '&' &&
		    (p->pre != 0 || s.p[i] > ' ');
	     i++)
		continue;
	page_put(p, span_of(s.p, i));
	return i;
}

void
text_html(struct buf *out, struct span s, bool markdown)
{
	struct page p = {.out = out, .markdown = markdown};
	size_t n;

	while (s.len != 0 && !out->failed) {
		n = s.p[0] == '<' ? page_tag(&p, s) : 0;
		if (n == 0)
			n = p.skip != NULL ? 1 : page_text(&p, s);
		s = span_of(s.p + n, s.len - n);
	}
}

int
text_utf8(struct buf *out, struct span in)
{
	uint8_t utf8[4];

	if (utf8_valid(in)) {
		buf_addspan(out, in);
		return buf_check(out);
	}
	for (size_t i = 0; i < in.len; i++)
		buf_add(out, utf8, text_utf8_put(utf8, in.p[i]));
	return buf_check(out);
}
