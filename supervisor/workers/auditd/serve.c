/* SPDX-License-Identifier: ISC */
/*
 * The messages that auditd accepts, and the line and the effect of each.
 * Members of a line are added in the order of their names' bytes.
 */
#include "workers/auditd/auditd.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/ipc/wire.h"
#include "common/log.h"

/*
 * Lines of one turn: many messages, each of at most PROTO_MAX_TREE and a head.
 */
#define OUT_MAX (512U << 20)

static int
on_log(struct chan *c, const struct msg_LOG *m, int fd)
{
	if (auditd_env.fd != -1 || m->prev.len != AUDITLOG_HASH) {
		close(fd);
		return chan_violation(c, "LOG twice or malformed");
	}
	auditd_env.fd = fd;
	auditd_env.sync = m->sync != 0;
	if (m->calls != 0)
		auditd_show_calls();
	auditd_env.room = m->room;
	auditd_env.log.seq = m->seq;
	memcpy(auditd_env.log.prev, m->prev.p, AUDITLOG_HASH);
	return 0;
}

static void
serve_commit(void *arg)
{
	do {
		auditd_commit();
		auditd_servers_write();
	} while (auditd_env.out.len != 0 || !TAILQ_EMPTY(&auditd_env.effects));
	auditd_unasked_tell();
}

static int
on_log_next(struct chan *c, const struct msg_LOG_NEXT *m, int fd)
{
	static const struct msg_LOG_TAKEN taken;

	if (!auditd_env.full) {
		close(fd);
		return chan_violation(c, "LOG_NEXT that was not asked for");
	}
	/* The file that is full has counted what it has seen. */
	auditd_refusals_flush();
	serve_commit(NULL);
	close(auditd_env.fd);
	auditd_env.fd = fd;
	auditd_env.room = m->room;
	auditd_env.full = false;
	worker_send(&auditd_env.w, ROLE_SUP, 0, MSG_LOG_TAKEN, &taken, -1);
	return 0;
}

static void
on_stop(void)
{
	auditd_refusals_flush();
	serve_commit(NULL);
	/* If the log failed, icsupervisor appends the closing record itself. */
	worker_exit(&auditd_env.w, auditd_env.failed[0] != '\0' ? 1 : 0);
}

static int
on_event(struct chan *c, const struct msg_EVENT *m)
{
	static const struct msg_LOGGED logged;
	struct auditlog_line l;
	char event[33];
	bool last;

	if (auditd_env.fd == -1)
		return chan_violation(c, "EVENT before LOG");
	if (span_copy(m->event, event, sizeof(event)) == -1)
		return chan_violation(c, "EVENT without a name");
	last = strcmp(event, "stop") == 0;
	/* A state has what the records before it say: resume/carry.h. */
	if (strcmp(event, "state") == 0)
		auditd_counted_flush();
	/*
	 * Effects may add records of their own: write those before the last
	 * one.
	 */
	if (last) {
		auditd_refusals_flush();
		auditd_calls_over();
		serve_commit(NULL);
	}
	auditd_line(&l, event);
	auditlog_json(&l, "detail", m->detail);
	auditd_line_end(&l);
	if (last)
		on_stop();
	/*
	 * The session starts once its first record is written, and an undo or a
	 * paste once its own is.
	 */
	if (!auditd_env.logged || strcmp(event, "undo") == 0 ||
	    strcmp(event, "paste") == 0) {
		auditd_env.logged = true;
		auditd_effect_msg(ROLE_SUP, 0, MSG_LOGGED, &logged, 0);
	}
	return 0;
}

/* Refuse to run without a log: nothing could ever be released. */
static void
on_start(void)
{
	if (!auditd_env.logged || auditd_env.failed[0] != '\0')
		fatalx("START without a log");
}

static int
on_server(struct chan *c, const struct msg_SERVER *m)
{
	struct auditd_server *s = &auditd_env.servers[m->index];

	if (s->known || span_copy(m->name, s->name, sizeof(s->name)) == -1)
		return chan_violation(c, "SERVER %u twice", m->index);
	s->known = true;
	s->virtual = m->virtual != 0;
	return 0;
}

static int
on_server_stdin(struct chan *c, const struct msg_SERVER_STDIN *m, int fd)
{
	unsigned server = m->server;

	if (auditd_server_again(server, fd) == 0)
		return 0;
	if (!auditd_env.servers[server].known ||
	    auditd_env.servers[server].fd != -1) {
		close(fd);
		return chan_violation(
		    c, "SERVER_STDIN %u unknown or twice", server);
	}
	auditd_server_stdin(server, fd);
	return 0;
}

