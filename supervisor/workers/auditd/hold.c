/* SPDX-License-Identifier: ISC */
/*
 * Pending calls and the answers to them, on their way through the log: a
 * pending call is shown once it is recorded, and a verdict counts once it is
 * recorded.
 */
#include "workers/auditd/auditd.h"

const char *
auditd_hold_end(enum proto_hold how)
{
	static const char *const ends[] = {"", "approved", "denied", "expired",
	    "cancelled", "changed", "reloaded"};

	return ends[how];
}

/*
 * Returns the process that acts on the verdict: policyd, or a login's keyd, or
 * icsupervisor for a limit of the budget.
 */
static enum role
hold_owner(uint64_t id, unsigned *index)
{
	*index = 0;
	switch (id & PROTO_ID_KINDS) {
	case PROTO_LOGIN_ID:
		*index = (unsigned)(id & 0xff);
		return ROLE_KEY;
	case PROTO_BUDGET_ID:
		return ROLE_SUP;
	default:
		return ROLE_POLICY;
	}
}

/* Returns true if the sender may report on `id`. */
static bool
hold_is_of(const struct chan *c, uint64_t id)
{
	enum role owner;
	unsigned index;

	if (chan_peer(c) == ROLE_POLICY)
		return (id & (PROTO_LOGIN_ID | PROTO_BUDGET_ID)) == 0;
	owner = hold_owner(id, &index);
	return owner == chan_peer(c) && index == chan_index(c);
}

/*
 * Deny a call that cannot be shown, or whose verdict cannot be recorded, so
 * that the agent does not wait for an answer that will never come.
 */
static void
hold_deny(uint64_t id, struct span digest)
{
	const struct msg_VERDICT_GO m = {.id = id,
	    .digest = digest,
	    .because = SPAN("the audit log cannot be written")};
	enum role owner;
	unsigned index;

	owner = hold_owner(id, &index);
	worker_send(&auditd_env.w, owner, index, MSG_VERDICT_GO, &m, -1);
}

static void
hold_refuse(const struct auditd_effect *e)
{
	hold_deny(e->msg.HOLD_SHOW.id, e->msg.HOLD_SHOW.digest);
}

static void
verdict_refuse(const struct auditd_effect *e)
{
	hold_deny(e->msg.VERDICT_GO.id, e->msg.VERDICT_GO.digest);
}

int
auditd_on_hold(struct chan *c, const struct msg_HOLD *m)
{
	struct auditlog_line l;

	if (m->digest.len != AUDITLOG_HASH)
		return chan_violation(c, "HOLD without digest");
	if (!hold_is_of(c, m->id))
		return chan_violation(c, "HOLD of another's");
	if (m->args < 2 || m->args > m->preview.len)
		return chan_violation(c, "HOLD without its arguments");
	if (auditd_breaks(m->session))
		return chan_violation(c, "HOLD: more than one line");
	auditd_line(&l, "hold");
	if (m->automatic != 0)
		auditlog_bool(&l, "automatic", true);
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	auditlog_str(
	    &l, "effect", m->logged.len != 0 ? m->logged : m->effect);
	if (m->ms != 0)
		auditlog_u64(&l, "expiresMs", m->ms);
	if (m->session.len != 0)
		auditlog_json(&l, "forSession", m->session);
	auditlog_u64(&l, "id", m->id);
	auditlog_str(&l, "reason", m->reason);
	auditlog_str(&l, "rule", m->rule);
	auditlog_str(&l, "serverName", m->server_name);
	auditlog_str(&l, "toolName", m->tool);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_SUP, 0, MSG_HOLD_SHOW, m, 0)->refuse =
	    hold_refuse;
	return 0;
}

int
auditd_on_verdict(struct chan *c, const struct msg_VERDICT *m)
{
	struct auditlog_line l;
	enum role owner;
	unsigned index;

	if (m->digest.len != AUDITLOG_HASH ||
	    m->session.len % AUDITLOG_HASH != 0)
		return chan_violation(c, "VERDICT without digest");
	if (m->automatic != 0 && (m->id & PROTO_ID_KINDS) != 0)
		return chan_violation(c, "VERDICT of the approver on no call");
	auditd_line(&l, "verdict");
	if (m->automatic != 0)
		auditlog_bool(&l, "autoApproved", m->approve != 0);
	auditlog_str(&l, "because", m->because);
	if (m->by.len != 0)
		auditlog_str(&l, "claimedBy", m->by);
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	if (m->session.len != 0)
		auditlog_bool(&l, "forSession", true);
	auditlog_u64(&l, "id", m->id);
	if (m->times != 0)
		auditlog_u64(&l, "times", m->times);
	auditlog_str(
	    &l, "verdict", m->approve != 0 ? SPAN("approve") : SPAN("deny"));
	auditd_line_end(&l);
	owner = hold_owner(m->id, &index);
	auditd_effect_msg(owner, index, MSG_VERDICT_GO, m, 0)->refuse =
	    verdict_refuse;
	return 0;
}

