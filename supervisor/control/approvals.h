/* SPDX-License-Identifier: ISC */
/*
 * Calls that wait for a person.  policyd owns their state; here they get a
 * short id and are shown, and a verdict goes off to auditd.
 */
#ifndef APPROVALS_H
#define APPROVALS_H

#include "control/hold.h"

enum approvals_find {
	APPROVALS_FOUND,
	APPROVALS_NONE,
	APPROVALS_SEVERAL,
	APPROVALS_PART,
};

void approvals_init(void);
void approvals_free(void);
/* A call held anew, or for another reason now. -1: too many. */
int approvals_add(const struct msg_HOLD_SHOW *);
/* -1: no such call is held. */
int approvals_end(uint64_t id, enum proto_hold state, bool granted);
void approvals_late(uint64_t id);
/*
 * By short id.  With `part` a unique part of its beginning will do; else such
 * a part is APPROVALS_PART, and the hold is set so that it can be named.
 */
enum approvals_find approvals_find(const char *sid, bool part, struct hold **);
/* The i-th, oldest first; NULL behind the last. */
struct hold *approvals_at(unsigned i);
unsigned approvals_count(void);
/*
 * Sends the verdict for what the user saw; session: digest of what is granted
 * with it, or NULL. -1: a digest differs.
 */
int approvals_answer(struct hold *, const uint8_t digest[32],
    const uint8_t *session, bool approve, const char *because);
/* What was granted in this session, oldest first; NULL behind the last. */
const char *approvals_granted(unsigned i);
/* A short id that no held call has. */
void approvals_sid(char dst[APPROVALS_SID + 1]);

#endif
