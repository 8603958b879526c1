/* SPDX-License-Identifier: ISC */
/* Texts of third parties on their way to a model, and texts that it wrote. */
#include "icctl/policy/compile/compile.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hidden.h"
#include "common/json/json.h"
#include "common/json/text.h"
#include "common/visible.h"

/*
 * Returns the length of the character if it is one that controls, hides or
 * reorders text, else 0.
 */
static size_t
char_acts(const uint8_t *p, size_t left)
{
	size_t n = text_utf8_len(p, p + left);
	uint32_t cp;

	if (n == 0)
		return 0;
	cp = text_utf8_code(p, n);
	/* U+FFFD stands for one of them that was replaced on the way. */
	return cp < 0x20 || cp == 0x7f || cp == 0xfffd || hidden_code(cp) ? n
									  : 0;
}

void
quote_add(struct buf *b, struct span s, size_t max)
{
	bool cut;
	size_t n;

	max = visible_cut(s, max);
	cut = max < s.len;
	for (size_t i = 0; i < max; i += n) {
		n = char_acts(s.p + i, max - i);
		if (n == 0 || s.p[i] == '\n') {
			n = 1;
			buf_addc(b, s.p[i]);
		} else {
			buf_addc(b, ' ');
		}
	}
	if (cut)
		buf_adds(b, " [cut]");
}

bool
text_plain(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (char_acts(s.p + i, s.len - i) != 0)
			return false;
	return true;
}

bool
text_is_name(struct span s)
{
	if (s.len == 0 || s.p[0] < 'a' || s.p[0] > 'z')
		return false;
	for (size_t i = 1; i < s.len; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') &&
		    !(s.p[i] >= '0' && s.p[i] <= '9') && s.p[i] != '-')
			return false;
	return true;
}

struct span
pool_text(struct compile *c, struct span s)
{
	uint8_t *p = value_pool_alloc(c->pool, s.len + 1);

	if (p == NULL)
		errx(ICCTL_FAILED, "too much to compile");
	if (s.len != 0)
		memcpy(p, s.p, s.len);
	p[s.len] = '\0';
	return span_of(p, s.len);
}

struct span
pool_printf(struct compile *c, const char *fmt, ...)
{
	struct span s;
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		errx(ICCTL_FAILED, "out of memory");
	s = pool_text(c, span_of(text, (size_t)n));
	free(text);
	return s;
}

const struct value *
pool_json(struct compile *c, struct span s)
{
	const struct value *v;
	struct json_fail fail;

	v = json_read_large(
	    c->pool, pool_text(c, s), 2000000, (size_t)32 << 20, &fail);
	if (v == NULL)
		errx(ICCTL_FAILED, "too much to compile (%s)",
		    json_strerror(fail.error));
	return v;
}
