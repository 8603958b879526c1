/* SPDX-License-Identifier: ISC */
/*
 * The strict JSON reader and the canonical writer: the table of texts, and
 * cases that are better generated than written down (limits, every code point,
 * every prefix and every changed byte of a message).
 */
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"
#include "unit/json/cases.h"

#define ROOMY		((size_t)32 << 20)
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct value_pool *pool, *spare;

/*
 * Read from memory of exactly the text's size, so that ASan detects a read past
 * the end.
 */
static const struct value *
read_exact(struct value_pool *in, struct span text, struct json_fail *fail,
    uint8_t **mem)
{
	if ((*mem = malloc(text.len == 0 ? 1 : text.len)) == NULL)
		abort();
	if (text.len != 0)
		memcpy(*mem, text.p, text.len);
	value_pool_reset(in);
	return json_read(in, span_of(*mem, text.len), fail);
}

static struct json_fail
outcome(struct span text)
{
	struct json_fail fail;
	uint8_t *mem;

	(void)read_exact(pool, text, &fail, &mem);
	value_pool_reset(pool);
	free(mem);
	return fail;
}

/*
 * Returns true if the value stays the same when it is written, read again and
 * carried over the wire.
 */
static bool
is_stable(const struct value *v, struct span written)
{
	const struct value *again;
	struct buf wire, second;
	uint8_t *mem;
	bool good;

	buf_init(&wire, VALUE_MAX_BYTES);
	buf_init(&second, ROOMY);
	again = read_exact(spare, written, NULL, &mem);
	good = again != NULL && value_eq(v, again) &&
	    json_write(&second, again) == 0 &&
	    span_eq(buf_span(&second), written) && value_encode(v, &wire) == 0;
	free(mem);
	value_pool_reset(spare);
	good = good && (again = value_decode(spare, buf_span(&wire))) != NULL &&
	    value_eq(v, again);
	buf_free(&wire);
	buf_free(&second);
	return good;
}

static const char *
label(struct span text)
{
	static char out[64];
	size_t i;

	for (i = 0; i < text.len && i < sizeof(out) - 1; i++) {
		out[i] = '.';
		if (text.p[i] > ' ' && text.p[i] < 0x7f && text.p[i] != '#')
			out[i] = (char)text.p[i];
	}
	out[i] = '\0';
	return out;
}

static void
test_case(const struct json_case *c)
{
	const struct value *v;
	struct json_fail fail;
	struct buf out;
	uint8_t *mem;

	buf_init(&out, ROOMY);
	v = read_exact(pool, c->in, &fail, &mem);
	if (fail.error != c->error || fail.at != c->at) {
		ok(false, "%s", label(c->in));
		printf("# got %s at %zu, want %s at %zu\n",
		    json_strerror(fail.error), fail.at,
		    json_strerror(c->error), c->at);
	} else if (c->error != JSON_OK) {
		ok(v == NULL, "%s: refused", label(c->in));
	} else if (ok(v != NULL && json_write(&out, v) == 0, "%s: taken",
	    label(c->in))) {
		is_mem(buf_span(&out).p, out.len, c->out.p, c->out.len,
		    "%s: canonical", label(c->in));
		ok(is_stable(v, buf_span(&out)), "%s: stable", label(c->in));
	}
	buf_free(&out);
	free(mem);
}

static void
test_bytes_in_strings(void)
{
	static const char escapes[] = "\"\\/bfnrt";
	unsigned wrong = 0;
	struct json_fail f;
	char text[32];
	int n;

	for (unsigned c = 0; c < 0x80; c++) {
		if (c == '"' || c == '\\')
			continue;
		for (int lead = 0; lead < 10; lead++) {
			n = snprintf(text, sizeof(text), "\"%.*sXyyyyyyyyy\"",
			    lead, "xxxxxxxxxx");
			text[lead + 1] = (char)c;
			f = outcome(span_of(text, (size_t)n));
			if (c < 0x20 ? f.error != JSON_SYNTAX ||
			    f.at != (size_t)lead + 1 : f.error != JSON_OK)
				wrong++;
		}
	}
	is_int(wrong, 0, "every ASCII byte in a string, at every place");
	wrong = 0;
	for (unsigned c = 0; c < 256; c++) {
		memcpy(text, "\"\\?\"", 4);
		text[2] = (char)c;
		f = outcome(span_of(text, 4));
		if (c == '"')
			wrong += f.error != JSON_OK;
		else if (c != 0 && strchr(escapes, (int)c) != NULL)
			wrong += f.error != JSON_OK;
		else
			wrong += f.error != JSON_SYNTAX || f.at != 1;
	}
	is_int(wrong, 0, "every byte after a backslash");
}

/* Encode UTF-8 by arithmetic, to compare with the reader's tables. */
static size_t
encode_point(uint32_t c, uint8_t *p)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		p[i] = (uint8_t)(0x80 | (c & 0x3f));
	p[0] = (uint8_t)(n == 1 ? c : (0xf00U >> n & 0xff) | c);
	return n;
}

