/* SPDX-License-Identifier: ISC */
/*
 * Hosts that a person was asked to open: what policyd decided is recorded, and
 * only then does icsupervisor open the host, or mitmd refuse those that wait.
 */
#include "workers/auditd/auditd.h"

static bool
host_is_asked(uint64_t id)
{
	return (id & PROTO_ASK_ID) != 0 && (id & PROTO_HOST_ID) != 0;
}

static void
host_end(uint64_t id, uint8_t how)
{
	const struct msg_HOLD_END end = {.id = id, .state = how};

	auditd_effect_end(ROLE_SUP, 0, MSG_HOLD_END, &end);
}

/* It cannot be recorded that the host is opened: it stays shut. */
static void
open_refuse(const struct auditd_effect *e)
{
	const struct msg_HOST_SHUT_GO m = {.id = e->msg.HOST_OPEN_GO.id,
	    .reason = PROTO_SHUT_FAILED,
	    .host = e->msg.HOST_OPEN_GO.host};
	const struct msg_REVOKE_GO r = {.id = e->msg.HOST_OPEN_GO.id};

	worker_send(&auditd_env.w, ROLE_MITM, 0, MSG_HOST_SHUT_GO, &m, -1);
	worker_send(&auditd_env.w, ROLE_POLICY, 0, MSG_REVOKE_GO, &r, -1);
}

int
auditd_on_host_open(struct chan *c, const struct msg_HOST_OPEN *m)
{
	static const struct span kinds[] = {
	    [PROTO_OPEN_WEB] = SPAN("web"),
	    [PROTO_OPEN_GIT] = SPAN("git"),
	    [PROTO_OPEN_NPM] = SPAN("npm"),
	    [PROTO_OPEN_PYPI] = SPAN("pypi"),
	    [PROTO_OPEN_CRATES] = SPAN("crates"),
	    [PROTO_OPEN_DEBIAN] = SPAN("debian"),
	};
	struct auditlog_line l;

	if (!host_is_asked(m->id) || m->host.len == 0)
		return chan_violation(c, "HOST_OPEN of no question");
	auditd_line(&l, "hostOpen");
	auditlog_str(&l, "host", m->host);
	auditlog_u64(&l, "id", m->id);
	auditlog_str(&l, "kind", kinds[m->kind]);
	auditd_line_end(&l);
	host_end(m->id, PROTO_HOLD_APPROVED);
	/* HOST_OPEN and HOST_OPEN_GO have the same layout. */
	auditd_effect_msg(ROLE_SUP, 0, MSG_HOST_OPEN_GO, m, 0)->refuse =
	    open_refuse;
	return 0;
}

int
auditd_on_host_shut(struct chan *c, const struct msg_HOST_SHUT *m)
{
	struct auditlog_line l;

	if ((m->id != 0) != (m->hold != PROTO_HOLD_NONE) ||
	    (m->id != 0 && !host_is_asked(m->id)) ||
	    m->hold == PROTO_HOLD_APPROVED)
		return chan_violation(c, "HOST_SHUT of no question");
	/* mitmd records each refusal of a CONNECT by itself. */
	if (m->id != 0) {
		auditd_line(&l, "hostShut");
		auditlog_str(&l, "escalationResult",
		    span_str(auditd_hold_end((enum proto_hold)m->hold)));
		auditlog_str(&l, "host", m->host);
		auditlog_u64(&l, "id", m->id);
		auditd_line_end(&l);
		host_end(m->id, m->hold);
	}
	auditd_effect_end(ROLE_MITM, 0, MSG_HOST_SHUT_GO, m);
	return 0;
}