static int
on_counts_get(struct chan *c, const struct msg_COUNTS_GET *m)
{
	auditd_env.counts.seq = auditd_env.log.seq;
	worker_send(
	    &auditd_env.w, ROLE_SUP, 0, MSG_COUNTS, &auditd_env.counts, -1);
	return 0;
}

/* Returns the arguments as people may see them. */
static struct span
call_shown(const struct msg_RELEASE *m)
{
	return m->log_len != 0
		   ? span_of(m->payload.p + m->log_off, m->log_len)
		   : span_of(m->payload.p + m->args_off, m->args_len);
}

static void
add_call_line(const struct msg_RELEASE *m)
{
	struct span args = span_of(m->payload.p + m->args_off, m->args_len);
	struct span named = span_of(m->payload.p + m->named_off, m->named_len);
	uint8_t digest[AUDITLOG_HASH];
	struct auditlog_line l;

	auditlog_digest(m->server_name, m->tool, args, named, digest);
	auditd_line(&l, "call");
	auditlog_json(&l, "arguments", call_shown(m));
	if (m->automatic != 0)
		auditlog_bool(&l, "autoApproved", true);
	if (m->thread != 0)
		auditlog_u64(&l, "continues", m->thread);
	auditlog_hex(&l, "digest", digest, sizeof(digest));
	if (m->hold != PROTO_HOLD_NONE)
		auditlog_str(&l, "escalationResult",
		    span_str(auditd_hold_end((enum proto_hold)m->hold)));
	if (m->grant == m->id)
		auditlog_bool(&l, "forSession", true);
	auditlog_u64(&l, "id", m->id);
	if (m->forward != 0 && m->server >= PROTO_FIRST_INSTANCE)
		auditlog_u64(&l, "instance", m->server);
	if (m->redacted == PROTO_REDACTED_OTHER)
		auditlog_bool(&l, "judgedWhole", true);
	if (named.len != 0)
		auditlog_json(&l, "named", named);
	auditd_decision(&l, m->status, m->rule, m->reason);
	if (m->redacted != 0)
		auditlog_bool(&l, "redacted", true);
	auditlog_str(&l, "serverName", m->server_name);
	auditlog_str(&l, "toolName", m->tool);
	if (m->grant != 0 && m->grant != m->id) {
		auditlog_bool(&l, "whitelistApproved", true);
		auditlog_u64(&l, "whitelistPatternId", m->grant);
	}
	if (m->grant != 0 && m->left != PROTO_UNCOUNTED)
		auditlog_u64(&l, "whitelistRemaining", m->left);
	auditd_line_end(&l);
}

static bool
inside(uint32_t off, uint32_t len, size_t all)
{
	return off <= all && len <= all - off;
}

static void
count_call(const struct msg_RELEASE *m)
{
	if (m->forward != 0)
		auditd_env.counts.allowed++;
	else
		auditd_env.counts.denied++;
	if (m->status == PROTO_ESCALATE || m->hold != PROTO_HOLD_NONE)
		auditd_env.counts.escalated++;
}

/*
 * Returns true if the server is known and `line` is exactly one line.
 */
static bool
deliverable(const struct msg_RELEASE *m, struct span line)
{
	if (m->server >= PROTO_MAX_SERVERS ||
	    !auditd_env.servers[m->server].known)
		return false;
	/* icsupervisor answers for the virtual server, which takes no lines. */
	if (auditd_env.servers[m->server].virtual)
		return line.len == 0;
	return line.len != 0 &&
	       memchr(line.p, '\n', line.len) == line.p + line.len - 1;
}

/* Report the end to policyd in a batch. */
static bool
release_ended(struct auditd_effect *e)
{
	auditd_ended(e->msg.ENDED.first, false);
	return false;
}

/* Answer a call that is not forwarded. `counted`: it has no record of its own.
 */
static void
release_refused(const struct msg_RELEASE *m, bool counted)
{
	const struct msg_ANSWER answer = {
	    .id = m->id, .error = 1, .counted = counted, .text = m->answer};
	const struct msg_ENDED ended = {.first = m->id};

	auditd_answer_later(&answer, m->id);
	auditd_effect_msg(ROLE_POLICY, 0, MSG_ENDED, &ended, 0)->release =
	    release_ended;
}

