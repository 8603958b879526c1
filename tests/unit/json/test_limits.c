/* SPDX-License-Identifier: ISC */
/*
 * Limits of the JSON reader and writer, each at its edge and one beyond: depth,
 * values, members, bytes, pool and buffer; and objects that are large enough to
 * be sorted at their end.
 */
#include <stdlib.h>

#include "common/json/json.h"
#include "tap.h"

#define ROOMY		((size_t)32 << 20)
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static struct value_pool *pool;

static struct json_fail
outcome(struct span text)
{
	struct json_fail fail;

	value_pool_reset(pool);
	(void)json_read(pool, text, &fail);
	return fail;
}

static void
repeat(struct buf *b, const char *s, unsigned n)
{
	while (n-- != 0)
		buf_adds(b, s);
}

static void
test_depth(void)
{
	struct json_fail f;
	struct buf b;

	buf_init(&b, ROOMY);
	repeat(&b, "[", 64);
	repeat(&b, "]", 64);
	is_int(outcome(buf_span(&b)).error, JSON_OK, "64 arrays deep");
	buf_reset(&b, ROOMY);
	repeat(&b, "{\"a\":", 64);
	repeat(&b, "1", 1);
	repeat(&b, "}", 64);
	is_int(outcome(buf_span(&b)).error, JSON_OK, "64 objects deep");
	buf_reset(&b, ROOMY);
	repeat(&b, "[", 65);
	repeat(&b, "]", 65);
	f = outcome(buf_span(&b));
	ok(f.error == JSON_DEPTH && f.at == 64, "65 arrays deep");
	buf_reset(&b, ROOMY);
	repeat(&b, "{\"a\":", 64);
	repeat(&b, "{}", 1);
	f = outcome(buf_span(&b));
	ok(f.error == JSON_DEPTH && f.at == 320, "65 objects deep");
	buf_reset(&b, ROOMY);
	repeat(&b, "[[[[[[[[[[", 400000);
	f = outcome(buf_span(&b));
	ok(f.error == JSON_DEPTH && f.at == 64, "4,000,000 arrays deep");
	buf_reset(&b, ROOMY);
	repeat(&b, "[", 1);
	repeat(&b, "[[[]]],{\"a\":{}},", 5000);
	repeat(&b, "[]]", 1);
	is_int(outcome(buf_span(&b)).error, JSON_OK,
	    "depth goes down as containers end");
	buf_free(&b);
}

static void
test_counts(void)
{
	struct json_fail f;
	struct buf b;

	buf_init(&b, ROOMY);
	repeat(&b, "[", 1);
	repeat(&b, "1,", VALUE_MAX_NODES - 2);
	repeat(&b, "1]", 1);
	is_int(outcome(buf_span(&b)).error, JSON_OK, "100,000 values");
	buf_reset(&b, ROOMY);
	repeat(&b, "[", 1);
	repeat(&b, "1,", VALUE_MAX_NODES - 1);
	repeat(&b, "1]", 1);
	f = outcome(buf_span(&b));
	is_int(f.error, JSON_LIMIT, "100,001 values");
	is_int(f.at, 1 + 2 * (VALUE_MAX_NODES - 1), "at the last one");
	buf_reset(&b, ROOMY);
	repeat(&b, "[\"", 1);
	repeat(&b, "x", VALUE_MAX_BYTES - 10);
	repeat(&b, "\"]", 1);
	is_int(outcome(buf_span(&b)).error, JSON_OK, "as large as can be sent");
	b.len -= 2;
	repeat(&b, "x\"]", 1);
	f = outcome(buf_span(&b));
	ok(f.error == JSON_LIMIT && f.at == 1, "one byte more");
	b.len -= 5;
	repeat(&b, "\",3,[]]", 1);
	f = outcome(buf_span(&b));
	ok(f.error == JSON_LIMIT && f.at == b.len - 5, "a number too much");
	buf_reset(&b, ROOMY);
	repeat(&b, "{\"", 1);
	repeat(&b, "\\n", VALUE_MAX_BYTES);
	repeat(&b, "\":1}", 1);
	f = outcome(buf_span(&b));
	ok(f.error == JSON_LIMIT && f.at == 1, "a name too long");
	buf_free(&b);
}

/* Make `n` members in scrambled order: i * step modulo a prime. */
static void
make_members(struct buf *b, unsigned n, unsigned step, const char *extra)
{
	buf_reset(b, ROOMY);
	buf_addc(b, '{');
	for (unsigned i = 0; i < n; i++) {
		buf_printf(b, "%s\"%s%05u\":%u", i == 0 ? "" : ",",
		    i % 3 == 0 ? "\\u006b" : "k", (i + 1) * step % 10007, i);
	}
	buf_printf(b, "%s}", extra);
}

static bool
is_sorted(const struct value *v, unsigned n)
{
	const struct value *m;
	unsigned count = 0;

	for (m = v->child; m != NULL; m = m->next) {
		count++;
		if (m->next == NULL && v->last != m)
			return false;
		if (m->next != NULL && span_cmp(m->key, m->next->key) >= 0)
			return false;
	}
	return count == n && v->count == n;
}

