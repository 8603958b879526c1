/* SPDX-License-Identifier: ISC */
/*
 * icsupervisor as the unit icsupervisor@NAME.service: the session NAME. If its
 * directory has a start.json, icctl made it, and the session runs an agent: as
 * icctl offers it, or, when nobody offers a start, as start.json says, going on
 * with the last run. Without start.json the session offers its sockets only.
 */
#ifndef UNIT_H
#define UNIT_H

#include "base/fault.h"
#include "files/options.h"

/*
 * Find the session of options.unit, and replace the options by those that it
 * runs with. Returns 0, or an exit status with the fault set.
 */
int unit_begin(struct options *, struct fault *);

#endif
