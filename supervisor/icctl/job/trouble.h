/* SPDX-License-Identifier: ISC */
#ifndef ICCTL_JOB_TROUBLE_H
#define ICCTL_JOB_TROUBLE_H

#include "icctl/icctl.h"

/* How often who shows them should look again. */
#define JOB_TROUBLE_MS 10000U

/*
 * Returns {"name", "state", "why"} for each job that failed, was skipped, is
 * overdue or cannot be read; the caller owns the list.
 */
json_object *job_troubles(const struct icctl *);

#endif
