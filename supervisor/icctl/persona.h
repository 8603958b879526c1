/* SPDX-License-Identifier: ISC */
/* Internals of `icctl persona`. */
#ifndef ICCTL_PERSONA_H
#define ICCTL_PERSONA_H

#include "files/persona.h"
#include "icctl/icctl.h"

/* The members of persona.json that are texts and options of `new`. */
extern const char *const persona_texts[];

/* Read a persona. Returns 0, or -1 after it said why. */
int persona_read(const struct icctl *, const char *name, struct persona *);
/* Compose JSON of a persona, with its constitution if `whole`. */
json_object *persona_json(const char *name, const struct persona *, bool whole);
/* Print a persona. Returns an exit status. */
int persona_show(struct icctl *, const char *name);

#endif
