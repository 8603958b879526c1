/* SPDX-License-Identifier: ISC */
/*
 * Checks proposed rules for what their schema cannot say. A rule is refused
 * with its place, never mended: a condition that was dropped or changed would
 * make a rule that nobody proposed.
 */
#include "icctl/policy/compile/compile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/http/hostname.h"
#include "common/log.h"
#include "policyd/engine/roles.h"

/* The list definitions that the rules may refer to, and a place. */
struct checked {
	const struct compile_server *server;
	const struct value *lists;
	struct fault *fault;
	size_t values;
};

static int __attribute__((format(printf, 3, 4)))
bad(const struct checked *k, const char *place, const char *fmt, ...)
{
	char text[700];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fault_set(k->fault, "%s: %s", place, text);
}

const struct value *
rules_named(const struct value *array, struct span name)
{
	const struct value *v = array == NULL ? NULL : array->child;

	while (v != NULL && !span_eq(value_str(v, "name"), name))
		v = v->next;
	return v;
}

/* Check that no text of the object hides or controls anything. */
static int
check_texts(const struct checked *k, const struct value *v, const char *place)
{
	char at[300];

	if (v->type == VALUE_STRING && !text_plain(v->text))
		return bad(k, place,
		    "has control characters, or ones that cannot be seen");
	for (const struct value *c = v->child; c != NULL; c = c->next) {
		snprintf(at, sizeof(at), "%.200s/%.*s", place,
		    (int)(c->key.len > 80 ? 80 : c->key.len),
		    c->key.p == NULL ? "" : (const char *)c->key.p);
		if (check_texts(k, c, at) == -1)
			return -1;
	}
	return 0;
}

/*
 * Check a directory: absolute or below ~/, without . and .., and without
 * characters that look like a pattern.
 */
static int
check_within(const struct checked *k, struct span s, bool allow,
    const char *place)
{
	char vis[300];
	struct span rest = s, part;
	size_t n;

	log_vis(s, vis, sizeof(vis));
	if (!span_starts(s, SPAN("/")) && !span_starts(s, SPAN("~/")))
		return bad(k, place,
		    "\"%s\" must be absolute or begin with ~/", vis);
	for (size_t i = 0; i < s.len; i++)
		if (strchr("*?[]{}$`\\\"'\n", s.p[i]) != NULL || s.p[i] == '\0')
			return bad(k, place,
			    "\"%s\" has characters of a pattern; a directory "
			    "includes what is below it", vis);
	if (s.p[0] == '~') {
		rest.p++;
		rest.len--;
	}
	if (allow && (rest.len < 2 || span_is(rest, "//")))
		return bad(k, place,
		    "\"%s\" is too wide for a rule that allows", vis);
	while (rest.len != 0) {
		rest.p++;
		rest.len--;
		for (n = 0; n < rest.len && rest.p[n] != '/'; n++)
			;
		part = span_of(rest.p, n);
		if (span_is(part, ".") || span_is(part, "..") ||
		    (part.len == 0 && n < rest.len))
			return bad(k, place,
			    "\"%s\" must be written without ., .. and //",
			    vis);
		rest.p += n;
		rest.len -= n;
	}
	return 0;
}

/* Returns true for a list that is defined, of this type. */
static bool
list_is(const struct checked *k, struct span name, const char *type)
{
	const struct value *def = rules_named(k->lists, name);

	return def != NULL && span_is(value_str(def, "type"), type);
}

static int
check_values(struct checked *k, const struct value *allowed, const char *type,
    const char *place)
{
	const char *why;
	char vis[200];
	unsigned i = 0;

	for (const struct value *v = allowed->child; v != NULL; v = v->next) {
		log_vis(v->text, vis, sizeof(vis));
		k->values++;
		if (v->text.len != 0 && v->text.p[0] == '@') {
			if (!list_is(k,
				span_of(v->text.p + 1, v->text.len - 1), type))
				return bad(k, place,
				    "%u: no list of type %s is defined as "
				    "\"%s\"", i, type, vis);
		} else if ((why = list_value_bad(span_str(type), v->text)) !=
			   NULL) {
			return bad(k, place, "%u: \"%s\" %s", i, vis, why);
		}
		i++;
	}
	return 0;
}

