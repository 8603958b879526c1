/* SPDX-License-Identifier: ISC */
/*
 * Resolves dynamic lists. A value that is no member of its type is dropped and
 * named; what the user added or removed by hand stays.
 */
#include "icctl/policy/compile/compile.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"
#include "icctl/policy/compile/data.h"

/* Append the values that are good, sorted and once; name the others. */
static const struct value *
list_values(struct compile *c, const struct value *def,
    const struct value *values)
{
	struct span type = value_str(def, "type");
	struct value *out = value_new(c->pool, VALUE_ARRAY);
	const struct value *v = values->child, *w;
	char vis[200], name[100];
	const char *why;

	for (; v != NULL; v = v->next) {
		for (w = values->child; w != v && !span_eq(w->text, v->text);
		     w = w->next)
			;
		if (w != v)
			continue;
		if (span_is(v->text, "*"))
			why = "is everything, not a member";
		else
			why = list_value_bad(type, v->text);
		if (why != NULL) {
			warnx("list %s: dropped \"%s\": it %s",
			    log_vis(value_str(def, "name"), name, sizeof(name)),
			    log_vis(v->text, vis, sizeof(vis)), why);
			continue;
		}
		if (value_append(out, value_new_string(c->pool, v->text)) == -1)
			errx(ICCTL_FAILED, "too many values");
	}
	return out;
}

/* Ask the model for the members that everybody knows. */
static const struct value *
list_ask(struct compile *c, const struct value *def, char hash[SHA256_HEX],
    struct fault *fault)
{
	struct ask_part parts[4] = {{"list", value_str(def, "name")},
	    {"type", value_str(def, "type")}, {"principle", {0}},
	    {"what belongs into it", {0}}};
	const struct ask q = {"values", parts, nitems(parts), NULL, NULL};
	const struct value *reply;
	struct buf principle, prompt;

	buf_init(&principle, COMPILE_MAX_QUOTE + 64);
	buf_init(&prompt, COMPILE_MAX_QUOTE + 64);
	quote_add(&principle, value_str(def, "principle"), COMPILE_MAX_QUOTE);
	quote_add(
	    &prompt, value_str(def, "generationPrompt"), COMPILE_MAX_QUOTE);
	parts[2].text = buf_span(&principle);
	parts[3].text = buf_span(&prompt);
	reply = compile_ask(c, &q, hash, fault);
	buf_free(&principle);
	buf_free(&prompt);
	return reply == NULL ? NULL
			     : list_values(c, def, value_get(reply, "values"));
}

static void
put_member(struct buf *b, const char *key, const struct value *v)
{
	buf_printf(b, ",\"%s\":", key);
	if (v != NULL && v->type == VALUE_ARRAY)
		(void)json_write(b, v);
	else
		buf_adds(b, "[]");
}

/* Resolve one list, and append its entry. Returns 0, or -1. */
static int
list_resolve(struct compile *c, const struct value *def,
    const struct value *old, struct buf *b, struct fault *fault)
{
	char hash[SHA256_HEX] = "", vis[100];
	const struct value *was, *values = NULL;
	struct span when;

	was = old == NULL ? NULL
			  : value_getspan(old, value_str(def, "name"));
	log_vis(value_str(def, "name"), vis, sizeof(vis));
	if (!value_bool(def, "requiresMcp", false)) {
		values = list_ask(c, def, hash, fault);
		if (values == NULL)
			return -1;
	} else if (c->o.no_mcp || !data_has_server(c, def)) {
		/* Known values stay; a new list is empty. */
		values = was == NULL ? NULL : value_get(was, "values");
		warnx("list %s needs the user's own data: %s. Its values stay "
		      "as they are (%u)", vis, c->o.no_mcp
			? "--no-mcp leaves it alone"
			: "no MCP server that it names is configured",
		    values == NULL ? 0 : values->count);
	} else {
		values = data_ask(c, def, hash, fault);
		if (values == NULL)
			return -1;
		values = list_values(c, def, values);
	}
	if (values == NULL)
		values = value_new(c->pool, VALUE_ARRAY);
	/* A list that has not changed was resolved when it was. */
	when = value_str(was, "resolvedAt");
	if (when.p == NULL || value_get(was, "values") == NULL ||
	    !value_eq(value_get(was, "values"), values))
		when = span_str(c->now);
	buf_adds(b, b->len > 1 ? "," : "");
	(void)json_write_string(b, value_str(def, "name"));
	buf_printf(b, ":{\"inputHash\":\"%s\",\"resolvedAt\":", hash);
	(void)json_write_string(b, when);
	put_member(b, "values", values);
	put_member(b, "manualAdditions",
	    was == NULL ? NULL : value_get(was, "manualAdditions"));
	put_member(b, "manualRemovals",
	    was == NULL ? NULL : value_get(was, "manualRemovals"));
	buf_addc(b, '}');
	return 0;
}

