/* SPDX-License-Identifier: ISC */
/*
 * Calls that are sent later than they arrived: recorded, and rebuilt from what
 * the agent sent. Such a call is sent only if it is still the same.
 */
#include "policyd.h"

/* Compute the digest of the composed call, to which an approval is bound. */
static int
work_digest(const struct policyd_env *env, const struct work *k,
    const struct composed *c, uint8_t digest[HOLD_DIGEST])
{
	struct span line = buf_span(&env->line);

	return hold_digest(k->server_name, k->tool,
	    span_of(line.p + c->args_off, c->args_len),
	    span_of(line.p + c->named_off, c->named_len), digest);
}

int
work_note(struct policyd_env *env, const struct work *k,
    const struct composed *c, struct hold *h)
{
	if (work_digest(env, k, c, h->digest) == -1 ||
	    span_copy(k->tool, h->tool, sizeof(h->tool)) == -1 ||
	    span_copy(k->d.rule, h->rule, sizeof(h->rule)) == -1 ||
	    span_copy(k->d.reason, h->reason, sizeof(h->reason)) == -1)
		return -1;
	h->server = k->server;
	h->progress = k->progress;
	h->led = k->urls.p != NULL;
	if (h->led && remotes_digest(k->urls, h->urls) == -1)
		return -1;
	h->nobjects = k->outside.n;
	memcpy(h->objects, k->outside.objects, sizeof(h->objects));
	return 0;
}

int
work_remake(struct policyd_env *env, const struct hold *h, struct work *k)
{
	uint8_t *args;

	*k = (struct work){
	    .id = h->id,
	    .server = h->server,
	    .tool = span_str(h->tool),
	    .progress = h->progress,
	    .srv = &env->engine.servers[h->server],
	};
	k->server_name = span_str(k->srv->name);
	k->d.status = PROTO_ESCALATE;
	value_pool_reset(env->pool);
	/* Copy the texts: the hold is freed before they are sent. */
	k->tool = reason_printf(env->pool, "%s", h->tool);
	k->d.rule = reason_printf(env->pool, "%s", h->rule);
	k->d.reason = reason_printf(env->pool, "%s", h->reason);
	if ((args = value_pool_alloc(env->pool, h->args_len)) == NULL)
		return -1;
	memcpy(args, h->args, h->args_len);
	k->tree = (struct value *)(uintptr_t)value_decode(
	    env->pool, span_of(args, h->args_len));
	return k->tree == NULL ? -1 : 0;
}

enum work_way
work_again(struct policyd_env *env, const struct hold *h, struct work *k,
    struct composed *c)
{
	uint8_t digest[HOLD_DIGEST];
	enum work_way way;

	way = work_decide(env, k);
	if (way != WORK_REFUSE && work_compose(env, k, c) == WORK_REFUSE)
		way = WORK_REFUSE;
	if (way != WORK_REFUSE &&
	    (work_digest(env, k, c, digest) == -1 ||
		memcmp(digest, h->digest, sizeof(digest)) != 0 ||
		!outside_same(&k->outside, h))) {
		k->d.rule = SPAN("approval-changed");
		k->d.reason =
		    SPAN("The call is no longer the one that was shown");
		way = WORK_REFUSE;
	}
	if (way == WORK_REFUSE)
		k->d.status = PROTO_DENY;
	return way;
}
