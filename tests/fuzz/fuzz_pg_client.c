/* SPDX-License-Identifier: ISC */
/*
 * The first packet of a client of PostgreSQL. Cutting the input must not change
 * the verdict, only its time; what is taken has the form that pgkeyd takes; a
 * refusal has a printable text.
 */
#include <string.h>

#include "check.h"
#include "egressd/startup.h"
#include "wire/pg.h"

static void
check_values(const struct startup *s)
{
	struct span v;

	for (size_t i = 0; i < PG_PARAMETERS; i++) {
		memcpy(&v, (const uint8_t *)&s->values + pg_parameters[i].at,
		    sizeof(v));
		CHECK(pg_value_ok(v));
	}
	CHECK(s->values.id == 0 && s->values.cancel == 0);
}

static void
check_one(enum startup_kind kind, const struct startup *s, struct span in)
{
	if (kind == STARTUP_MORE) {
		CHECK(in.len < STARTUP_MAX);
		return;
	}
	if (kind == STARTUP_BAD) {
		CHECK(s->why[0] != '\0');
		for (const char *c = s->why; *c != '\0'; c++)
			CHECK(*c >= 0x20 && *c < 0x7f);
		return;
	}
	CHECK(s->size >= 8 && s->size <= in.len && s->size <= STARTUP_MAX);
	CHECK(s->size == pg_u32(in.p));
	if (kind == STARTUP_LOGIN)
		check_values(s);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span in = span_of(data, size);
	enum startup_kind whole, part = STARTUP_MORE;
	struct startup a, b;
	size_t n = 0;

	whole = startup_read(in, &a);
	check_one(whole, &a, in);
	while (part == STARTUP_MORE && n < in.len) {
		n += n % 3 + 1;
		if (n > in.len)
			n = in.len;
		part = startup_read(span_of(in.p, n), &b);
		check_one(part, &b, span_of(in.p, n));
	}
	CHECK(part == whole);
	if (whole != STARTUP_MORE && whole != STARTUP_BAD)
		CHECK(a.size == b.size);
	return 0;
}
