/* SPDX-License-Identifier: ISC */
/* The parts of config.json about model providers, for config.c alone. */
#ifndef CONFIG_PARSE_H
#define CONFIG_PARSE_H

#include "config/config.h"
#include "config/jsonfile.h"

int config_credentials(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/*
 * One object that says where a credential is; a login only where that may be.
 */
int config_credential_of(struct config_provider *, const struct jsonfile *,
    struct json_object *val, const char *where, const char *user_home,
    bool login);
/* config/proxy.c */
int config_proxy(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/* config/reach.c: "upstream", "ca" and "reuse" of an object. */
int config_reach(struct config_provider *, const struct jsonfile *,
    struct json_object *, const char *where, const char *user_home);
int config_providers(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/*
 * config/profile.c: lays the profile (NULL: none) over the rest of root.
 * *chosen: its providers, or NULL.
 */
int config_profile(const struct jsonfile *, struct json_object *root,
    const char *profile, struct json_object **chosen);

/* config.c */
void config_provider_free(struct config_provider *);

/* config/destinations.c: "destinations" and "proxyTools". */
/* destinations_registry.c: what of packageInstall is a default of theirs. */
int config_package_install(
    struct config *, const struct jsonfile *, struct json_object *root);
int config_destinations(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
void config_destinations_free(struct config *);

/* config/budget.c */
int config_budget(
    struct config *, const struct jsonfile *, struct json_object *root);

#endif
