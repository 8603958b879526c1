/* SPDX-License-Identifier: ISC */
/*
 * Prepares the arguments of a call. The tree comes from the agent and belongs
 * to the call; it is changed in place, so that the arguments that are judged
 * and those that are sent are the same.
 */
#include "engine/args.h"

#include <stdio.h>

#include "common/log.h"

/* Recursion is bounded by VALUE_MAX_DEPTH. */
struct collect {
	struct call_args *args;
	const struct annot_arg *arg;
	const struct annot_roles *roles;
};

struct prepare {
	const struct engine *engine;
	const struct server *server;
	struct value_pool *pool;
	struct path_env path;
	unsigned steps;
	struct call_args *out;
};

struct span
reason_bare(struct span s)
{
	while (s.len != 0 && s.p[s.len - 1] == '.')
		s.len--;
	return s;
}

struct span
reason_printf(struct value_pool *pool, const char *fmt, ...)
{
	char text[LOAD_MAX_REASON + 1];
	va_list ap;
	uint8_t *p;
	size_t len;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = n < 0 ? 0 : (size_t)n;
	if (len >= sizeof(text)) {
		len = sizeof(text) - 1;
		/* Do not cut within a UTF-8 character. */
		while (len > 0 && ((uint8_t)text[len] & 0xc0) == 0x80)
			len--;
	}
	if ((p = value_pool_alloc(pool, len + 1)) == NULL)
		return SPAN("out of memory");
	memcpy(p, text, len);
	return span_of(p, len);
}

static bool
meaningful(uint32_t mask)
{
	return (mask & ~ARG_BIT(ARG_NONE)) != 0;
}

static size_t
count_strings(const struct value *v)
{
	const struct value *c;
	size_t n = v->type == VALUE_STRING;

	for (c = v->child; c != NULL; c = c->next)
		n += count_strings(c);
	return n;
}

static void
collect_strings(struct collect *c, struct value *v)
{
	struct value *child;

	if (v->type == VALUE_STRING)
		c->args->values[c->args->n++] = (struct arg_value){
		    .arg = c->arg,
		    .roles = c->roles,
		    .mask = c->roles->mask,
		    .node = v,
		    .text = v->text,
		    .given = v->text,
		};
	for (child = v->child; child != NULL; child = child->next)
		collect_strings(c, child);
}

/*
 * Returns true if a git server would take the remote from git's configuration.
 */
static bool
implicit_remote(const struct prepare *p, uint32_t mask, const struct value *v)
{
	if (!p->server->is_git || !(mask & ARG_BIT(ARG_GIT_REMOTE_URL)))
		return false;
	return v == NULL || v->type == VALUE_NULL ||
	       (v->type == VALUE_STRING && v->text.len == 0);
}

static struct value *
argument(const struct call_args *a, struct span name)
{
	/* The tree is writable; only value_getspan() returns it as const. */
	return (struct value *)(uintptr_t)value_getspan(a->tree, name);
}

static int
collect_all(struct prepare *p, const struct annot_tool *tool)
{
	struct call_args *a = p->out;
	const struct annot_roles *roles;
	struct collect c = {.args = a};
	struct value *v;
	size_t n = 0;

	for (unsigned i = 0; i < tool->nargs; i++) {
		roles = annot_arg_roles(&tool->args[i], a->tree);
		v = argument(a, tool->args[i].name);
		n += 1 + (v == NULL || !meaningful(roles->mask)
				 ? 0
				 : count_strings(v));
	}
	if (n > ARGS_MAX_VALUES + tool->nargs) {
		a->reason = reason_printf(p->pool,
		    "Arguments hold more than %u paths, URLs and names",
		    ARGS_MAX_VALUES);
		return -1;
	}
	if ((a->values = value_pool_alloc(p->pool, n * sizeof(*a->values))) ==
	    NULL)
		return -1;
	for (unsigned i = 0; i < tool->nargs; i++) {
		roles = annot_arg_roles(&tool->args[i], a->tree);
		for (unsigned k = 0; k < roles->n; k++) {
			if ((ARGS_RESOURCE & ~a->roles) &
			    ARG_BIT(roles->list[k]))
				a->order[a->norder++] = roles->list[k];
			a->roles |= ARG_BIT(roles->list[k]);
		}
		if (!meaningful(roles->mask))
			continue;
		c.arg = &tool->args[i];
		c.roles = roles;
		v = argument(a, tool->args[i].name);
		if (implicit_remote(p, roles->mask, v))
			a->values[a->n++] = (struct arg_value){
			    .arg = c.arg,
			    .roles = roles,
			    .mask = ARG_BIT(ARG_GIT_REMOTE_URL),
			    .text = SPAN(""),
			    .has_url = true,
			};
		else if (v != NULL)
			collect_strings(&c, v);
	}
	return 0;
}

