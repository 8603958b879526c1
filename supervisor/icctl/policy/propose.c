/* SPDX-License-Identifier: ISC */
/*
 * Makes rules from an approved call: one for each path, one for each URL, and
 * one for the exact values if it has neither; a rule for the tool alone only if
 * no condition could say more. A rule for a directory or a host is made only
 * from an approval for the session, which named it.
 */
#include "icctl/policy/learn.h"

#include <sys/stat.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "policyd/engine/domain.h"

#define VALUES_MAX 1000U

/* The strings of one role in one call. */
struct strings {
	struct span list[VALUES_MAX];
	size_t n;
	bool too_many;
};

static bool
gather(void *arg, struct span text)
{
	struct strings *out = arg;

	out->too_many = out->n == VALUES_MAX;
	if (!out->too_many)
		out->list[out->n++] = text;
	return !out->too_many;
}

static struct span
keep(struct learn *l, const struct buf *b)
{
	struct span s = buf_span(b);
	char *p;

	if (s.len == 0 && !b->failed)
		return SPAN("");
	if (b->failed || (p = value_pool_alloc(l->pool, s.len + 1)) == NULL) {
		l->failed = true;
		return span_of(NULL, 0);
	}
	memcpy(p, s.p, s.len);
	return span_of(p, s.len);
}

static void
add_rule(struct learn *l, const struct learn_call *c, struct buf *cond)
{
	struct learn_rule *r;

	for (size_t i = 0; i < l->nrules; i++) {
		r = &l->rules[i];
		if (!span_eq(r->server, c->request.server) ||
		    !span_eq(r->tool, c->request.tool) ||
		    !span_eq(r->cond, buf_span(cond)))
			continue;
		r->evidence++;
		return;
	}
	if (l->nrules == LEARN_MAX_RULES) {
		l->failed = true;
		return;
	}
	r = &l->rules[l->nrules++];
	*r = (struct learn_rule){.server = c->request.server,
	    .tool = c->request.tool,
	    .cond = keep(l, cond),
	    .evidence = 1};
}

/* Returns true if the path is too wide to learn from one approval. */
static bool
too_wide(struct span path)
{
	const char *home = getenv("HOME");

	while (path.len > 1 && path.p[path.len - 1] == '/')
		path.len--;
	return span_is(path, "/") || span_is(path, "~") ||
	       span_is(path, "/workspace") ||
	       (home != NULL && span_is(path, home));
}

/* Returns true if the path is a directory now, or ends in a slash. */
static bool
is_directory(struct span path)
{
	const char *home = getenv("HOME");
	char name[PATH_MAX];
	struct stat st;
	int n;

	if (span_starts(path, SPAN("~/")))
		n = snprintf(name, sizeof(name), "%s%.*s",
		    home == NULL ? "" : home, (int)path.len - 1,
		    (const char *)path.p + 1);
	else
		n = snprintf(name, sizeof(name), "%.*s", (int)path.len,
		    (const char *)path.p);
	return path.p[path.len - 1] == '/' ||
	       (n > 0 && (size_t)n < sizeof(name) && stat(name, &st) == 0 &&
		   S_ISDIR(st.st_mode));
}

/*
 * Add if.paths.links: the links through which the path was named in this call.
 * Through any other link it may be what a rule asks about or denies.
 */
static void
put_links(struct buf *cond, const struct learn_call *c, struct span path)
{
	const struct value *v, *links;
	const char *sep = "";

	buf_adds(cond, ",\"links\":[");
	for (v = c->links == NULL ? NULL : c->links->child; v != NULL;
	     v = v->next) {
		links = value_get(v, "links");
		if (links == NULL || links->type != VALUE_ARRAY ||
		    !span_eq(value_str(v, "value"), path))
			continue;
		for (links = links->child; links != NULL; links = links->next) {
			buf_adds(cond, sep);
			(void)json_write_string(cond, links->text);
			sep = ",";
		}
	}
	buf_addc(cond, ']');
}

static const char *
propose_path(
    struct learn *l, struct learn_call *c, enum arg_role role, struct span path)
{
	struct buf cond;

