/* SPDX-License-Identifier: ISC */
/*
 * Asks icgit about remotes and continues calls with the answer. URLs come from
 * a repository and are treated like the agent's own.
 */
#include "remotes.h"

#include <stdlib.h>

#include "common/log.h"
#include "policyd.h"

static const struct session *
asked(const struct policyd_env *env)
{
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		if (env->engine.servers[i].internal)
			return &env->sessions[i];
	}
	return NULL;
}

static bool
is_remote(const struct arg_value *v)
{
	return v->has_url && (v->mask & ARG_BIT(ARG_GIT_REMOTE_URL)) != 0;
}

int
remotes_digest(struct span urls, uint8_t digest[32])
{
	return hold_digest(
	    SPAN("remotes"), SPAN(""), urls, span_of(NULL, 0), digest);
}

/* Returns the repository's path in the server's view. */
static struct span
repository(const struct work *k)
{
	for (size_t i = 0; i < k->args.n; i++) {
		const struct arg_value *v = &k->args.values[i];

		if (v->has_path && span_is(v->arg->name, "path"))
			return v->path.view;
	}
	return span_of(NULL, 0);
}

bool
remotes_wanted(const struct policyd_env *env, const struct work *k)
{
	const struct session *s;
	unsigned n = 0;

	if (!k->srv->is_git)
		return false;
	s = asked(env);
	for (size_t i = 0; i < k->args.n; i++)
		n += is_remote(&k->args.values[i]);
	/* A clone reads no repository: its URL is in the arguments. */
	return n != 0 && n <= REMOTES_NAMES && !span_is(k->tool, "git_clone") && s != NULL &&
	       s->state == PROTO_STATE_READY && env->remotes.n < REMOTES_MAX &&
	       repository(k).p != NULL;
}

static void due(struct loop_timer *);

static void
arm(struct policyd_env *env)
{
	struct remotes *r = &env->remotes;
	uint64_t now = loop_now(env->loop);

	if (r->n == 0)
		loop_timer_clear(env->loop, &r->timer);
	else
		loop_timer_set(env->loop, &r->timer,
		    r->list[0].due > now ? r->list[0].due - now : 0, due, env);
}

int
remotes_ask(struct policyd_env *env, struct call *call, struct work *k,
    struct span args, remotes_led *led)
{
	struct remotes_ask *a = &env->remotes.list[env->remotes.n];
	const struct session *s = asked(env);
	struct span names[REMOTES_NAMES];
	unsigned n = 0;

	for (size_t i = 0; i < k->args.n; i++) {
		if (is_remote(&k->args.values[i]))
			names[n++] = k->args.values[i].url.text;
	}
	*a = (struct remotes_ask){.id = k->id,
	    .due = loop_now(env->loop) + REMOTES_MS,
	    .seq = ++env->remotes.seq,
	    .server = k->server,
	    .progress = k->progress,
	    .led = led};
	buf_reset(&env->line, 1 << 16);
	if (s == NULL || span_copy(k->tool, a->tool, sizeof(a->tool)) == -1 ||
	    (a->args = malloc(args.len)) == NULL)
		return -1;
	if (compose_remotes(&env->line, a->seq, repository(k), names, n) ==
	    -1) {
		free(a->args);
		buf_reset(&env->line, 1 << 16);
		return -1;
	}
	memcpy(a->args, args.p, args.len);
	a->len = args.len;
	env->remotes.n++;
	call->state = CALL_ASKING;
	session_send(env, s->index, "remotes");
	arm(env);
	return 0;
}

/* Continue the call; urls.p == NULL if its remotes are unknown. */
static void
go_on(struct policyd_env *env, unsigned at, struct span urls)
{
	struct remotes *r = &env->remotes;
	struct remotes_ask a = r->list[at];

	memmove(&r->list[at], &r->list[at + 1],
	    (r->n - at - 1) * sizeof(r->list[0]));
	r->n--;
	a.led(env, &a, urls);
	free(a.args);
	arm(env);
}

static void
due(struct loop_timer *t)
{
	struct policyd_env *env = t->arg;

	while (env->remotes.n != 0 &&
	       env->remotes.list[0].due <= loop_now(env->loop)) {
		log_warnx("nobody says where the remotes of call %llu lead",
		    (unsigned long long)env->remotes.list[0].id);
		go_on(env, 0, span_of(NULL, 0));
	}
	arm(env);
}

void
remotes_gone(struct policyd_env *env)
{
	while (env->remotes.n != 0)
		go_on(env, 0, span_of(NULL, 0));
}

void
remotes_drop(struct policyd_env *env, uint64_t id)
{
	struct remotes *r = &env->remotes;

	for (unsigned i = 0; i < r->n; i++) {
		if (r->list[i].id != id)
			continue;
		go_on(env, i, span_of(NULL, 0));
		return;
	}
}