static void
test_code_points(void)
{
	unsigned wrong_escape = 0, wrong_raw = 0;
	const struct value *v;
	uint8_t want[4];
	char text[32];
	size_t len;
	bool bad;

	for (uint32_t c = 0; c <= 0x110000; c++) {
		len = encode_point(c, want);
		bad = (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff;
		if (utf8_valid(span_of(want, len)) == bad)
			wrong_raw++;
		if (c < 0x10000)
			snprintf(text, sizeof(text), "\"\\u%04x\"", c);
		else
			snprintf(text, sizeof(text), "\"\\u%04X\\u%04x\"",
			    0xd800 + ((c - 0x10000) >> 10),
			    0xdc00 + (c & 0x3ff));
		if (c > 0x10ffff)
			continue;
		value_pool_reset(pool);
		v = json_read(pool, span_str(text), NULL);
		if (bad ? v != NULL :
		    v == NULL || !span_eq(v->text, span_of(want, len)))
			wrong_escape++;
	}
	is_int(wrong_raw, 0, "every code point in UTF-8");
	is_int(wrong_escape, 0, "every code point as an escape");
}

/*
 * Every sequence of two and three bytes: valid exactly if a code point yields
 * it.
 */
static void
test_utf8_sequences(void)
{
	unsigned good2 = 0, good3 = 0;
	uint8_t b[3];

	for (unsigned i = 0x80 * 256; i < 65536; i++) {
		b[0] = (uint8_t)(i >> 8);
		b[1] = (uint8_t)i;
		good2 += utf8_valid(span_of(b, 2));
		if (b[1] < 0x80 || b[0] < 0xe0)
			continue;
		for (unsigned c = 0; c < 256; c++) {
			b[2] = (uint8_t)c;
			good3 += utf8_valid(span_of(b, 3));
		}
	}
	is_int(good2, 0x800 - 0x80, "two bytes: 1,920 sequences");
	is_int(good3, 0x10000 - 0x800 - 0x800, "three: 61,440 sequences");
}

static const char sample[] =
    "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{"
    "\"name\":\"fs__write\",\"arguments\":{\"path\":\"/w/\xc3\xa9.c\",\"text\":"
    "\"a\\tb\\u00e9\\ud83d\\ude00\\n\",\"mode\":[1,-2.5e+3,true,false,null,[],{}]}"
    "}}";

static void
test_prefixes(void)
{
	unsigned wrong = 0;
	struct json_fail f;

	for (size_t n = 0; n < sizeof(sample) - 1; n++) {
		f = outcome(span_of(sample, n));
		if (f.error == JSON_TRUNCATED ? f.at != n :
		    f.error != JSON_UTF8 || f.at != n - 1)
			wrong++;
	}
	is_int(wrong, 0, "every prefix of a message is too short");
}

static void
test_changes(void)
{
	uint8_t text[sizeof(sample) - 1], *mem;
	unsigned wrong = 0, taken = 0;
	const struct value *v;
	struct buf out;

	buf_init(&out, ROOMY);
	memcpy(text, sample, sizeof(text));
	for (size_t i = 0; i < sizeof(text); i++) {
		for (unsigned c = 1; c < 256; c++) {
			text[i] = (uint8_t)(text[i] ^ c);
			v = read_exact(pool, span_of(text, sizeof(text)), NULL,
			    &mem);
			buf_reset(&out, ROOMY);
			taken += v != NULL;
			if (v != NULL && (json_write(&out, v) == -1 ||
			    !is_stable(v, buf_span(&out))))
				wrong++;
			free(mem);
			text[i] = (uint8_t)(text[i] ^ c);
		}
	}
	is_int(wrong, 0, "every changed byte: what is taken is stable");
	ok(taken > 1000, "%u of them were taken", taken);
	buf_free(&out);
}

static void
test_zero_copy(void)
{
	struct span text = SPAN("{\"name\":\"value\",\"n\":12}"), s;
	const struct value *v;

	value_pool_reset(pool);
	v = json_read(pool, text, NULL);
	s = value_str(v, "name");
	ok(s.p == text.p + 9, "plain strings point into the text");
	ok(value_get(v, "n")->text.p == text.p + 20, "numbers too");
	ok(json_read(pool, span_of(NULL, 0), NULL) == NULL, "no text at all");
	v = json_read(pool, SPAN("[\"\",{\"\":1}]"), NULL);
	ok(v->child->text.p != NULL, "an empty string is not absent");
}

int
main(void)
{
	if ((pool = value_pool_new(ROOMY)) == NULL ||
	    (spare = value_pool_new(ROOMY)) == NULL)
		abort();
	for (size_t i = 0; i < COUNT(json_cases); i++)
		test_case(&json_cases[i]);
	ok(COUNT(json_cases) >= 200, "%zu texts", COUNT(json_cases));
	test_bytes_in_strings();
	test_code_points();
	test_utf8_sequences();
	test_prefixes();
	test_changes();
	test_zero_copy();
	value_pool_free(pool);
	value_pool_free(spare);
	return tap_done();
}
