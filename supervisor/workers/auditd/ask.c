/* SPDX-License-Identifier: ISC */
/*
 * Records requests of the model path that a person was asked about, on their
 * way out of policyd. An approved request goes to its keyd like any other; a
 * refused one goes back to mitmd, which answers the agent. Both are recorded
 * first, together with the preview that the person saw.
 */
#include "workers/auditd/auditd.h"

static void
ask_end(uint32_t id, uint8_t how)
{
	const struct msg_HOLD_END end = {.id = PROTO_ASK_ID | id, .state = how};

	if (how != PROTO_HOLD_NONE)
		auditd_effect_end(ROLE_SUP, 0, MSG_HOLD_END, &end);
}

int
auditd_on_request_approved(struct chan *c, const struct msg_REQUEST_APPROVED *m)
{
	const struct msg_REQUEST_GO go = {
	    F_REQUEST(PROTO_COPY, m).digest = m->digest};

	if (m->asked == 0 || m->digest.len != AUDITLOG_HASH ||
	    m->preview.len < 2 || auditd_breaks(m->preview))
		return chan_violation(
		    c, "REQUEST_APPROVED %u: not approved", m->id);
	auditd_request_line(&go, m);
	if (m->held != 0)
		ask_end(m->id, PROTO_HOLD_APPROVED);
	auditd_request_go(&go);
	return 0;
}

/* The request was refused anyway; only the reason changes. */
static void
refused_refuse(const struct auditd_effect *e)
{
	struct msg_REFUSED m = e->msg.REFUSED;

	m.reason = PROTO_REFUSED_AUDIT;
	worker_send(&auditd_env.w, e->to, e->index, MSG_REFUSED, &m, -1);
}

static void
unapproved_line(const struct msg_REQUEST_UNAPPROVED *m)
{
	struct auditlog_line l;

	auditd_line(&l, "askRefused");
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	auditlog_str(&l, "escalationResult",
	    m->reason == PROTO_REFUSED_LARGE ? SPAN("too large")
	    : m->hold == PROTO_HOLD_NONE
		? SPAN("headless")
		: span_str(auditd_hold_end((enum proto_hold)m->hold)));
	auditlog_u64(&l, "exchange", m->exchange);
	auditlog_u64(&l, "id", PROTO_ASK_ID | m->id);
	auditlog_u64(&l, "provider", m->provider);
	auditlog_json(&l, "request", m->preview);
	auditlog_str(&l, "serverName", m->name);
	auditlog_u64(&l, "stream", m->stream);
	auditlog_str(&l, "toolName", m->tool);
	auditd_line_end(&l);
}

int
auditd_on_request_unapproved(
    struct chan *c, const struct msg_REQUEST_UNAPPROVED *m)
{
	const struct msg_REFUSED refused = {
	    .stream = m->stream, .exchange = m->exchange, .reason = m->reason};

	if (m->digest.len != AUDITLOG_HASH || m->preview.len < 2 ||
	    m->hold == PROTO_HOLD_APPROVED ||
	    m->reason < PROTO_REFUSED_DENIED || auditd_breaks(m->preview))
		return chan_violation(
		    c, "REQUEST_UNAPPROVED %u: malformed", m->id);
	if (!auditd_counted_request(m))
		unapproved_line(m);
	ask_end(m->id, m->hold);
	auditd_effect_msg(ROLE_MITM, 0, MSG_REFUSED, &refused, 0)->refuse =
	    refused_refuse;
	return 0;
}
