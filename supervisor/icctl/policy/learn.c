/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy learn`: proposes rules, then has policyd judge every held call
 * of the logs under the proposal. A rule that would allow a call that was
 * denied or expired is dropped; an approved call that is still not allowed is
 * reported.
 */
#include "icctl/policy/learn.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/json/json.h"
#include "common/plural.h"

#define POOL_MAX ((size_t)512 << 20)

static struct learn learn_env;

int
learn_call(void *arg, const struct policy_call *c)
{
	struct learn *l = arg;
	struct learn_call *k;
	struct value *v;
	struct value_pool *p = l->pool;

	/*
	 * A call that an approval for the session allowed counts as approved.
	 */
	bool approved = c->granted || span_is(c->held, "approved");

	if (l->ncalls == LEARN_MAX_CALLS)
		return 0;
	if (!approved && !span_is(c->held, "denied") &&
	    !span_is(c->held, "expired"))
		return 0;
	k = &l->calls[l->ncalls];
	*k = (struct learn_call){.file = c->file,
	    .line = c->line,
	    .approved = approved,
	    .session = c->granted,
	    .why_not =
		c->redacted ? "the log does not hold its arguments" : NULL};
	if ((v = value_new_string(p, c->request.server)) == NULL ||
	    (v = value_copy(p, v)) == NULL)
		return -1;
	k->request.server = v->text;
	if ((v = value_new_string(p, c->request.tool)) == NULL ||
	    (v = value_copy(p, v)) == NULL)
		return -1;
	k->request.tool = v->text;
	if ((k->request.args = value_copy(p, c->request.args)) == NULL ||
	    (c->links != NULL &&
		(k->links = value_copy(p, c->links)) == NULL) ||
	    policy_named(&k->request, k->links, p, &k->named) == -1)
		return -1;
	l->ncalls++;
	return 0;
}

/* Compose the whole policy, with learned rules before those that escalate. */
static int
compose(struct learn *l, const struct policy_file *base, struct buf *out)
{
	struct value_pool *pool = NULL;
	const struct value *root = policy_tree(base, &pool), *v, *r;
	const char *sep = "";

	buf_reset(out, 0);
	buf_addc(out, '{');
	for (v = root == NULL ? NULL : root->child; v != NULL; v = v->next) {
		buf_adds(out, sep);
		(void)json_write_string(out, v->key);
		buf_addc(out, ':');
		sep = ",";
		if (!span_is(v->key, "rules")) {
			(void)json_write(out, v);
			continue;
		}
		buf_addc(out, '[');
		sep = "";
		for (size_t i = 0; i < l->nrules; i++) {
			if (l->rules[i].dropped)
				continue;
			buf_adds(out, sep);
			learn_put_rule(out, &l->rules[i]);
			sep = ",";
		}
		for (r = v->child; r != NULL; r = r->next) {
			buf_adds(out, sep);
			(void)json_write(out, r);
			sep = ",";
		}
		buf_addc(out, ']');
		sep = ",";
	}
	buf_addc(out, '}');
	value_pool_free(pool);
	return out->failed || root == NULL ? -1 : 0;
}

static struct learn_rule *
find_rule(struct learn *l, const char *name)
{
	for (size_t i = 0; i < l->nrules; i++)
		if (strcmp(l->rules[i].name, name) == 0)
			return &l->rules[i];
	return NULL;
}

/*
 * Returns 1 if rules were dropped and all must be judged again, 0 if not, or -1
 * after an error was reported.
 */
static int
judge(struct learn *l, struct policyd *pd)
{
	struct policy_decided d;
	struct learn_rule *r;
	struct learn_call *c;
	int again = 0;

	for (size_t i = 0; i < l->ncalls; i++) {
		c = &l->calls[i];
		if (policy_decide(pd, &c->named, true, &d) == -1)
			return -1;
		if (!c->approved && d.status == PROTO_ALLOW &&
		    (r = find_rule(l, d.rule)) != NULL && !r->dropped) {
			r->dropped = true;
			again = 1;
		}
		if (c->approved && d.status != PROTO_ALLOW &&
		    c->why_not == NULL && again == 0)
			c->why_not = "no rule was found that allows it without "
				     "also allowing something that you denied";
	}
	return again;
}

int
learn_refine(struct learn *l, const struct icctl *ctl, const struct policy_opts *o,
    struct policy_set *set, struct buf *text)
{
	struct policy_set trial;
	struct policyd_bad bad;
	struct policyd *pd;
	int r = 1;

	while (r == 1) {
		if (compose(l, &set->files[PROTO_RULES_POLICY], text) == -1) {
			warnx("the policy cannot be read, or is too large");
			return -1;
		}
		trial = *set;
		trial.files[PROTO_RULES_POLICY].text =
		    (char *)(uintptr_t)buf_span(text).p;
		trial.files[PROTO_RULES_POLICY].len = text->len;
		if ((pd = policyd_start(ctl, o, &trial, true, &bad)) == NULL) {
			warnx("%s", bad.fault.text);
			return -1;
		}
		r = judge(l, pd);
		policyd_end(pd);
	}
	return r;
}

int
learn_write(const char *path, const struct buf *text)
{
	struct buf visible;
	json_object *o;
	char *copy;
	int r = -1;

	buf_init(&visible, (size_t)64 << 20);
	copy = span_dup(buf_span(text));
	o = copy == NULL ? NULL : json_tokener_parse(copy);
	free(copy);
	errno = ENOMEM;
	if (o != NULL) {
		policy_visible(
		    &visible, span_str(json_object_to_json_string_ext(
				  o, JSON_C_TO_STRING_PRETTY |
					 JSON_C_TO_STRING_NOSLASHESCAPE)));
		buf_addc(&visible, '\n');
		if (!visible.failed)
			r = jsonfile_replace(path, buf_span(&visible));
	}
	if (r == -1)
		icctl_warn_errno(path);
	json_object_put(o);
	buf_free(&visible);
	return r;
}

static void
report_json(struct learn *l, struct buf *out, unsigned approved)
{
	const char *sep = "";

	buf_printf(out, "{\"approved\":%u,\"rules\":[", approved);
	for (size_t i = 0; i < l->nrules; i++) {
		if (l->rules[i].dropped)
			continue;
		buf_printf(out, "%s{\"evidence\":%u,\"rule\":", sep,
		    l->rules[i].evidence);
		learn_put_rule(out, &l->rules[i]);
		buf_addc(out, '}');
		sep = ",";
	}
	buf_adds(out, "],\"notLearned\":[");
	sep = "";
	for (size_t i = 0; i < l->ncalls; i++) {
		if (!l->calls[i].approved || l->calls[i].why_not == NULL)
			continue;
		buf_printf(out, "%s{", sep);
		policy_put_member(out, "file", span_str(l->calls[i].file));
		buf_printf(out, ",\"line\":%zu,", l->calls[i].line);
		policy_put_member(out, "why", span_str(l->calls[i].why_not));
		buf_addc(out, '}');
		sep = ",";
	}
	buf_adds(out, "]}\n");
}

/*
 * Print the output with invisible characters escaped, because an agent chose
 * the names in it.
 */
static int
flush_visible(struct buf *out)
{
	struct buf visible;
	int r;

	buf_init(&visible, (size_t)512 << 20);
	policy_visible(&visible, buf_span(out));
	r = policy_flush(&visible);
	buf_free(&visible);
	return r;
}

static int
report(struct learn *l, bool json)
{
	unsigned approved = 0, rules = 0;
	struct buf out;
	int r;

	for (size_t i = 0; i < l->ncalls; i++)
		approved += l->calls[i].approved;
	buf_init(&out, (size_t)256 << 20);
	if (json)
		report_json(l, &out, approved);
	for (size_t i = 0; !json && i < l->nrules; i++) {
		if (l->rules[i].dropped)
			continue;
		rules++;
		learn_put_rule(&out, &l->rules[i]);
		buf_addc(&out, '\n');
	}
	for (size_t i = 0; !json && i < l->ncalls; i++)
		if (l->calls[i].approved && l->calls[i].why_not != NULL)
			buf_printf(&out, "# not learned: %s:%zu: %s\n",
			    l->calls[i].file, l->calls[i].line,
			    l->calls[i].why_not);
	if (!json)
		buf_printf(&out, "# %u rule%s from %u approved call%s\n", rules,
		    plural(rules), approved, plural(approved));
	r = flush_visible(&out);
	buf_free(&out);
	return r;
}

void
learn_rules(struct learn *l, const struct policy_file *base)
{
	unsigned number = 0;

	for (size_t i = 0; i < l->ncalls; i++)
		if (l->calls[i].approved && l->calls[i].why_not == NULL)
			learn_propose(l, &l->calls[i]);
	for (size_t i = 0; i < l->nrules; i++) {
		do {
			snprintf(l->rules[i].name, sizeof(l->rules[i].name),
			    "learned-%u", ++number);
		} while (memmem(base->text, base->len, l->rules[i].name,
			     strlen(l->rules[i].name)) != NULL);
	}
}

int
learn_annots(struct learn *l, const struct policy_file *as)
{
	struct load load;
	int r = 0;

	load_init(&load, as->path);
	if (annots_load(&l->annots, span_of(as->text, as->len), &load) == -1) {
		warnx("%s", load.error);
		r = -1;
	}
	load_free(&load);
	return r;
}

static int
learn_all(struct learn *l, const struct icctl *ctl, struct policy_opts *o,
    struct policy_set *set)
{
	const struct policy_file *as = &set->files[PROTO_RULES_ANNOTATIONS];
	struct buf text;
	int r;

	r = learn_annots(l, as);
	for (unsigned i = 0; r == 0 && i < o->nargs; i++)
		r = policy_calls(o->args[i], learn_call, l);
	buf_init(&text, (size_t)8 << 20);
	if (r == 0) {
		learn_rules(l, &set->files[PROTO_RULES_POLICY]);
		r = learn_refine(l, ctl, o, set, &text);
	}
	if (r == 0 && l->failed) {
		warnx("too much to learn from");
		r = -1;
	}
	if (r == 0)
		r = report(l, ctl->json);
	if (r == 0 && o->into != NULL)
		r = learn_write(o->into, &text);
	buf_free(&text);
	annots_free(&l->annots);
	return r;
}

void
learn_init(struct learn *l)
{
	l->pool = value_pool_new(POOL_MAX);
	l->calls = calloc(LEARN_MAX_CALLS, sizeof(*l->calls));
	if (l->pool == NULL || l->calls == NULL)
		err(ICCTL_FAILED, "memory");
}

void
learn_end(struct learn *l)
{
	free(l->calls);
	value_pool_free(l->pool);
}

int
icctl_policy_learn(struct icctl *ctl, struct policy_opts *o)
{
	struct learn *l = &learn_env;
	char *workspace = NULL;
	struct policy_set set;
	struct fault fault;
	int r;

	if (policy_set_load(ctl, o, &set, &fault) == -1) {
		warnx("%s", fault.text);
		return ICCTL_FAILED;
	}
	if (o->sandbox == NULL)
		o->sandbox = workspace = policy_calls_workspace(o->args[0]);
	learn_init(l);
	r = learn_all(l, ctl, o, &set);
	learn_end(l);
	free(workspace);
	policy_set_free(&set);
	return r == 0 ? ICCTL_OK : ICCTL_FAILED;
}
