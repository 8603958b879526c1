/* SPDX-License-Identifier: ISC */
/*
 * Reads tool-annotations.json. An unknown condition or role is refused: an
 * argument might otherwise escape judgement.
 */
#include "engine/annot.h"

#include <stdlib.h>

#include "common/log.h"

#define TOOLS_MAX 20000U

static bool
is_scalar(const struct value *v)
{
	return v->type != VALUE_ARRAY && v->type != VALUE_OBJECT;
}

static int
load_is(struct load *l, struct where *at, struct span s, struct annot_when *w)
{
	if (span_is(s, "present"))
		w->test = ANNOT_PRESENT;
	else if (span_is(s, "absent"))
		w->test = ANNOT_ABSENT;
	else if (span_is(s, "truthy"))
		w->test = ANNOT_TRUTHY;
	else if (span_is(s, "falsy"))
		w->test = ANNOT_FALSY;
	else {
		where_down(at, ".is");
		return load_fail(
		    l, at, "must be present, absent, truthy or falsy");
	}
	return 0;
}

static int
load_condition(struct load *l, struct where *at, const struct value *cond,
    struct annot_when *w)
{
	const struct value *equals = value_get(cond, "equals");
	const struct value *in, *v;
	struct span is;
	unsigned tests;

	if (load_string(l, at, cond, "arg", true, LOAD_MAX_NAME, &w->arg) ==
		-1 ||
	    load_array(l, at, cond, "in", false, &in) == -1 ||
	    load_string(l, at, cond, "is", false, 32, &is) == -1)
		return -1;
	tests = (unsigned)(equals != NULL) + (unsigned)(in != NULL) +
		(unsigned)(is.p != NULL);
	if (tests != 1 || cond->count != 2)
		return load_fail(
		    l, at, "must have arg and exactly one of equals, in, is");
	if (is.p != NULL)
		return load_is(l, at, is, w);
	w->test = equals != NULL ? ANNOT_EQUALS : ANNOT_IN;
	w->value = equals != NULL ? equals : in;
	if (equals != NULL && !is_scalar(equals)) {
		where_down(at, ".equals");
		return load_fail(l, at, "must be a string, number or boolean");
	}
	for (v = in == NULL ? NULL : in->child; v != NULL; v = v->next) {
		if (is_scalar(v))
			continue;
		where_down(at, ".in");
		return load_fail(
		    l, at, "must hold strings, numbers and booleans");
	}
	return 0;
}

static int
load_when(struct load *l, struct where *at, const struct value *v,
    struct annot_arg *arg, struct annot_when *w)
{
	static const char *const known[] = {"condition", "roles", NULL};
	const struct value *cond, *roles;
	size_t up;

