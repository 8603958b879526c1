/* SPDX-License-Identifier: ISC */
/*
 * Calls whose server asked a question before it answered: each question has a
 * record in the call's thread, and only then is the call sent again, left to
 * the agent, or ended.
 */
#include "workers/auditd/auditd.h"

/* End the call that the agent or nobody goes on with. */
static void
round_end(struct auditd_call *call, const struct msg_ROUND *m)
{
	const bool failed = m->how == PROTO_ROUND_FAIL;
	const struct auditd_result r = {
	    .status = failed ? PROTO_RESULT_ERROR : PROTO_RESULT_SUCCESS,
	    .why = failed ? "its server asked what has no answer" : NULL};
	const struct msg_ANSWER answer = {
	    .id = m->id, .error = 1, .text = m->text};
	const struct msg_ROUND_ANSWER state = {.id = m->id, .state = m->text};

	auditd_result(call, &r);
	if (failed)
		auditd_answer_later(&answer, m->id);
	else
		auditd_effect_msg(
		    ROLE_PROXY, 0, MSG_ROUND_ANSWER, &state, m->id)
		    ->refuse = auditd_call_refuse;
	call->error = failed;
	auditd_call_end(call);
}

int
auditd_on_round(struct chan *c, const struct msg_ROUND *m)
{
	static const char *const hows[] = {"retry", "agent", "failed"};
	struct span line = span_of(m->payload.p, m->line_len), log;
	struct auditd_call *call = auditd_call_find(m->id);
	struct auditlog_line l;

	if (m->line_len > m->payload.len || m->log_off > m->payload.len ||
	    m->log_len > m->payload.len - m->log_off || m->log_len < 2)
		return chan_violation(
		    c, "ROUND %llu: bad offsets", (unsigned long long)m->id);
	log = span_of(m->payload.p + m->log_off, m->log_len);
	if (auditd_breaks(log) ||
	    (m->how == PROTO_ROUND_RETRY &&
		(line.len == 0 ||
		    memchr(line.p, '\n', line.len) != line.p + line.len - 1)) ||
	    (m->how == PROTO_ROUND_AGENT &&
		(m->text.len == 0 || m->text.len > PROTO_MAX_STATE)))
		return chan_violation(
		    c, "ROUND %llu: not one line", (unsigned long long)m->id);
	/* The call may have ended meanwhile. */
	if (call == NULL)
		return 0;
	auditd_line(&l, "round");
	auditlog_json(&l, "detail", log);
	auditlog_str(&l, "how", span_str(hows[m->how]));
	auditlog_u64(&l, "id", m->id);
	auditlog_u64(&l, "number", m->round);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[call->server].name));
	auditd_line_end(&l);
	if (m->how == PROTO_ROUND_RETRY)
		auditd_server_line(call->server, m->id, line);
	else
		round_end(call, m);
	return 0;
}
