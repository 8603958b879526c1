/* SPDX-License-Identifier: ISC */
/*
 * Value trees: making and reading them, and the wire form.  The decoder is
 * given every truncation and every changed byte of sample trees: it must accept
 * only bytes that the encoder would have produced.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "tap.h"

#define ROOMY		((size_t)32 << 20)
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct value_pool *pool, *spare;

static const char *const samples[] = {
    "null",
    "true",
    "-12.5e+3",
    "\"\"",
    "\"h\xc3\xa9llo \xf0\x9f\x98\x80 w\xe2\x82\xacrld\"",
    "[]",
    "{}",
    "[1,[2,[3,[]]],{}]",
    "{\"\":0,\"a\":\"b\",\"ab\":[null,false],\"b\":{\"a\":{}}}",
    "{\"id\":7,\"params\":{\"name\":{\"path\":\"/w/a\\u0000\",\"n\":[1,-0]}}}",
};

static const struct value *
from_json(const char *text)
{
	const struct value *v;

	if ((v = json_read(pool, span_str(text), NULL)) == NULL)
		abort();
	return v;
}

/*
 * Decode a copy of exactly its size, so that ASan detects a read past the end.
 */
static const struct value *
decode_exact(const uint8_t *p, size_t len, uint8_t **mem)
{
	if ((*mem = malloc(len == 0 ? 1 : len)) == NULL)
		abort();
	if (len != 0)
		memcpy(*mem, p, len);
	value_pool_reset(spare);
	return value_decode(spare, span_of(*mem, len));
}

/*
 * Returns 0 if refused with EBADMSG, 1 if accepted and canonical, -1 for
 * neither.
 */
static int
decode_outcome(const uint8_t *p, size_t len)
{
	const struct value *v;
	struct buf again;
	uint8_t *mem;
	int r = -1;

	buf_init(&again, VALUE_MAX_BYTES);
	errno = 0;
	if ((v = decode_exact(p, len, &mem)) == NULL)
		r = errno == EBADMSG ? 0 : -1;
	else if (value_encode(v, &again) == 0 &&
	    span_eq(buf_span(&again), span_of(p, len)))
		r = 1;
	buf_free(&again);
	free(mem);
	return r;
}

static void
test_sample(const char *text)
{
	unsigned wrong = 0, taken = 0;
	const struct value *v, *copy;
	struct buf b;
	uint8_t *mem;
	int r;

	value_pool_reset(pool);
	v = from_json(text);
	buf_init(&b, VALUE_MAX_BYTES);
	is_int(value_encode(v, &b), 0, "%s: encoded", text);
	copy = decode_exact(b.p, b.len, &mem);
	ok(copy != NULL && value_eq(v, copy), "%s: the same again", text);
	free(mem);
	is_int(decode_outcome(b.p, b.len), 1, "%s: canonical", text);
	for (size_t n = 0; n < b.len; n++)
		wrong += decode_outcome(b.p, n) != 0;
	is_int(wrong, 0, "%s: every truncation refused", text);
	for (size_t i = 0; i < b.len; i++) {
		for (unsigned c = 1; c < 256; c++) {
			b.p[i] = (uint8_t)(b.p[i] ^ c);
			r = decode_outcome(b.p, b.len);
			wrong += r == -1;
			taken += r == 1;
			b.p[i] = (uint8_t)(b.p[i] ^ c);
		}
	}
	is_int(wrong, 0, "%s: every changed byte (%u taken)", text, taken);
	buf_addc(&b, 0);
	is_int(decode_outcome(b.p, b.len), 0, "%s: nothing left over", text);
	buf_free(&b);
}

#define W(lit) {(const uint8_t *)(lit), sizeof(lit) - 1}

