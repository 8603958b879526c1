/* SPDX-License-Identifier: ISC */
/* The first packet of a client of PostgreSQL; see startup.h. */
#include "egressd/startup.h"

#include <stdio.h>

#include "common/log.h"
#include "wire/pg.h"

#define STARTUP_MAJOR 3U

static enum startup_kind __attribute__((format(printf, 2, 3)))
startup_bad(struct startup *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	return STARTUP_BAD;
}

/* Say which parameters there are. */
static enum startup_kind
startup_unknown(struct startup *s, struct span name)
{
	char vis[80], all[200];
	size_t n = 0;

	all[0] = '\0';
	for (size_t i = 0; i < PG_PARAMETERS; i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s",
		    i == 0 ? "" : ", ", pg_parameters[i].name);
	return startup_bad(s,
	    "the startup parameter \"%s\" is not taken here; allowed are "
	    "user, database, %s",
	    log_vis(name, vis, sizeof(vis)), all);
}

/* Take one parameter. Returns STARTUP_LOGIN if it is allowed. */
static enum startup_kind
startup_parameter(struct startup *s, struct span name, struct span value)
{
	/* An extension of newer protocols: the client is told that it has none.
	 */
	if (span_starts(name, SPAN("_pq_."))) {
		s->newer = true;
		return STARTUP_LOGIN;
	}
	/* These two are compared with the listed ones. */
	if (span_is(name, "user")) {
		s->user = value;
		return STARTUP_LOGIN;
	}
	if (span_is(name, "database")) {
		s->database = value;
		return STARTUP_LOGIN;
	}
	for (size_t i = 0; i < PG_PARAMETERS; i++) {
		if (!span_ieq(name, span_str(pg_parameters[i].name)))
			continue;
		if (!pg_value_ok(value))
			return startup_bad(s,
			    "the value of the startup parameter \"%s\" is over "
			    "%u bytes, or has other characters than letters, "
			    "digits and " PG_SIGNS,
			    pg_parameters[i].name, PROTO_MAX_LOGIN);
		memcpy((uint8_t *)&s->values + pg_parameters[i].at, &value,
		    sizeof(value));
		return STARTUP_LOGIN;
	}
	return startup_unknown(s, name);
}

/* Pairs of texts, and an empty one at the end. */
static enum startup_kind
startup_pairs(struct startup *s, struct span rest)
{
	enum startup_kind kind = STARTUP_LOGIN;
	struct span name, value;

	while (kind == STARTUP_LOGIN) {
		if (!pg_take_text(&rest, &name) ||
		    (name.len == 0 && rest.len != 0) ||
		    (name.len != 0 && !pg_take_text(&rest, &value)))
			return startup_bad(
			    s, "the startup packet is malformed");
		if (name.len == 0)
			break;
		kind = startup_parameter(s, name, value);
	}
	return kind;
}

enum startup_kind
startup_read(struct span in, struct startup *s)
{
	uint32_t len, code;

	memset(s, 0, sizeof(*s));
	if (in.len < 4)
		return STARTUP_MORE;
	len = pg_u32(in.p);
	if (len < 8 || len > STARTUP_MAX)
		return startup_bad(s,
		    "the startup packet has an impossible length: this port "
		    "speaks PostgreSQL's protocol 3, without TLS "
		    "(sslmode=disable or prefer)");
	if (in.len < len)
		return STARTUP_MORE;
	s->size = len;
	code = pg_u32(in.p + 4);
	if (code == PG_SSL || code == PG_GSS)
		return len != 8 ? startup_bad(s, "a request is malformed")
		       : code == PG_SSL ? STARTUP_SSL
					: STARTUP_GSS;
	if (code == PG_CANCEL) {
		if (len != 16)
			return startup_bad(s, "a CancelRequest is malformed");
		s->pid = pg_u32(in.p + 8);
		memcpy(s->key, in.p + 12, sizeof(s->key));
		return STARTUP_CANCEL;
	}
	if (code >> 16 != STARTUP_MAJOR)
		return startup_bad(s, "only protocol 3 is spoken here");
	s->newer = code != PG_PROTOCOL;
	return startup_pairs(s, span_of(in.p + 8, len - 8));
}