/* A server's question has ended. Its server is told after this. */
int
auditd_on_question_end(struct chan *c, const struct msg_QUESTION_END *m)
{
	static const struct span actions[] = {
	    [PROTO_ACTION_ACCEPT] = SPAN("accept"),
	    [PROTO_ACTION_DECLINE] = SPAN("decline"),
	    [PROTO_ACTION_CANCEL] = SPAN("cancel"),
	};
	const struct msg_HOLD_END end = {.id = m->id, .state = m->state};
	struct auditlog_line l;

	if ((m->id & PROTO_ASK_ID) == 0 || (m->id & PROTO_QUESTION_ID) == 0 ||
	    m->digest.len != AUDITLOG_HASH ||
	    m->call_digest.len != AUDITLOG_HASH ||
	    !auditd_env.servers[m->server].known || m->asked.len == 0 ||
	    auditd_breaks(m->asked) || auditd_breaks(m->answer))
		return chan_violation(c, "QUESTION_END of no question");
	auditd_line(&l, "elicitation");
	auditlog_str(&l, "action", actions[m->action]);
	if (m->answer.len != 0)
		auditlog_json(&l, "answer", m->answer);
	auditlog_json(&l, "asked", m->asked);
	auditlog_u64(&l, "call", m->call);
	auditlog_hex(
	    &l, "callDigest", m->call_digest.p, m->call_digest.len);
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	auditlog_str(&l, "escalationResult",
	    span_str(auditd_hold_end((enum proto_hold)m->state)));
	auditlog_u64(&l, "id", m->id);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[m->server].name));
	auditd_line_end(&l);
	auditd_effect_end(ROLE_SUP, 0, MSG_HOLD_END, &end);
	return 0;
}

/* The approver's opinion, which decides nothing before it is recorded. */
int
auditd_on_opinion(struct chan *c, const struct msg_OPINION *m)
{
	static const struct span words[] = {
	    [PROTO_OPINION_LEAVE] = SPAN("leave"),
	    [PROTO_OPINION_APPROVE] = SPAN("approve"),
	    [PROTO_OPINION_FAILED] = SPAN("failed"),
	};
	struct auditlog_line l;

	if (m->digest.len != AUDITLOG_HASH)
		return chan_violation(c, "OPINION without digest");
	auditd_line(&l, "opinion");
	auditlog_str(&l, "decision", words[m->decision]);
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	auditlog_u64(&l, "id", m->id);
	auditlog_str(&l, "reasoning", m->reasoning);
	auditd_line_end(&l);
	/* Unless it is recorded, it is not shown, and a person decides. */
	auditd_effect_msg(ROLE_SUP, 0, MSG_OPINION_SHOW, m, 0);
	return 0;
}

/* The verdict is recorded already; report the end of the pending call. */
int
auditd_on_approved(struct chan *c, const struct msg_APPROVED *m)
{
	const struct msg_HOLD_END end = {
	    .id = m->id, .state = m->state, .granted = m->granted};

	if (!hold_is_of(c, end.id))
		return chan_violation(c, "APPROVED of another's");
	auditd_effect_end(ROLE_SUP, 0, MSG_HOLD_END, &end);
	return 0;
}

int
auditd_on_late(struct chan *c, const struct msg_LATE *m)
{
	struct auditlog_line l;

	if (!hold_is_of(c, m->id))
		return chan_violation(c, "LATE of another's");
	auditd_line(&l, "tooLate");
	auditlog_u64(&l, "id", m->id);
	auditd_line_end(&l);
	auditd_effect_end(ROLE_SUP, 0, MSG_LATE_SHOW, m);
	return 0;
}

/* A use is in the record of its call; it is only shown. */
int
auditd_on_grant(struct chan *c, const struct msg_GRANT *m)
{
	struct auditlog_line l;

	if (auditd_breaks(m->text) || auditd_breaks(m->bound) ||
	    (m->bound.len != 0 && m->state != PROTO_GRANT_MADE) ||
	    (m->state == PROTO_GRANT_MADE && m->text.len == 0))
		return chan_violation(c, "GRANT is not one line");
	if (m->state != PROTO_GRANT_USED) {
		auditd_line(&l, "grant");
		if (m->bound.len != 0)
			auditlog_json(&l, "bound", m->bound);
		if (m->ms != 0)
			auditlog_u64(&l, "expiresMs", m->ms);
		if (m->state == PROTO_GRANT_MADE)
			auditlog_json(&l, "forSession", m->text);
		auditlog_u64(&l, "id", m->id);
		if (m->state == PROTO_GRANT_ENDED)
			auditlog_str(&l, "reason", m->text);
		if (m->ms != 0)
			auditlog_u64(&l, "remaining", m->left);
		auditlog_str(&l, "state",
		    m->state == PROTO_GRANT_MADE   ? SPAN("made")
		    : m->state == PROTO_GRANT_KEPT ? SPAN("kept")
						   : SPAN("ended"));
		auditd_line_end(&l);
	}
	auditd_effect_end(ROLE_SUP, 0, MSG_GRANT_SHOW, m);
	return 0;
}

int
auditd_on_revoke(struct chan *c, const struct msg_REVOKE *m)
{
	struct auditlog_line l;

	auditd_line(&l, "revoke");
	auditlog_u64(&l, "id", m->id);
	auditd_line_end(&l);
	/* Less than before is allowed, so it happens also unrecorded. */
	auditd_effect_end(ROLE_POLICY, 0, MSG_REVOKE_GO, m);
	return 0;
}