static int
on_release(struct chan *c, const struct msg_RELEASE *m)
{
	const struct msg_HOLD_END end = {.id = m->id,
	    .state = m->hold,
	    .granted = m->grant == m->id && m->grant != 0};
	struct span line = span_of(m->payload.p, m->line_len);
	struct auditd_call *call;
	bool shown;

	if (!inside(0, m->line_len, m->payload.len) || m->id == 0 ||
	    !inside(m->args_off, m->args_len, m->payload.len) ||
	    !inside(m->log_off, m->log_len, m->payload.len) ||
	    !inside(m->named_off, m->named_len, m->payload.len) ||
	    m->args_len < 2)
		return chan_violation(
		    c, "RELEASE %llu: bad offsets", (unsigned long long)m->id);
	if (auditd_breaks(span_of(m->payload.p + m->args_off, m->args_len)) ||
	    auditd_breaks(span_of(m->payload.p + m->log_off, m->log_len)) ||
	    auditd_breaks(span_of(m->payload.p + m->named_off, m->named_len)))
		return chan_violation(c, "RELEASE %llu: more than one line",
		    (unsigned long long)m->id);
	if (m->forward != 0 && !deliverable(m, line))
		return chan_violation(
		    c, "RELEASE %llu: not one line", (unsigned long long)m->id);
	count_call(m);
	if (auditd_counted_call(m)) {
		auditd_show_missed();
		release_refused(m, true);
		return 0;
	}
	add_call_line(m);
	if (m->hold != PROTO_HOLD_NONE && m->over == 0)
		auditd_effect_end(ROLE_SUP, 0, MSG_HOLD_END, &end);
	shown = auditd_show(m, call_shown(m));
	if (m->forward != 0) {
		if ((call = auditd_call_new(m->id, m->server)) == NULL)
			return chan_violation(c, "more calls than allowed");
		call->shown = shown;
		if (!auditd_env.servers[m->server].virtual)
			auditd_server_line(m->server, m->id, line);
		else if (auditd_virtual(m) == -1)
			return chan_violation(c, "RELEASE: too long");
		return 0;
	}
	release_refused(m, false);
	return 0;
}

static int
on_session(struct chan *c, const struct msg_SESSION *m)
{
	struct auditd_call *call;
	struct auditlog_line l;

	if (!auditd_env.servers[m->server].known || m->line.len == 0 ||
	    memchr(m->line.p, '\n', m->line.len) != m->line.p + m->line.len - 1)
		return chan_violation(c, "SESSION is not one line");
	auditd_line(&l, "session");
	auditlog_str(&l, "message", m->what);
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[m->server].name));
	auditd_line_end(&l);
	if (!auditd_env.servers[m->server].virtual)
		auditd_server_line(m->server, 0, m->line);
	call = auditd_call_find(m->id);
	if (call != NULL && call->server == m->server)
		auditd_call_cancelled(call);
	return 0;
}

static int
on_done(struct chan *c, const struct msg_DONE *m)
{
	const struct auditd_result r = {.status = m->status == 0
						      ? PROTO_RESULT_SUCCESS
						      : PROTO_RESULT_ERROR,
	    .blocked = m->blocked != 0,
	    .bytes = m->bytes,
	    .ago = m->ago};
	struct auditd_call *call = auditd_call_find(m->id);

	if (call == NULL || call->server != chan_index(c)) {
		auditd_unasked(chan_index(c));
		return 0;
	}
	auditd_result(call, &r);
	call->error = m->status != 0;
	auditd_call_end(call);
	return 0;
}

static int
on_dones(struct chan *c, const struct msg_DONES *m)
{
	const struct proto_msg *row = proto_find(MSG_DONE);
	const struct span none = {NULL, 0};
	union proto_any done;

	for (size_t i = 0; i < m->each.len; i += PROTO_DONE_SIZE) {
		if (m->each.len - i < PROTO_DONE_SIZE ||
		    wire_decode(
			row, m->each.p + i, PROTO_DONE_SIZE, none, &done) == -1)
			return chan_violation(c, "malformed DONE in DONES");
		if (on_done(c, &done.DONE) == -1)
			return -1;
	}
	return 0;
}

static int
on_gone(struct chan *c, const struct msg_GONE *m)
{
	char why[512 + 32], vis[480];

	snprintf(
	    why, sizeof(why), "ended (%s)", log_vis(m->text, vis, sizeof(vis)));
	auditd_server_lost(chan_index(c), why);
	auditd_server_gone(chan_index(c), m->died != 0);
	return 0;
}

static int
on_state(struct chan *c, const struct msg_STATE *m)
{
	static const char *const states[] = {
	    "starting", "listing", "ready", "gone", "died"};
	struct auditlog_line l;

	auditd_line(&l, "serverState");
	auditlog_str(
	    &l, "serverName", span_str(auditd_env.servers[m->server].name));
	auditlog_str(&l, "state", span_str(states[m->state]));
	auditlog_str(&l, "text", m->text);
	auditlog_u64(&l, "tools", m->tools);
	if (m->version.len != 0)
		auditlog_str(&l, "revision", m->version);
	auditd_line_end(&l);
	auditd_env.servers[m->server].died =
	    m->state == PROTO_STATE_DIED || m->state == PROTO_STATE_GONE;
	auditd_effect_msg(ROLE_SUP, 0, MSG_STATE_SHOW, m, 0);
	return 0;
}

