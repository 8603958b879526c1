/* SPDX-License-Identifier: ISC */
/*
 * `icctl relay`: tells on standard output what every session of this user does,
 * and takes answers on standard input, in lines of JSON. It listens nowhere:
 * ssh, kubectl or srun has decided who is at the other end, and each session
 * decides whether this process may answer, as always. An answer is composed
 * anew here, and carries the digest of what a person was shown.
 */
#include "icctl/fleet/fleet.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hear.h"
#include "base/json_put.h"
#include "base/signed.h"
#include "common/ipc/proto.h"
#include "common/json/json.h"
#include "icctl/words.h"

#define RELAY_LINE 65536U /* bytes of a request */
#define RELAY_POOL (1U << 20)
#define RELAY_TREE (3U << 20) /* bytes of a pending call that is sent whole */

/* A pending call as it was told. */
struct told {
	char id[LIVE_ID];
	uint64_t since;
	bool whole;
};

/* A session as it was told. */
struct relayed {
	char id[LIVE_NAME];
	char *row;
	const json_object *status, *budget; /* compared, never used */
	struct told holds[LIVE_HOLDS];
	unsigned nholds;
	uint64_t nitems;
};

static struct relay {
	struct loop loop;
	struct live *live;
	struct relayed *all[LIVE_FAR_MAX];
	unsigned n;
	struct loop_io input;
	struct buf in;
	struct value_pool *pool;
	bool over;
} env;

/* Print a line, which it takes. */
static void
relay_put(json_object *o)
{
	icctl_put_json(o);
	json_object_put(o);
}

static json_object *
relay_of(const char *session)
{
	json_object *o = json_object_new_object();

	put_str(o, "session", session);
	return o;
}

static struct relayed *
relay_known(const char *id)
{
	for (unsigned i = 0; i < env.n; i++)
		if (strcmp(env.all[i]->id, id) == 0)
			return env.all[i];
	return NULL;
}

static void
relay_forget(const char *id)
{
	json_object *o;

	for (unsigned i = 0; i < env.n; i++) {
		if (strcmp(env.all[i]->id, id) != 0)
			continue;
		free(env.all[i]->row);
		free(env.all[i]);
		env.all[i] = env.all[--env.n];
		o = relay_of(id);
		put_bool(o, "gone", true);
		relay_put(o);
		return;
	}
}

static const char *
relay_is(const struct live_session *s)
{
	switch (s->is) {
	case LIVE_RUNS:
		return "runs";
	case LIVE_SILENT:
		return "silent";
	case LIVE_LOST:
		return "lost";
	case LIVE_OVER:
		return "over";
	case LIVE_ABSENT:
		break;
	}
	return "starting";
}

/* Tell the session's row, if it is another one. */
static void
relay_row(struct relayed *r, const struct live_session *s)
{
	json_object *o = relay_of(s->id);
	const char *text;

	put_str(o, "is", relay_is(s));
	put_str(o, "agent", s->agent);
	put_str(o, "workspace", s->workspace);
	put_str(o, "policy", s->policy);
	put_str(o, "state", s->state);
	put_str(o, "until", s->until);
	put_str(o, "why", s->why);
	text = json_object_to_json_string_ext(o, ICCTL_JSON);
	if (r->row == NULL || strcmp(r->row, text) != 0) {
		free(r->row);
		r->row = strdup(text);
		icctl_put_json(o);
	}
	json_object_put(o);
}

static void
relay_object(const char *session, const char *key, json_object *v)
{
	json_object *o = relay_of(session);

	json_object_object_add(o, key, json_object_get(v));
	relay_put(o);
}

static void
relay_status(struct relayed *r, struct live_session *s)
{
	if (s->status != NULL && s->status != r->status)
		relay_object(s->id, "status", s->status);
	if (s->budget != NULL && s->budget != r->budget)
		relay_object(s->id, "budget", s->budget);
	r->status = s->status;
	r->budget = s->budget;
}

/* Tell a pending call; one that is too large, without its values. */
static void
relay_hold(const struct live_session *s, const struct live_hold *h)
{
	json_object *o = relay_of(s->id), *part;

	if (strlen(json_object_to_json_string_ext(h->hold, ICCTL_JSON)) <=
	    RELAY_TREE) {
		json_object_object_add(o, "hold", json_object_get(h->hold));
		relay_put(o);
		return;
	}
	part = json_object_new_object();
	json_object_object_foreach(h->hold, key, v)
	{
		if (json_object_is_type(v, json_type_string) &&
		    json_object_get_string_len(v) < 4096)
			json_object_object_add(part, key, json_object_get(v));
	}
	put_bool(part, "cut", true);
	json_object_object_add(o, "hold", part);
	relay_put(o);
}

/* Returns how the call ended, from the session's activity. */
static const char *
relay_end_of(const struct live_session *s, const char *id)
{
	const struct live_item *it;

	for (unsigned back = 0; (it = live_item(s, back)) != NULL; back++)
		if (it->kind == LIVE_ANSWERED && strcmp(it->id, id) == 0)
			return it->state;
	return "ended";
}

