/* SPDX-License-Identifier: ISC */
/* Composes messages of PostgreSQL's protocol; see pg.h. Keeps no state. */
#include "wire/pg.h"

#include <endian.h>

#include "common/ipc/proto.h"
#include "common/ipc/wire.h"

#define AT(field) offsetof(struct msg_LOGIN, field)

/* No "options" and no "replication": these two change what the server is. */
const struct pg_parameter pg_parameters[PG_PARAMETERS] = {
    {"application_name", AT(application_name)},
    {"client_encoding", AT(client_encoding)},
    {"DateStyle", AT(datestyle)},
    {"IntervalStyle", AT(intervalstyle)},
    {"TimeZone", AT(timezone)},
    {"extra_float_digits", AT(extra_float_digits)},
    {"search_path", AT(search_path)},
};

/* LOGIN_GO has the same fields (VIA_AUDIT). */
_Static_assert(
    sizeof(struct msg_LOGIN) == sizeof(struct msg_LOGIN_GO) &&
	offsetof(struct msg_LOGIN_GO, search_path) == AT(search_path),
    "one layout");

bool
pg_value_ok(struct span s)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789" PG_SIGNS;

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\0' || strchr(all, s.p[i]) == NULL)
			return false;
	return s.len <= PROTO_MAX_LOGIN;
}

uint32_t
pg_u32(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return be32toh(n);
}

void
pg_put_u32(struct buf *b, uint32_t n)
{
	const uint32_t be = htobe32(n);

	buf_add(b, &be, sizeof(be));
}

void
pg_put_text(struct buf *b, struct span s)
{
	buf_addspan(b, s);
	buf_addc(b, 0);
}

size_t
pg_begin(struct buf *b, uint8_t type)
{
	size_t at;

	if (type != 0)
		buf_addc(b, type);
	at = b->len;
	pg_put_u32(b, 0);
	return at;
}

void
pg_end(struct buf *b, size_t at)
{
	uint32_t be;

	if (b->failed)
		return;
	be = htobe32((uint32_t)(b->len - at));
	memcpy(b->p + b->off + at, &be, sizeof(be));
}

bool
pg_take_text(struct span *rest, struct span *text)
{
	const uint8_t *nul =
	    rest->len == 0 ? NULL : memchr(rest->p, 0, rest->len);

	if (nul == NULL)
		return false;
	*text = span_of(rest->p, (size_t)(nul - rest->p));
	*rest = span_of(nul + 1, rest->len - text->len - 1);
	return true;
}
