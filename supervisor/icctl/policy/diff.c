/* SPDX-License-Identifier: ISC */
/*
 * `icctl policy diff`: compares two policies, as rules, lists and annotations,
 * and as decisions on the calls of audit logs.
 */
#include "icctl/policy/policy.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json.h"
#include "common/plural.h"

struct diff {
	bool json;
	struct buf out; /* for --json: changes, then decisions */
	unsigned changes, calls, differ, left;
	unsigned counted; /* refused calls that have no record of their own */
	struct policy_recorded *some; /* NULL: print all */
	struct policyd *old, *new;
};

/*
 * Write a rule's effect, {"then":...,"if":...}, without invisible characters.
 */
static void
put_effect(struct buf *out, const struct value *rule)
{
	const struct value *then = value_get(rule, "then");
	const struct value *cond = value_get(rule, "if");
	struct buf text;

	buf_init(&text, (size_t)32 << 20);
	buf_adds(&text, "{\"then\":");
	(void)json_write(&text, then);
	buf_adds(&text, ",\"if\":");
	(void)json_write(&text, cond);
	buf_addc(&text, '}');
	policy_visible(out, buf_span(&text));
	buf_free(&text);
}

/* After a new or changed rule: print the calls that it applies to. */
static void
print_effect(const struct value *rule)
{
	const struct value *cond = value_get(rule, "if");
	struct span then = value_str(rule, "then");
	struct buf text, seen;

	buf_init(&text, (size_t)32 << 20);
	buf_init(&seen, (size_t)64 << 20);
	(void)json_write(&text, cond);
	policy_visible(&seen, buf_span(&text));
	policy_print("    ", then, "s ");
	printf("%.*s\n", (int)seen.len, (const char *)buf_span(&seen).p);
	buf_free(&text);
	buf_free(&seen);
}

/* Report a change; `rule` is the rule in the new policy, or NULL. */
static void
change(struct diff *d, const char *how, const char *what, struct span name,
    const char *more, const struct value *rule)
{
	if (rule != NULL && (value_str(rule, "then").p == NULL ||
				value_get(rule, "if") == NULL))
		rule = NULL;
	if (d->changes++ != 0)
		buf_addc(&d->out, ',');
	if (d->json) {
		buf_printf(&d->out,
		    "{\"change\":\"%s\","
		    "\"what\":\"%s\",",
		    how, what);
		policy_put_member(&d->out, "name", name);
		if (more[0] != '\0') {
			buf_addc(&d->out, ',');
			policy_put_member(&d->out, "members", span_str(more));
		}
		if (rule != NULL) {
			buf_adds(&d->out, ",\"rule\":");
			put_effect(&d->out, rule);
		}
		buf_addc(&d->out, '}');
		return;
	}
	printf("%s %s ",
	    strcmp(how, "added") == 0     ? "+"
	    : strcmp(how, "removed") == 0 ? "-"
					  : "~",
	    what);
	policy_print("", name, "");
	printf("%s%s\n", more[0] == '\0' ? "" : ": ", more);
	if (rule != NULL)
		print_effect(rule);
}

static const struct value *
find(const struct value *array, const char *key, struct span name)
{
	const struct value *v = array == NULL ? NULL : array->child;

	while (v != NULL && !span_eq(value_str(v, key), name))
		v = v->next;
	return v;
}

/* List the members that differ, comma-separated: "then, if". */
static void
members(const struct value *a, const struct value *b, char *dst, size_t cap)
{
	const struct value *v;
	size_t len = 0;

	dst[0] = '\0';
	for (int pass = 0; pass < 2; pass++) {
		v = pass == 0 ? a->child : b->child;
		for (; v != NULL; v = v->next) {
			const struct value *o =
			    value_getspan(pass == 0 ? b : a, v->key);

			if ((o != NULL && (pass == 1 || value_eq(v, o))) ||
			    len + v->key.len + 3 > cap || v->key.len > 60)
				continue;
			len += (size_t)snprintf(dst + len, cap - len, "%s%.*s",
			    len == 0 ? "" : ", ", (int)v->key.len,
			    (const char *)v->key.p);
		}
	}
}

