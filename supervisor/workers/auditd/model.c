/* SPDX-License-Identifier: ISC */
/*
 * The model path through auditd: requests that mitmd checked go on to their
 * keyd once they are recorded. Ends of exchanges, usage, package decisions and
 * alarms are recorded too.
 */
#include "workers/auditd/auditd.h"

#include <stdio.h>

int
auditd_on_alarm(struct chan *c, const struct msg_ALARM *m)
{
	struct msg_ALARM_SHOW show = {.kind = m->kind, .text = m->text};
	struct auditlog_line l;
	char who[32];

	snprintf(
	    who, sizeof(who), "%s/%u", role_name(chan_peer(c)), chan_index(c));
	show.who = span_str(who);
	auditd_line(&l, "alarm");
	auditlog_str(&l, "kind", show.kind);
	auditlog_str(&l, "text", show.text);
	auditlog_str(&l, "who", show.who);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_SUP, 0, MSG_ALARM_SHOW, &show, 0);
	return 0;
}

void
auditd_request_line(
    const struct msg_REQUEST_GO *m, const struct msg_REQUEST_APPROVED *asked)
{
	struct auditlog_line l;

	auditd_line(&l, "modelRequest");
	if (asked != NULL && asked->held != 0)
		auditlog_u64(&l, "approved", PROTO_ASK_ID | asked->id);
	if ((m->stream & PROTO_APPROVER_STREAM) != 0)
		auditlog_bool(&l, "approver", true);
	if (m->body.len != 0)
		auditlog_hex(&l, "bodySha256", m->body.p, m->body.len);
	if (asked != NULL)
		auditlog_hex(&l, "digest", asked->digest.p, asked->digest.len);
	auditlog_u64(&l, "exchange", m->exchange);
	if (m->host != 0)
		auditlog_u64(&l, "host", m->host);
	auditlog_u64(&l, "length", m->length);
	auditlog_str(&l, "path", m->path);
	auditlog_u64(&l, "provider", m->provider);
	auditlog_str(&l, "query", m->query);
	if (asked != NULL)
		auditlog_json(&l, "request", asked->preview);
	auditlog_u64(&l, "route", m->route);
	auditlog_u64(&l, "stream", m->stream);
	auditd_line_end(&l);
	auditd_env.counts.requests++;
}

/* Returns the process that has the other end of the stream. */
static enum role
stream_owner(uint32_t stream)
{
	return (stream & PROTO_APPROVER_STREAM) != 0 ? ROLE_APPROVE : ROLE_MITM;
}

static void
request_answer(const struct auditd_effect *e, enum proto_refused reason)
{
	const struct msg_REFUSED m = {.stream = e->msg.REQUEST_GO.stream,
	    .exchange = e->msg.REQUEST_GO.exchange,
	    .reason = (uint8_t)reason};

	worker_send(
	    &auditd_env.w, stream_owner(m.stream), 0, MSG_REFUSED, &m, -1);
}

static void
request_refuse(const struct auditd_effect *e)
{
	request_answer(e, PROTO_REFUSED_AUDIT);
}

static bool
request_release(struct auditd_effect *e)
{
	if (auditd_env.w.peers[ROLE_KEY][e->index] == NULL)
		request_answer(e, PROTO_REFUSED_GONE);
	else
		worker_send(
		    &auditd_env.w, e->to, e->index, e->type, &e->msg, -1);
	return false;
}

void
auditd_request_go(const struct msg_REQUEST_GO *m)
{
	struct auditd_effect *e =
	    auditd_effect_msg(ROLE_KEY, m->provider, MSG_REQUEST_GO, m, 0);

	auditd_forge_released(m);
	e->release = request_release;
	e->refuse = request_refuse;
}

int
auditd_on_request(struct chan *c, const struct msg_REQUEST *m)
{
	const struct msg_REQUEST_GO go = {F_REQUEST(PROTO_COPY, m)};

	/* Only policyd can report that a person approved a request. */
	if (m->asked != 0 || m->refs.len != 0)
		return chan_violation(c, "REQUEST that was approved");
	if (stream_owner(m->stream) != chan_peer(c))
		return chan_violation(c, "REQUEST on another's stream");
	auditd_request_line(&go, NULL);
	auditd_request_go(&go);
	return 0;
}

