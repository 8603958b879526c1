/* SPDX-License-Identifier: ISC */
/*
 * Shows a persona, its constitution, and whether the policy that decides was
 * made of it.
 */
#include "icctl/persona.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "icctl/policy/policy.h"
#include "icctl/refer.h"

const char *const persona_texts[] = {
    "policy", "profile", "agent", "model", "workspace", NULL};

/* How the test cases beside a persona's policy are decided. */
struct tests {
	bool known;
	unsigned passed, failed;
};

int
persona_read(const struct icctl *ctl, const char *name, struct persona *p)
{
	struct fault fault;

	if (persona_load(p, ctl->home, name, &fault) == 0)
		return 0;
	persona_free(p);
	warnx("%s", fault.text);
	return -1;
}

json_object *
persona_json(const char *name, const struct persona *p, bool whole)
{
	json_object *o = json_object_new_object();

	put_str(o, "name", name);
	json_object_object_foreach(p->root, key, v)
	    json_object_object_add(o, key, json_object_get(v));
	if (p->constitution[0] != '\0') {
		put_str(o, "constitution", p->constitution);
		if (whole)
			put_str(o, "text", p->text);
	}
	return o;
}

/* Let policyd decide the test cases of the persona's policy, if it has some. */
static void
tests_run(struct icctl *ctl, const struct persona *p, struct tests *t)
{
	struct policy_opts o = {0};
	char path[4400];

	memset(t, 0, sizeof(*t));
	snprintf(path, sizeof(path), "%.4300s/test-scenarios.json", p->own);
	if (access(path, F_OK) == -1)
		return;
	o.files[PROTO_RULES_POLICY] = p->own;
	t->known =
	    policy_test_count(ctl, &o, path, &t->passed, &t->failed) == 0;
}

static const char *
pending_text(const char *why)
{
	if (strcmp(why, "waits") == 0)
		return "a draft waits for your yes";
	return strcmp(why, "unverified") == 0
		   ? "a draft has failed its test cases"
		   : "a draft is not complete";
}

/* Print what decides, and how it relates to the constitution. */
static void
put_policy(struct icctl *ctl, const struct persona *p, const char *name,
    const struct persona_state *s, const struct tests *t)
{
	char dir[ICCTL_PATH];

	if (p->policy != NULL) {
		if (p->text != NULL)
			printf("%-13shas no effect: persona.json names the "
			       "policy above\n",
			    "constitution");
		return;
	}
	if (s->compiled)
		printf("%-13sits own, %s: %s\n", "policy",
		    s->current ? "compiled from its constitution"
			       : "and older than its constitution",
		    icctl_path(p->own, dir));
	else
		printf("%-13syour usual one%s\n", "policy",
		    p->text == NULL ? "" : "; its constitution is not compiled");
	if (s->compiled && t->known)
		printf("%-13s%u of %u test cases are decided as expected\n",
		    "verified", t->passed, t->passed + t->failed);
	else if (s->compiled)
		printf("%-13sno: it has no test cases\n", "verified");
	if (s->pending)
		printf("%-13s%s: %s/pending\n", "pending",
		    pending_text(s->why), icctl_path(p->own, dir));
	if (p->text != NULL && !s->current)
		printf("%-13sicctl policy compile --persona %s\n", "next",
		    name);
}

static void
put_constitution(const struct persona *p)
{
	if (p->text == NULL)
		return;
	printf("%-13ssha256 %s:\n", "constitution", p->constitution);
	for (char *line = p->text, *nl; *line != '\0'; line = nl) {
		nl = strchrnul(line, '\n');
		icctl_put(span_of(line, (size_t)(nl - line)), 65536, false);
		putchar('\n');
		nl += *nl == '\n';
	}
}

static void
put_all(struct icctl *ctl, const struct persona *p, const char *name,
    const struct persona_state *s, const struct tests *t)
{
	json_object *budget;

	if (p->description != NULL) {
		icctl_put_str(p->description);
		putchar('\n');
	}
	for (size_t i = 0; persona_texts[i] != NULL; i++)
		if (*icctl_text(p->root, persona_texts[i]) != '\0') {
			printf("%-13s", persona_texts[i]);
			icctl_put_str(icctl_text(p->root, persona_texts[i]));
			putchar('\n');
		}
	if (json_object_object_get_ex(p->root, "budget", &budget)) {
		json_object_object_foreach(budget, key, v)
		    printf("%-13s%s %s\n", "budget", key,
			v == NULL ? "no limit" : json_object_get_string(v));
	}
	put_policy(ctl, p, name, s, t);
	put_constitution(p);
}

static void
put_state(json_object *o, const struct persona *p,
    const struct persona_state *s, const struct tests *t)
{
	json_object *own = json_object_new_object();

	put_str(own, "dir", p->own);
	put_bool(own, "compiled", s->compiled);
	put_bool(own, "current", s->current);
	if (t->known) {
		put_int(own, "passed", t->passed);
		put_int(own, "failed", t->failed);
	}
	if (s->pending)
		put_str(own, "pending", *s->why != '\0' ? s->why : "interrupted");
	json_object_object_add(o, "own", own);
}

int
persona_show(struct icctl *ctl, const char *name)
{
	struct persona_state s;
	struct tests t = {false, 0, 0};
	struct persona p;
	json_object *o;

	if (!refer_persona(ctl, name) || persona_read(ctl, name, &p) == -1)
		return ICCTL_FAILED;
	persona_state_read(&p, &s);
	if (p.policy == NULL && s.compiled)
		tests_run(ctl, &p, &t);
	if (ctl->json) {
		o = persona_json(name, &p, true);
		put_state(o, &p, &s, &t);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		put_all(ctl, &p, name, &s, &t);
	}
	persona_free(&p);
	return ICCTL_OK;
}
