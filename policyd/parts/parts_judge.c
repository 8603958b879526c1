/* SPDX-License-Identifier: ISC */
/*
 * Decides about reading a resource, getting a prompt, and completion. Each
 * sends values of the agent's to the server, so that each is a call: rules that
 * name the address or the prompt decide, and a person where none does.
 */
#include "policyd.h"

#include "common/json/json.h"
#include "common/log.h"
#include "engine/rules.h"

/* Returns the patterns that the rule has for this part, or NULL. */
static const struct value *
patterns_of(const struct rule *r, uint8_t part)
{
	return part == PROTO_PART_RESOURCES || part == PROTO_PART_SUBSCRIBE
		   ? r->resources
	       : part == PROTO_PART_PROMPTS ? r->prompts
					    : r->completion;
}

/* Find the first rule about the part that matches the name. */
static const struct rule *
rule_of(
    struct policyd_env *env, struct span server, uint8_t part, struct span name)
{
	const struct server *srv = engine_server_find(&env->engine, server);
	const struct rules *rs = env->engine.rules;
	const struct value *v;

	for (size_t i = 0; rs != NULL && i < rs->n; i++) {
		const struct rule *r = &rs->rules[i];

		if (patterns_of(r, part) == NULL || engine_idle(r, srv) ||
		    !rule_names(r->servers, server))
			continue;
		for (v = patterns_of(r, part)->child; v != NULL; v = v->next)
			if (rule_pattern(v->text, name))
				return r;
	}
	return NULL;
}

bool
parts_completion(struct policyd_env *env, struct span server)
{
	const struct server *srv = engine_server_find(&env->engine, server);
	const struct rules *rs = env->engine.rules;

	for (size_t i = 0; rs != NULL && i < rs->n; i++)
		if (rs->rules[i].completion != NULL &&
		    !engine_idle(&rs->rules[i], srv) &&
		    rs->rules[i].then == PROTO_ALLOW &&
		    rule_names(rs->rules[i].servers, server))
			return true;
	return false;
}

/* Returns what rules match: an address or a name; p == NULL: malformed. */
static struct span
name_of(const struct work *k, uint8_t part)
{
	const struct value *ref;
	struct span name;

	if (part == PROTO_PART_RESOURCES || part == PROTO_PART_SUBSCRIBE) {
		name = value_str(k->tree, "uri");
		return name.p != NULL && parts_uri(name) ? name
							 : span_of(NULL, 0);
	}
	if (part == PROTO_PART_PROMPTS)
		return value_str(k->tree, "name");
	ref = value_get(k->tree, "ref");
	name = value_str(ref, "uri");
	return name.p != NULL ? name : value_str(ref, "name");
}

/*
 * Returns true if the server was sent a subscription with these arguments: to
 * end it tells the server nothing new.
 */
static bool
was_sent(struct policyd_env *env, const struct work *k)
{
	const struct session *s = &env->sessions[k->server];
	uint8_t digest[HOLD_DIGEST];
	bool found;
	struct buf b;

	buf_init(&b, 8192);
	(void)json_write(&b, k->tree);
	found = !b.failed &&
		hold_digest(k->server_name, SPAN(PARTS_SUBSCRIBE), buf_span(&b),
		    span_of(NULL, 0), digest) == 0 &&
		parts_was_sent(s, digest);
	buf_free(&b);
	return found;
}

static enum work_way
refuse(
    struct policyd_env *env, struct work *k, const char *rule, const char *text)
{
	return work_refuse_plain(
	    env, k, rule, reason_printf(env->pool, "%s", text), WORK_FINAL);
}

enum work_way
parts_judge(struct policyd_env *env, struct work *k)
{
	struct annot_tool annot = {.server = k->server_name, .tool = k->tool};
	const struct call_args args = {.tree = k->tree};
	uint8_t part = parts_of(k->tool);
	struct span name = name_of(k, part);
	const struct rule *r;

	if ((env->sessions[k->server].parts & part) == 0)
		return refuse(
		    env, k, "unknown-part", "This server does not offer that");
	if (name.p == NULL || name.len == 0)
		return refuse(env, k, "invalid-arguments",
		    "The address or the name is missing, malformed, or longer "
		    "than 2048 bytes");
	if (work_rule_denies(env, k, &annot, &args, false))
		return WORK_REFUSE;
	if (span_is(k->tool, PARTS_UNSUBSCRIBE) && was_sent(env, k)) {
		k->d = (struct decision){.status = PROTO_ALLOW,
		    .rule = SPAN("unsubscribe"),
		    .reason = SPAN("It ends a subscription")};
		return WORK_FORWARD;
	}
	if ((r = rule_of(env, k->server_name, part, name)) != NULL) {
		k->d = (struct decision){.status = r->then,
		    .rule = r->name,
		    .reason = r->reason,
		    .by = r};
	} else if (k->srv->trusted && part != PROTO_PART_COMPLETION) {
		k->d = (struct decision){.status = PROTO_ALLOW,
		    .rule = SPAN("trusted-server"),
		    .reason = SPAN("Its server is trusted")};
	} else if (part == PROTO_PART_COMPLETION) {
		k->d = (struct decision){.status = PROTO_DENY,
		    .rule = SPAN("completion-off"),
		    .reason = SPAN("No rule allows completion of this "
				   "server, which learns what is typed")};
	} else {
		k->d = (struct decision){.status = PROTO_ESCALATE,
		    .rule = SPAN("part-hold"),
		    .reason = part != PROTO_PART_PROMPTS
				  ? SPAN("No rule covers this resource. Its "
					 "address is sent to the server, and "
					 "what the server answers reaches the "
					 "agent")
				  : SPAN("No rule covers this prompt. Its "
					 "arguments are sent to the server, "
					 "and what the server answers reaches "
					 "the agent")};
	}
	return WORK_FORWARD;
}
