/* SPDX-License-Identifier: ISC */
/*
 * Model providers of a session: which, their files, their sentinel keys, and
 * where their credentials come from.  Only name, hosts, usual variable,
 * sentinel prefix and logins of a file are looked at here; routes are for the
 * locks.
 */
#ifndef PROVIDERS_H
#define PROVIDERS_H

#include "config.h"
#include "paths.h"

#define PROVIDERS_MAX_CA (4U << 20)

#define PROVIDERS_MAX_LOGINS 8U

/* A vendor's program, whose login file may serve as the credential. */
struct provider_login {
	char *name;
	char *file;     /* where it usually is; absolute */
	char *sentinel; /* prefix */
	struct config_upstream token; /* where it is renewed */
	char **lock_dirs, **lock_files;
};

struct provider {
	char *name;
	char *hosts[PROTO_MAX_HOSTS];
	unsigned nhosts;
	char *env;  /* usual variable of the credential; NULL: it has none */
	char *key;  /* sentinel key of this session; NULL: it has none */
	char *json; /* the file's bytes */
	size_t json_len;
	const struct config_provider *config; /* or NULL */
	struct provider_login logins[PROVIDERS_MAX_LOGINS];
	unsigned nlogins;
	int login; /* the one in use; -1: a key */
	const char *kind; /* of a destination; NULL: a model's provider */
};

struct providers {
	struct provider list[PROTO_MAX_PROVIDERS];
	unsigned n;
};

/* IRONCURTAIN_HOME/providers/NAME.json, else the shipped one. */
int provider_load(struct provider *, const struct paths *,
    const struct config *, const char *name, struct fault *);
void provider_free(struct provider *);
/* Is the CA file one, if it is named? Else `where`.NAME.ca in the fault. */
int provider_ca(
    const struct config_provider *, const char *where, struct fault *);
/* A sentinel key: the prefix and 192 random bits. NULL: out of memory. */
char *provider_sentinel(const char *prefix);
/* The login file in use: the configured one, or its usual place. */
const char *provider_login_file(const struct provider *);
/*
 * Those of `names` (NULL-terminated); NULL: those with a credential in
 * config.json.
 */
int providers_load(struct providers *, const struct paths *,
    const struct config *, char *const *names, struct fault *);
void providers_free(struct providers *);

#endif
