/* SPDX-License-Identifier: ISC */
/*
 * Lines of a relay. Each is taken or refused with a reason; every frame has the
 * length of its struct, texts that end, and a tree that can be decoded, and none
 * comes before the relay has said who it is.
 */
#include <string.h>

#include "check.h"
#include "workers/hear/hear.h"

static struct value_pool *trees;
static bool met;

#define ENDS(f) CHECK(memchr((f), '\0', sizeof(f)) != NULL)

static void
check_row(struct span a)
{
	struct hear_row f;

	CHECK(a.len == sizeof(f));
	memcpy(&f, a.p, sizeof(f));
	ENDS(f.session);
	ENDS(f.is);
	ENDS(f.agent);
	ENDS(f.workspace);
	ENDS(f.policy);
	ENDS(f.state);
	ENDS(f.until);
	ENDS(f.why);
	CHECK(f.session[0] != '\0');
}

static void
check_name(struct span a)
{
	struct hear_name f;

	CHECK(a.len == sizeof(f));
	memcpy(&f, a.p, sizeof(f));
	ENDS(f.session);
	ENDS(f.id);
	ENDS(f.state);
	CHECK(f.session[0] != '\0');
}

static void
check_item(struct span a)
{
	struct hear_item f;

	CHECK(a.len == sizeof(f));
	memcpy(&f, a.p, sizeof(f));
	ENDS(f.session);
	ENDS(f.id);
	ENDS(f.state);
	ENDS(f.text);
	CHECK(utf8_valid(span_str(f.text)));
}

static void
put(enum hear_kind kind, struct span a, struct span b)
{
	struct hear_reply reply;

	CHECK(a.len + b.len <= HEAR_FRAME);
	CHECK(met || kind == HEAR_HELLO || kind == HEAR_SAID);
	switch (kind) {
	case HEAR_HELLO:
		CHECK(!met && a.len == sizeof(struct hear_hello));
		met = true;
		break;
	case HEAR_ROW:
		check_row(a);
		break;
	case HEAR_STATUS:
	case HEAR_BUDGET:
	case HEAR_HOLD:
		check_name(a);
		value_pool_reset(trees);
		CHECK(value_decode(trees, b) != NULL);
		break;
	case HEAR_GONE:
	case HEAR_HOLD_END:
		check_name(a);
		break;
	case HEAR_ITEM:
		check_item(a);
		break;
	case HEAR_REPLY:
		CHECK(a.len == sizeof(reply));
		memcpy(&reply, a.p, sizeof(reply));
		ENDS(reply.code);
		ENDS(reply.error);
		break;
	case HEAR_SAID:
		CHECK(a.len == sizeof(struct hear_text));
		break;
	case HEAR_BAD:
	case HEAR_ALIVE:
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct span rest = span_of(p, len), line;
	struct hear h = {.put = put};

	if (len == 0 || len > 65536)
		return 0;
	met = false;
	h.pool = value_pool_new(HEAR_POOL);
	trees = value_pool_new(HEAR_POOL);
	CHECK(h.pool != NULL && trees != NULL);
	while (rest.len != 0 && span_line(&rest, &line)) {
		if (hear_line(&h, line) != NULL)
			hear_said(&h, line);
		CHECK(h.met == met);
	}
	value_pool_free(h.pool);
	value_pool_free(trees);
	return 0;
}