static int
refuse(struct prepare *p, const char *rule, const struct arg_value *v,
    const char *what, const char *why)
{
	char name[100], text[600];

	p->out->rule = rule;
	p->out->reason = reason_printf(p->pool, "%s in argument \"%s\" %s%s%s",
	    what, log_vis(v->arg->name, name, sizeof(name)), why,
	    v->text.len == 0 ? "" : ": ", log_vis(v->text, text, sizeof(text)));
	return -1;
}

static int
prepare_path(struct prepare *p, struct arg_value *v)
{
	enum path_error e;

	e = path_resolve(&p->path, v->text, &v->path);
	if (e != PATH_OK)
		return refuse(
		    p, "structural-invalid-path", v, "Path", path_strerror(e));
	v->has_path = true;
	return 0;
}

static int
prepare_url(struct prepare *p, struct arg_value *v)
{
	const char *why;
	int r;

	if (v->mask & ARG_BIT(ARG_GIT_REMOTE_URL))
		r = url_parse_git(p->pool, v->text, &v->url, &why);
	else
		r = url_parse(p->pool, v->text, &v->url, &why);
	/* The name of the argument may have suggested the wrong role. */
	if (r == -1 && why != NULL && v->text.len != 0 &&
	    (v->mask & ARG_BIT(ARG_GIT_REMOTE_URL)) == 0 &&
	    memchr(v->text.p, ':', v->text.len) == NULL &&
	    memchr(v->text.p, '/', v->text.len) == NULL)
		why = "is not a URL with a scheme, such as https://host/path "
		      "(if the tool takes names of hosts, the user can change "
		      "the role of the argument: icctl mcp annotate)";
	if (r == -1)
		return refuse(p, "structural-invalid-url", v, "URL",
		    why == NULL ? "takes too much memory" : why);
	v->has_url = true;
	return 0;
}

static int
prepare_lower(struct prepare *p, struct arg_value *v)
{
	uint8_t *copy;

	if ((copy = value_pool_alloc(p->pool, v->text.len + 1)) == NULL)
		return -1;
	for (size_t i = 0; i < v->text.len; i++)
		copy[i] = v->text.p[i] >= 'A' && v->text.p[i] <= 'Z'
			      ? (uint8_t)(v->text.p[i] + ('a' - 'A'))
			      : v->text.p[i];
	v->text = v->node->text = span_of(copy, v->text.len);
	return 0;
}

/* Returns the category of the first resource role, which decides the form. */
static enum arg_category
first_category(const struct arg_value *v)
{
	const struct annot_roles *r = v->roles;

	for (unsigned i = 0; i < r->n; i++) {
		if (ARGS_RESOURCE & ARG_BIT(r->list[i]))
			return arg_role_category((enum arg_role)r->list[i]);
	}
	return v->mask & ARGS_LOWER ? CATEGORY_IDENTIFIER : CATEGORY_OPAQUE;
}

static int
prepare_value(struct prepare *p, struct arg_value *v)
{
	enum arg_category first = first_category(v);

	if (first == CATEGORY_PATH) {
		if (prepare_path(p, v) == -1)
			return -1;
		v->text = v->path.host;
		v->node->text =
		    v->path.view.p != NULL ? v->path.view : v->path.host;
	} else if (first == CATEGORY_URL) {
		if (prepare_url(p, v) == -1)
			return -1;
		v->text = v->node->text = v->url.text;
	} else if (first == CATEGORY_IDENTIFIER) {
		if (prepare_lower(p, v) == -1)
			return -1;
	}
	/* A value may be both a path and a URL; check both on the text sent. */
	if (v->mask & ARGS_PATH && !v->has_path && prepare_path(p, v) == -1)
		return -1;
	if (v->mask & ARGS_URL && !v->has_url && prepare_url(p, v) == -1)
		return -1;
	return 0;
}

/*
 * Returns true if git could take the value for a path or an option although its
 * role says neither (sub-paths and revisions have the role none).
 */
