/* SPDX-License-Identifier: ISC */
/*
 * An agent, as a file (docker/agents/NAME.json): its program, how it is given a
 * task, the providers it needs, and the files in its home.
 */
#ifndef ADAPTER_H
#define ADAPTER_H

#include "base/names.h"
#include "base/pack.h"
#include "base/paths.h"
#include "files/adapter/errors.h"
#include "files/adapter/talk.h"
#include "files/providers/providers.h"

#define ADAPTER_MAX_ARGS 64U
#define ADAPTER_MAX_FILES 32U
#define ADAPTER_MAX_USES 16U

/* A file that is written; {words} in its text are filled in. */
struct adapter_file {
	char *path; /* below the directory */
	char *text;
	bool json; /* the values stand in strings of JSON */
};

struct adapter_files {
	struct adapter_file list[ADAPTER_MAX_FILES];
	unsigned n;
};

/* How the agent is used with another provider's key or login. */
struct adapter_use {
	char *provider;
	char *instead; /* the provider that it replaces; NULL: none */
	char **env;    /* in place of the variables of that name; or NULL */
	struct adapter_files home;
};

struct adapter_uses {
	struct adapter_use list[ADAPTER_MAX_USES];
	unsigned n;
};

struct adapter {
	char *name;       /* NULL: no agent was loaded */
	char *title;      /* for people */
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
	char **env;      /* NAME=VALUE, with {words}; or NULL */
	char *unasked;   /* as SEAL has it; or NULL */
	struct adapter_files home, orientation;
	struct adapter_uses logins, alternatives;
	const struct adapter_use *chosen; /* an alternative; or NULL */
	bool needs_model;       /* {model} is not in "model" or "acp" only */
	bool tells_orientation; /* the file has {orientation} */
	bool tells_tools;       /* the file has {tools} */
	char *file;
	bool internal; /* icctl starts it, and nobody else */
};

/*
 * Have ic-reader read IRONCURTAIN_HOME/agents/NAME.json, or else the shipped
 * file. Returns 0, or -1 with the fault set.
 */
int adapter_load(
    struct adapter *, const struct paths *, const char *name, struct fault *);
void adapter_free(struct adapter *);
/*
 * adapter_read.c, in ic-reader: Read the text of the file at `path`, which is
 * for messages. Returns 0, or -1 with the fault set. adapter_free() frees what
 * there is in either case.
 */
int adapter_parse(struct adapter *, const char *path, const char *name,
    struct span text, struct fault *);
/* adapter_pack.c: The rows of what adapter_parse() sets. */
extern const struct pack_row adapter_rows[];
extern const size_t adapter_nrows;
/*
 * Take what ic-reader has packed. Returns 0, or -1 with errno set; either way
 * adapter_free() frees it.
 */
int adapter_take(struct adapter *, struct span);
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
/*
 * home.c, in ic-reader: Read "homeFiles", "caches" and "state". Returns 0, or
 * -1 with the fault set.
 */
int adapter_home_read(
    struct adapter *, const struct jsonfile *, struct json_object *root);
/* Returns the hosts of "unasked", each on a line. */
static inline const char *
adapter_unasked(const struct adapter *a)
{
	return a->unasked != NULL ? a->unasked : "";
}

/* unasked.c, in ic-reader: Read "unasked". Returns 0, or -1 likewise. */
int adapter_unasked_read(
    struct adapter *, const struct jsonfile *, struct json_object *root);
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
 * Write the agent's files to the directories of its orientation and of its
 * home. Returns 0, or -1 with the fault set.
 */
int adapter_orient(const struct adapter *, const struct providers *, int dirfd,
    struct fault *);
int adapter_furnish(const struct adapter *, const struct providers *, int dirfd,
    struct fault *);

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