static const struct {
	const char *what;
	struct span in;
	int outcome;
} wires[] = {
    {"null", W("\0"), 1},
    {"nothing", W(""), 0},
    {"an unknown type", W("\7"), 0},
    {"two values", W("\0\0"), 0},
    {"a number", W("\3\2\0\0\0-1"), 1},
    {"an empty number", W("\3\0\0\0\0"), 0},
    {"01", W("\3\2\0\0\0" "01"), 0},
    {"NaN", W("\3\3\0\0\0NaN"), 0},
    {"a number and a blank", W("\3\2\0\0\0" "1 "), 0},
    {"a number of 41", W("\3\51\0\0\0" "12345678901234567890123456789012345678901"), 0},
    {"a number of 40", W("\3\50\0\0\0" "1234567890123456789012345678901234567890"), 1},
    {"a string", W("\4\1\0\0\0a"), 1},
    {"a string with NUL", W("\4\1\0\0\0\0"), 1},
    {"a length of 4 GiB", W("\4\377\377\377\377a"), 0},
    {"a length one too many", W("\4\2\0\0\0a"), 0},
    {"a big-endian length", W("\4\0\0\0\1a"), 0},
    {"bad UTF-8", W("\4\1\0\0\0\377"), 0},
    {"a surrogate", W("\4\3\0\0\0\355\240\200"), 0},
    {"an overlong NUL", W("\4\2\0\0\0\300\200"), 0},
    {"an array", W("\5\2\0\0\0\0\1"), 1},
    {"an array too short", W("\5\3\0\0\0\0\1"), 0},
    {"an array too long", W("\5\1\0\0\0\0\1"), 0},
    {"an array of 4 G", W("\5\377\377\377\377\0"), 0},
    {"an array without a count", W("\5\0\0\0"), 0},
    {"an object", W("\6\2\0\0\0\1\0\0\0a\0\1\0\0\0b\0"), 1},
    {"unsorted", W("\6\2\0\0\0\1\0\0\0b\0\1\0\0\0a\0"), 0},
    {"twice the same name", W("\6\2\0\0\0\1\0\0\0a\0\1\0\0\0a\0"), 0},
    {"prefix after the longer", W("\6\2\0\0\0\2\0\0\0aa\0\1\0\0\0a\0"), 0},
    {"prefix first", W("\6\2\0\0\0\1\0\0\0a\0\2\0\0\0aa\0"), 1},
    {"a bad name", W("\6\1\0\0\0\1\0\0\0\200\0"), 0},
    {"an empty name", W("\6\1\0\0\0\0\0\0\0\0"), 1},
    {"an object too short", W("\6\2\0\0\0\1\0\0\0a\0"), 0},
    {"a name without a value", W("\6\1\0\0\0\1\0\0\0a"), 0},
    {"an object of 10,001", W("\6\21\47\0\0\1\0\0\0a\0"), 0},
};

static void
test_wires(void)
{
	for (size_t i = 0; i < COUNT(wires); i++)
		is_int(decode_outcome(wires[i].in.p, wires[i].in.len),
		    wires[i].outcome, "wire: %s", wires[i].what);
}

static void
put(struct buf *b, uint8_t type, uint32_t n)
{
	uint8_t head[5] = {type, (uint8_t)n, (uint8_t)(n >> 8),
	    (uint8_t)(n >> 16), (uint8_t)(n >> 24)};

	buf_add(b, head, sizeof(head));
}

static void
test_wire_limits(void)
{
	struct value_pool *small;
	struct buf b;

	buf_init(&b, ROOMY);
	for (unsigned i = 0; i < VALUE_MAX_DEPTH - 1; i++)
		put(&b, VALUE_ARRAY, 1);
	put(&b, VALUE_ARRAY, 0);
	is_int(decode_outcome(b.p, b.len), 1, "64 deep");
	buf_drain(&b, b.len);
	for (unsigned i = 0; i < VALUE_MAX_DEPTH; i++)
		put(&b, VALUE_ARRAY, 1);
	put(&b, VALUE_ARRAY, 0);
	is_int(decode_outcome(b.p, b.len), 0, "65 deep");
	buf_drain(&b, b.len);
	for (unsigned i = 0; i < 800000; i++)
		put(&b, VALUE_ARRAY, 1);
	is_int(decode_outcome(b.p, b.len), 0, "800,000 deep");
	buf_drain(&b, b.len);
	for (unsigned n = VALUE_MAX_NODES - 1; n <= VALUE_MAX_NODES; n++) {
		put(&b, VALUE_ARRAY, n);
		for (unsigned i = 0; i < n; i++)
			buf_addc(&b, VALUE_TRUE);
		is_int(decode_outcome(b.p, b.len), n < VALUE_MAX_NODES,
		    "%u values", n + 1);
		buf_drain(&b, b.len);
	}
	for (unsigned n = VALUE_MAX_MEMBERS; n <= VALUE_MAX_MEMBERS + 1; n++) {
		put(&b, VALUE_OBJECT, n);
		for (unsigned i = 0; i < n; i++)
			buf_printf(&b, "%c%c%c%c%05u%c", 5, 0, 0, 0, i, 0);
		is_int(decode_outcome(b.p, b.len), n == VALUE_MAX_MEMBERS,
		    "%u members", n);
		buf_drain(&b, b.len);
	}
	for (unsigned n = VALUE_MAX_BYTES - 5; n < VALUE_MAX_BYTES - 3; n++) {
		put(&b, VALUE_STRING, n);
		memset(buf_room(&b, n), 'x', n);
		buf_grow(&b, n);
		is_int(decode_outcome(b.p, b.len), n == VALUE_MAX_BYTES - 5,
		    "a string of %u", n);
		buf_drain(&b, b.len);
	}
	put(&b, VALUE_ARRAY, 2);
	buf_add(&b, "\0\0", 2);
	small = value_pool_new(128);
	errno = 0;
	ok(value_decode(small, buf_span(&b)) == NULL && errno == ENOBUFS,
	    "a pool too small");
	value_pool_free(small);
	buf_free(&b);
}

