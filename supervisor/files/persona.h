/* SPDX-License-Identifier: ISC */
/*
 * Personas: the file persona.json in IRONCURTAIN_HOME/personas/NAME/ names the
 * policy, profile, agent, workspace and budget of a session. If a constitution
 * stands beside it, `icctl policy compile --persona NAME` makes a policy of it
 * in generated/, as the TypeScript IronCurtain does, which is the persona's
 * unless persona.json names another. A persona permits nothing: it refers to
 * what config.json and the policies define.
 */
#ifndef PERSONA_H
#define PERSONA_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/fault.h"
#include "budget/budget.h"

#define PERSONA_NAME 64U
#define PERSONA_SERVERS 256U
#define PERSONA_CONSTITUTION (256U << 10)

struct persona {
	struct json_object *root;
	const char *policy, *profile, *agent, *model, *workspace; /* NULL: not named */
	const char *description; /* or NULL */
	char **servers;		 /* those that a policy is made for; NULL: all */
	char constitution[65]; /* its SHA-256 in hexadecimal, or "" */
	char *text;	       /* the constitution, or NULL */
	char *dir;	       /* the persona's directory */
	char *own;	       /* the directory of the policy of its constitution */
};

/* A persona's policy, compared with its constitution. */
struct persona_state {
	bool compiled; /* there is a policy of its own */
	bool current;  /* which was made from the constitution as it is now */
	bool pending;  /* there is a draft that is not in force */
	char why[24];  /* "waits", "unverified", or "" if it was interrupted */
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
/* Compare the persona's own policy with its constitution. */
void persona_state_read(const struct persona *, struct persona_state *);
/* Returns true if a policy is to be made for this server as well. */
bool persona_has_server(const struct persona *, const char *name);
/* Replace the limits that the persona names. */
void persona_budget(const struct persona *, struct budget_limits *);

#endif