/* Collect the roles that the tools of a rule have, as bits. */
static uint32_t
roles_add(const struct value *v)
{
	uint32_t mask = 0;
	enum arg_role r;

	for (; v != NULL; v = v->next) {
		if (v->type == VALUE_STRING &&
		    (r = arg_role_find(v->text)) != ARG_COUNT)
			mask |= ARG_BIT(r);
		else if (v->type == VALUE_ARRAY || v->type == VALUE_OBJECT)
			mask |= roles_add(v->child);
	}
	return mask;
}

static uint32_t
tool_roles(const struct value *tool)
{
	const struct value *v = value_get(tool, "args");
	uint32_t mask = 0;

	for (v = v == NULL ? NULL : v->child; v != NULL; v = v->next)
		mask |= v->type == VALUE_OBJECT
			    ? roles_add(value_get(v, "default") == NULL
				      ? NULL
				      : value_get(v, "default")->child)
			    : roles_add(v->child);
	return mask;
}

/* Check that a role of each condition exists among the rule's tools. */
static int
check_roles(const struct checked *k, const struct value *roles, uint32_t have,
    const char *place)
{
	for (const struct value *v = roles->child; v != NULL; v = v->next) {
		enum arg_role r = arg_role_find(v->text);

		if (r == ARG_COUNT || !(have & ARG_BIT(r)))
			return bad(k, place,
			    "no tool of this rule has an argument with the role "
			    "%.40s",
			    r == ARG_COUNT ? "?" : arg_role_name(r));
	}
	return 0;
}

static int
check_tools(const struct checked *k, const struct value *cond, uint32_t *have,
    const char *place)
{
	const struct value *tools = value_get(cond, "tool"), *t;
	char at[300], vis[200];
	unsigned i = 0;

	*have = 0;
	if (tools == NULL) {
		t = k->server->tools == NULL ? NULL : k->server->tools->child;
		for (; t != NULL; t = t->next)
			*have |= tool_roles(t);
		return 0;
	}
	for (const struct value *v = tools->child; v != NULL; v = v->next) {
		if ((t = compile_tool(k->server, v->text)) == NULL) {
			snprintf(at, sizeof(at), "%.200s/if/tool/%u", place, i);
			return bad(k, at, "the server has no tool \"%s\"",
			    log_vis(v->text, vis, sizeof(vis)));
		}
		*have |= tool_roles(t);
		i++;
	}
	return 0;
}

static int
check_conditions(struct checked *k, const struct value *cond, bool allow,
    const char *place)
{
	const struct value *v;
	char at[300], type[16];
	uint32_t have;
	unsigned i = 0;

	if (check_tools(k, cond, &have, place) == -1)
		return -1;
	snprintf(at, sizeof(at), "%.200s/if/roles", place);
	if ((v = value_get(cond, "roles")) != NULL &&
	    check_roles(k, v, have, at) == -1)
		return -1;
	if ((v = value_get(cond, "paths")) != NULL) {
		snprintf(at, sizeof(at), "%.200s/if/paths/roles", place);
		if (check_roles(k, value_get(v, "roles"),
			have & ARGS_PATH, at) == -1)
			return -1;
		snprintf(at, sizeof(at), "%.200s/if/paths/within", place);
		if (check_within(k, value_str(v, "within"), allow, at) == -1)
			return -1;
	}
	if ((v = value_get(cond, "domains")) != NULL) {
		snprintf(at, sizeof(at), "%.200s/if/domains/roles", place);
		if (check_roles(
			k, value_get(v, "roles"), have & ARGS_URL, at) == -1)
			return -1;
		snprintf(at, sizeof(at), "%.200s/if/domains/allowed", place);
		if (check_values(
			k, value_get(v, "allowed"), "domains", at) == -1)
			return -1;
	}
	v = value_get(cond, "lists");
	for (v = v == NULL ? NULL : v->child; v != NULL; v = v->next) {
		snprintf(at, sizeof(at), "%.200s/if/lists/%u", place, i++);
		if (check_roles(k, value_get(v, "roles"), have, at) == -1)
			return -1;
		if (span_copy(value_str(v, "matchType"), type,
			sizeof(type)) == -1 ||
		    check_values(k, value_get(v, "allowed"), type, at) == -1)
			return -1;
	}
	return 0;
}