static void
test_encode_limits(void)
{
	static uint8_t text[VALUE_MAX_STRING + 1];
	struct value *v = NULL, *in;
	const struct value *big;
	struct buf b;

	value_pool_reset(pool);
	for (unsigned i = 0; i <= VALUE_MAX_DEPTH; i++) {
		in = v;
		v = value_new(pool, VALUE_ARRAY);
		if (in != NULL)
			value_append(v, in);
	}
	buf_init(&b, ROOMY);
	memset(text, 'x', sizeof(text));
	buf_adds(&b, "x");
	errno = 0;
	is_int(value_encode(v, &b), -1, "65 deep is not encoded");
	ok(errno == ENOBUFS && b.failed && b.len == 1, "and adds nothing");
	buf_reset(&b, ROOMY);
	is_int(value_encode(v->child, &b), 0, "64 deep is");
	is_int(json_write(&b, v), -1, "65 deep is not written");
	errno = 0;
	ok(value_copy(spare, v) == NULL && errno == ENOBUFS, "nor copied");
	value_pool_reset(pool);
	v = value_new(pool, VALUE_ARRAY);
	for (unsigned i = 0; i < VALUE_MAX_NODES; i++)
		value_append(v, value_new(pool, VALUE_NULL));
	buf_reset(&b, ROOMY);
	is_int(value_encode(v, &b), -1, "100,001 values are not encoded");
	errno = 0;
	ok(value_append(v, value_new(pool, VALUE_NULL)) == -1 &&
	    errno == ENOBUFS, "and no more are taken");
	big = from_json("[[1,2],[3,4]]");
	buf_reset(&b, ROOMY);
	is_int(value_encode(big->child, &b), 0, "a part of a tree");
	ok(decode_outcome(b.p, b.len) == 1 && b.len == 17,
	    "is encoded without its siblings");
	v = value_new_string(pool, span_of(text, sizeof(text)));
	is_int(value_encode(v, &b), -1, "a string too long is not encoded");
	v = value_new(pool, VALUE_ARRAY);
	for (unsigned i = 0; i < 2; i++)
		value_append(v, value_new_string(pool, span_of(text,
		    sizeof(text) / 2)));
	buf_reset(&b, ROOMY);
	is_int(value_encode(v, &b), -1, "nor are two that sum up to too much");
	buf_free(&b);
}

static void
test_making(void)
{
	static const int64_t ints[] = {0, 1, -1, INT64_MAX, INT64_MIN, 10, -100};
	static const char *const texts[] = {"0", "1", "-1",
	    "9223372036854775807", "-9223372036854775808", "10", "-100"};
	struct value *o, *a;
	struct buf b;
	int64_t n;

	value_pool_reset(pool);
	o = value_new(pool, VALUE_OBJECT);
	a = value_new(pool, VALUE_ARRAY);
	is_int(value_set(o, SPAN("m"), a), 0, "set");
	is_int(value_set(o, SPAN("z"), value_new(pool, VALUE_TRUE)), 0, "last");
	is_int(value_set(o, SPAN("a"), value_new(pool, VALUE_FALSE)), 0, "first");
	is_int(value_set(o, SPAN("n"), value_new_string(pool, SPAN("s"))), 0,
	    "middle");
	for (const char *k = "amnz"; *k != '\0'; k++) {
		errno = 0;
		ok(value_set(o, span_of(k, 1), value_new(pool, VALUE_NULL)) ==
		    -1 && errno == EEXIST, "%c is there already", *k);
	}
	is_int(value_append(a, value_new_number(pool, -5)), 0, "appended");
	is_int(value_append(a, value_new_string(pool, span_of(NULL, 0))), 0,
	    "appended");
	buf_init(&b, 1000);
	json_write(&b, o);
	buf_addc(&b, 0);
	is_str((const char *)b.p, "{\"a\":false,\"m\":[-5,\"\"],\"n\":\"s\",\"z\":"
	    "true}", "in order");
	buf_free(&b);
	errno = 0;
	ok(value_set(a, SPAN("a"), o) == -1 && errno == EINVAL, "no object");
	errno = 0;
	ok(value_append(o, a) == -1 && errno == EINVAL, "no array");
	errno = ENOBUFS;
	ok(value_set(o, SPAN("q"), NULL) == -1 && value_append(a, NULL) == -1 &&
	    value_append(NULL, a) == -1 && errno == ENOBUFS, "NULL goes through");
	for (size_t i = 0; i < COUNT(ints); i++) {
		o = value_new_number(pool, ints[i]);
		ok(span_is(o->text, texts[i]), "%s", texts[i]);
		ok(value_int(o, INT64_MIN, INT64_MAX, &n) == 0 && n == ints[i],
		    "%s and back", texts[i]);
	}
}

