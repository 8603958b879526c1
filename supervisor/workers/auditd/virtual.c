/* SPDX-License-Identifier: ISC */
/*
 * Calls to the virtual server. A call is recorded like any other and passed to
 * icsupervisor; its outcome, as icsupervisor reports it, is recorded before the
 * agent sees it.
 */
#include "workers/auditd/auditd.h"

int
auditd_virtual(const struct msg_RELEASE *r)
{
	const struct msg_VIRTUAL m = {.id = r->id,
	    .tool = r->tool,
	    .args = span_of(r->payload.p + r->args_off, r->args_len)};

	if (m.tool.len > 64 || m.args.len > 65536)
		return -1;
	auditd_effect_msg(ROLE_SUP, 0, MSG_VIRTUAL, &m, m.id)->refuse =
	    auditd_call_refuse;
	return 0;
}

int
auditd_on_virtual_done(struct chan *c, const struct msg_VIRTUAL_DONE *m)
{
	const struct msg_ANSWER answer = {
	    .id = m->id, .error = m->error, .text = m->text};
	struct auditd_call *call = auditd_call_find(m->id);
	const struct auditd_result r = {
	    .status = m->error == 0 ? PROTO_RESULT_SUCCESS : PROTO_RESULT_ERROR,
	    .bytes = (uint32_t)m->text.len};

	/* The call was cancelled meanwhile and has ended already. */
	if (call == NULL || !auditd_env.servers[call->server].virtual) {
		auditd_env.dropped++;
		return 0;
	}
	auditd_result(call, &r);
	auditd_answer_later(&answer, m->id);
	auditd_call_end(call);
	return 0;
}