/* Append the entry of a list as it is. Returns 0. */
static int
list_keep(struct compile *c, const struct value *def, const struct value *old,
    struct buf *b)
{
	const struct value *was = old == NULL
				      ? NULL
				      : value_getspan(old, value_str(def, "name"));

	if (was == NULL)
		return 0;
	buf_adds(b, b->len > 1 ? "," : "");
	(void)json_write_string(b, value_str(def, "name"));
	buf_addc(b, ':');
	(void)json_write(b, was);
	return 0;
}

/* Check that two servers do not mean different things by one name. */
static int
lists_agree(struct compile *c, unsigned server, const struct value *def,
    bool *first, struct fault *fault)
{
	const struct value *other;
	char vis[100], a[100], b[100];

	*first = true;
	for (unsigned i = 0; i < server; i++) {
		if (c->servers[i].skipped)
			continue;
		other = rules_named(c->servers[i].lists, value_str(def, "name"));
		if (other == NULL)
			continue;
		*first = false;
		if (!span_eq(value_str(other, "type"), value_str(def, "type")))
			return fault_set(fault,
			    "the rules of %s and of %s define the list %s "
			    "differently. Name the group in the constitution, "
			    "and compile again",
			    log_vis(c->servers[i].name, a, sizeof(a)),
			    log_vis(c->servers[server].name, b, sizeof(b)),
			    log_vis(value_str(def, "name"), vis, sizeof(vis)));
	}
	return 0;
}

int
lists_resolve(
    struct compile *c, const struct policy_file *old, struct fault *fault)
{
	struct value_pool *pool = NULL;
	const struct value *was, *def;
	unsigned n = 0;
	struct buf b;
	bool first;
	int rv = 0;

	was = old == NULL ? NULL : policy_tree(old, &pool);
	was = was == NULL ? NULL : value_get(was, "lists");
	buf_init(&b, (size_t)8 << 20);
	buf_addc(&b, '{');
	for (unsigned i = 0; rv == 0 && i < c->nservers; i++) {
		if (c->servers[i].skipped || c->servers[i].lists == NULL)
			continue;
		def = c->servers[i].lists->child;
		for (; rv == 0 && def != NULL; def = def->next) {
			rv = lists_agree(c, i, def, &first, fault);
			if (rv == -1 || !first)
				continue;
			if (++n > COMPILE_MAX_LISTS)
				rv = fault_set(fault, "more than %u lists",
				    COMPILE_MAX_LISTS);
			else if (c->o.list != NULL &&
				 !span_is(value_str(def, "name"), c->o.list))
				rv = list_keep(c, def, was, &b);
			else
				rv = list_resolve(c, def, was, &b, fault);
		}
	}
	buf_addc(&b, '}');
	if (rv == 0)
		c->lists = pool_json(c, buf_span(&b));
	buf_free(&b);
	value_pool_free(pool);
	return rv;
}
