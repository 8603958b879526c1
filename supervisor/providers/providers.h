/* SPDX-License-Identifier: ISC */
/*
 * Model providers of a session: which, their files, their sentinel keys, and
 * where their credentials come from.  Only name, hosts, usual variable,
 * sentinel prefix and logins of a file are made use of here; routes are for
 * the locks.
 */
#ifndef PROVIDERS_H
#define PROVIDERS_H

#include "config/config.h"
#include "config/paths.h"

#define PROVIDERS_MAX_CA (4U << 20)

#define PROVIDERS_MAX_LOGINS 8U

struct jsonfile;

/* A vendor's program, whose login file may serve as the credential. */
struct provider_login {
	char *name;
	char *file;     /* where it usually is; absolute */
	char *sentinel; /* prefix */
	struct config_upstream token; /* where it is renewed */
	char **lock_dirs, **lock_files;
	char *kept; /* where it is kept if it began in a box; absolute */
};

/* Of a key in two parts: id, secret, session token. */
#define PROVIDERS_ENV_PARTS 3U

struct provider {
	char *name;
	char *hosts[PROTO_MAX_HOSTS];
	unsigned nhosts;
	char *env;  /* usual variable of the credential; NULL: it has none */
	char **parts; /* variables of a key in two parts, or NULL */
	char *parts_text; /* the same, with commas */
	bool in_parts; /* they serve, and not the one variable */
	char *params[PROVIDERS_PARAMS]; /* what hosts and paths are made of */
	char **param_env[PROVIDERS_PARAMS]; /* variables that say them */
	char lacks[256]; /* why the file cannot be used as it is, or "" */
	char *key;  /* sentinel key of this session; NULL: it has none */
	char *file; /* where it was read; NULL: composed here */
	char *json; /* the file's bytes */
	size_t json_len;
	const struct config_provider *config; /* or NULL */
	struct provider_login logins[PROVIDERS_MAX_LOGINS];
	unsigned nlogins;
	int login; /* the one in use; -1: a key */
	const char *kind; /* of a destination; NULL: a model's provider */
	bool captures; /* it may begin in the box */
	bool kept;     /* it began in one */
	bool waits;    /* nobody is logged in yet */
};

struct providers {
	struct provider list[PROTO_MAX_PROVIDERS];
	unsigned n;
	char hosts[1024]; /* what an agent is told of its further hosts */
};

/* IRONCURTAIN_HOME/providers/NAME.json, else the shipped one. */
int provider_load(struct provider *, const struct paths *,
    const struct config *, const char *name, struct fault *);
void provider_clear(struct provider *);
/* Is the CA file one, if it is named? Else `where`.NAME.ca in the fault. */
int provider_ca(
    const struct config_provider *, const char *where, struct fault *);
/* A sentinel key: the prefix and 192 random bits. NULL: out of memory. */
char *provider_sentinel(const char *prefix);
/*
 * providers_params.c: puts the values of "parameters" into the file; root is
 * the new one then. What has none is said in lacks.
 */
int provider_params(struct provider *, const char *path, const char *name,
    struct json_object **root, struct fault *);
/*
 * providers_capture.c: hosts and routes of the login that may begin in the box
 * are put among the file's own. 1: they are, 0: none may, -1 with why.
 */
int provider_capture(struct provider *, const char *path,
    struct json_object *root, struct fault *);
/* root, as text, is the file from now on. -1: out of memory. */
int provider_rewrite(struct provider *, struct json_object *root);
/* providers_logins.c: the "logins" of the file. */
int provider_logins(struct provider *, const struct jsonfile *,
    struct json_object *root, const struct paths *);
/* Which of them is used, or a key. */
int provider_choose(struct provider *, struct fault *);
/* The login file in use: the configured one, or its usual place. */
const char *provider_login_file(const struct provider *);
/*
 * Those of `names` (NULL-terminated); NULL: those with a credential in
 * config.json.
 */
int providers_load(struct providers *, const struct paths *,
    const struct config *, char *const *names, struct fault *);
void providers_free(struct providers *);
/*
 * providers_check.c: will the locks take it? They are asked before they run:
 * their own reader of the file is linked here. Its routes in *routes.
 */
int provider_usable(
    const struct provider *, unsigned *routes, struct fault *);
/* All of a session, and no host is of two. */
int providers_usable(const struct providers *, struct fault *);

#endif
