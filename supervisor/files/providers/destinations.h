/* SPDX-License-Identifier: ISC */
/*
 * Destinations: hosts other than the model providers, each of a kind that says
 * what may be done there. For the rest of the program a destination is a
 * provider like any other, whose file is composed here from the configuration;
 * mitmd and keyd give it its meaning (mitmd/provider/dest.h). Hosts come from
 * the user's configuration, or the agent adds them in a session with the user's
 * approval.
 */
#ifndef DESTINATIONS_H
#define DESTINATIONS_H

#include "base/jsonfile.h"
#include "common/http/known_host.h"
#include "files/config.h"
#include "files/providers/providers.h"

#define DESTINATIONS_ADDED "added-" /* followed by a number: hosts that the
				       agent added */
#define DESTINATIONS_MAX_HOSTS 16U  /* for one destination; each has its own
				       keyd */

/*
 * A kind of destinations in config.json. A new kind needs a row in
 * destination_kinds (destinations.c), and its members and the function that reads
 * them in members/destinations.c.
 */
struct destination_kind {
	const char *name;
	bool split;      /* each host has its own slot, and so its own keyd */
	bool credential; /* takes "credential" */
	unsigned max_hosts;
};

extern const struct destination_kind destination_forge, destination_git,
    destination_postgres, destination_registry, destination_web;

/*
 * Check the kind's own members of `o`, and add to `file` what mitmd and keyd
 * need. Name, kind and hosts are added elsewhere; a kind with a credential adds
 * "credential" as in a provider file. `cfg` has the keys that give defaults.
 * Returns 0, or -1 with j->fault set.
 */
typedef int destination_read_fn(const struct jsonfile *j, const char *where,
    struct json_object *o, const struct config *cfg, struct json_object *file);
destination_read_fn destination_forge_read, destination_git_read,
    destination_registry_read, destination_web_read;

/* Returns the kind of that name, or NULL. */
const struct destination_kind *destination_kind(const char *name);
/*
 * Write the names of all kinds for a message: "web", "git" ... Returns `dst`.
 */
const char *destination_kinds_text(char *dst, size_t cap);

/* Add slots for the destinations of the configuration after the providers. */
int destinations_load(
    struct providers *, const struct config *, struct fault *);
/*
 * Add a slot for the remote server with that index, whose entry has these
 * settings and members. `home`: IRONCURTAIN_HOME, which may have a login for
 * the address `url`.
 */
struct server_remote;
int destinations_remote(struct providers *, unsigned server,
    const struct server_remote *, const char *home, const char *url,
    struct fault *);
/*
 * destinations_login.c: Use the login for the address, or wait for one. Returns
 * 0, or -1 with the fault set.
 */
int destination_login(
    struct provider *, const char *home, const char *url, struct fault *);
/*
 * Get the server that renews that login. Returns 0, or -1 with the fault set if
 * there is no login for the address.
 */
int destination_login_token(const struct provider *, const char *url,
    struct config_upstream *, struct fault *);
/*
 * Fill the empty slot `p` for the nth that was added in the session, as the
 * kind of destination that it is known to be: with no credential, to be read.
 */
int destination_added_slot(struct provider *p, const struct config *,
    const struct known_host *, unsigned n, struct fault *);

#endif
