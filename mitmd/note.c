/* SPDX-License-Identifier: ISC */
/*
 * Records what happens on connections: lines of the session's log, alarms and
 * refusals for the audit log. Each kind has a limit, since agents cause them.
 */
#include "mitmd.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"
#include "tls.h"

void
mitmd_note(const struct agent *a, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (mitmd_env.notes >= MITMD_MAX_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_info("connection %u: %s", a->number, text);
	if (++mitmd_env.notes == MITMD_MAX_NOTES)
		log_warnx("%u such lines: no more of them in this session",
		    MITMD_MAX_NOTES);
}

void
mitmd_alarm(const char *kind, const char *text)
{
	struct msg_ALARM m = {.kind = span_str(kind), .text = span_str(text)};

	if (mitmd_env.alarms >= MITMD_MAX_ALARMS)
		return;
	if (++mitmd_env.alarms == MITMD_MAX_ALARMS)
		m.text = SPAN("too many alarms: the last one recorded");
	worker_send(&mitmd_env.w, ROLE_AUDIT, 0, MSG_ALARM, &m, -1);
}

uint32_t
mitmd_denied(const struct agent *a, enum refusal no, unsigned status,
    struct span method, struct span target, const char *why)
{
	const struct refusal_text *t = refuse_text(no);
	char vis_method[33], vis_target[257];
	struct msg_DENIED m = {
	    .id = ++mitmd_env.last_refusal,
	    .status = (uint16_t)(status != 0 ? status : t->status),
	    .code = span_str(t->code),
	    .host = span_of(NULL, 0),
	};

	if (a->ssl != NULL)
		m.host = mitmd_host(a);
	m.method = span_str(log_vis(method, vis_method, sizeof(vis_method)));
	m.target = span_str(log_vis(target, vis_target, sizeof(vis_target)));
	worker_send(&mitmd_env.w, ROLE_AUDIT, 0, MSG_DENIED, &m, -1);
	mitmd_note(a, "%u %s, request %08x: %s%s%s%s%s", m.status, t->code,
	    m.id, vis_method, method.len != 0 ? " " : "", vis_target,
	    method.len != 0 && why != NULL ? ": " : "", why != NULL ? why : "");
	return m.id;
}
