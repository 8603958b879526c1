/* SPDX-License-Identifier: ISC */
/*
 * Writes the arguments for the log where they differ from those sent: secrets
 * masked, long strings cut. Changes the call's tree, which is not used
 * afterwards.
 */
#include "policyd.h"

#include "common/json/json.h"
#include "redact.h"

/* Paths stay whole, and so do hosts and paths of addresses. */
static enum redact_role
log_role(const struct value *v, void *arg)
{
	const struct work *k = arg;

	for (size_t i = 0; i < k->args.n; i++) {
		if (k->args.values[i].node != v)
			continue;
		if (k->args.values[i].has_path)
			return REDACT_PATH;
		return k->args.values[i].has_url ? REDACT_ADDRESS
						 : REDACT_JUDGED;
	}
	return REDACT_FREE;
}

/*
 * The reasons of rules come back with each call: those without a secret are
 * remembered, by their length.
 */
static struct {
	uint32_t len;
	uint8_t text[256];
} clean[8];

void
work_log_forget(void)
{
	memset(clean, 0, sizeof(clean));
}

struct span
work_log_text(struct policyd_env *env, struct span text)
{
	const struct redact r = {
	    .pool = env->pool, .known = env->engine.secrets};
	const size_t at = text.len % nitems(clean);
	const struct span known = span_of(clean[at].text, clean[at].len);
	int masked;

	if (!env->engine.redact || text.len == 0 || span_eq(text, known))
		return text;
	/* It is better to say nothing than too much. */
	if ((masked = redact_string(&r, text, &text)) == -1)
		return SPAN(MASK_HIDDEN);
	if (masked == 0 && text.len <= sizeof(clean[at].text)) {
		clean[at].len = (uint32_t)text.len;
		memcpy(clean[at].text, text.p, text.len);
	}
	return text;
}

void
work_log(struct policyd_env *env, struct work *k, struct composed *c)
{
	size_t before = env->line.len;
	struct redact how = {.pool = env->pool,
	    .secrets = env->engine.redact,
	    .known = env->engine.secrets,
	    .role = log_role,
	    .arg = k};
	int r;

	if ((r = redact_tree(&how, k->tree)) == 0)
		return;
	c->redacted = true;
	c->judged_whole = r == 1 && !how.judged;
	c->log_off = (uint32_t)before;
	if (r == -1 || json_write(&env->line, k->tree) == -1)
		buf_adds(&env->line, "{}");
	c->log_len = (uint32_t)(env->line.len - before);
}