	if (v->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	load_unknown(l, at, v, known);
	if (load_object(l, at, v, "condition", true, &cond) == -1 ||
	    load_array(l, at, v, "roles", true, &roles) == -1)
		return -1;
	up = where_down(at, ".condition");
	if (load_condition(l, at, cond, w) == -1)
		return -1;
	where_up(at, up);
	where_down(at, ".roles");
	if (load_roles(
		l, at, roles, w->roles.list, &w->roles.n, &w->roles.mask) == -1)
		return -1;
	arg->all |= w->roles.mask;
	where_up(at, up);
	return 0;
}

static int
load_conditional(struct load *l, struct annots *as, struct where *at,
    const struct value *v, struct annot_arg *arg)
{
	static const char *const known[] = {"default", "when", NULL};
	const struct value *dflt, *when, *w;
	size_t up = at->len;

	load_unknown(l, at, v, known);
	if (load_array(l, at, v, "default", true, &dflt) == -1 ||
	    load_array(l, at, v, "when", true, &when) == -1)
		return -1;
	where_down(at, ".default");
	if (load_roles(l, at, dflt, arg->roles.list, &arg->roles.n,
		&arg->roles.mask) == -1)
		return -1;
	arg->all = arg->roles.mask;
	where_up(at, up);
	if (when->count > ANNOT_MAX_WHEN)
		return load_fail(
		    l, at, "has more than %u conditions", ANNOT_MAX_WHEN);
	if ((arg->when = load_alloc(
		 l, &as->doc, when->count, sizeof(*arg->when))) == NULL)
		return -1;
	for (w = when->child; w != NULL; w = w->next) {
		where_down(at, ".when[%u]", arg->nwhen);
		if (load_when(l, at, w, arg, &arg->when[arg->nwhen]) == -1)
			return -1;
		arg->nwhen++;
		where_up(at, up);
	}
	return 0;
}

static int
compare_position(const void *a, const void *b)
{
	const struct annot_arg *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static int
load_args(struct load *l, struct annots *as, struct where *at,
    const struct value *obj, struct annot_tool *t)
{
	const struct value *v;
	struct annot_arg *a;
	size_t up = at->len;
	char vis[80];
	int ret;

	if (obj->count > ANNOT_MAX_ARGS)
		return load_fail(
		    l, at, "more than %u arguments", ANNOT_MAX_ARGS);
	if ((t->args = load_alloc(l, &as->doc, obj->count, sizeof(*t->args))) ==
	    NULL)
		return -1;
	for (v = obj->child; v != NULL; v = v->next) {
		where_down(at, ".%s", log_vis(v->key, vis, sizeof(vis)));
		a = &t->args[t->nargs++];
		a->name = v->key;
		a->position = load_position(&as->doc, v);
		if (v->type == VALUE_ARRAY)
			ret = load_roles(l, at, v, a->roles.list, &a->roles.n,
			    &a->roles.mask);
		else if (v->type == VALUE_OBJECT)
			ret = load_conditional(l, as, at, v, a);
		else
			ret = load_fail(l, at,
			    "must be an array of roles or "
			    "{\"default\", \"when\"}");
		if (ret == -1)
			return -1;
		a->all |= a->roles.mask;
		where_up(at, up);
	}
	if (t->nargs > 1)
		qsort(t->args, t->nargs, sizeof(*t->args), compare_position);
	return 0;
}

static int
load_tool(struct load *l, struct annots *as, struct where *at,
    const struct value *v, struct annot_tool *t)
{
	/* "manual": a person wrote it, and no model may change it. */
	static const char *const known[] = {"manual", "toolName", "serverName", "comment",
	    "args", "inputSchema", "sideEffects", NULL};
	struct span server;
	const struct value *args;

	if (v->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	load_unknown(l, at, v, known);
	if (load_string(l, at, v, "toolName", true, LOAD_MAX_NAME, &t->tool) ==
		-1 ||
	    load_string(
		l, at, v, "serverName", false, LOAD_MAX_NAME, &server) == -1 ||
	    load_object(l, at, v, "args", true, &args) == -1)
		return -1;
	if (server.p != NULL && !span_eq(server, t->server)) {
		where_down(at, ".serverName");
		return load_fail(l, at, "is not the server it stands under");
	}
	where_down(at, ".args");
	return load_args(l, as, at, args, t);
}

static int
load_server(
    struct load *l, struct annots *as, struct where *at, const struct value *v)
{
	static const char *const known[] = {"inputHash", "tools", NULL};
	const struct value *tools, *tool;
	size_t i = 0, up = at->len;

	if (v->type != VALUE_OBJECT)
		return load_fail(l, at, "must be an object");
	load_unknown(l, at, v, known);
	if (load_array(l, at, v, "tools", true, &tools) == -1)
		return -1;
	for (tool = tools->child; tool != NULL; tool = tool->next, i++) {
		where_down(at, ".tools[%zu]", i);
		as->tools[as->n].server = v->key;
		if (load_tool(l, as, at, tool, &as->tools[as->n]) == -1)
			return -1;
		as->n++;
		where_up(at, up);
	}
	return 0;
}

static int
compare_tool(const void *a, const void *b)
{
	const struct annot_tool *x = a, *y = b;
	int c = span_cmp(x->server, y->server);

	return c != 0 ? c : span_cmp(x->tool, y->tool);
}

static int
sort_tools(struct load *l, struct annots *as)
{
	char server[80], tool[80];

	if (as->n > 1)
		qsort(as->tools, as->n, sizeof(*as->tools), compare_tool);
	for (size_t i = 1; i < as->n; i++) {
		const struct annot_tool *t = &as->tools[i];

		if (compare_tool(t - 1, t) == 0)
			return load_fail(l, NULL,
			    "servers.%s: tool %s is annotated twice",
			    log_vis(t->server, server, sizeof(server)),
			    log_vis(t->tool, tool, sizeof(tool)));
	}
	return 0;
}

static unsigned
count_tools(const struct value *servers)
{
	const struct value *v, *tools;
	unsigned n = 0;

	for (v = servers->child; v != NULL; v = v->next) {
		tools = value_get(v, "tools");
		if (tools != NULL && tools->type == VALUE_ARRAY)
			n += tools->count;
	}
	return n;
}

int
annots_load(struct annots *out, struct span text, struct load *l)
{
	static const char *const known[] = {"generatedAt", "servers", NULL};
	struct where at = {.len = 0};
	const struct value *servers, *v;
	struct annots as = {0};
	unsigned n;
	char vis[80];

	if (load_doc(l, text, &as.doc) == -1)
		return -1;
	load_unknown(l, &at, as.doc.root, known);
	if (load_object(l, &at, as.doc.root, "servers", true, &servers) == -1)
		goto bad;
	if ((n = count_tools(servers)) > TOOLS_MAX) {
		(void)load_fail(l, NULL, "more than %u tools", TOOLS_MAX);
		goto bad;
	}
	if ((as.tools = load_alloc(l, &as.doc, n, sizeof(*as.tools))) == NULL)
		goto bad;
	for (v = servers->child; v != NULL; v = v->next) {
		where_up(&at, 0);
		where_down(
		    &at, "servers.%s", log_vis(v->key, vis, sizeof(vis)));
		if (load_server(l, &as, &at, v) == -1)
			goto bad;
	}
	if (sort_tools(l, &as) == -1)
		goto bad;
	*out = as;
	return 0;
bad:
	annots_free(&as);
	return -1;
}

void
annots_forget(struct annots *as)
{
	for (size_t i = 0; i < as->n; i++) {
		free(as->tools[i].rules);
		as->tools[i].rules = NULL;
		as->tools[i].nrules = 0;
		as->tools[i].indexed = false;
	}
}

void
annots_free(struct annots *as)
{
	annots_forget(as);
	load_doc_free(&as->doc);
	*as = (struct annots){0};
}

struct annot_tool *
annots_find(const struct annots *as, struct span server, struct span tool)
{
	const struct annot_tool key = {.server = server, .tool = tool};

	if (as->n == 0)
		return NULL;
	return bsearch(
	    &key, as->tools, as->n, sizeof(*as->tools), compare_tool);
}

enum truth {
	FALSY,
	TRUTHY,
	UNCLEAR
};

/*
 * As in JavaScript, null, false, 0 and "" are not true. Whether a number with
 * an exponent becomes 0 depends on the server, so that it is neither true nor
 * false.
 */
static enum truth
number_truth(struct span s)
{
	bool zero = true;

	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == 'e' || s.p[i] == 'E')
			return zero ? FALSY : UNCLEAR;
		if (s.p[i] >= '1' && s.p[i] <= '9')
			zero = false;
	}
	return zero ? FALSY : TRUTHY;
}

static enum truth
truth(const struct value *v)
{
	if (v == NULL)
		return FALSY;
	switch (v->type) {
	case VALUE_NULL:
	case VALUE_FALSE:
		return FALSY;
	case VALUE_NUMBER:
		return number_truth(v->text);
	case VALUE_STRING:
		return v->text.len != 0 ? TRUTHY : FALSY;
	case VALUE_TRUE:
	case VALUE_ARRAY:
	case VALUE_OBJECT:
		return TRUTHY;
	}
	return UNCLEAR;
}

static bool
when_holds(const struct annot_when *w, const struct value *args)
{
	const struct value *v = value_getspan(args, w->arg), *in;

	switch (w->test) {
	case ANNOT_EQUALS:
		return v != NULL && value_eq(v, w->value);
	case ANNOT_IN:
		for (in = w->value->child; v != NULL && in != NULL;
		     in = in->next) {
			if (value_eq(v, in))
				return true;
		}
		return false;
	case ANNOT_PRESENT:
		return v != NULL && v->type != VALUE_NULL;
	case ANNOT_ABSENT:
		return v == NULL || v->type == VALUE_NULL;
	case ANNOT_TRUTHY:
		return truth(v) == TRUTHY;
	case ANNOT_FALSY:
		return truth(v) == FALSY;
	}
	return false;
}

const struct annot_roles *
annot_arg_roles(const struct annot_arg *a, const struct value *args)
{
	for (unsigned i = 0; i < a->nwhen; i++) {
		if (when_holds(&a->when[i], args))
			return &a->when[i].roles;
	}
	return &a->roles;
}
