/* SPDX-License-Identifier: ISC */
/*
 * Destinations: hosts beside the model providers, each of a kind that says
 * what may be done there.  To the rest of the program one is a provider like
 * any other, whose file is composed here from the configuration; what it means
 * is for the locks (mitmd/provider/dest.h).  Hosts come from the user's
 * configuration, or are added in a session by the agent, with the user's
 * approval.
 */
#ifndef DESTINATIONS_H
#define DESTINATIONS_H

#include "config/config.h"
#include "config/jsonfile.h"
#include "providers/providers.h"

#define DESTINATIONS_ADDED "added-" /* then a number: of the agent's */
#define DESTINATIONS_MAX_HOSTS 16U  /* of one, a keyd for each */

/*
 * A kind, as config.json has it.  A new one: a row in destination_kinds
 * (destinations.c) and a file of its own with `read`.
 */
struct destination_kind {
	const char *name;
	bool split;      /* a slot, and so a keyd, for each host */
	bool credential; /* takes "credential" */
	unsigned max_hosts;
	/* Members of its own, beside those that every kind has. */
	const char *const *members;
	/*
	 * Checks its own members of o, and puts into file what the locks
	 * shall know (name, kind and hosts come by themselves; a kind with a
	 * credential adds "credential" as a provider file has it). cfg: keys
	 * that give defaults. -1 with j->fault.
	 */
	int (*read)(const struct jsonfile *j, const char *where,
	    struct json_object *o, const struct config *cfg,
	    struct json_object *file);
};

extern const struct destination_kind destination_git, destination_registry,
    destination_web;

/* NULL: there is none. */
const struct destination_kind *destination_kind(const char *name);
/* "web", "git" ...: for a message. */
const char *destination_kinds_text(char *dst, size_t cap);

/* Adds the slots of the configuration behind the providers. */
int destinations_load(
    struct providers *, const struct config *, struct fault *);
/* One web host more, the nth: into p, which is empty. */
int destination_web_slot(struct provider *p, const struct config *,
    const char *host, unsigned n, struct fault *);

#endif
