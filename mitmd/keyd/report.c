/* SPDX-License-Identifier: ISC */
/* Reports to auditd: the end of each transaction, and alarms. */
#include "keyd/keyd.h"

void
keyd_alarm(const char *kind, const char *text)
{
	struct msg_ALARM m = {.kind = span_str(kind), .text = span_str(text)};

	if (keyd_env.alarms++ < KEYD_MAX_ALARMS)
		worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_ALARM, &m, -1);
}

void
txn_report(struct stream *s, const char *error)
{
	struct txn *x = &s->x;
	struct msg_EXCHANGE_END m = {.stream = s->id,
	    .exchange = x->req.exchange,
	    .status = (uint16_t)x->reply.status,
	    .sent = x->sent,
	    .unsent = x->unsent,
	    .received = x->reply.received,
	    .error = span_str(error)};

	if (m.error.len > 256)
		m.error.len = 256;
	/* The log has calls of a remote server, and lookups, by their ids. */
	if (keyd_env.provider->mcp == NULL &&
	    (s->id & PROTO_LOOKUP_STREAM) == 0)
		worker_send(
		    &keyd_env.w, ROLE_AUDIT, 0, MSG_EXCHANGE_END, &m, -1);
	budget_end(m.sent, m.received);
	if (m.error.len == 0 && x->key != NULL && !x->req.kind->quiet)
		trouble_status(
		    &x->reply, keyd_env.provider->routes[x->req.route].turn);
}

void
txn_report_refused(uint32_t stream, uint32_t exchange, const char *error)
{
	struct msg_EXCHANGE_END m = {
	    .stream = stream, .exchange = exchange, .error = span_str(error)};

	worker_send(&keyd_env.w, ROLE_AUDIT, 0, MSG_EXCHANGE_END, &m, -1);
}
