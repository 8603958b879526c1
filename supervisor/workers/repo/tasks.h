/* SPDX-License-Identifier: ISC */
/* The tasks of ic-repo. Each returns 0, or -1 with the fault set. */
#ifndef WORKERS_REPO_TASKS_H
#define WORKERS_REPO_TASKS_H

#include "base/fault.h"

int errand_settings(struct fault *);
int errand_clone(struct fault *);
int errand_fetch(struct fault *);
int errand_look(struct fault *);

#endif
