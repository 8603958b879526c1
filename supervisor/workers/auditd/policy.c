/* SPDX-License-Identifier: ISC */
/*
 * Records of the policy itself: the rules in force from here on, tools that are
 * not as pinned, and tools that the user trusts.
 */
#include "workers/auditd/auditd.h"

int
auditd_on_rules_now(struct chan *c, const struct msg_RULES_NOW *m)
{
	struct auditlog_line l;

	auditd_line(&l, "policy");
	auditlog_hex(&l, "annotations", m->annotations.p, m->annotations.len);
	if (m->lists.len != 0)
		auditlog_hex(&l, "lists", m->lists.p, m->lists.len);
	auditlog_hex(&l, "policy", m->policy.p, m->policy.len);
	auditlog_u64(&l, "rules", m->rules);
	auditd_line_end(&l);
	return 0;
}

int
auditd_on_tool_seen(struct chan *c, const struct msg_TOOL_SEEN *m)
{
	static const char *const states[PROTO_TOOL_LAST + 1] = {"pinned",
	    "first", "trusted", "new", "changed", "look-alike", "drifted",
	    "gone"};
	struct auditlog_line l;

	if (m->digest.len != AUDITLOG_HASH ||
	    !auditd_env.servers[m->server].known)
		return chan_violation(c, "TOOL_SEEN of no server or digest");
	auditd_line(&l, "tool");
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	if (m->other.len != 0)
		auditlog_str(&l, "looksLike", m->other);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[m->server].name));
	auditlog_str(&l, "state", span_str(states[m->state]));
	auditlog_str(&l, "toolName", m->tool);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_SUP, 0, MSG_TOOL_SEEN_SHOW, m, 0);
	return 0;
}

int
auditd_on_tools_noted(struct chan *c, const struct msg_TOOLS_NOTED *m)
{
	struct auditlog_line l;

	if (!auditd_env.servers[m->server].known)
		return chan_violation(c, "TOOLS_NOTED of no server");
	auditd_line(&l, "definitions");
	if (m->more != 0)
		auditlog_u64(&l, "more", m->more);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[m->server].name));
	auditlog_json(&l, "tools", m->text);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_SUP, 0, MSG_TOOLS_NOTED_SHOW, m, 0);
	return 0;
}

int
auditd_on_trust(struct chan *c, const struct msg_TRUST *m)
{
	struct auditlog_line l;

	if (m->digest.len != AUDITLOG_HASH ||
	    !auditd_env.servers[m->server].known)
		return chan_violation(c, "TRUST of no server or digest");
	auditd_line(&l, "trust");
	auditlog_hex(&l, "digest", m->digest.p, m->digest.len);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[m->server].name));
	auditlog_str(&l, "toolName", m->tool);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_POLICY, 0, MSG_TRUST_GO, m, 0);
	return 0;
}
