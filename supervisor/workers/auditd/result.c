/* SPDX-License-Identifier: ISC */
/*
 * The ends of calls that went to a server: one record each. If people follow
 * the calls of the session, icsupervisor is told of each call and of its end.
 */
#include "workers/auditd/auditd.h"

#include "common/bucket.h"

#define SHOW_PREVIEW 1024U

static struct {
	bool on;
	struct bucket bucket;
	uint32_t missed; /* calls since the last one that was reported */
} show_env = {.bucket = {.burst = 1000, .ms = 10}};

void
auditd_show_calls(void)
{
	show_env.on = true;
}

void
auditd_show_missed(void)
{
	if (show_env.on)
		show_env.missed++;
}

bool
auditd_show(const struct msg_RELEASE *m, struct span args)
{
	struct msg_CALL_SHOW show = {.id = m->id,
	    .server_name = m->server_name,
	    .tool = m->tool,
	    .forward = m->forward,
	    .hold = m->hold,
	    .reason = m->reason,
	    .preview = args,
	    .missed = show_env.missed};

	if (!show_env.on)
		return false;
	if (!bucket_take(&show_env.bucket, loop_now(&auditd_env.w.loop))) {
		show_env.missed++;
		return false;
	}
	show_env.missed = 0;
	if (args.len > SHOW_PREVIEW) {
		/* A cut must not leave a part of a character. */
		show.preview.len = SHOW_PREVIEW;
		while ((args.p[show.preview.len] & 0xc0) == 0x80)
			show.preview.len--;
	}
	auditd_effect_msg(ROLE_SUP, 0, MSG_CALL_SHOW, &show, 0);
	return true;
}

void
auditd_result(const struct auditd_call *c, const struct auditd_result *r)
{
	static const char *const statuses[] = {
	    "success", "error", "lost", "undelivered", "cancelled"};
	uint64_t us = clock_mono_us() - c->since;
	const struct msg_RESULT_SHOW show = {.id = c->id,
	    .status = (uint8_t)r->status,
	    .us = us > r->ago ? us - r->ago : 0};
	struct auditlog_line l;

	auditd_line(&l, "result");
	if (r->blocked)
		auditlog_bool(&l, "blocked", true);
	if (r->status <= PROTO_RESULT_ERROR)
		auditlog_u64(&l, "bytes", r->bytes);
	auditlog_ms(&l, "durationMs", show.us);
	if (r->why != NULL)
		auditlog_str(&l, "error", span_str(r->why));
	auditlog_u64(&l, "id", c->id);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[c->server].name));
	auditlog_str(&l, "status", span_str(statuses[r->status]));
	auditd_line_end(&l);
	if (c->shown)
		auditd_effect_end(ROLE_SUP, 0, MSG_RESULT_SHOW, &show);
}
