/* SPDX-License-Identifier: ISC */
/*
 * Tools of the virtual server: definitions, arguments, decision. Reads the
 * agent's decoded arguments; has no state and no side effects.
 */
#include "virtual.h"

#include <stdlib.h>

#include "common/http/hostname.h"
#include "common/json/json.h"
#include "common/log.h"

#define JUSTIFICATION_MAX 2000U
#define ADD "add_proxy_domain"
#define LIST "list_proxy_domains"

#define DOMAIN                                                                 \
	"{\"description\":\"A host name, like docs.example.com: no URL, no "   \
	"port, no wildcard, no address.\",\"type\":\"string\"}"

static const char virtual_tools[] =
    "[{\"annotations\":{\"readOnlyHint\":false},"
    "\"description\":\"Asks the user to open one more host to this session. "
    "Only GET and HEAD over HTTPS reach it, through the proxy of this "
    "environment, without credentials. The call waits for the user's answer. "
    "Say briefly why you need the host: the user decides on that. "
    "Answers with status added or already_accessible.\","
    "\"inputSchema\":{\"additionalProperties\":false,\"properties\":{"
    "\"domain\":" DOMAIN ",\"justification\":{\"description\":\"Why the host "
    "is needed, for the user.\",\"type\":\"string\"}},"
    "\"required\":[\"domain\",\"justification\"],\"type\":\"object\"},"
    "\"name\":\"" ADD "\"},"
    "{\"annotations\":{\"readOnlyHint\":true},"
    "\"description\":\"Lists the hosts that this session may reach: "
    "providers are those of its configuration, dynamic those that were "
    "added since.\","
    "\"inputSchema\":{\"additionalProperties\":false,\"properties\":{},"
    "\"type\":\"object\"},\"name\":\"" LIST "\"},"
    "{\"annotations\":{\"readOnlyHint\":false},"
    "\"description\":\"Closes a host that was added with add_proxy_domain. "
    "Hosts of the configuration stay. Answers with status removed or "
    "not_found.\","
    "\"inputSchema\":{\"additionalProperties\":false,\"properties\":{"
    "\"domain\":" DOMAIN "},\"required\":[\"domain\"],\"type\":\"object\"},"
    "\"name\":\"remove_proxy_domain\"}]";

void
virtual_start(struct policyd_env *env, uint16_t index)
{
	const struct value *array;

	value_pool_reset(env->pool);
	array = json_read(env->pool, span_str(virtual_tools), NULL);
	if (array == NULL || session_builtin(env, index, array) == -1)
		fatal("tools of the virtual server");
	value_pool_reset(env->pool);
}

static enum work_way
refuse(struct work *k, const char *rule, struct span reason)
{
	k->answer = reason;
	return work_refuse(k, rule, reason);
}

/*
 * Returns a string argument; anything else about it is for the schema to say.
 */
static struct value *
text_of(const struct work *k, const char *name)
{
	struct value *v = (struct value *)(uintptr_t)value_get(k->tree, name);

	return v != NULL && v->type == VALUE_STRING ? v : NULL;
}

/* Normalise the domain in the call. */
static enum work_way
check_domain(struct policyd_env *env, struct work *k, bool add)
{
	char host[HOSTNAME_MAX + 1], vis[HOSTNAME_MAX + 8];
	struct value *v = text_of(k, "domain");
	const char *why;
	uint8_t *p;

	if (v == NULL)
		return refuse(k, "invalid-arguments",
		    SPAN("Argument \"domain\" is required: a host name."));
	if (hostname_read(v->text, host, &why) == -1 ||
	    (add && hostname_public(host, &why) == -1))
		return refuse(k, "invalid-domain",
		    reason_printf(env->pool, "Domain \"%s\" %s.",
			log_vis(v->text, vis, sizeof(vis)), why));
	if ((p = value_pool_alloc(env->pool, strlen(host))) == NULL)
		return refuse(
		    k, "invalid-arguments", SPAN("Arguments are too large"));
	memcpy(p, host, strlen(host));
	v->text = span_of(p, strlen(host));
	return WORK_FORWARD;
}

static enum work_way
check_justification(struct work *k)
{
	const struct value *v = text_of(k, "justification");

	if (v == NULL || v->text.len == 0 || v->text.len > JUSTIFICATION_MAX)
		return refuse(k, "invalid-arguments",
		    SPAN("Argument \"justification\" is required: 1 to 2000 "
			 "bytes that tell the user what the host is needed "
			 "for."));
	return WORK_FORWARD;
}

/*
 * Returns true if a rule that names this server denies the domain. Rules see
 * the domain by its role. A rule for all servers does not apply: policies of
 * the TypeScript IronCurtain could not name this server.
 */
static bool
denied(struct policyd_env *env, struct work *k, struct value *domain)
{
	const struct annot_arg arg = {.name = SPAN("domain"),
	    .roles = {.mask = ARG_BIT(ARG_PROXY_DOMAIN),
		.n = 1,
		.list = {ARG_PROXY_DOMAIN}}};
	struct annot_tool tool = {.server = k->server_name, .tool = k->tool};
	struct arg_value v = {.arg = &arg,
	    .roles = &arg.roles,
	    .mask = arg.roles.mask,
	    .node = domain};
	struct call_args args = {.tree = k->tree};

	if (domain != NULL) {
		v.text = domain->text;
		args.values = &v;
		args.n = args.norder = 1;
		args.roles = v.mask;
		args.order[0] = ARG_PROXY_DOMAIN;
	}
	return work_rule_denies(env, k, &tool, &args, false);
}

static enum work_way
decide(struct policyd_env *env, struct work *k, struct value *domain)
{
	const struct value *says = text_of(k, "justification");
	char why[600];

	if (denied(env, k, domain))
		return WORK_REFUSE;
	if (!span_is(k->tool, ADD) || domain == NULL || says == NULL) {
		k->d = (struct decision){.status = PROTO_ALLOW,
		    .rule = domain == NULL ? SPAN("proxy-list-domains-allow")
					   : SPAN("proxy-remove-domain-allow"),
		    .reason = SPAN("It opens nothing")};
		return WORK_FORWARD;
	}
	k->d = (struct decision){.status = PROTO_ESCALATE,
	    .rule = SPAN("proxy-add-domain-escalate"),
	    .reason = reason_printf(env->pool,
		"The agent asks to reach %.*s (HTTPS, GET and HEAD only, "
		"until the session ends). It says: %s",
		(int)domain->text.len, (const char *)domain->text.p,
		log_vis(says->text, why, sizeof(why)))};
	return WORK_ASK;
}

enum work_way
virtual_judge(
    struct policyd_env *env, struct work *k, const struct session_tool *tool)
{
	bool add = span_is(k->tool, ADD), list = span_is(k->tool, LIST);
	struct span reason;

	if (args_check(k->tree, tool->schema, env->pool, &reason) == -1)
		return refuse(k, "invalid-arguments", reason);
	if ((!list && check_domain(env, k, add) == WORK_REFUSE) ||
	    (add && check_justification(k) == WORK_REFUSE))
		return WORK_REFUSE;
	return decide(env, k, list ? NULL : text_of(k, "domain"));
}
