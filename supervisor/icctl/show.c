/* SPDX-License-Identifier: ISC */
/*
 * Shows text from an agent, a server or a session: escaped, in a single
 * notation (common/visible.h), so that it cannot move the cursor, hide, reorder
 * or pretend to be icctl's own.
 */
#include "icctl/icctl.h"

#include <err.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/paths.h"
#include "common/sha256.h"
#include "common/visible.h"

#define SHOW_MAX 400 /* bytes of one text */
#define SHOW_ALL (64U << 20)

static bool show_json; /* icctl_put_json() was called */

unsigned
icctl_visible(void)
{
	static bool known, utf8;

	if (!known) {
		(void)setlocale(LC_CTYPE, "");
		utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
		known = true;
	}
	return utf8 ? 0 : VISIBLE_ASCII;
}

void
icctl_put(struct span s, size_t max, bool quoted)
{
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];
	size_t n = visible_cut(s, max);
	struct buf b;

	buf_init(&b, SHOW_ALL);
	if (quoted)
		buf_addc(&b, '"');
	(void)visible_add(&b, span_of(s.p, n),
	    icctl_visible() | (quoted ? VISIBLE_QUOTED : 0));
	if (quoted)
		buf_addc(&b, '"');
	if (b.len != 0) /* fwrite takes no null pointer */
		(void)fwrite(buf_span(&b).p, 1, b.len, stdout);
	buf_free(&b);
	if (n == s.len)
		return;
	sha256_span(s, sum);
	printf(" ... (%zu bytes, sha256 %.16s)", s.len, sha256_hex(sum, hex));
}

void
icctl_put_prose(struct span s)
{
	struct buf b;

	buf_init(&b, SHOW_ALL);
	(void)visible_add(&b, s, icctl_visible() | VISIBLE_PROSE);
	if (b.len != 0)
		(void)fwrite(buf_span(&b).p, 1, b.len, stdout);
	buf_free(&b);
}

void
icctl_warn_errno(const char *path)
{
	int error = errno;

	warnx("%s: %s%s", path, strerror(error), fault_remedy(error));
}

const char *
icctl_path(const char *path, char dst[ICCTL_PATH])
{
	return paths_tilde(getenv("HOME"), path, dst, ICCTL_PATH);
}

void
icctl_put_str(const char *s)
{
	icctl_put(span_str(s), SHOW_MAX, false);
}

/* Decode one code point of valid UTF-8. Returns its length. */
static size_t
code_point(struct span s, size_t i, uint32_t *cp)
{
	uint8_t c = s.p[i];
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (i + n > s.len)
		n = 1;
	*cp = n == 1 ? c : c & (0x7fU >> n);
	for (size_t k = 1; k < n; k++)
		*cp = *cp << 6 | (s.p[i + k] & 0x3fU);
	return n;
}

/* json-c has escaped characters below 0x20; others occur only in strings. */
void
icctl_put_ascii(struct span s)
{
	uint32_t cp;
	size_t n;

	for (size_t i = 0; i < s.len; i += n) {
		n = code_point(s, i, &cp);
		if (cp >= 0x10000)
			printf("\\u%04x\\u%04x",
			    0xd800 + ((cp - 0x10000) >> 10),
			    0xdc00 + ((cp - 0x10000) & 0x3ff));
		else if (cp >= 0x7f)
			printf("\\u%04x", cp);
		else
			putchar((int)cp);
	}
}

void
icctl_put_json(json_object *o)
{
	icctl_put_ascii(
	    span_str(json_object_to_json_string_ext(o, ICCTL_JSON)));
	putchar('\n');
	show_json = true;
}

bool
icctl_json_shown(void)
{
	return show_json;
}
