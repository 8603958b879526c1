/* SPDX-License-Identifier: ISC */
/*
 * The body filter on any input: it agrees with the strict JSON reader about
 * what is JSON, its edits are ordered and within the text, the result is strict
 * JSON again, and filtering that finds nothing more.
 */
#include <stdlib.h>

#include "common/buf.h"
#include "common/json/json.h"
#include "mitmd/body/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct filter f;
static const uint64_t seed[2] = {1, 2};

static bool
strict(struct span s)
{
	struct value_pool *pool = value_pool_new(64U << 20);
	const struct value *v;
	struct json_fail fail;

	if (pool == NULL)
		abort();
	v = json_read_large(pool, s, 1U << 20, 64U << 20, &fail);
	value_pool_free(pool);
	/* The reader has other limits. */
	return v != NULL || fail.error == JSON_DEPTH ||
	       fail.error == JSON_NUMBER || fail.error == JSON_LIMIT;
}

/* Edits out of order would produce another length. */
static void
compose(struct buf *b, struct span text)
{
	struct span s;
	unsigned at = 0;
	size_t off = 0;

	for (unsigned i = 0; i < f.nedits; i++) {
		if (f.edits[i].off < off ||
		    f.edits[i].len > text.len - f.edits[i].off)
			abort();
		off = f.edits[i].off + f.edits[i].len;
	}
	while (filter_piece(&f, &at, &s))
		buf_addspan(b, s);
	if (b->failed || b->len != filter_length(&f))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct filter_rules r;
	enum filter_dialect d;
	enum filter_result got;
	struct span s;
	struct buf b;

	if (size < 3)
		return 0;
	d = (enum filter_dialect)(1 + data[0] % 6);
	for (unsigned i = 0; i < FILTER_KINDS; i++)
		r.action[i] = (enum filter_action)(
		    (data[1 + (i > 2)] >> (2 * (i % 3)) & 3) % FILTER_ACTIONS);
	r.usage = (data[0] & 0x80) == 0;
	s = span_of(data + 3, size - 3);
	got = filter_body(&f, &r, d, s, seed);
	if ((got == FILTER_SAME || got == FILTER_CHANGED) && !strict(s))
		abort();
	if (got != FILTER_CHANGED)
		return 0;
	buf_init(&b, size + 64 * FILTER_MAX_EDITS);
	compose(&b, s);
	if (!strict(buf_span(&b)))
		abort();
	if (filter_body(&f, &r, d, buf_span(&b), seed) != FILTER_SAME)
		abort();
	buf_free(&b);
	return 0;
}