/* Compare two arrays of named objects, and their order if it matters. */
static void
diff_named(struct diff *d, const struct value *a, const struct value *b,
    const char *key, const char *what, bool order)
{
	const struct value *v, *o, *x, *y;
	char text[300];

	for (v = a == NULL ? NULL : a->child; v != NULL; v = v->next) {
		if ((o = find(b, key, value_str(v, key))) == NULL) {
			change(d, "removed", what, value_str(v, key), "", NULL);
			continue;
		}
		members(v, o, text, sizeof(text));
		if (text[0] != '\0')
			change(d, "changed", what, value_str(v, key), text, o);
	}
	for (v = b == NULL ? NULL : b->child; v != NULL; v = v->next)
		if (find(a, key, value_str(v, key)) == NULL)
			change(d, "added", what, value_str(v, key), "", v);
	if (!order || a == NULL || b == NULL)
		return;
	x = a->child;
	y = b->child;
	for (;;) {
		while (x != NULL && find(b, key, value_str(x, key)) == NULL)
			x = x->next;
		while (y != NULL && find(a, key, value_str(y, key)) == NULL)
			y = y->next;
		if (x == NULL || y == NULL)
			return;
		if (!span_eq(value_str(x, key), value_str(y, key))) {
			change(d, "moved", what, value_str(y, key),
			    "from here on, the rules are in a different "
			    "order", NULL);
			return;
		}
		x = x->next;
		y = y->next;
	}
}

/* Compare the members of two objects: lists, or servers with their tools. */
static void
diff_members(struct diff *d, const struct value *a, const struct value *b,
    const char *what)
{
	const struct value *v, *o;
	char text[300];

	for (v = a == NULL ? NULL : a->child; v != NULL; v = v->next) {
		o = b == NULL ? NULL : value_getspan(b, v->key);
		if (o == NULL) {
			change(d, "removed", what, v->key, "", NULL);
		} else if (value_get(v, "tools") != NULL) {
			diff_named(d, value_get(v, "tools"),
			    value_get(o, "tools"), "toolName", "annotation of",
			    false);
		} else if (!value_eq(v, o)) {
			members(v, o, text, sizeof(text));
			change(d, "changed", what, v->key, text, NULL);
		}
	}
	for (v = b == NULL ? NULL : b->child; v != NULL; v = v->next)
		if (a == NULL || value_getspan(a, v->key) == NULL)
			change(d, "added", what, v->key, "", NULL);
}

static void
diff_files(
    struct diff *d, const struct policy_set *old, const struct policy_set *new)
{
	static const struct {
		const char *member, *what;
	} kinds[] = {
	    [PROTO_RULES_POLICY] = {"rules", "rule"},
	    [PROTO_RULES_ANNOTATIONS] = {"servers", "annotations of server"},
	    [PROTO_RULES_LISTS] = {"lists", "list"},
	};
	struct value_pool *pa, *pb;
	const struct value *a, *b;

	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		pa = pb = NULL;
		a = policy_tree(&old->files[k], &pa);
		b = policy_tree(&new->files[k], &pb);
		a = a == NULL ? NULL : value_get(a, kinds[k].member);
		b = b == NULL ? NULL : value_get(b, kinds[k].member);
		if (k == PROTO_RULES_POLICY)
			diff_named(d, a, b, "name", kinds[k].what, true);
		else
			diff_members(d, a, b, kinds[k].what);
		value_pool_free(pa);
		value_pool_free(pb);
	}
}

static int
on_call(void *arg, const struct policy_call *c)
{
	struct policy_decided was, now;
	struct policy_call call = *c;
	struct diff *d = arg;
	char file[600];
	const char *at;

	if (c->counted != 0) {
		d->counted += c->counted;
		return 0;
	}
	if (d->some != NULL && d->calls == POLICY_RECORDED_CALLS) {
		d->some->cut = true;
		return -1;
	}
	d->calls++;
	/* Like replay: skip calls that the policy did not decide then. */
	if (!c->judged) {
		d->left++;
		return 0;
	}
	if (policy_decide(d->old, &c->named, true, &was) == -1 ||
	    policy_decide(d->new, &c->named, true, &now) == -1)
		return -1;
	if (was.status == now.status)
		return 0;
	if (d->differ++ != 0)
		buf_addc(&d->out, ',');
	if (d->json) {
		buf_addc(&d->out, '{');
		policy_put_call(&d->out, c);
		buf_addc(&d->out, ',');
		policy_put_decided(&d->out, "old", &was);
		buf_addc(&d->out, ',');
		policy_put_decided(&d->out, "new", &now);
		buf_addc(&d->out, '}');
		return 0;
	}
	if (d->some != NULL) {
		if (d->some->shown == POLICY_RECORDED_SHOWN)
			return 0;
		d->some->shown++;
		at = strrchr(c->file, '/');
		snprintf(file, sizeof(file), "%.300s%.200s", d->some->name,
		    at == NULL || strcmp(at, "/audit.jsonl") == 0 ||
			    strcmp(c->file, d->some->log) == 0
			? ""
			: at);
		call.file = file;
	}
	policy_print_call(&call);
	printf("    old %s by ", policy_status(was.status));
	policy_print("", span_str(was.rule), "\n");
	printf("    new %s by ", policy_status(now.status));
	policy_print("", span_str(now.rule), ": ");
	policy_print("", span_str(now.reason), "\n");
	return 0;
}

