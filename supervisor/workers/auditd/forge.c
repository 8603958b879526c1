/* SPDX-License-Identifier: ISC */
/*
 * Records the lookups of ids in requests to forges, on their way from policyd
 * to the forge's keyd, and what keyd found, on its way back; and the redirects
 * of forges to files, on their way from keyd to followd.
 */
#include "workers/auditd/auditd.h"

#include "common/sha256.h"

static void
forge_lost(uint16_t provider, uint32_t id, uint8_t n)
{
	const struct msg_FORGE_FOUND_GO m = {.provider = provider,
	    .id = id,
	    .n = n,
	    .why = SPAN("it could not be looked up")};

	worker_send(&auditd_env.w, ROLE_POLICY, 0, MSG_FORGE_FOUND_GO, &m, -1);
}

static void
look_refuse(const struct auditd_effect *e)
{
	const struct msg_FORGE_LOOK_GO *m = &e->msg.FORGE_LOOK_GO;

	forge_lost(m->provider, m->id, m->n);
}

static bool
look_release(struct auditd_effect *e)
{
	if (auditd_env.w.peers[ROLE_KEY][e->index] == NULL)
		look_refuse(e);
	else
		worker_send(
		    &auditd_env.w, e->to, e->index, e->type, &e->msg, -1);
	return false;
}

int
auditd_on_forge_look(struct chan *c, const struct msg_FORGE_LOOK *m)
{
	struct auditd_effect *e;
	struct auditlog_line l;

	auditd_line(&l, "forgeLookup");
	auditlog_u64(&l, "id", PROTO_ASK_ID | m->id);
	auditlog_u64(&l, "n", m->n);
	auditlog_u64(&l, "provider", m->provider);
	auditlog_str(&l, "ref", m->ref);
	auditlog_str(&l, "repository", m->repository);
	auditd_line_end(&l);
	/* FORGE_LOOK and FORGE_LOOK_GO have the same layout. */
	e = auditd_effect_msg(ROLE_KEY, m->provider, MSG_FORGE_LOOK_GO, m, 0);
	e->release = look_release;
	e->refuse = look_refuse;
	return 0;
}

static void
found_refuse(const struct auditd_effect *e)
{
	const struct msg_FORGE_FOUND_GO *m = &e->msg.FORGE_FOUND_GO;

	forge_lost(m->provider, m->id, m->n);
}

int
auditd_on_forge_found(struct chan *c, const struct msg_FORGE_FOUND *m)
{
	const struct msg_FORGE_FOUND_GO go = {
	    .provider = (uint16_t)chan_index(c), F_FORGE_FOUND(PROTO_COPY, m)};
	struct auditlog_line l;

	auditd_line(&l, "forgeFound");
	auditlog_bool(&l, "found", m->found.len != 0);
	auditlog_u64(&l, "id", PROTO_ASK_ID | m->id);
	auditlog_u64(&l, "n", m->n);
	auditlog_u64(&l, "provider", go.provider);
	if (m->why.len != 0)
		auditlog_str(&l, "reason", m->why);
	auditd_line_end(&l);
	auditd_effect_msg(ROLE_POLICY, 0, MSG_FORGE_FOUND_GO, &go, 0)->refuse =
	    found_refuse;
	return 0;
}

static void
follow_refuse(const struct auditd_effect *e)
{
	const struct msg_REFUSED m = {.stream = e->msg.FOLLOW_GO.stream,
	    .exchange = e->msg.FOLLOW_GO.exchange,
	    .reason = PROTO_REFUSED_AUDIT};

	worker_send(&auditd_env.w, ROLE_MITM, 0, MSG_REFUSED, &m, -1);
}

/*
 * The exchange that was released last on each stream of mitmd, and can still be
 * redirected. exchange: 0 if it was.
 */
static struct {
	uint32_t stream, exchange;
	uint16_t provider;
} released[PROTO_MAX_MITM_STREAMS];

void
auditd_forge_released(const struct msg_REQUEST_GO *m)
{
	const size_t at = m->stream % PROTO_MAX_MITM_STREAMS;

	if ((m->stream & PROTO_APPROVER_STREAM) != 0)
		return;
	released[at].stream = m->stream;
	released[at].exchange = m->exchange;
	released[at].provider = m->provider;
}

/* The address itself lets anybody read the file: the log has its digest. */
int
auditd_on_follow(struct chan *c, const struct msg_FOLLOW *m)
{
	const size_t at = m->stream % PROTO_MAX_MITM_STREAMS;
	uint8_t digest[SHA256_SIZE];
	struct auditlog_line l;

	if (m->provider != chan_index(c))
		return chan_violation(c, "FOLLOW of another provider");
	/* mitmd may have closed the stream, and another has its place. */
	if (released[at].stream != 0 && released[at].stream != m->stream)
		return 0;
	if (m->exchange == 0 || released[at].stream != m->stream ||
	    released[at].exchange != m->exchange ||
	    released[at].provider != m->provider)
		return chan_violation(
		    c, "FOLLOW of a request that was not released to it");
	released[at].exchange = 0;
	sha256_span(m->target, digest);
	auditd_line(&l, "redirect");
	auditlog_u64(&l, "exchange", m->exchange);
	auditlog_str(&l, "host", m->host);
	auditlog_hex(&l, "pathSha256", digest, sizeof(digest));
	auditlog_u64(&l, "provider", m->provider);
	auditlog_u64(&l, "stream", m->stream);
	auditd_line_end(&l);
	/* FOLLOW and FOLLOW_GO have the same layout. */
	auditd_effect_msg(ROLE_FOLLOW, 0, MSG_FOLLOW_GO, m, 0)->refuse =
	    follow_refuse;
	return 0;
}

/* The file was passed on, or not. */
void
auditd_follow_end(const struct msg_EXCHANGE_END *m)
{
	struct auditlog_line l;

	auditd_line(&l, "redirectEnd");
	if (m->error.len != 0)
		auditlog_str(&l, "error", m->error);
	auditlog_u64(&l, "exchange", m->exchange);
	auditlog_u64(&l, "received", m->received);
	auditlog_u64(&l, "status", m->status);
	auditlog_u64(&l, "stream", m->stream);
	auditd_line_end(&l);
}
