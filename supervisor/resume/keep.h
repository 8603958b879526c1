/* SPDX-License-Identifier: ISC */
/*
 * Approvals of more than one call that an earlier run left. Those that a person
 * confirmed are given to policyd, which judges them again; the others end here,
 * each with a record and a line for the person.
 */
#ifndef KEEP_H
#define KEEP_H

#include "resume/carry.h"

/* With --keep-grants, older ones are not kept without a person. */
#define KEEP_SECONDS (24 * 3600)

/*
 * After the first record of the run, and before START. Afterwards none is left
 * in the carry.
 */
void keep_grants(struct carry *);

#endif