static void
relay_holds(struct relayed *r, struct live_session *s)
{
	json_object *o;

	for (unsigned i = r->nholds; i-- > 0;) {
		if (live_hold(s, r->holds[i].id) != NULL)
			continue;
		o = relay_of(s->id);
		put_str(o, "holdEnd", r->holds[i].id);
		put_str(o, "state", relay_end_of(s, r->holds[i].id));
		relay_put(o);
		r->holds[i] = r->holds[--r->nholds];
	}
	for (unsigned i = 0; i < s->nholds; i++) {
		const struct live_hold *h = &s->holds[i];
		struct told *t = NULL;

		for (unsigned k = 0; k < r->nholds && t == NULL; k++)
			if (strcmp(r->holds[k].id, h->id) == 0)
				t = &r->holds[k];
		if (t != NULL && t->since == h->since && t->whole == h->whole)
			continue;
		if (t == NULL)
			t = &r->holds[r->nholds++];
		(void)strlcpy(t->id, h->id, sizeof(t->id));
		t->since = h->since;
		t->whole = h->whole;
		relay_hold(s, h);
	}
}

static void
relay_items(struct relayed *r, const struct live_session *s)
{
	const struct live_item *it;
	json_object *o, *item;

	while (r->nitems < s->nitems) {
		it = live_item(s, (unsigned)(s->nitems - 1 - r->nitems++));
		if (it == NULL) /* it came and went unseen */
			continue;
		o = relay_of(s->id);
		item = json_object_new_object();
		put_int(item, "kind", (int64_t)it->kind);
		put_int(item, "us", (int64_t)it->us);
		put_str(item, "id", it->id);
		put_str(item, "state", it->state);
		put_str(item, "text", it->text);
		json_object_object_add(o, "item", item);
		relay_put(o);
	}
}

static struct relayed *
relay_meet(const struct live_session *s)
{
	struct relayed *r = relay_known(s->id);

	if (r != NULL || env.n == LIVE_FAR_MAX)
		return r;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		err(ICCTL_FAILED, "relay");
	(void)strlcpy(r->id, s->id, sizeof(r->id));
	if (s->nitems > LIVE_RING)
		r->nitems = s->nitems - LIVE_RING;
	return env.all[env.n++] = r;
}

static void
relay_changed(void *arg, struct live_session *s, enum live_change change)
{
	struct relayed *r;

	(void)arg;
	(void)change;
	if (live_find(env.live, s->id) != s) {
		relay_forget(s->id);
	} else if ((s->is != LIVE_ABSENT || s->starting) &&
		   (r = relay_meet(s)) != NULL) {
		relay_row(r, s);
		relay_status(r, s);
		relay_holds(r, s);
		relay_items(r, s);
	}
}

static void
relay_reply(uint64_t n, const char *code, const char *error)
{
	json_object *o = json_object_new_object();

	put_int(o, "reply", (int64_t)n);
	put_bool(o, "ok", code == NULL);
	if (code != NULL) {
		put_str(o, "code", code);
		put_str(o, "error", error);
	}
	relay_put(o);
}

static void
relay_replied(void *arg, struct live_session *s, const struct live_reply *r)
{
	(void)arg;
	relay_reply(r->token, r->ok ? NULL : r->code, r->error);
	if (r->ok)
		live_status(s);
}

/* Answer a call, as the hub's person has decided. Returns 0, or -1. */
static int
relay_answer(struct live_session *s, const struct value *v, bool approve,
    const char *id, uint64_t n)
{
	struct live_verdict verdict = {.approve = approve, .id = id};
	char digest[65], grant[65], because[LIVE_BECAUSE + 1], by[LIVE_BY + 1];
	char answer[PROTO_MAX_ANSWER + 1], entries[SIGNED_ENTRIES + 1];

	if (span_copy(value_str(v, "digest"), digest, sizeof(digest)) == -1 ||
	    span_copy(value_str(v, "session-digest"), grant, sizeof(grant)) ==
		-1 ||
	    span_copy(value_str(v, "because"), because, sizeof(because)) ==
		-1 ||
	    span_copy(value_str(v, "by"), by, sizeof(by)) == -1 ||
	    span_copy(value_str(v, "answer"), answer, sizeof(answer)) == -1 ||
	    span_copy(value_str(v, "signed"), entries, sizeof(entries)) == -1) {
		errno = EINVAL;
		return -1;
	}
	verdict.digest = digest;
	verdict.session = grant[0] == '\0' ? NULL : grant;
	verdict.because = because;
	verdict.by = by;
	verdict.answer = answer[0] == '\0' ? NULL : answer;
	verdict.entries = entries[0] == '\0' ? NULL : entries;
	return live_answer(s, &verdict, n);
}

