/* SPDX-License-Identifier: ISC */
/* `icctl pull --sign`: the user's own key signs what an agent has committed. */
#ifndef ICCTL_REPO_SIGN_H
#define ICCTL_REPO_SIGN_H

#include "icctl/icctl.h"
#include "repo/pull.h"

/*
 * Find out how the user's git signs in the repository `into`. If `yes`, what is
 * signed is shown and not asked about. Returns a signer, or NULL with the fault
 * set.
 */
const struct repo_signer *sign_find(const struct icctl *,
    const struct repo_env *, const char *into, bool yes, struct fault *);

#endif
