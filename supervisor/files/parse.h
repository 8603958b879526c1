/* SPDX-License-Identifier: ISC */
/* The parts of the parser of config.json; only config.c calls them. */
#ifndef CONFIG_PARSE_H
#define CONFIG_PARSE_H

#include "base/jsonfile.h"
#include "files/config.h"

/*
 * Returns true for 1 to `max` letters, digits and characters of `extra`.
 */
bool config_name_ok(const char *, size_t max, const char *extra);
/* providers.c: "credentials", and "providers". */
int config_credentials(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/* In "headers" of providers, replace {session}, {persona} and {job}. */
void config_headers(struct config *, const char *session, const char *persona);
int config_providers(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/* parse.c */
/* Parse an object that says where a credential is. `login` allows a login. */
int config_credential_of(struct config_provider *, const struct jsonfile *,
    struct json_object *val, const char *where, const char *user_home,
    bool login);
/* command.c */
/* Parse the members "command", "variables" and "shell" of an object. */
int config_command(struct config_command *, const struct jsonfile *,
    struct json_object *, const char *where);
/* notify.c: Parse "notify": a list of words, or an object of these members. */
int config_notify(
    struct config *, const struct jsonfile *, struct json_object *root);
/* Parse "notifyOn" and "notifyQuiet". */
int config_notify_when(
    struct config *, const struct jsonfile *, struct json_object *root);
void config_command_free(struct config_command *);
/*
 * Returns a copy of a command's words, with the session's name in place of a
 * word {session}, for jsonfile_strings_free(); or NULL with errno set.
 */
char **config_command_words(char *const *argv, const char *session);
/* proxy.c */
int config_proxy(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/* reach.c: Parse "upstream", "ca" and "reuse" of an object. */
int config_reach(struct config_provider *, const struct jsonfile *,
    struct json_object *, const char *where, const char *user_home);
/*
 * profile.c: Merge the profile (NULL: none) into `root`. `*chosen` becomes its
 * providers, or NULL.
 */
int config_profile(const struct jsonfile *, struct json_object *root,
    const char *profile, struct json_object **chosen);

/* entry.c */
void config_provider_free(struct config_provider *);

/* destinations.c: Parse "destinations" and "proxyTools". */
/* destinations_registry.c: Parse "packageInstall", defaults for registries. */
int config_package_install(
    struct config *, const struct jsonfile *, struct json_object *root);
int config_destinations(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
void config_destinations_free(struct config *);

/* services.c: "services". */
int config_services(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);
/* services_login.c: Parse the "login" of the service, whose address is set. */
int services_login(struct config *, const struct jsonfile *, const char *name,
    struct json_object *, struct config_service *, const char *user_home);
/*
 * services_own.c: Check the entry of a service of the session's own, but for
 * its port. Returns 0, or -1 with the fault set.
 */
int services_own(
    const struct jsonfile *, const char *where, struct json_object *);
/* agent_env.c: "env", the agent's variables. */
int config_env(
    struct config *, const struct jsonfile *, struct json_object *root);

/* runtime.c */
int config_runtime(
    struct config *, const struct jsonfile *, struct json_object *root);
/* definitions.c: "toolDefinitions". */
int config_definitions(
    struct config *, const struct jsonfile *, struct json_object *root);
/* "transport": how a container reaches the session's sockets. */
int config_transport(
    struct config *, const struct jsonfile *, struct json_object *root);
/* Read the member "image" into allocated memory, if it is there. */
int config_image(const struct jsonfile *, struct json_object *,
    const char *where, char **out);

/* agent_view.c: Parse "agentView". */
int config_agent_view(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);

/*
 * project.c: "deny" and "ask" of "policy", with a project's if `merged`; and
 * "projectInstructions".
 */
int config_narrow(struct config *, const struct jsonfile *,
    struct json_object *policy, bool merged);
int config_told(
    struct config *, const struct jsonfile *, struct json_object *root);

/* undo.c: Parse "undo". */
int config_undo(
    struct config *, const struct jsonfile *, struct json_object *root);
void config_undo_default(struct config_undo *);

/* caches.c: Parse "packageCaches". */
int config_caches(struct config *, const struct jsonfile *,
    struct json_object *root, const char *user_home);

/* approvers.c */
int config_approvers(
    struct config *, const struct jsonfile *, struct json_object *root);
/* approve.c */
int config_approve(
    struct config *, const struct jsonfile *, struct json_object *root);

/* budget.c */
int config_budget(
    struct config *, const struct jsonfile *, struct json_object *root);

#endif