int
auditd_on_exchange_end(struct chan *c, const struct msg_EXCHANGE_END *m)
{
	struct auditlog_line l;

	if (chan_peer(c) == ROLE_FOLLOW) {
		auditd_follow_end(m);
		return 0;
	}
	auditd_line(&l, "modelResponse");
	if (m->error.len != 0)
		auditlog_str(&l, "error", m->error);
	auditlog_u64(&l, "exchange", m->exchange);
	auditlog_u64(&l, "provider", chan_index(c));
	auditlog_u64(&l, "received", m->received);
	auditlog_u64(&l, "sent", m->sent);
	auditlog_u64(&l, "status", m->status);
	auditlog_u64(&l, "stream", m->stream);
	if (m->unsent != 0)
		auditlog_u64(&l, "unsent", m->unsent);
	auditd_line_end(&l);
	return 0;
}

/* Add what is not so of most answers. */
static void
usage_more(struct auditlog_line *l, const struct msg_USAGE *m)
{
	static const char *const tiers[PROTO_TIER_LAST + 1] = {
	    "standard", "batch", "flex", "priority"};

	auditlog_u64(l, "reasoning", m->reasoning);
	if (m->regional != 0)
		auditlog_bool(l, "regional", true);
	if (m->searches != 0)
		auditlog_u64(l, "searches", m->searches);
	if (m->cost != 0)
		auditlog_u64(l, "statedNanoUsd", m->cost);
	auditlog_u64(l, "stream", m->stream);
	if (m->tier != 0)
		auditlog_str(l, "tier", span_str(tiers[m->tier]));
}

/*
 * Record an answer's usage once the answer is complete; until then pass the
 * figures straight on.
 */
int
auditd_on_usage(struct chan *c, const struct msg_USAGE *m)
{
	struct auditlog_line l;

	if (stream_owner(m->stream) != chan_peer(c))
		return chan_violation(c, "USAGE of another's stream");
	if (m->last == 0) {
		worker_send(&auditd_env.w, ROLE_SUP, 0, MSG_USAGE_SHOW, m, -1);
		return 0;
	}
	auditd_line(&l, "usage");
	if (m->audio_in != 0)
		auditlog_u64(&l, "audioIn", m->audio_in);
	if (m->audio_out != 0)
		auditlog_u64(&l, "audioOut", m->audio_out);
	auditlog_u64(&l, "cacheRead", m->cache_read);
	auditlog_u64(&l, "cacheWrite", m->cache_write);
	if (m->cache_write_1h != 0)
		auditlog_u64(&l, "cacheWrite1h", m->cache_write_1h);
	if (m->said != 0)
		auditlog_bool(&l, "estimated", true);
	auditlog_u64(&l, "exchange", m->exchange);
	if (m->fast != 0)
		auditlog_bool(&l, "fast", true);
	auditlog_u64(&l, "in", m->in);
	if (m->message != 0)
		auditlog_u64(&l, "message", m->message);
	auditlog_str(&l, "model", m->model);
	auditlog_u64(&l, "out", m->out);
	auditlog_u64(&l, "provider", m->provider);
	usage_more(&l, m);
	auditd_line_end(&l);
	/* USAGE and USAGE_SHOW have the same layout, F_USAGE. */
	auditd_effect_msg(ROLE_SUP, 0, MSG_USAGE_SHOW, m, 0);
	return 0;
}

/* Record the decision of a registry's keyd about a package. */
int
auditd_on_package(struct chan *c, const struct msg_PACKAGE *m)
{
	struct auditlog_line l;

	auditd_line(&l, "package");
	auditlog_bool(&l, "allowed", m->allowed != 0);
	auditlog_str(&l, "name", m->name);
	auditlog_u64(&l, "provider", chan_index(c));
	auditlog_str(&l, "reason", m->reason);
	auditlog_str(&l, "source", m->source);
	auditlog_str(&l, "version", m->version);
	auditd_line_end(&l);
	return 0;
}
