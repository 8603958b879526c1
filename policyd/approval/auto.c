/* SPDX-License-Identifier: ISC */
/*
 * Decides which pending calls the approver may answer, before anybody asks a
 * model, and without looking at a message: policyd does not have one.
 * icsupervisor compares the call with the person's message (auto/mention.h).
 */
#include "policyd.h"

#include <strings.h>

#include "engine/args.h"
#include "redact.h"

struct auto_asks {
	bool person; /* a rule that asks wants a person, or is no rule */
};

static void
trace_done(void *arg, enum arg_role role, const struct decision *d)
{
	struct auto_asks *a = arg;

	if (d->status == PROTO_ESCALATE && (d->by == NULL || d->by->person))
		a->person = true;
}

/*
 * Returns true if every rule that asks about the call is one that permits it.
 */
static bool
rules_permit(struct policyd_env *env, const struct work *k)
{
	struct auto_asks a = {.person = false};
	struct eval_trace t = {.arg = &a,
	    .done = trace_done};
	const struct eval_trace *was = env->engine.trace;
	struct request r = work_request(env, k);
	struct decision d;

	/*
	 * A structural rule asks about a host, a remote or a file of its own.
	 */
	if (k->d.by == NULL || k->d.by->person)
		return false;
	env->engine.trace = &t;
	eval_ungated(&env->engine, &r, &d);
	env->engine.trace = was;
	return !a.person;
}

/* Returns true if the call deletes nothing but files of the workspace. */
static bool
deletes_little(struct policyd_env *env, const struct work *k)
{
	const struct arg_value *v;
	bool named = false;

	if (k->args.roles & ARG_BIT(ARG_DELETE_HISTORY))
		return false;
	for (size_t i = 0; i < k->args.n; i++) {
		v = &k->args.values[i];
		if (!(v->mask & ARG_BIT(ARG_DELETE_PATH)))
			continue;
		if (!v->has_path || !eval_in_sandbox(&env->engine, &v->path))
			return false;
		named = true;
	}
	return named || !(k->args.roles & ARG_BIT(ARG_DELETE_PATH));
}

static bool
is_push(struct span tool)
{
	for (size_t i = 0; i + 4 <= tool.len; i++)
		if (strncasecmp((const char *)tool.p + i, "push", 4) == 0)
			return true;
	return false;
}

static enum redact_role
always_free(const struct value *v, void *arg)
{
	return REDACT_FREE;
}

/* Returns true if a link leads to one of the call's paths. */
static bool
leads_elsewhere(const struct work *k)
{
	for (size_t i = 0; i < k->args.n; i++)
		if (k->args.values[i].has_path &&
		    k->args.values[i].path.npassed != 0)
			return true;
	return false;
}

/* Returns true if the log would not have all of the arguments. */
static bool
is_redacted(struct policyd_env *env, const struct work *k)
{
	struct value *copy = value_copy(env->pool, k->tree);
	struct redact r = {.pool = env->pool,
	    .secrets = true,
	    .known = env->engine.secrets,
	    .role = always_free};

	return copy == NULL || redact_tree(&r, copy) != 0;
}

bool
auto_permits(struct policyd_env *env, const struct work *k)
{
	return !k->d.person && k->srv != NULL && k->annot != NULL &&
	       k->tree != NULL && k->server != PROTO_VIRTUAL &&
	       k->args.n != 0 && !is_push(k->tool) && deletes_little(env, k) &&
	       !leads_elsewhere(k) && rules_permit(env, k) &&
	       !is_redacted(env, k);
}
