/* SPDX-License-Identifier: ISC */
/*
 * Personas: the file persona.json in IRONCURTAIN_HOME/personas/NAME/ names the
 * policy, profile, agent, workspace and budget of a session, and a constitution
 * may stand beside it. A persona permits nothing: it refers to what config.json
 * and the policies define.
 */
#ifndef PERSONA_H
#define PERSONA_H

#include <json-c/json.h>

#include "budget/budget.h"
#include "config/fault.h"

#define PERSONA_NAME 64U
#define PERSONA_CONSTITUTION (256U << 10)

struct persona {
	struct json_object *root;
	const char *policy, *profile, *agent, *model, *workspace; /* NULL: not named */
	char constitution[65]; /* its SHA-256 in hexadecimal, or "" */
	char *text;	       /* the constitution, or NULL */
};

/* Returns true if this may be a name: letters, digits, '-' and '_'. */
bool persona_name_ok(const char *);
/*
 * Read a persona. Returns 0, or -1 with the fault set. persona_free() frees it
 * in either case.
 */
int persona_load(struct persona *, const char *home, const char *name,
    struct fault *);
void persona_free(struct persona *);
/* Replace the limits that the persona names. */
void persona_budget(const struct persona *, struct budget_limits *);

#endif