/* icsupervisor is gone: say so in the last record. */
static void
on_orphan(void)
{
	struct auditlog_line l;

	if (auditd_env.fd == -1)
		return;
	auditd_refusals_flush();
	auditd_line(&l, "stop");
	auditlog_json(
	    &l, "detail", SPAN("{\"reason\":\"icsupervisor is gone\"}"));
	auditd_line_end(&l);
	serve_commit(NULL);
	if (fdatasync(auditd_env.fd) == -1)
		log_warn("audit log");
}

/* clang-format off */
static const struct chan_handler auditd_handlers[] = {
	HANDLER(RELEASE,	on_release),
	HANDLER(DONES,		on_dones),
	HANDLER(DONE,		on_done),
	HANDLER(REQUEST,	auditd_on_request),
	HANDLER(USAGE,		auditd_on_usage),
	HANDLER(REQUEST_APPROVED,		auditd_on_request_approved),
	HANDLER(REQUEST_UNAPPROVED,		auditd_on_request_unapproved),
	HANDLER(FORGE_LOOK,	auditd_on_forge_look),
	HANDLER(FOLLOW,		auditd_on_follow),
	HANDLER(FORGE_FOUND,	auditd_on_forge_found),
	HANDLER(PACKAGE,	auditd_on_package),
	HANDLER(EXCHANGE_END,	auditd_on_exchange_end),
	HANDLER(DENIED,		auditd_on_denied),
	HANDLER(CONNECT,	auditd_on_connect),
	HANDLER(CONNECT_END,	auditd_on_connect_end),
	HANDLER(LOGIN,	auditd_on_login),
	HANDLER(CONNECT_DENIED,	auditd_on_connect_denied),
	HANDLER(SESSION,	on_session),
	HANDLER(ROUND,		auditd_on_round),
	HANDLER(GONE,		on_gone),
	HANDLER(STATE,		on_state),
	HANDLER(HOLD,		auditd_on_hold),
	HANDLER(VERDICT,	auditd_on_verdict),
	HANDLER(QUESTION_END,	auditd_on_question_end),
	HANDLER(OPINION,	auditd_on_opinion),
	HANDLER(APPROVED,	auditd_on_approved),
	HANDLER(HOST_OPEN,	auditd_on_host_open),
	HANDLER(HOST_SHUT,	auditd_on_host_shut),
	HANDLER(LATE,		auditd_on_late),
	HANDLER(GRANT,		auditd_on_grant),
	HANDLER(REVOKE,		auditd_on_revoke),
	HANDLER(INSTANCE,	auditd_on_instance),
	HANDLER(INSTANCE_UP,	auditd_on_instance_up),
	HANDLER(INSTANCE_FAIL,	auditd_on_instance_fail),
	HANDLER(INSTANCE_DROP,	auditd_on_instance_drop),
	HANDLER(INSTANCE_ENDED,	auditd_on_instance_ended),
	HANDLER(INSTANCE_GONE,	auditd_on_instance_gone),
	HANDLER(TOOL_SEEN,	auditd_on_tool_seen),
	HANDLER(TOOLS_NOTED,	auditd_on_tools_noted),
	HANDLER(TRUST,		auditd_on_trust),
	HANDLER(RULES_NOW,	auditd_on_rules_now),
	HANDLER(VIRTUAL_DONE,	auditd_on_virtual_done),
	HANDLER(ALARM,		auditd_on_alarm),
	HANDLER(PORT_USE,	auditd_on_port_use),
	HANDLER(COUNTS_GET,	on_counts_get),
	HANDLER(LOG,		on_log),
	HANDLER(LOG_NEXT,	on_log_next),
	HANDLER(EVENT,		on_event),
	HANDLER(SERVER,		on_server),
	HANDLER(DOOR,		auditd_on_door),
	HANDLER(SERVER_STDIN,	on_server_stdin),
};
/* clang-format on */

void
auditd_serve(void)
{
	struct auditd_env *e = &auditd_env;

	e->fd = -1;
	buf_init(&e->out, OUT_MAX);
	TAILQ_INIT(&e->effects);
	for (size_t i = 0; i < PROTO_MAX_SERVERS; i++) {
		e->servers[i].fd = e->servers[i].next = -1;
		e->servers[i].io.fd = -1;
		TAILQ_INIT(&e->servers[i].lines);
	}
	e->w.loop.after = serve_commit;
	e->w.start = on_start;
	e->w.stop = on_stop;
	e->w.lost = auditd_lost;
	e->w.orphan = on_orphan;
	worker_serve(&e->w, auditd_handlers, nitems(auditd_handlers));
}
