/* SPDX-License-Identifier: ISC */
/* Checks annotations that a model proposes. */
#include "icctl/policy/compile/annotated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "icctl/mcp/roles.h"
#include "policyd/engine/roles.h"

/* The roles that every server may have. */
#define ROLES_ANY                                                              \
	(ARG_BIT(ARG_READ_PATH) | ARG_BIT(ARG_WRITE_PATH) |                    \
	    ARG_BIT(ARG_DELETE_PATH) | ARG_BIT(ARG_FETCH_URL) |                \
	    ARG_BIT(ARG_EMAIL_ADDRESS) | ARG_BIT(ARG_EMAIL_BODY) |             \
	    ARG_BIT(ARG_SHARE_PERMISSION) | ARG_BIT(ARG_NONE))
/* Those of servers that have to do with git. */
#define ROLES_GIT                                                              \
	(ARG_BIT(ARG_WRITE_HISTORY) | ARG_BIT(ARG_DELETE_HISTORY) |            \
	    ARG_BIT(ARG_GIT_REMOTE_URL) | ARG_BIT(ARG_BRANCH_NAME) |           \
	    ARG_BIT(ARG_COMMIT_MESSAGE) | ARG_BIT(ARG_GITHUB_OWNER) |          \
	    ARG_BIT(ARG_GITHUB_REPO))

static uint32_t
offered(const char *server)
{
	return strcasestr(server, "git") != NULL ? ROLES_ANY | ROLES_GIT
						 : ROLES_ANY;
}

void
annotate_roles(const char *server, struct buf *b)
{
	uint32_t mask = offered(server);

	for (unsigned r = 0; r < ARG_COUNT; r++)
		if (mask & ARG_BIT(r))
			buf_printf(b, "%s\n", arg_role_name((enum arg_role)r));
}

/* Returns the roles in an array as bits. */
static uint32_t
roles_of(const struct value *array)
{
	uint32_t mask = 0;
	enum arg_role r;

	for (const struct value *v = array->child; v != NULL; v = v->next)
		if ((r = arg_role_find(v->text)) != ARG_COUNT)
			mask |= ARG_BIT(r);
	return mask;
}

/* Returns the roles that an argument has in some call. */
static uint32_t
arg_mask(const struct value *arg)
{
	const struct value *dflt = value_get(arg, "default");

	return roles_of(dflt != NULL ? dflt : arg);
}

static int
check_when(const struct value *arg, const struct value *args,
    const char *at, struct fault *fault)
{
	const struct value *w = value_get(arg, "when");
	uint32_t all = arg_mask(arg);
	char vis[200];
	unsigned i = 0;

	for (w = w == NULL ? NULL : w->child; w != NULL; w = w->next, i++) {
		struct span on = value_str(value_get(w, "condition"), "arg");

		if (value_getspan(args, on) == NULL)
			return fault_set(fault,
			    "%s/when/%u/condition/arg: the tool has no argument "
			    "\"%s\"", at, i, log_vis(on, vis, sizeof(vis)));
		if (roles_of(value_get(w, "roles")) & ~all &
		    ~ARG_BIT(ARG_NONE))
			return fault_set(fault,
			    "%s/when/%u/roles: are not among the default's", at,
			    i);
	}
	return 0;
}

static int
check_args(const char *server, const struct annotated *a,
    const struct value *args, const char *at, struct fault *fault)
{
	const struct value *props = value_get(a->schema, "properties"), *v;
	char place[400], vis[200];

	for (v = args->child; v != NULL; v = v->next) {
		snprintf(place, sizeof(place), "%s/args/%s", at,
		    log_vis(v->key, vis, sizeof(vis)));
		if (props == NULL || value_getspan(props, v->key) == NULL)
			return fault_set(
			    fault, "%s: the tool has no such argument", place);
		if (arg_mask(v) & ~offered(server))
			return fault_set(fault,
			    "%s: has a role that this server does not have",
			    place);
		if ((arg_mask(v) & ARG_BIT(ARG_NONE)) &&
		    arg_mask(v) != ARG_BIT(ARG_NONE))
			return fault_set(
			    fault, "%s: none and another role", place);
		if (check_when(v, args, place, fault) == -1)
			return -1;
	}
	v = props == NULL || props->type != VALUE_OBJECT ? NULL : props->child;
	for (; v != NULL; v = v->next)
		if (value_getspan(args, v->key) == NULL)
			return fault_set(fault,
			    "%s/args: the argument \"%s\" is missing", at,
			    log_vis(v->key, vis, sizeof(vis)));
	return 0;
}