static bool
git_suspicious(const struct value *v)
{
	const struct value *c;
	struct span s = v->text;

	while (s.len != 0 && s.p[s.len - 1] == '\n')
		s.len--;
	if (v->type == VALUE_STRING && s.len != 0 &&
	    memchr(s.p, '\n', s.len) == NULL &&
	    (s.p[0] == '/' || s.p[0] == '-' ||
		(s.len >= 5 && span_ieq(span_of(s.p, 5), SPAN("file:")))))
		return true;
	for (c = v->child; c != NULL; c = c->next) {
		if (git_suspicious(c))
			return true;
	}
	return false;
}

static uint32_t
roles_of(
    const struct annot_tool *tool, const struct call_args *a, struct span name)
{
	for (unsigned i = 0; i < tool->nargs; i++) {
		if (span_eq(tool->args[i].name, name))
			return annot_arg_roles(&tool->args[i], a->tree)->mask;
	}
	return 0;
}

/* Returns true if the argument of a git tool lists files of the repository. */
static bool
git_files(struct span name)
{
	static const char *const names[] = {"file", "filePath", "files",
	    "filesToStage", "path_spec", "paths", "pathspec"};

	for (size_t i = 0; i < nitems(names); i++) {
		if (span_is(name, names[i]))
			return true;
	}
	return false;
}

/*
 * Returns the directory that git will work in, as the agent wrote it. Only an
 * absolute one is useful here; a relative one is resolved later.
 */
static struct span
git_base(const struct call_args *a)
{
	const struct value *v = value_get(a->tree, "path");
	struct span base = span_of(NULL, 0);

	if (v == NULL || v->type != VALUE_STRING || v->text.len == 0 ||
	    v->text.p[0] != '/')
		return base;
	base = v->text;
	while (base.len > 1 && base.p[base.len - 1] == '/')
		base.len--;
	return base;
}

/*
 * Rewrite a file below that directory to its relative name, as the agent could
 * have written it.
 */
static void
git_relative(struct value *v, struct span base)
{
	struct value *c;

	if (v->type == VALUE_STRING && span_eq(v->text, base))
		v->text = SPAN(".");
	else if (v->type == VALUE_STRING && v->text.len > base.len + 1 &&
		 span_starts(v->text, base) && v->text.p[base.len] == '/')
		v->text = span_of(
		    v->text.p + base.len + 1, v->text.len - base.len - 1);
	for (c = v->child; c != NULL; c = c->next)
		git_relative(c, base);
}

static int
check_git(struct prepare *p, const struct annot_tool *tool)
{
	struct span base = git_base(p->out);
	struct value *v;
	uint32_t mask;
	char name[100];

	for (v = p->out->tree->child; v != NULL; v = v->next) {
		mask = roles_of(tool, p->out, v->key);
		/* A branch name can still be taken for an option: check it. */
		if (meaningful(mask & ~ARG_BIT(ARG_BRANCH_NAME)))
			continue;
		if (base.len > 1 && git_files(v->key))
			git_relative(v, base);
		if (!git_suspicious(v))
			continue;
		p->out->rule = "structural-git-argument";
		p->out->reason = reason_printf(p->pool,
		    "Argument \"%s\" of a git tool may not be an absolute "
		    "path, a file: URL or begin with -; name a file relative "
		    "to the repository",
		    log_vis(v->key, name, sizeof(name)));
		return -1;
	}
	return 0;
}

int
args_prepare(const struct engine *e, const struct server *s,
    const struct annot_tool *tool, struct value *tree, struct value_pool *pool,
    struct call_args *out)
{
	struct prepare p = {.engine = e, .server = s, .pool = pool, .out = out};

	*out = (struct call_args){.tree = tree,
	    .rule = "invalid-arguments",
	    .reason = SPAN("Arguments take too much memory")};
	engine_path_env(e, s, pool, &p.path);
	p.steps = ARGS_MAX_STEPS;
	p.path.budget = &p.steps;
	if (collect_all(&p, tool) == -1)
		return -1;
	if (s->is_git && check_git(&p, tool) == -1)
		return -1;
	for (size_t i = 0; i < out->n; i++) {
		if (out->values[i].node != NULL &&
		    prepare_value(&p, &out->values[i]) == -1)
			return -1;
	}
	out->rule = NULL;
	return 0;
}
