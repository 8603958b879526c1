/* SPDX-License-Identifier: ISC */
/*
 * The pool of value trees: its budget, the memory that is kept or wiped, and
 * how the JSON reader uses it for strings with escapes.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/json/json.h"
#include "tap.h"

static void
test_pool(void)
{
	struct value_pool *p;
	uint8_t *a, *b, *big;
	size_t sum = 0;

	p = value_pool_new(100000);
	a = value_pool_alloc(p, 100);
	ok(a != NULL && (uintptr_t)a % 8 == 0, "aligned");
	memset(a, 'a', 100);
	value_pool_trim(p, a, 100, 10);
	b = value_pool_alloc(p, 8);
	ok(b == a + 16, "trimmed");
	big = value_pool_alloc(p, 50000);
	ok(big != NULL, "a large piece");
	memset(big, 'b', 50000);
	value_pool_trim(p, big, 50000, 40000);
	ok(value_pool_alloc(p, 59977) == NULL && errno == ENOBUFS, "over");
	ok(value_pool_alloc(p, 59976) != NULL, "exactly all that is left");
	ok(value_pool_alloc(p, 1) == NULL && value_pool_alloc(p, SIZE_MAX) == NULL,
	    "nothing is left");
	value_pool_reset(p);
	ok(value_pool_alloc(p, 8) == a, "the first chunk is kept");
	ok(a[8] == 0 && a[9] == 0, "and wiped");
	value_pool_reset(p);
	while (value_pool_alloc(p, 40) != NULL)
		sum += 40;
	is_int(sum, 100000, "all of it in small pieces");
	value_pool_free(p);
	errno = 42;
	value_pool_free(NULL);
	is_int(errno, 42, "free(NULL)");
}

/* Only the decoded string counts, not its length in the text. */
static void
test_escaped(void)
{
	struct value_pool *p;
	struct json_fail f;
	struct buf b;

	buf_init(&b, 100000);
	buf_addc(&b, '[');
	for (unsigned s = 0; s < 5; s++) {
		buf_adds(&b, s == 0 ? "\"" : ",\"");
		for (unsigned i = 0; i < 1000; i++)
			buf_adds(&b, "\\u0041");
		buf_addc(&b, '"');
	}
	buf_addc(&b, ']');
	p = value_pool_new(12000);
	ok(json_read(p, buf_span(&b), &f) != NULL,
	    "30,000 bytes of escapes in 12,000");
	value_pool_free(p);
	buf_free(&b);
}

/*
 * Each string must get room for its full length, although a quote comes first.
 */
static void
test_long_escaped(void)
{
	static const char *const begins[] = {"\\\"", "\\\\\\\"", "\\n", "a\\\""};
	static const size_t sizes[] = {100, 16300, 16384, 20000, 300000};
	const struct value *v;
	struct value_pool *p;
	struct buf b, out;

	for (size_t i = 0; i < nitems(begins); i++) {
		for (size_t j = 0; j < nitems(sizes); j++) {
			buf_init(&b, 1000000);
			buf_init(&out, 1000000);
			buf_addc(&b, '"');
			buf_adds(&b, begins[i]);
			memset(buf_room(&b, sizes[j]), 'x', sizes[j]);
			buf_grow(&b, sizes[j]);
			buf_addc(&b, '"');
			p = value_pool_new(1000000);
			ok((v = json_read(p, buf_span(&b), NULL)) != NULL &&
			    json_write(&out, v) == 0 &&
			    span_eq(buf_span(&b), buf_span(&out)),
			    "%zu bytes after an escape", sizes[j]);
			value_pool_free(p);
			buf_free(&b);
			buf_free(&out);
		}
	}
}

int
main(void)
{
	test_pool();
	test_escaped();
	test_long_escaped();
	return tap_done();
}