void
remotes_free(struct remotes *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->list[i].args);
	r->n = 0;
}

/* One URL per line, each terminated, none empty. */
static bool
urls_good(struct span urls)
{
	unsigned n = 0;

	if (urls.len == 0 || urls.p[0] == '\n' || urls.p[urls.len - 1] != '\n')
		return false;
	for (size_t i = 0; i < urls.len; i++) {
		if (urls.p[i] != '\n')
			continue;
		if (++n > REMOTES_URLS || urls.p[i - 1] == '\n')
			return false;
	}
	return true;
}

void
remotes_answer(
    struct policyd_env *env, uint16_t server, const struct msg_REMOTES *m)
{
	struct remotes *r = &env->remotes;
	struct span urls = span_of(NULL, 0);
	char why[300];

	/* Ignore answers from any other server. */
	if (!env->engine.servers[server].internal)
		return;
	for (unsigned i = 0; i < r->n; i++) {
		if (r->list[i].seq != m->seq)
			continue;
		if (m->good && urls_good(m->urls))
			urls = m->urls;
		else
			log_info("remotes of call %llu: %s",
			    (unsigned long long)r->list[i].id,
			    log_vis(m->text, why, sizeof(why)));
		go_on(env, i, urls);
		return;
	}
}

static int
refuse(
    struct policyd_env *env, struct work *k, struct span url, const char *why)
{
	char text[600];
	/* Keep a URL with user and password out of the log. */
	bool shown = memchr(url.p, '@', url.len) == NULL;

	k->args.rule = "structural-invalid-url";
	k->args.reason = reason_printf(env->pool, "URL of a git remote %s%s%s",
	    why == NULL ? "takes too much memory" : why, shown ? ": " : "",
	    shown ? log_vis(url, text, sizeof(text)) : "");
	return -1;
}

/* Add each distinct URL as a value of this argument. */
static int
add_urls(struct policyd_env *env, struct work *k, const struct arg_value *v,
    struct arg_value *to, size_t *n)
{
	struct span rest = k->urls, url, seen[REMOTES_URLS];
	size_t nseen = 0;
	const char *why;
	bool again;

	while (nseen < REMOTES_URLS && span_line(&rest, &url)) {
		again = false;
		for (size_t i = 0; i < nseen; i++)
			again = again || span_eq(seen[i], url);
		if (again)
			continue;
		seen[nseen++] = url;
		to[*n] = (struct arg_value){.arg = v->arg,
		    .roles = v->roles,
		    .mask = ARG_BIT(ARG_GIT_REMOTE_URL),
		    .node = v->node,
		    .has_url = true};
		if (url_parse_git(env->pool, url, &to[*n].url, &why) == -1)
			return refuse(env, k, url, why);
		to[*n].text = to[*n].url.text;
		(*n)++;
	}
	return 0;
}

int
remotes_apply(struct policyd_env *env, struct work *k)
{
	struct call_args *a = &k->args;
	struct arg_value *to;
	size_t n = 0, nremotes = 0;

	for (size_t i = 0; i < a->n; i++)
		nremotes += is_remote(&a->values[i]);
	to = value_pool_alloc(
	    env->pool, (a->n + nremotes * REMOTES_URLS) * sizeof(*to));
	if (to == NULL)
		return refuse(env, k, SPAN("?"), NULL);
	for (size_t i = 0; i < a->n; i++) {
		const struct arg_value *v = &a->values[i];

		/* Replace a remote's name by its URLs, but keep a URL. */
		if (!is_remote(v) || v->url.domain.known)
			to[n++] = *v;
		if (is_remote(v) && add_urls(env, k, v, to, &n) == -1)
			return -1;
	}
	a->values = to;
	a->n = n;
	return 0;
}

struct span
remotes_reason(
    struct policyd_env *env, const struct work *k, struct span reason)
{
	struct span rest = k->urls, bare = reason_bare(reason), url;
	char text[1000], one[300];
	size_t len = 0, shown = 0;
	const char *more = "";
	int n;

	text[0] = '\0';
	while (span_line(&rest, &url)) {
		log_vis(url, one, sizeof(one));
		/* The URLs for fetching and pushing are usually the same. */
		if (strstr(text, one) != NULL)
			continue;
		if (shown++ == 3) {
			more = ", and more";
			break;
		}
		n = snprintf(text + len, sizeof(text) - len, "%s%s",
		    len == 0 ? "" : ", ", one);
		len += n > 0 ? (size_t)n : 0;
	}
	return reason_printf(env->pool, "%.*s (the remote leads to %s%s)",
	    (int)bare.len, (const char *)bare.p, text, more);
}
