/* SPDX-License-Identifier: ISC */
/*
 * How a held call is shown.  Everything an agent wrote comes out as printable
 * ASCII: what it wrote cannot move the cursor, hide, reorder or pretend to be
 * ours.  Long values are cut, with their length and digest.
 */
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "icctl/icctl.h"

#define SHOW_MAX 400 /* bytes of one value */
#define SHOW_LINE 60 /* of a value in a list */
#define SHOW_POOL (64U << 20)

/* One code point of valid UTF-8; its bytes. */
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

static void
put_code_point(uint32_t cp)
{
	if (cp == '\n')
		fputs("\\n", stdout);
	else if (cp == '\t')
		fputs("\\t", stdout);
	else if (cp == '\\' || cp == '"')
		printf("\\%c", (int)cp);
	else if (cp >= 0x20 && cp < 0x7f)
		putchar((int)cp);
	else if (cp < 0x100)
		printf("\\x%02x", cp);
	else
		printf("\\u{%x}", cp);
}

void
icctl_put(struct span s, size_t max, bool quoted)
{
	char hex[SHA256_DIGEST_STRING_LENGTH];
	size_t n = 0, here;
	uint32_t cp;

	if (quoted)
		putchar('"');
	while (n < s.len && n < max) {
		here = code_point(s, n, &cp);
		put_code_point(cp);
		n += here;
	}
	if (quoted)
		putchar('"');
	if (n < s.len)
		printf(" ... (%zu bytes, sha256 %.16s)", s.len,
		    SHA256Data(s.p, s.len, hex));
}

void
icctl_put_str(const char *s)
{
	icctl_put(span_str(s), SHOW_MAX, false);
}

/* json-c has escaped what is below 0x20; only strings hold the rest. */
void
icctl_put_json(json_object *o)
{
	struct span s = span_str(json_object_to_json_string_ext(o, ICCTL_JSON));
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
	putchar('\n');
}

static void
put_value(const struct value *v, size_t max)
{
	struct buf b;

	switch (v->type) {
	case VALUE_STRING:
		icctl_put(v->text, max, true);
		return;
	case VALUE_NULL:
	case VALUE_FALSE:
	case VALUE_TRUE:
	case VALUE_NUMBER:
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		break;
	}
	buf_init(&b, SHOW_POOL);
	json_write(&b, v);
	icctl_put(buf_span(&b), max, false);
	buf_free(&b);
}

static void
put_duration(int64_t ms)
{
	if (ms < 0)
		ms = 0;
	if (ms < 120000)
		printf("%llds", (long long)(ms / 1000));
	else
		printf("%lldm", (long long)(ms / 60000));
}

static void
put_arguments(const char *json, bool one_line)
{
	struct value_pool *pool = value_pool_new(SHOW_POOL);
	const struct value *root = NULL;

	if (pool != NULL)
		root = json_read(pool, span_str(json), NULL);
	if (root == NULL || root->type != VALUE_OBJECT) {
		icctl_put(
		    span_str(json), one_line ? SHOW_LINE : SHOW_MAX, false);
		value_pool_free(pool);
		return;
	}
	for (const struct value *v = root->child; v != NULL; v = v->next) {
		if (!one_line)
			fputs("    ", stdout);
		icctl_put(v->key, SHOW_LINE, false);
		fputs(one_line ? "=" : " = ", stdout);
		put_value(v, one_line ? SHOW_LINE : SHOW_MAX);
		fputs(one_line ? (v->next == NULL ? "" : " ") : "\n", stdout);
	}
	value_pool_free(pool);
}

void
icctl_show_hold_line(json_object *h, bool waits)
{
	printf("%-6s ", icctl_text(h, "id"));
	if (waits) {
		put_duration(icctl_number(h, "expires_ms"));
		fputs(" left  ", stdout);
	}
	if (icctl_is_request(h)) {
		icctl_show_request_line(h);
		putchar('\n');
		return;
	}
	icctl_put_str(icctl_text(h, "server"));
	fputs("__", stdout);
	icctl_put_str(icctl_text(h, "tool"));
	putchar(' ');
	put_arguments(icctl_text(h, "arguments"), true);
	putchar('\n');
}

void
icctl_show_session(json_object *h)
{
	json_object *s = NULL, *list = NULL, *o;

	if (!json_object_object_get_ex(h, "forSession", &s) || s == NULL)
		return;
	fputs("  for the session (icctl approve ", stdout);
	icctl_put_str(icctl_text(h, "id"));
	fputs(" --for-session)\n    every call of ", stdout);
	icctl_put_str(icctl_text(h, "server"));
	fputs("__", stdout);
	icctl_put_str(icctl_text(h, "tool"));
	fputs(" that rule ", stdout);
	icctl_put_str(icctl_text(s, "rule"));
	puts(" asks about, where");
	json_object_object_get_ex(s, "constraints", &list);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		o = json_object_array_get_idx(list, i);
		fputs("    ", stdout);
		icctl_put_str(icctl_text(o, "role"));
		fputs(strcmp(icctl_text(o, "kind"), "directory") == 0
			  ? " is within "
			  : " is ",
		    stdout);
		/* Whole: this is what is agreed to. */
		icctl_put(span_str(icctl_text(o, "value")), 4096, false);
		putchar('\n');
	}
}

static void
show_call(json_object *h)
{
	printf("call %s\n  server  ", icctl_text(h, "id"));
	icctl_put_str(icctl_text(h, "server"));
	fputs("\n  tool    ", stdout);
	icctl_put_str(icctl_text(h, "tool"));
	fputs("\n  why     ", stdout);
	icctl_put_str(icctl_text(h, "reason"));
	fputs("\n  rule    ", stdout);
	icctl_put_str(icctl_text(h, "rule"));
	fputs("\n  arguments\n", stdout);
	put_arguments(icctl_text(h, "arguments"), false);
	printf("  digest  %.64s\n", icctl_text(h, "digest"));
}

void
icctl_show_hold(json_object *h)
{
	if (icctl_is_request(h))
		icctl_show_request(h);
	else
		show_call(h);
	fputs("  expires in ", stdout);
	put_duration(icctl_number(h, "expires_ms"));
	putchar('\n');
	if (*icctl_text(h, "sessionDigest") != '\0')
		icctl_show_session(h);
	printf("\n  icctl approve %s    or    icctl deny %s\n",
	    icctl_text(h, "id"), icctl_text(h, "id"));
}
