/* SPDX-License-Identifier: ISC */
/*
 * Finds the constitution and the directory of a policy that is named by a
 * persona or by a name, and says whether a draft waits for a person.
 */
#include "icctl/policy/compile/compile.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

#include "common/sha256.h"

/* Returns -1 with the fault set if both options are given. */
static int
exclude(const char *a, const char *a_value, const char *b, const char *b_value,
    struct fault *fault)
{
	if (a_value == NULL || b_value == NULL)
		return 0;
	return fault_set(fault, "%s and %s exclude each other", a, b);
}

static int
place_excludes(const struct compile_opts *o, struct fault *fault)
{
	if (exclude("--persona", o->persona, "--output-dir", o->dir, fault) ||
	    exclude("--persona", o->persona, "--into", o->into, fault) ||
	    exclude("--persona", o->persona, "--task", o->task, fault) ||
	    exclude("--persona", o->persona, "--constitution", o->constitution,
		fault) ||
	    exclude("--into", o->into, "--output-dir", o->dir, fault) ||
	    exclude("--task", o->task, "--constitution", o->constitution, fault))
		return -1;
	return 0;
}

/* Find a policy of the user's by its name. */
static int
place_into(struct compile_place *p, const char *home, struct compile_opts *o,
    struct fault *fault)
{
	if (!persona_name_ok(o->into))
		return fault_set(fault,
		    "--into %s: the name of a policy has letters, digits, - "
		    "and _, at most 64 (a directory: --output-dir DIR)",
		    o->into);
	snprintf(p->dir, sizeof(p->dir), "%.3900s/policies/%s", home, o->into);
	o->dir = p->dir;
	return 0;
}

static int
place_persona(struct compile_place *p, const char *home, struct compile_opts *o,
    struct fault *fault)
{
	if (persona_load(&p->persona, home, o->persona, fault) == -1)
		return -1;
	if (p->persona.policy != NULL)
		return fault_set(fault,
		    "persona %s has the policy %s, as its persona.json says, "
		    "and none of its own. Take \"policy\" out of "
		    "%s/persona.json, or make a new persona without --policy",
		    o->persona, p->persona.policy, p->persona.dir);
	snprintf(p->dir, sizeof(p->dir), "%.4090s", p->persona.own);
	snprintf(p->constitution, sizeof(p->constitution),
	    "%.4000s/constitution.md", p->persona.dir);
	o->dir = p->dir;
	o->constitution = p->constitution;
	o->who = &p->persona;
	return 0;
}

/* Give a task's policy a directory that no other task has. */
static void
place_task(struct compile_place *p, const char *home, struct compile_opts *o)
{
	uint8_t sum[SHA256_SIZE];
	char hex[SHA256_HEX];

	sha256_span(span_str(o->task), sum);
	sha256_hex(sum, hex);
	snprintf(p->dir, sizeof(p->dir), "%.3900s/policies/task-%.16s", home,
	    hex);
	o->dir = p->dir;
	o->usual = true;
}

static int
place_find(struct compile_place *p, const char *home, struct compile_opts *o,
    struct fault *fault)
{
	if (place_excludes(o, fault) == -1)
		return -1;
	if (o->persona != NULL)
		return place_persona(p, home, o, fault);
	if (o->into != NULL)
		return place_into(p, home, o, fault);
	if (o->task != NULL && o->dir == NULL)
		place_task(p, home, o);
	return 0;
}

int
place_open(struct compile_place *p, const struct icctl *ctl, struct compile_opts *o)
{
	struct fault fault;

	memset(p, 0, sizeof(*p));
	if (place_find(p, ctl->home, o, &fault) == 0)
		return 0;
	warnx("%s", fault.text);
	place_close(p);
	return -1;
}

void
place_close(struct compile_place *p)
{
	persona_free(&p->persona);
}

int
place_status(const struct compile *c, const char *status, struct fault *fault)
{
	struct buf b;
	int rv;

	buf_init(&b, 1024);
	buf_printf(&b, "{\"status\":\"%s\"}", status);
	rv = artefact_write(c, c->pending, PLACE_STATUS, &b, fault);
	buf_free(&b);
	return rv;
}
