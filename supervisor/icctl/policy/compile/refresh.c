/* SPDX-License-Identifier: ISC */
/* `icctl policy refresh-lists`: asks again for the members of lists. */
#include "icctl/policy/compile/command.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/json/json.h"
#include "common/log.h"
#include "files/policydir.h"
#include "icctl/policy/compile/compile.h"
#include "icctl/policy/compile/cover.h"

#define REFRESH_TEXT ((size_t)16 << 20)

/* Name the lists that there are. Returns -1 with the fault set. */
static int
refresh_no_list(const struct compile *c, struct fault *fault)
{
	char names[600] = "", one[80];
	size_t n;

	for (const struct value *v = c->servers[0].lists->child; v != NULL;
	     v = v->next) {
		n = strlen(names);
		snprintf(names + n, sizeof(names) - n, "%s%s",
		    n == 0 ? "" : ", ",
		    log_vis(value_str(v, "name"), one, sizeof(one)));
	}
	return fault_set(fault,
	    "--list %s: the policy defines no such list (it has %s)", c->o.list,
	    names);
}

/* Take the rules and definitions of the policy in force, as one server's. */
static int
take_policy(
    struct compile *c, const struct policy_set *old, struct fault *fault)
{
	const struct policy_file *f = &old->files[PROTO_RULES_POLICY];
	struct value_pool *pool = NULL;
	const struct value *v;

	v = f->path == NULL ? NULL : policy_tree(f, &pool);
	if (v != NULL)
		v = value_copy(c->pool, v);
	value_pool_free(pool);
	if (v == NULL)
		return fault_set(
		    fault, "%s: there is no policy to refresh", c->dir);
	c->nservers = 1;
	c->servers[0] = (struct compile_server){.name = SPAN("policy"),
	    .rules = value_get(v, "rules"),
	    .lists = value_get(v, "listDefinitions")};
	if (c->servers[0].lists == NULL || c->servers[0].lists->count == 0)
		return fault_set(fault, "%s: the policy has no lists", f->path);
	if (c->o.list != NULL &&
	    rules_named(c->servers[0].lists, span_str(c->o.list)) == NULL)
		return refresh_no_list(c, fault);
	return 0;
}

struct change {
	const struct cover_policy *other;
	const struct value *allowed;
	const char *sign;
	unsigned n;
};

static void
on_change(void *arg, struct span value)
{
	struct change *g = arg;

	if (cover_has_value(g->other, g->allowed, value))
		return;
	g->n++;
	printf("  %s ", g->sign);
	policy_print("", value, "\n");
}

/* Print the rules that allow by this list. */
static void
print_fed(const struct rules *rs, struct span name)
{
	bool any = false;

	for (size_t i = 0; i < rs->n; i++) {
		const struct rule *r = &rs->rules[i];
		bool uses = r->has_domains && rule_names(r->domains, name);

		for (unsigned k = 0; k < r->nlists; k++)
			uses = uses || rule_names(r->lists[k].allowed, name);
		if (!uses || r->then != PROTO_ALLOW)
			continue;
		policy_print(
		    any ? ", " : "  feeds what is allowed by ", r->name, "");
		any = true;
	}
	puts(any ? "" : "  feeds no rule that allows");
}

