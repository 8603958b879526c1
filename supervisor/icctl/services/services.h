/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl services`. compose.c: what a compose file says of one
 * service; import.c: the command.
 */
#ifndef ICCTL_SERVICES_H
#define ICCTL_SERVICES_H

#include <json-c/json.h>

#include "base/fault.h"
#include "icctl/icctl.h"

#define SERVICES_NOTES 64U

/* Lines for the person. */
struct services_notes {
	char *list[SERVICES_NOTES];
	size_t n;
};

void services_note(struct services_notes *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void services_notes_free(struct services_notes *);

/* Name in the notes what the file has beside its services. */
void compose_others(json_object *root, struct services_notes *);
/*
 * Make the entry of config.json from that of a compose file: its image, its
 * port, constant variables and its health check. Everything else is named in
 * the notes, and not taken. Returns NULL if there is no image or no port, which
 * the notes say then, too.
 */
json_object *compose_entry(
    const char *name, json_object *from, struct services_notes *);

#endif