static void
test_members(void)
{
	static const unsigned sizes[] = {1, 2, 3, 23, 24, 25, 26, 27, 31, 64,
	    100, 1023, 9999, 10000};
	static const unsigned steps[] = {1, 10006, 4711, 77, 5003};
	const struct value *v;
	struct json_fail f;
	struct buf b;
	size_t at;

	buf_init(&b, ROOMY);
	for (size_t i = 0; i < COUNT(sizes) * COUNT(steps); i++) {
		unsigned n = sizes[i / COUNT(steps)], twin = n < 3 ? 1 : 3;
		unsigned step = steps[i % COUNT(steps)];

		make_members(&b, n, step, "");
		value_pool_reset(pool);
		v = json_read(pool, buf_span(&b), NULL);
		ok(v != NULL && is_sorted(v, n), "%u members, step %u", n, step);
		if (n == VALUE_MAX_MEMBERS)
			continue;
		make_members(&b, n, step, ",");
		at = --b.len;
		buf_printf(&b, "\"\\u006b%05u\":1}", twin * step % 10007);
		f = outcome(buf_span(&b));
		ok(f.error == JSON_DUPLICATE && f.at == at,
		    "%u members and a twin, step %u", n, step);
	}
	make_members(&b, 10001, 1, "");
	f = outcome(buf_span(&b));
	ok(f.error == JSON_LIMIT && f.at == b.len - 15, "10,001 members");
	make_members(&b, 40, 4711, ",\"x\":{\"a\":1,\"a\":2}");
	f = outcome(buf_span(&b));
	ok(f.error == JSON_DUPLICATE && f.at == b.len - 7, "in a small one "
	    "within a large one");
	buf_free(&b);
}

/* The first of several duplicates in a large object is reported. */
static void
test_first_duplicate(void)
{
	struct json_fail f;
	struct buf b;
	size_t at;

	buf_init(&b, ROOMY);
	make_members(&b, 30, 10006, "");
	b.len--;
	at = b.len + 1;
	buf_adds(&b, ",\"k10000\":1,\"k0\\u0039999\":1,\"k10006\":1}");
	f = outcome(buf_span(&b));
	ok(f.error == JSON_DUPLICATE && f.at == at, "first of three");
	/* The first name loses its backslash, to make room for '['. */
	make_members(&b, 30, 10006, "");
	memcpy(b.p + b.off, "[{\"", 3);
	buf_adds(&b, ",{\"a\":1,\"a\":2");
	f = outcome(buf_span(&b));
	ok(f.error == JSON_DUPLICATE && f.at == b.len - 5, "in a small one "
	    "after a large one");
	buf_free(&b);
}

static const char sample[] =
    "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"tools/call\",\"params\":{"
    "\"name\":\"fs__write\",\"arguments\":{\"text\":\"a\\tb\\u00e9\\u0001\","
    "\"mode\":[1,-2.5e+3,true,false,null,[],{}]}}}";

/* A pool of any size either suffices or is the reported reason. */
static void
test_small_pools(void)
{
	unsigned wrong = 0, first = 0;
	struct value_pool *small;
	struct json_fail f;

	for (unsigned n = 0; n < 3000; n += 8) {
		if ((small = value_pool_new(n)) == NULL)
			abort();
		if (json_read(small, span_str(sample), &f) == NULL)
			wrong += f.error != JSON_LIMIT || first != 0;
		else if (first == 0)
			first = n;
		value_pool_free(small);
	}
	is_int(wrong, 0, "pools too small are JSON_LIMIT");
	ok(first > 1000, "and %u bytes are enough", first);
}

static void
test_writer_limits(void)
{
	const struct value *v;
	unsigned wrong = 0;
	struct buf b;
	size_t need;

	value_pool_reset(pool);
	v = json_read(pool, span_str(sample), NULL);
	buf_init(&b, ROOMY);
	is_int(json_write(&b, v), 0, "written");
	need = b.len;
	buf_free(&b);
	for (size_t max = 0; max < need; max++) {
		buf_init(&b, max);
		wrong += json_write(&b, v) == 0 || b.len != 0 || !b.failed;
		buf_free(&b);
	}
	is_int(wrong, 0, "a buffer too small by any number of bytes");
	buf_init(&b, need);
	is_int(json_write(&b, v), 0, "a buffer that just suffices");
	buf_free(&b);
	buf_init(&b, 5);
	is_int(json_write_string(&b, SPAN("a\"b")), -1, "a string alone");
	buf_free(&b);
	buf_init(&b, 6);
	is_int(json_write_string(&b, SPAN("a\"b")), 0, "a string that fits");
	is_mem(buf_span(&b).p, b.len, "\"a\\\"b\"", 6, "and what it looks like");
	buf_free(&b);
}

int
main(void)
{
	if ((pool = value_pool_new(ROOMY)) == NULL)
		abort();
	test_depth();
	test_counts();
	test_members();
	test_first_duplicate();
	test_small_pools();
	test_writer_limits();
	value_pool_free(pool);
	return tap_done();
}