int
rules_check_one(const struct compile_server *s, const struct value *rule,
    const struct value *lists, const char *place, struct fault *fault)
{
	struct checked k = {s, lists, fault, 0};
	const struct value *cond = value_get(rule, "if"), *server;
	bool allow = span_is(value_str(rule, "then"), "allow");
	struct span name = value_str(rule, "name");
	char at[300], vis[200];

	if (check_texts(&k, rule, place) == -1)
		return -1;
	snprintf(at, sizeof(at), "%.200s/name", place);
	if (!text_is_name(name))
		return bad(&k, at, "\"%s\" must be lower-case words with "
				   "hyphens",
		    log_vis(name, vis, sizeof(vis)));
	snprintf(at, sizeof(at), "%.200s/if/server", place);
	server = value_get(cond, "server");
	if (server == NULL || server->child == NULL ||
	    !span_eq(server->child->text, s->name))
		return bad(&k, at, "must name this server alone");
	/* The server is a condition of every rule. */
	snprintf(at, sizeof(at), "%.200s/if", place);
	if (allow && cond->count < 2)
		return bad(&k, at, "a rule that allows must name tools, roles, "
				   "paths, domains or lists");
	return check_conditions(&k, cond, allow, place);
}

static int
check_definitions(const struct checked *k)
{
	const struct value *v = k->lists == NULL ? NULL : k->lists->child;
	char at[64], vis[120];
	unsigned i = 0;

	for (; v != NULL; v = v->next) {
		snprintf(at, sizeof(at), "/listDefinitions/%u", i++);
		if (check_texts(k, v, at) == -1)
			return -1;
		if (!text_is_name(value_str(v, "name")))
			return bad(k, at, "\"%s\" is no name of a list: "
					  "lower-case letters, digits and "
					  "hyphens",
			    log_vis(value_str(v, "name"), vis, sizeof(vis)));
		if (rules_named(k->lists, value_str(v, "name")) != v)
			return bad(k, at, "the list \"%s\" is defined twice",
			    log_vis(value_str(v, "name"), vis, sizeof(vis)));
	}
	return 0;
}

/* Returns the earlier server that has a rule of this name, or NULL. */
static const struct compile_server *
name_taken(const struct compile *c, const struct compile_server *s,
    struct span name)
{
	for (const struct compile_server *o = c->servers; o < s; o++)
		if (!o->skipped && rules_named(o->rules, name) != NULL)
			return o;
	return NULL;
}

int
rules_check(const struct compile *c, const struct compile_server *s,
    const struct value *rules, const struct value *lists, struct fault *fault)
{
	const struct compile_server *other;
	struct checked k = {s, lists, fault, 0};
	char at[64], vis[200];
	unsigned i = 0;

	if (rules->count > COMPILE_MAX_RULES)
		return bad(&k, "/rules", "more than %u", COMPILE_MAX_RULES);
	if (lists != NULL && lists->count > COMPILE_MAX_LISTS)
		return bad(&k, "/listDefinitions", "more than %u",
		    COMPILE_MAX_LISTS);
	if (check_definitions(&k) == -1)
		return -1;
	for (const struct value *v = rules->child; v != NULL; v = v->next) {
		snprintf(at, sizeof(at), "/rules/%u", i++);
		if (rules_check_one(s, v, lists, at, fault) == -1)
			return -1;
		if (rules_named(rules, value_str(v, "name")) != v)
			return bad(&k, at, "the name \"%s\" is used twice",
			    log_vis(value_str(v, "name"), vis, sizeof(vis)));
		other = name_taken(c, s, value_str(v, "name"));
		if (other != NULL)
			return bad(&k, at,
			    "the name \"%s\" belongs to a rule of another "
			    "server; begin it with the server's name",
			    log_vis(value_str(v, "name"), vis, sizeof(vis)));
	}
	return 0;
}
