/* SPDX-License-Identifier: ISC */
/* Checks that members of a project's file share; see members.c. */
#ifndef ICCTL_PROJECT_MEMBERS_H
#define ICCTL_PROJECT_MEMBERS_H

#include "base/jsonfile.h"
#include "icctl/project/project.h"

#define MEMBER_LIST 16U

/* members_text.c */
/* Returns true for a text that is shown as it is. */
bool member_plain(const char *, size_t max);
bool member_name_ok(const char *);
/* Get a text of printable ASCII. Returns 0, or -1. */
int member_text(const struct jsonfile *, const char *where, json_object *,
    size_t max, const char **out);

/* forge.c: Check "forge". Returns 0, or -1. */
int member_forge(
    struct project *, const struct jsonfile *, const char *, json_object *);

/* members_services.c: Check "services" if it is an object. Returns 0, or -1. */
int members_services(struct project *, const struct jsonfile *, json_object *);

#endif
