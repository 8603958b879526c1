/* SPDX-License-Identifier: ISC */
/* Between the two files about forges of `icctl doctor --check-api`. */
#ifndef ICCTL_DOCTOR_FORGE_H
#define ICCTL_DOCTOR_FORGE_H

#include "common/forge/forge.h"
#include "common/span.h"
#include "icctl/doctor/doctor.h"

/* A destination of the kind forge. */
struct forge_dest {
	doctor_check *check;
	const char *name;
	json_object *own; /* its members in config.json */
	enum forge_kind kind;
};

/* Report about it. `remedy` is NULL or what to do. */
void forge_report(const struct forge_dest *, enum grade, const char *text,
    const char *remedy);
/*
 * forge_say.c: Say what its token can do beyond what the destination lists.
 * `token` has the lines about the token itself, and is empty if the forge says
 * nothing about it; `list` has those about its repositories (list.h of
 * ic-asker).
 */
void forge_judge(
    const struct forge_dest *, struct span token, struct span list);

#endif
