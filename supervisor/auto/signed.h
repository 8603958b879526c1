/* SPDX-License-Identifier: ISC */
/*
 * Signed answers: if config.json names approvers, a call is approved only by
 * signatures of so many of them. ic-signed checks those of one answer at a
 * time; icsupervisor counts the people, and approves exactly the call that they
 * have signed.
 */
#ifndef AUTO_SIGNED_H
#define AUTO_SIGNED_H

#include "base/fault.h"
#include "hub/control.h"

/*
 * Read the file of approvers, which no agent may be able to write. Returns 0,
 * or -1 with the fault set.
 */
int signed_prepare(struct fault *);
/*
 * Check the signatures of an approval; the client's reply waits until that is
 * done, and until policyd has decided. `by` is who answers, as a relay claims.
 */
void signed_begin(
    struct client *, const struct hold *, const char *entries, const char *by);

#endif