/* Pass on the request `n` to its session. Returns 0, or -1 with errno set. */
static int
relay_pass(struct live_session *s, const struct value *v, uint64_t n)
{
	struct span op = value_str(v, "op");
	char id[LIVE_ID], text[4097];

	errno = EINVAL;
	if (span_copy(value_str(v, "id"), id, sizeof(id)) == -1 ||
	    span_copy(value_str(v, "message"), text, sizeof(text)) == -1)
		return -1;
	if (span_is(op, "approve") || span_is(op, "deny"))
		return relay_answer(s, v, span_is(op, "approve"), id, n);
	if (span_is(op, "revoke"))
		return live_revoke(s, id, n);
	if (span_is(op, "say"))
		return live_order(s, "say", text, n);
	if (span_is(op, "interrupt"))
		return live_order(s, "interrupt", "", n);
	if (span_is(op, "stop"))
		return live_order(s, "stop", "", n);
	return -1;
}

static void
relay_request(struct span line)
{
	const struct value *v;
	struct live_session *s;
	char session[LIVE_NAME];
	int64_t n;

	value_pool_reset(env.pool);
	v = json_read(env.pool, line, NULL);
	if (v == NULL || v->type != VALUE_OBJECT)
		errx(ICCTL_FAILED, "relay: a line of standard input is no "
				   "JSON object");
	if (value_get(v, "alive") != NULL) {
		puts("{\"alive\":true}");
		return;
	}
	if (value_int(value_get(v, "n"), 1, INT64_MAX, &n) == -1)
		errx(ICCTL_FAILED, "relay: a request has no number \"n\"");
	if (span_copy(value_str(v, "session"), session, sizeof(session)) ==
		-1 ||
	    (s = live_find(env.live, session)) == NULL)
		relay_reply(
		    (uint64_t)n, "not-found", "the session is not there");
	else if (relay_pass(s, v, (uint64_t)n) == -1)
		relay_reply((uint64_t)n,
		    errno == ENOTCONN ? "lost" : "bad-request",
		    errno == ENOTCONN ? "the session does not answer"
		    : errno == EBUSY  ? "too many answers are open: try again"
				      : "the relay knows no such request");
}

static void
relay_input(struct loop_io *io, uint32_t events)
{
	uint8_t *room = buf_room(&env.in, 4096);
	struct span all, line;
	ssize_t n;

	(void)events;
	if (room == NULL)
		errx(ICCTL_FAILED, "relay: a line of standard input has more "
				   "than 64 KiB");
	n = read(io->fd, room, 4096);
	if (n == -1 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		env.over = true;
		return;
	}
	buf_grow(&env.in, (size_t)n);
	for (all = buf_span(&env.in);
	     all.len != 0 && memchr(all.p, '\n', all.len) != NULL;
	     all = buf_span(&env.in)) {
		if (!span_line(&all, &line))
			break;
		relay_request(line);
		buf_drain(&env.in, line.len + 1);
	}
}

/* Say who this is. */
static void
relay_hello(void)
{
	char host[65] = "", boot[37] = "";
	const struct passwd *pw = getpwuid(getuid());
	json_object *o = json_object_new_object();
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	(void)gethostname(host, sizeof(host) - 1);
	if (fd != -1) {
		if (read(fd, boot, 36) != 36)
			boot[0] = '\0';
		close(fd);
	}
	put_int(o, "relay", HEAR_VERSION);
	put_str(o, "host", host);
	put_str(o, "boot", boot);
	put_str(o, "user", pw == NULL ? "" : pw->pw_name);
	put_str(o, "version", IC_VERSION);
	relay_put(o);
}

int
relay_run(struct icctl *ctl)
{
	static const struct live_ops ops = {relay_changed, relay_replied, NULL};

	(void)signal(SIGPIPE, SIG_IGN);
	env.in.max = RELAY_LINE;
	if (loop_init(&env.loop, LIVE_TIMERS + FLEET_TIMERS) == -1 ||
	    (env.pool = value_pool_new(RELAY_POOL)) == NULL)
		err(ICCTL_FAILED, "relay");
	/* A hub can be asked nothing, and be listened to. */
	if (loop_add(&env.loop, &env.input, STDIN_FILENO, EPOLLIN, relay_input,
		NULL) == -1 &&
	    ctl->hub == NULL) {
		warnx("relay speaks with icctl hub, which starts it: its "
		      "standard input must be a pipe or a socket. See "
		      "ironcurtain-fleet(7)");
		return ICCTL_USAGE;
	}
	relay_hello();
	(void)mkdir(ctl->home, 0700);
	env.live = fleet_follow(ctl, &env.loop, 0, &ops, NULL);
	if (env.live == NULL)
		err(ICCTL_FAILED, "%s", ctl->home);
	(void)fflush(stdout);
	while (!env.over && loop_once(&env.loop, -1) != -1)
		if (fflush(stdout) == EOF)
			break;
	fleet_leave(env.live);
	return env.over ? ICCTL_OK : ICCTL_FAILED;
}

int
icctl_relay(struct icctl *ctl, int argc, char **argv)
{
	(void)argv;
	return argc != 1 ? words_usage() : relay_run(ctl);
}
