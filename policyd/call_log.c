/* SPDX-License-Identifier: ISC */
/*
 * Writes the arguments for the log where they differ from those sent: secrets
 * masked, long strings cut. Changes the call's tree, which is not used
 * afterwards.
 */
#include "policyd.h"

#include "common/json/json.h"
#include "redact.h"

/* Paths and URLs are never redacted. */
static bool
stays_whole(const struct value *v, void *arg)
{
	const struct work *k = arg;

	for (size_t i = 0; i < k->args.n; i++) {
		if (k->args.values[i].node == v &&
		    (k->args.values[i].has_path || k->args.values[i].has_url))
			return true;
	}
	return false;
}

void
work_log(struct policyd_env *env, struct work *k, struct composed *c)
{
	size_t before = env->line.len;
	int r;

	r = redact_tree(k->tree, env->pool, env->engine.redact, stays_whole, k);
	if (r == 0)
		return;
	c->redacted = true;
	c->log_off = (uint32_t)before;
	if (r == -1 || json_write(&env->line, k->tree) == -1)
		buf_adds(&env->line, "{}");
	c->log_len = (uint32_t)(env->line.len - before);
}