static void
test_many_members(void)
{
	unsigned names[VALUE_MAX_MEMBERS + 1];
	struct value *o;
	int r = 0;

	value_pool_reset(pool);
	o = value_new(pool, VALUE_OBJECT);
	for (unsigned i = 0; i < COUNT(names) && r == 0; i++) {
		names[i] = htobe32(i);
		errno = 0;
		r = value_set(o, span_of(&names[i], sizeof(names[i])),
		    value_new(pool, VALUE_NULL));
	}
	ok(r == -1 && errno == ENOBUFS && o->count == VALUE_MAX_MEMBERS,
	    "10,001 members are too many");
}

static void
test_reading(void)
{
	static const char *const bad[] = {"-0", "1.0", "1e1", "9223372036854775808",
	    "-9223372036854775809", "18446744073709551617", "\"1\"", "null",
	    "101", "-51", "[1]"};
	const struct value *v;
	int64_t n = 77;

	value_pool_reset(pool);
	v = from_json("{\"a\":1,\"b\":\"\",\"c\":true,\"d\":false,\"e\":null}");
	ok(value_get(v, "a") == v->child, "found");
	ok(value_get(v, "") == NULL && value_get(v, "aa") == NULL &&
	    value_get(v, "f") == NULL, "absent");
	ok(value_get(v->child, "a") == NULL && value_get(NULL, "a") == NULL &&
	    value_get(from_json("[1]"), "") == NULL, "not of an object");
	ok(value_str(v, "b").p != NULL && value_str(v, "b").len == 0, "empty");
	ok(value_str(v, "a").p == NULL && value_str(v, "x").p == NULL,
	    "no string");
	ok(value_bool(v, "c", false) && !value_bool(v, "d", true), "bools");
	ok(value_bool(v, "x", true) && !value_bool(v, "x", false) &&
	    value_bool(v, "a", true), "bools by default");
	for (size_t i = 0; i < COUNT(bad); i++) {
		errno = 0;
		ok(value_int(from_json(bad[i]), i < 6 ? INT64_MIN : -50,
		    i < 6 ? INT64_MAX : 100, &n) == -1 && errno == EINVAL,
		    "%s is no integer in range", bad[i]);
	}
	is_int(value_int(NULL, 0, 1, &n), -1, "nor is nothing");
	is_int(n, 77, "output unchanged");
}

static void
test_equal(void)
{
	static const char *const unequal[] = {"1", "1.0", "\"1\"", "[]", "{}",
	    "[1]", "[[1]]", "[1,2]", "[2,1]", "{\"a\":1}", "{\"b\":1}",
	    "{\"a\":2}", "[[],1]", "[[1],2]", "[[1,2]]", "null", "true", "false"};
	unsigned wrong = 0;

	value_pool_reset(pool);
	for (size_t i = 0; i < COUNT(unequal); i++) {
		for (size_t j = 0; j < COUNT(unequal); j++)
			wrong += value_eq(from_json(unequal[i]),
			    from_json(unequal[j])) != (i == j);
	}
	is_int(wrong, 0, "equal to itself and to nothing else");
}

static void
test_copy(void)
{
	const struct value *v, *copy;
	struct value_pool *own;
	char *text;

	own = value_pool_new(ROOMY);
	for (size_t i = 0; i < COUNT(samples); i++) {
		value_pool_reset(pool);
		if ((text = strdup(samples[i])) == NULL)
			abort();
		v = json_read(pool, span_str(text), NULL);
		copy = value_copy(own, v);
		memset(text, '#', strlen(text));
		free(text);
		value_pool_reset(pool);
		ok(copy != NULL && value_eq(copy, from_json(samples[i])),
		    "%s: copied with its texts", samples[i]);
	}
	value_pool_free(own);
	own = value_pool_new(100);
	errno = 0;
	ok(value_copy(own, from_json(samples[7])) == NULL && errno == ENOBUFS,
	    "no room for a copy");
	value_pool_free(own);
}

int
main(void)
{
	if ((pool = value_pool_new(ROOMY)) == NULL ||
	    (spare = value_pool_new(ROOMY)) == NULL)
		abort();
	for (size_t i = 0; i < COUNT(samples); i++)
		test_sample(samples[i]);
	test_wires();
	test_wire_limits();
	test_encode_limits();
	test_making();
	test_many_members();
	test_reading();
	test_equal();
	test_copy();
	value_pool_free(pool);
	value_pool_free(spare);
	return tap_done();
}