/* Start both policies, then ask both about every call of every log. */
static int
compare(struct diff *d, const struct icctl *ctl, struct policy_opts *o,
    const struct policy_set *old, const struct policy_set *new)
{
	char *workspace = NULL;
	struct policyd_bad bad;
	int r = 0;

	if (o->sandbox == NULL && o->naudit != 0)
		o->sandbox = workspace = policy_calls_workspace(o->audit[0]);
	if ((d->old = policyd_start(ctl, o, old, true, &bad)) == NULL ||
	    (d->new = policyd_start(ctl, o, new, true, &bad)) == NULL) {
		warnx("%s", bad.fault.text);
		free(workspace);
		return -1;
	}
	if (d->json)
		buf_adds(&d->out, "{\"changes\":[");
	diff_files(d, old, new);
	if (d->json)
		buf_adds(&d->out, "],\"decisions\":[");
	for (unsigned i = 0; r == 0 && i < o->naudit; i++)
		r = policy_calls(o->audit[i], on_call, d);
	if (d->json) {
		buf_printf(&d->out,
		    "],\"calls\":%u,\"differ\":%u,\"notCompared\":%u}\n",
		    d->calls + d->counted, d->differ, d->left + d->counted);
		r = policy_flush(&d->out) == -1 ? -1 : r;
	} else {
		printf("%u change%s", d->changes, plural(d->changes));
		if (o->naudit != 0)
			printf("; %u call%s, %u decided differently, %u not "
			       "compared (not decided by the policy)",
			    d->calls + d->counted,
			    plural(d->calls + d->counted), d->differ,
			    d->left + d->counted);
		putchar('\n');
	}
	free(workspace);
	return r;
}

void
policy_diff_rules(const struct policy_set *old, const struct policy_set *new)
{
	struct diff d = {.json = false};

	buf_init(&d.out, (size_t)500 << 20);
	diff_files(&d, old, new);
	printf("%u change%s\n", d.changes, plural(d.changes));
	buf_free(&d.out);
}

int
policy_diff_calls(const struct icctl *ctl, const struct policy_set *old,
    const struct policy_set *new, struct policy_recorded *some,
    struct fault *fault)
{
	struct diff d = {.some = some};
	struct policy_opts o = {0};
	struct policyd_bad bad;
	char *workspace;
	int r = -1;

	buf_init(&d.out, 65536);
	o.sandbox = workspace = policy_calls_workspace(some->log);
	if ((d.old = policyd_start(ctl, &o, old, true, &bad)) == NULL ||
	    (d.new = policyd_start(ctl, &o, new, true, &bad)) == NULL) {
		*fault = bad.fault;
	} else {
		some->cut = false;
		r = policy_calls(some->log, on_call, &d);
		r = some->cut ? 0 : r;
		some->anycut = some->anycut || some->cut;
	}
	some->calls += d.calls;
	some->differ += d.differ;
	some->left += d.left;
	policyd_end(d.old);
	policyd_end(d.new);
	buf_free(&d.out);
	free(workspace);
	return r;
}

int
icctl_policy_diff(struct icctl *ctl, struct policy_opts *o)
{
	struct policy_set base, old = {0}, new = {0};
	struct diff d = {.json = ctl->json};
	struct fault fault;
	int r = -1;

	buf_init(&d.out, (size_t)500 << 20);
	if (policy_set_load(ctl, o, &base, &fault) == -1 ||
	    policy_set_other(ctl, &base, o->args[0], &old, &fault) == -1 ||
	    policy_set_other(ctl, &base, o->args[1], &new, &fault) == -1)
		warnx("%s", fault.text);
	else
		r = compare(&d, ctl, o, &old, &new);
	policyd_end(d.old);
	policyd_end(d.new);
	buf_free(&d.out);
	policy_set_free(&base);
	policy_set_free(&old);
	policy_set_free(&new);
	return r == 0 && d.changes + d.differ == 0 ? ICCTL_OK : ICCTL_FAILED;
}
