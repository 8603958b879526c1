/* SPDX-License-Identifier: ISC */
/*
 * An agent, as a file (docker/agents/NAME.json): its program, how it is given a
 * task, the providers it needs, and the files in its home.
 */
#ifndef ADAPTER_H
#define ADAPTER_H

#include <json-c/json.h>

#include "base/names.h"
#include "base/paths.h"
#include "files/adapter/errors.h"
#include "files/adapter/talk.h"
#include "files/providers/providers.h"

#define ADAPTER_MAX_ARGS 64U

struct adapter {
	char *name;
	char **providers; /* NULL: those with a credential in config.json */
	char *image;      /* built for it, as Dockerfile.IMAGE says; or NULL */
	char **program;   /* names to look for; NULL: the command given */
	char **task_args; /* with {task} */
	char **args;      /* without a task */
	char **model;     /* added to all of these if a model was chosen */
	char **acp;       /* to serve an editor; NULL: it cannot */
	bool acp_model;   /* they choose the model */
	char **prompt;    /* added to all of these */
	char **any;       /* providers that it can use; `providers` is NULL
			     then */
	struct adapter_talk talk;     /* conversations */
	struct adapter_errors errors; /* meaning of its error messages */
	char *
	    *home_files; /* files of the user, below either home; NULL: none */
	char **left_out; /* settings that it does not have here
			    (workers/scan/lost.c); NULL: none are known */
	char **state;    /* in its home: its conversations; or NULL */
	char **caches;   /* directories in its home, emptied after the
			    session */
	struct json_object *chosen; /* the entry of "alternatives" in use, or
				       NULL */
	struct json_object *root;   /* has "env", "home", "orientation" */
	char *file;
	bool internal; /* icctl starts it, and nobody else */
};

/*
 * Load IRONCURTAIN_HOME/agents/NAME.json, or else the shipped file. Returns 0,
 * or -1 with the fault set.
 */
int adapter_load(
    struct adapter *, const struct paths *, const char *name, struct fault *);
void adapter_free(struct adapter *);
/*
 * list.c: Read the names of "agents", including the shorter ones, and
 * without those that are internal.
 */
void adapter_list(struct names *, const struct paths *);
/*
 * fill.c: Replace {task}, {message}, {orientation}, {tools}, {hosts},
 * {workspace}, {model}, {key:PROVIDER} and {tail:PROVIDER} (the last 20
 * characters of the key). The caller frees the result. Returns NULL if memory
 * ran out.
 */
char *adapter_fill(
    const struct providers *, const char *task, const char *template);
/* The same for text that is JSON, where values stand in strings. */
char *adapter_fill_json(const struct providers *, const char *template);
/* Returns true if the agent's file has this text, such as "{orientation}". */
bool adapter_names(const struct adapter *, const char *word);
/*
 * home.c: Read "homeFiles", "caches" and "state". Returns 0, or -1 with
 * the fault set.
 */
int adapter_home_read(struct adapter *, const struct jsonfile *);
/* Returns true if an entry of "state" exists in the home, or none is listed. */
bool adapter_has_state(const struct adapter *, int home);
/*
 * Append the agent's variables, "NAME=VALUE", to env[], which has `*n` of at
 * most `max` entries. The caller frees them. Returns 0, or -1 with the fault
 * set.
 */
int adapter_env(const struct adapter *, const struct providers *, char **env,
    size_t *n, size_t max, struct fault *);
/*
 * Write the agent's files to `dirfd`: those of "home" or of "orientation".
 * Returns 0, or -1 with the fault set.
 */
int adapter_files(const struct adapter *, const struct providers *,
    const char *which, int dirfd, unsigned mode, struct fault *);

/*
 * Returns true if the agent's home has a login of this provider, so that it
 * needs no key.
 */
bool adapter_has_login(const struct adapter *, const struct provider *);
/*
 * Replace providers by others: by one with a login ("logins"), or by the only
 * one of the two that config.json or the profile has ("alternatives").
 */
int adapter_choose(struct adapter *, const struct paths *,
    const struct config *, struct fault *);

/*
 * any.c: Set `providers` for an agent that can use several: all in
 * config.json, and those whose variable is set. Returns 0, or -1 with the fault
 * set if there is none.
 */
int adapter_take_any(struct adapter *, const struct paths *,
    const struct config *, struct fault *);
/*
 * Set `*model` to the value of {model}: `wish`, if not NULL, or that of
 * config.json, or "". Add the arguments of "model" and "prompt" to all others.
 * Returns 0, or -1 with the fault set if the agent's file needs a model and
 * there is none, or takes none and there is one.
 */
int adapter_model(struct adapter *, const struct config *, const char *wish,
    const char **model, struct fault *);

#endif