int
annotate_check(const char *server, struct annotated *tools, size_t n,
    const struct value *reply, struct fault *fault)
{
	const struct value *v = value_get(reply, "tools")->child;
	char at[64], vis[200];
	unsigned i = 0;
	size_t k;

	for (k = 0; k < n; k++)
		tools[k].reply = NULL;
	for (; v != NULL; v = v->next) {
		snprintf(at, sizeof(at), "/tools/%u", i++);
		for (k = 0; k < n; k++)
			if (span_is(value_str(v, "toolName"), tools[k].name))
				break;
		if (k == n || tools[k].reply != NULL)
			return fault_set(fault, "%s/toolName: \"%s\" %s", at,
			    log_vis(value_str(v, "toolName"), vis, sizeof(vis)),
			    k == n ? "was not asked about" : "is there twice");
		if (!text_plain(value_str(v, "comment")))
			return fault_set(
			    fault, "%s/comment: has control characters", at);
		if (check_args(server, &tools[k], value_get(v, "args"), at,
			fault) == -1)
			return -1;
		tools[k].reply = v;
	}
	for (k = 0; k < n; k++)
		if (tools[k].reply == NULL)
			return fault_set(fault, "/tools: \"%s\" is missing",
			    log_vis(span_str(tools[k].name), vis, sizeof(vis)));
	return 0;
}

static void
put_mask(struct buf *b, uint32_t mask)
{
	const char *between = "";

	if (mask == 0)
		buf_adds(b, "nothing");
	for (unsigned r = 0; r < ARG_COUNT; r++) {
		if (!(mask & ARG_BIT(r)))
			continue;
		buf_printf(
		    b, "%s%s", between, arg_role_name((enum arg_role)r));
		between = ", ";
	}
}

static void
put_lowered(struct buf *b, const struct annotated *a, struct span arg,
    uint32_t now, uint32_t then, const char *why)
{
	char tool[200], name[200];

	buf_printf(b, "  %s %s: ",
	    log_vis(span_str(a->name), tool, sizeof(tool)),
	    log_vis(arg, name, sizeof(name)));
	put_mask(b, now);
	buf_printf(b, " %s ", why);
	put_mask(b, then);
	buf_addc(b, '\n');
}

/* Returns the roles that an argument's name suggests. */
static uint32_t
suggested(struct json_object *proposal, const char *arg)
{
	struct json_object *args, *list;
	uint32_t mask = 0;
	enum arg_role r;

	if (!json_object_object_get_ex(proposal, "args", &args) ||
	    !json_object_object_get_ex(args, arg, &list))
		return 0;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		r = arg_role_find(span_str(json_object_get_string(
		    json_object_array_get_idx(list, i))));
		if (r != ARG_COUNT)
			mask |= ARG_BIT(r);
	}
	return mask;
}

/* Returns true if `now` lacks a whole kind of role, or deleting. */
static bool
lacks(uint32_t now, uint32_t then)
{
	static const uint32_t kinds[] = {ARGS_PATH, ARGS_URL, ARGS_IDENTIFIER,
	    ARG_BIT(ARG_DELETE_PATH)};

	for (size_t i = 0; i < nitems(kinds); i++)
		if ((then & kinds[i]) && !(now & kinds[i]))
			return true;
	return false;
}

static const struct value *
find_tool(const struct value *old, const char *name)
{
	const struct value *v = old == NULL ? NULL : old->child;

	while (v != NULL && !span_is(value_str(v, "toolName"), name))
		v = v->next;
	return v;
}

bool
annotate_is_manual(const struct value *old, const char *name)
{
	return value_bool(find_tool(old, name), "manual", false);
}

unsigned
annotate_lowered(const char *server, const struct annotated *a,
    const struct value *old, struct buf *b)
{
	struct json_object *proposal = roles_propose(server, a->name, a->tool);
	const struct value *v = value_get(a->reply, "args"), *was;
	uint32_t now, then;
	unsigned n = 0;
	char *name;

	was = value_get(find_tool(old, a->name), "args");
	for (v = v->child; v != NULL; v = v->next) {
		const struct value *before =
		    was == NULL ? NULL : value_getspan(was, v->key);

		now = arg_mask(v);
		name = span_dup(v->key);
		then = name == NULL ? 0 : suggested(proposal, name);
		free(name);
		if (before != NULL && (arg_mask(before) & ARGS_RESOURCE & ~now)) {
			put_lowered(b, a, v->key, now, arg_mask(before),
			    "instead of");
			n++;
		} else if (before == NULL && lacks(now, then)) {
			put_lowered(b, a, v->key, now, then,
			    "although its name suggests");
			n++;
		}
	}
	json_object_put(proposal);
	return n;
}
