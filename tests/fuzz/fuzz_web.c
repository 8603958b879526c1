/* SPDX-License-Identifier: ISC */
/*
 * The body of a request to the page of `icctl web`; the first byte selects the
 * route. One that is taken gives a message that can be sent, with texts that
 * the body has; one that is refused gives a reason.
 */
#include <string.h>

#include "check.h"
#include "common/ipc/wire.h"
#include "workers/icwebd/webd.h"

static bool
within(struct span s, size_t max)
{
	return s.len <= max && (s.len == 0 || memchr(s.p, '\0', s.len) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static uint8_t bytes[PROTO_MAX_DATAGRAM];
	struct msg_WEB_REQUEST m = {.n = 1};
	struct value_pool *pool;
	struct span big;
	char why[128];
	size_t n;

	if (len == 0 || len > WEBD_BODY + 1)
		return 0;
	m.route = (uint8_t)(p[0] % (PROTO_WEB_LAST + 1));
	pool = value_pool_new(1U << 20);
	CHECK(pool != NULL);
	memset(why, 0, sizeof(why));
	if (body_read(pool, span_of(p + 1, len - 1), &m, why, sizeof(why)) ==
	    -1) {
		CHECK(why[0] != '\0');
	} else {
		CHECK(within(m.session, 64) && within(m.call, 16) &&
		      within(m.digest, 64) && within(m.grant, 64) &&
		      within(m.text, m.route == PROTO_WEB_SEND
				? PROTO_MAX_SAID : 512));
		CHECK(m.token.len == 0 || (m.token.len == 32 &&
					      m.route == PROTO_WEB_LOGIN));
		CHECK(wire_encode(proto_find(MSG_WEB_REQUEST), &m, bytes, &n,
			  &big) == 0);
	}
	value_pool_free(pool);
	return 0;
}
