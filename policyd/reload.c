/* SPDX-License-Identifier: ISC */
/*
 * Replaces the rules in a running session. The new files are read beside those
 * in force and put in force between two calls, all or none: no call is ever
 * judged by a mixture. Then the pending calls are judged again.
 */
#include "reload.h"

#include "common/sha256.h"
#include "policyd.h"

void
reload_take(
    struct policyd_env *env, const struct msg_RULES *m, const char *name)
{
	struct reload *r = &env->reload;
	enum proto_rules kind = (enum proto_rules)m->kind;
	struct load l;

	if (r->failed)
		return;
	load_init(&l, name);
	if (engine_read(&r->files, kind, m->text, &l) == -1) {
		r->failed = true;
		r->kind = m->kind;
		strlcpy(r->error, l.error, sizeof(r->error));
	}
	if (l.warnings.len != 0 && r->warnings.len != 0)
		buf_addc(&r->warnings, '\n');
	buf_addspan(&r->warnings, buf_span(&l.warnings));
	load_free(&l);
	sha256_span(m->text, r->hash[kind]);
	r->have[kind] = true;
}

static void
reload_reset(struct reload *r)
{
	engine_files_free(&r->files);
	buf_free(&r->warnings);
	*r = (struct reload){.kind = 0};
	buf_init(&r->warnings, LOAD_MAX_WARNINGS);
}

void
reload_init(struct reload *r)
{
	*r = (struct reload){.kind = 0};
	buf_init(&r->warnings, LOAD_MAX_WARNINGS);
}

void
reload_free(struct reload *r)
{
	reload_reset(r);
	buf_free(&r->warnings);
}

/* Returns true if the server's view contains the whole place. */
static bool
mounted(const struct server *s, struct span path, struct value_pool *pool)
{
	const struct view_row *row;

	return view_of_host(&s->view, path, pool, &row).p != NULL;
}

/*
 * Warn about rules that allow a place in no server's view: views do not change
 * during a session.
 */
static void
warn_unmounted(const struct engine *e, struct value_pool *pool, struct load *l)
{
	const struct server *s;
	const struct rule *r;
	struct span path;

	for (size_t i = 0; e->rules != NULL && i < e->rules->n; i++) {
		r = &e->rules->rules[i];
		if (r->then != PROTO_ALLOW || !r->has_paths ||
		    r->servers == NULL)
			continue;
		path = e->places.list[e->sets[i].place].path;
		for (unsigned k = 0; k < PROTO_MAX_SERVERS; k++) {
			s = &e->servers[k];
			if (!s->used || s->view.n == 0 ||
			    !rule_names(r->servers, span_str(s->name)) ||
			    mounted(s, path, pool))
				continue;
			load_warn(l, NULL,
			    "rule \"%.*s\": %.*s is outside what server "
			    "\"%s\" can see since it started; calls there are "
			    "served one at a time, outside its view",
			    (int)r->name.len, (const char *)r->name.p,
			    (int)r->within.len, (const char *)r->within.p,
			    s->name);
		}
	}
}

static void
tell_now(struct policyd_env *env)
{
	const struct reload *r = &env->reload;
	struct span hash[PROTO_RULES_LAST + 1];
	struct msg_RULES_NOW m = {0};

	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++)
		hash[k] =
		    span_of(r->hash[k], r->have[k] ? sizeof(r->hash[k]) : 0);
	m.rules =
	    env->engine.rules == NULL ? 0 : (uint32_t)env->engine.rules->n;
	m.policy = hash[PROTO_RULES_POLICY];
	m.annotations = hash[PROTO_RULES_ANNOTATIONS];
	m.lists = hash[PROTO_RULES_LISTS];
	env->send(env, ROLE_AUDIT, MSG_RULES_NOW, &m);
}

static void
refuse(struct policyd_env *env, const char *error)
{
	struct msg_RULES_BAD bad = {
	    .kind = env->reload.kind, .text = span_str(error)};

	env->send(env, ROLE_SUP, MSG_RULES_BAD, &bad);
	reload_reset(&env->reload);
}

void
reload_swap(struct policyd_env *env)
{
	struct reload *r = &env->reload;
	struct msg_RULES_OK ok = {0};
	struct load l;

	if (r->failed) {
		refuse(env, r->error);
		return;
	}
	if (r->files.rules == NULL || r->files.annots == NULL) {
		refuse(env, "a policy is rules and annotations: one of the "
			    "two is missing");
		return;
	}
	load_init(&l, "policy");
	if (engine_put(&env->engine, &r->files, &l) == -1) {
		refuse(env, l.error);
		load_free(&l);
		return;
	}
	r->files = (struct engine_files){NULL, NULL, NULL};
	tell_now(env);
	warn_unmounted(&env->engine, env->pool, &l);
	if (l.warnings.len != 0 && r->warnings.len != 0)
		buf_addc(&r->warnings, '\n');
	buf_addspan(&r->warnings, buf_span(&l.warnings));
	load_free(&l);
	ok.rules = (uint32_t)env->engine.rules->n;
	ok.warnings = buf_span(&r->warnings);
	env->send(env, ROLE_SUP, MSG_RULES_OK, &ok);
	reload_reset(r);
	for (unsigned i = 0; i < PROTO_MAX_SERVERS; i++) {
		struct session *s = &env->sessions[i];

		if (s->used && s->state != PROTO_STATE_GONE)
			pins_judge(env, s, NULL);
	}
	session_publish(env);
	tool_grants_end_counted(env, "other rules are in force");
	call_redecide(env, PROTO_HOLD_RELOADED);
}