	if (path.len == 0 ||
	    (path.p[0] != '/' && !span_starts(path, SPAN("~/"))))
		return "a path in it is not absolute";
	if (too_wide(path))
		return "a path in it is too wide to learn";
	if (!c->session && is_directory(path))
		return "a path in it is a directory: a rule would also allow "
		       "what lies below it";
	buf_init(&cond, 65536);
	buf_printf(&cond,
	    "\"paths\":{\"roles\":[\"%s\"],\"within\":", arg_role_name(role));
	(void)json_write_string(&cond, path);
	put_links(&cond, c, path);
	buf_addc(&cond, '}');
	add_rule(l, c, &cond);
	buf_free(&cond);
	return NULL;
}

static const char *
propose_url(
    struct learn *l, struct learn_call *c, enum arg_role role, struct span text)
{
	struct url url = {.text = text};
	const char *why;
	struct buf cond;
	bool exact;
	int r;

	r = role == ARG_GIT_REMOTE_URL
		? url_parse_git(l->pool, text, &url, &why)
		: url_parse(l->pool, text, &url, &why);
	if (r == -1 || !url.domain.known || url.domain.kind == HOST_NONE)
		return "a URL in it names no host that is known";
	buf_init(&cond, 65536);
	/* A remote names a repository; for a URL use the whole text. */
	exact = !c->session && url.domain.full.len == url.domain.host.len;
	buf_printf(&cond,
	    exact ? "\"lists\":[{\"roles\":[\"%s\"],\"matchType\":"
		    "\"identifiers\",\"allowed\":["
		  : "\"domains\":{\"roles\":[\"%s\"],\"allowed\":[",
	    arg_role_name(role));
	(void)json_write_string(&cond, exact ? url.text : url.domain.full);
	buf_adds(&cond, exact ? "]}]" : "]}");
	add_rule(l, c, &cond);
	buf_free(&cond);
	return NULL;
}

/* Add exact values of these roles: list conditions, all of which must hold. */
static const char *
put_exact(struct buf *cond, uint32_t roles, const struct strings *by_role)
{
	const char *sep = "";

	buf_adds(cond, "\"lists\":[");
	for (unsigned r = 0; r < ARG_COUNT; r++) {
		if (!(roles & ARG_BIT(r)) || by_role[r].n == 0)
			continue;
		buf_printf(cond,
		    "%s{\"roles\":[\"%s\"],\"matchType\":"
		    "\"identifiers\",\"allowed\":[",
		    sep, arg_role_name((enum arg_role)r));
		for (size_t i = 0; i < by_role[r].n; i++) {
			if (by_role[r].list[i].len != 0 &&
			    by_role[r].list[i].p[0] == '@')
				return "one of its values begins with @";
			if (i != 0)
				buf_addc(cond, ',');
			(void)json_write_string(cond, by_role[r].list[i]);
		}
		buf_adds(cond, "]}");
		sep = ",";
	}
	buf_addc(cond, ']');
	return NULL;
}

static const char *
propose_exact(struct learn *l, struct learn_call *c, uint32_t roles,
    const struct strings *by_role)
{
	const char *why = NULL;
	bool any = false;
	struct buf cond;

	/* No condition can match an argument with the role none. */
	roles &= ~ARG_BIT(ARG_NONE);
	for (unsigned r = 0; r < ARG_COUNT; r++)
		any = any || ((roles & ARG_BIT(r)) && by_role[r].n != 0);
	buf_init(&cond, (size_t)1 << 20);
	if (any)
		why = put_exact(&cond, roles, by_role);
	if (why == NULL)
		add_rule(l, c, &cond);
	buf_free(&cond);
	return why;
}

