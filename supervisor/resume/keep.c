/* SPDX-License-Identifier: ISC */
#include "resume/keep.h"

#include <stdio.h>
#include <string.h>

#include "common/json/value.h"
#include "common/log.h"
#include "core/sup.h"
#include "hub/grants.h"

#define KEEP_POOL (64U << 10)
#define KEEP_BOUND PROTO_MAX_BOUND

/* Returns true if `icctl resume` was told to keep it, as it was recorded. */
static bool
keep_confirmed(const struct carry_grant *g)
{
	char hex[SHA256_HEX], id[SHA256_HEX + 24];

	carry_grant_hash(g, hex);
	snprintf(id, sizeof(id), "%llu:%s", (unsigned long long)g->key, hex);
	for (size_t i = 0; i < sup.opt.nkept; i++)
		if (strcmp(sup.opt.kept[i], id) == 0)
			return true;
	return false;
}

/* Returns NULL if the grant may be judged again, or the reason why not. */
static const char *
keep_wrong(const struct carry_grant *g)
{
	const int64_t now = (int64_t)(clock_wall_us() / 1000000);

	if (sup.config.approvers.needed != 0)
		return "approvals must be signed now";
	if (!sup.opt.resume)
		return "the session was not started by icctl resume";
	if (strlen(carry_grant_json(g->bound)) > KEEP_BOUND)
		return "its record is too long";
	if (keep_confirmed(g))
		return NULL;
	if (!sup.opt.keep_grants)
		return "nobody confirmed it";
	if (g->made > now || now - g->made > KEEP_SECONDS)
		return "it is more than 24 hours old, and nobody confirmed it";
	return NULL;
}

static void
keep_not(const struct carry_grant *g, const char *why)
{
	struct value_pool *p = value_pool_new(KEEP_POOL);
	struct value *o = p == NULL ? NULL : value_new(p, VALUE_OBJECT);
	struct json_object *v = NULL;
	char vis[600];

	json_object_object_get_ex(g->text, "description", &v);
	sup_warn("an approval of the last run does not apply any more: %s (%s)",
	    log_vis(span_str(v == NULL ? "" : json_object_get_string(v)), vis,
		sizeof(vis)),
	    why);
	if (o != NULL) {
		(void)value_set(o, SPAN("id"),
		    value_new_number(p, (int64_t)g->key));
		(void)value_set(
		    o, SPAN("reason"), value_new_string(p, span_str(why)));
		event_send("grantDropped", o);
	}
	value_pool_free(p);
}

void
keep_grants(struct carry *c)
{
	const struct carry_grant *g;
	const char *why;

	while (c->ngrants != 0) {
		g = &c->grants[0];
		if ((why = keep_wrong(g)) != NULL) {
			keep_not(g, why);
		} else {
			grants_restore(g->key, g->made,
			    carry_grant_json(g->text),
			    carry_grant_json(g->bound));
		}
		carry_grant_drop(c, 0);
	}
}
