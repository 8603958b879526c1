/* SPDX-License-Identifier: ISC */
/*
 * The kind of destination that a host becomes when a person opens it, by its
 * name alone, so that every process that must know arrives at the same. A forge
 * is known by its name; a registry by the labels that such hosts and mirrors
 * have. A name that is wrongly taken for one of them can do less than a web
 * destination, and never more.
 */
#ifndef KNOWN_HOST_H
#define KNOWN_HOST_H

#include "common/http/hostname.h"
#include "common/ipc/proto.h"

#define KNOWN_HOSTS 2U

struct known_host {
	enum proto_open kind;
	/* The hosts of the destination; of a registry, first the index. */
	char hosts[KNOWN_HOSTS][HOSTNAME_MAX + 1];
	unsigned n;
};

/* Look at a name that hostname_read() accepted, in its spelling. */
void known_host(const char *name, struct known_host *);
/* Returns true if `name` is one of its hosts. */
bool known_host_has(const struct known_host *, const char *name);
/* Returns the registry's name in config.json, or NULL for another kind. */
const char *known_host_registry(enum proto_open);
/* Returns true if a label of the name is punycode: letters of any script. */
bool known_host_foreign(const char *name);

#endif
