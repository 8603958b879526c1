/* SPDX-License-Identifier: ISC */
/*
 * An agent, as a file (docker/agents/NAME.json): which program, how a task is
 * given to it, which providers it needs, what it finds in its home.
 */
#ifndef ADAPTER_H
#define ADAPTER_H

#include <json-c/json.h>

#include "config/paths.h"
#include "providers/providers.h"

#define ADAPTER_MAX_ARGS 64U

struct adapter {
	char *name;
	char **providers; /* NULL: those with a credential in config.json */
	char **program;   /* names to look for; NULL: the command given */
	char **task_args; /* {task} */
	char **args;      /* without a task */
	struct json_object *chosen; /* an entry of "alternatives", or NULL */
	struct json_object *root; /* "env", "home", "orientation" */
	char *file;
};

/* IRONCURTAIN_HOME/agents/NAME.json, else the shipped one. */
int adapter_load(
    struct adapter *, const struct paths *, const char *name, struct fault *);
void adapter_free(struct adapter *);
/*
 * Replaces {task}, {key:PROVIDER} and {tail:PROVIDER} (its last 20
 * characters). Fresh memory; NULL: out of memory.
 */
char *adapter_fill(
    const struct providers *, const char *task, const char *template);
/* Its environment, added to env[] of at most max entries: "NAME=VALUE". */
int adapter_env(const struct adapter *, const struct providers *, char **env,
    size_t *n, size_t max, struct fault *);
/* Writes its files: into dirfd those of "home" or "orientation". */
int adapter_files(const struct adapter *, const struct providers *,
    const char *which, int dirfd, unsigned mode, struct fault *);

/* Does it find a login of this provider in its home, and so needs no key? */
bool adapter_has_login(const struct adapter *, const struct provider *);
/*
 * Providers that serve instead of others: with a login (its "logins"), or as
 * the only one of the two that config.json or the profile has ("alternatives").
 */
int adapter_choose(struct adapter *, const struct paths *,
    const struct config *, struct fault *);

#endif