static const char *
propose_roles(struct learn *l, struct learn_call *c, uint32_t roles,
    const struct strings *by_role)
{
	const char *why = NULL;

	for (unsigned r = 0; why == NULL && r < ARG_COUNT; r++) {
		for (size_t i = 0; why == NULL && i < by_role[r].n; i++) {
			if (ARGS_PATH & ARG_BIT(r))
				why = propose_path(
				    l, c, (enum arg_role)r, by_role[r].list[i]);
			else if (ARGS_URL & ARG_BIT(r))
				why = propose_url(
				    l, c, (enum arg_role)r, by_role[r].list[i]);
		}
	}
	if (why == NULL && (roles & ARGS_IDENTIFIER))
		why = propose_exact(l, c, roles & ARGS_IDENTIFIER, by_role);
	else if (why == NULL && !(roles & ARGS_RESOURCE))
		why = propose_exact(l, c, roles, by_role);
	return why;
}

/*
 * Returns true if the paths and URLs have different values in several
 * arguments.
 */
static bool
has_several(const struct strings *by_role)
{
	const struct span *first = NULL;

	for (unsigned r = 0; r < ARG_COUNT; r++) {
		if (!(ARGS_RESOURCE & ARG_BIT(r)) || by_role[r].n == 0)
			continue;
		if (first != NULL && !span_eq(*first, by_role[r].list[0]))
			return true;
		first = &by_role[r].list[0];
	}
	return false;
}

/*
 * Returns true if another learned call of this tool would combine with this
 * one. Each rule is about one role, so together they allow every combination:
 * of a tool with a source and a destination, only one call can be learned.
 */
static bool
combines(const struct learn *l, const struct learn_call *c)
{
	const struct learn_call *o;

	for (o = l->calls; c->several && o != c; o++) {
		if (o->several && o->approved && o->why_not == NULL &&
		    span_eq(o->request.server, c->request.server) &&
		    span_eq(o->request.tool, c->request.tool) &&
		    !value_eq(o->request.args, c->request.args))
			return true;
	}
	return false;
}

void
learn_propose(struct learn *l, struct learn_call *c)
{
	static struct strings by_role[ARG_COUNT];
	const struct annot_tool *t;
	const struct annot_roles *ar;
	const struct value *v;
	uint32_t roles = 0;

	t = annots_find(&l->annots, c->request.server, c->request.tool);
	if (t == NULL) {
		c->why_not = "the tool is not annotated";
		return;
	}
	for (unsigned r = 0; r < ARG_COUNT; r++)
		by_role[r].n = 0;
	for (unsigned i = 0; i < t->nargs; i++) {
		v = value_getspan(c->request.args, t->args[i].name);
		ar = annot_arg_roles(&t->args[i], c->request.args);
		roles |= ar->mask;
		for (unsigned k = 0; v != NULL && k < ar->n; k++)
			(void)value_strings(
			    v, gather, &by_role[ar->list[k]]);
	}
	for (unsigned r = 0; r < ARG_COUNT; r++)
		if (by_role[r].too_many)
			c->why_not = "it has too many values";
	c->several = has_several(by_role);
	if (combines(l, c))
		c->why_not = "with another approved call it would allow "
			     "combinations that you did not approve";
	if (c->why_not == NULL)
		c->why_not = propose_roles(l, c, roles, by_role);
}

void
learn_put_rule(struct buf *out, const struct learn_rule *r)
{
	char times[32] = "once";

	if (r->evidence != 1)
		snprintf(times, sizeof(times), "%u times", r->evidence);
	buf_printf(out,
	    "{\"name\":\"%s\",\"description\":\"Learned: approved %s%s.\","
	    "\"principle\":\"%s\",\"if\":{\"server\":[",
	    r->name, times, r->cond.len == 0 ? "; any arguments" : "",
	    r->cond.len == 0 ? "The tool that the user approved."
			     : "What the user approved, and no more.");
	(void)json_write_string(out, r->server);
	buf_adds(out, "],\"tool\":[");
	(void)json_write_string(out, r->tool);
	buf_addc(out, ']');
	if (r->cond.len != 0) {
		buf_addc(out, ',');
		buf_addspan(out, r->cond);
	}
	buf_printf(out,
	    "},\"then\":\"allow\",\"reason\":\"You approved this before "
	    "(%s)\"}",
	    times);
}
