/* SPDX-License-Identifier: ISC */
/*
 * Model providers of a session: their files, their placeholder keys, and where
 * their credentials come from. Only name, hosts, usual variable, placeholder
 * prefix and logins of a file are used here; mitmd and keyd use its routes.
 */
#ifndef PROVIDERS_H
#define PROVIDERS_H

#include <string.h>

#include "base/paths.h"
#include "files/config.h"
#include "mitmd/provider/check.h"

#define PROVIDERS_MAX_CA (4U << 20)

/* A vendor's program whose login file may serve as the credential. */
struct provider_login {
	char *name;
	char *file;     /* its usual place; absolute */
	char *sentinel; /* prefix of the placeholder key */
	struct config_upstream token; /* server that renews the login */
	char **lock_dirs, **lock_files;
	char *kept; /* file for a login that began in a sandbox; absolute */
};

struct provider {
	char *name;
	char *hosts[PROTO_MAX_HOSTS];
	unsigned nhosts;
	char *env;  /* usual variable of the credential; NULL if it has none */
	char **parts; /* variables of a key in parts, or NULL */
	char *parts_text; /* the same, separated by commas */
	bool in_parts; /* use `parts`, not `env` */
	char *params[PROVIDERS_PARAMS]; /* values that hosts and paths are made
					   of */
	char **param_env[PROVIDERS_PARAMS]; /* variables that may set them */
	char lacks[256]; /* why the file cannot be used as it is, or "" */
	char *key;  /* placeholder key of this session; NULL if it has none */
	char *file; /* path that it was read from; NULL if composed here */
	struct json_object *trial; /* "check" of the file, or NULL */
	char *json; /* text of the file */
	size_t json_len;
	const struct config_provider *config; /* or NULL */
	struct provider_login logins[PROVIDER_MAX_LOGINS];
	unsigned nlogins;
	int login; /* the login in use; -1: a key */
	unsigned server;  /* the remote server that it is, + 1; or 0 */
	const char *kind; /* kind of a destination; NULL: a model provider */
	bool captures; /* the login may begin in the sandbox */
	bool kept;     /* the login began in a sandbox */
	bool waits;    /* nobody is logged in yet */
};

struct providers {
	struct provider list[PROTO_MAX_PROVIDERS];
	unsigned n;
	char model[128]; /* the model that the agent should use, or "" */
	const char *workspace; /* its path, as the agent sees it */
	char hosts[1024]; /* the description of further hosts for the agent */
	char tools[PROTO_MAX_TOLD + 1]; /* the session's tools, for the agent */
	char orientation[8192];         /* describes the session to the agent */
};

/*
 * Load IRONCURTAIN_HOME/providers/NAME.json, or else the shipped file. Returns
 * 0, or -1 with the fault set and the slot cleared.
 */
int provider_load(struct provider *, const struct paths *,
    const struct config *, const char *name, struct fault *);
void provider_clear(struct provider *);
/* Returns true if it is a destination of that kind. */
static inline bool
provider_is(const struct provider *p, const char *kind)
{
	return p->kind != NULL && strcmp(p->kind, kind) == 0;
}

/* The kind of those that log in to a database: no agent names their hosts. */
#define PROVIDER_POSTGRES "postgres"
/*
 * Check the CA file, if one is configured. Returns 0, or -1 with a fault that
 * names `where`.NAME.ca.
 */
int provider_ca(
    const struct config_provider *, const char *where, struct fault *);
/*
 * Make a placeholder key: the prefix and 192 random bits. The caller frees it.
 * Returns NULL if memory ran out.
 */
char *provider_sentinel(const char *prefix);
/*
 * providers_params.c: Put the values of "parameters" into the file and replace
 * `*root` with the result. If one has no value, p->lacks says so.
 */
int provider_params(struct provider *, const char *path, const char *name,
    struct json_object **root, struct fault *);
/*
 * providers_capture.c: Add the hosts and routes of the login that may begin in
 * the sandbox to the file's own. Returns 1 if there is such a login, 0 if not,
 * or -1 with the fault set.
 */
int provider_capture(struct provider *, const char *path,
    struct json_object *root, struct fault *);
/*
 * providers_trial.c: Read "check", the request that tries the credential, into
 * p->trial. Returns 0, or -1 with the fault set.
 */
int provider_trial(struct provider *, const char *path,
    struct json_object *root, struct fault *);
/* Make that request the only one that the provider can be sent. */
int provider_trial_only(struct provider *, struct fault *);
/*
 * providers_text.c: Make `root`, as text, the provider's file. Returns -1 if
 * memory ran out.
 */
int provider_rewrite(struct provider *, struct json_object *root);
/* providers_logins.c: Keep the "logins" of the file at `path`. */
int provider_logins(struct provider *, const struct provider_facts *,
    const char *path, const struct paths *, struct fault *);
/* Choose between a key and one of the logins. */
int provider_choose(struct provider *, struct fault *);
/* Returns the path of the login file in use, or NULL if a key is used. */
const char *provider_login_file(const struct provider *);
/*
 * Load the providers called `names` (NULL-terminated), or, if `names` is NULL,
 * those that config.json has a credential for.
 */
int providers_load(struct providers *, const struct paths *,
    const struct config *, char *const *names, struct fault *);
void providers_free(struct providers *);
/* providers_check.c: Returns the index of the provider with that name, or -1. */
int providers_find(const struct providers *, const char *name);
/*
 * providers_check.c: Returns 0 if mitmd and keyd will accept the file, and its
 * number of routes in `*routes`; -1 with the fault set. Their own parser is
 * linked here, so that the answer is known before they run.
 */
int provider_usable(
    const struct provider *, unsigned *routes, struct fault *);
/* Check all providers of a session, and that no two have the same host. */
int providers_usable(const struct providers *, struct fault *);

#endif