/* Print what enters and leaves each list. */
static int
print_lists(struct compile *c, const struct policy_set *old,
    const struct policy_set *new, struct fault *fault)
{
	struct cover_policy po, pn;
	const struct value *def = c->servers[0].lists->child, *one;
	struct value *allowed;
	struct span at;

	if (cover_load(&po, old, fault) == -1)
		return -1;
	if (cover_load(&pn, new, fault) == -1) {
		cover_free(&po);
		return -1;
	}
	for (; def != NULL; def = def->next) {
		if (c->o.list != NULL &&
		    !span_is(value_str(def, "name"), c->o.list))
			continue;
		at = pool_printf(c, "@%.*s", (int)value_str(def, "name").len,
		    (const char *)value_str(def, "name").p);
		allowed = value_new(c->pool, VALUE_ARRAY);
		(void)value_append(allowed, value_new_string(c->pool, at));
		one = allowed;
		policy_print("list ", value_str(def, "name"), ":\n");
		struct change in = {&po, one, "+", 0}, out = {&pn, one, "-", 0};

		cover_values(&pn, one, on_change, &in);
		cover_values(&po, one, on_change, &out);
		if (in.n + out.n == 0)
			puts("  unchanged");
		print_fed(&pn.rules, at);
	}
	cover_free(&po);
	cover_free(&pn);
	return 0;
}

/* Write the lists to pending/, and print what changes. */
static int
refresh(struct compile *c, struct policy_set *old, struct policy_set *new,
    struct policy_opts *o, struct fault *fault)
{
	struct buf b;
	int rv;

	if (recorded_check(c, fault) == -1 ||
	    compile_annotations(c, fault) == -1 ||
	    compile_old_set(c, old, fault) == -1 ||
	    take_policy(c, old, fault) == -1 ||
	    lists_resolve(c,
		old->files[PROTO_RULES_LISTS].path == NULL
		    ? NULL
		    : &old->files[PROTO_RULES_LISTS],
		fault) == -1)
		return -1;
	buf_init(&b, REFRESH_TEXT);
	artefact_lists(c, &b);
	rv = artefact_write(
	    c, c->pending, policydir_names[PROTO_RULES_LISTS], &b, fault);
	buf_free(&b);
	if (rv == -1 || artefact_rest(c, old, PROTO_RULES_LISTS, fault) == -1 ||
	    compile_new_set(c, o, new, fault) == -1)
		return -1;
	return print_lists(c, old, new, fault);
}

static int
run(struct compile *c, struct policy_set *old, struct policy_set *new,
    struct fault *fault)
{
	struct policy_opts o = {0};
	struct buf b, again;
	int n, status = ICCTL_FAILED;

	if (refresh(c, old, new, &o, fault) == -1 ||
	    icctl_policy_check(c->ctl, &o) != ICCTL_OK ||
	    recorded_show(c, old, new, fault) == -1)
		return ICCTL_FAILED;
	buf_init(&b, REFRESH_TEXT);
	buf_init(&again, 65536);
	n = grants_new(c, old, new, &b, fault);
	again_put(c, "refresh-lists", &again);
	if (n == 0)
		puts("Nothing is newly allowed.");
	if (n == 0 || (n > 0 && consent_get(c, "Newly allowed", &b, new,
				    (const char *)buf_span(&again).p) == 0))
		status =
		    artefact_install(c, fault) == 0 ? ICCTL_OK : ICCTL_FAILED;
	buf_free(&again);
	buf_free(&b);
	return status;
}

int
refresh_main(struct icctl *ctl, const struct compile_opts *o)
{
	static struct compile c;
	static struct compile_place place;
	struct policy_set old = {0}, new = {0};
	struct compile_opts mine = *o;
	struct fault fault = {""};
	int status = ICCTL_FAILED;

	if (o->with_mcp && o->no_mcp) {
		warnx("--with-mcp and --no-mcp exclude each other");
		return ICCTL_USAGE;
	}
	mine.no_mcp = !o->with_mcp;
	/* An agreement is about the values that were shown. */
	mine.no_cache = o->accept == NULL;
	if (place_open(&place, ctl, &mine) == -1)
		return ICCTL_FAILED;
	if (compile_open(&c, ctl, &mine, &fault) == 0)
		status = run(&c, &old, &new, &fault);
	if (status != ICCTL_OK && fault.text[0] != '\0')
		warnx("%s", fault.text);
	policy_set_free(&old);
	policy_set_free(&new);
	compile_close(&c);
	place_close(&place);
	return status;
}
