/* SPDX-License-Identifier: ISC */
/*
 * Calls that wait for a person. policyd owns their state; here they get a short
 * id and are shown, and a verdict is sent to auditd.
 */
#ifndef APPROVALS_H
#define APPROVALS_H

#include "hub/hold.h"

enum approvals_find {
	APPROVALS_FOUND,
	APPROVALS_NONE,
	APPROVALS_SEVERAL,
	APPROVALS_PART,
};

/*
 * Begin with an empty list. `waiting` is told whenever this may have changed:
 * whether the agent waits for an answer.
 */
void approvals_init(void (*waiting)(bool));
void approvals_free(void);
/*
 * Add a pending call, or update one that waits for another reason now. Returns
 * 0, or -1 if there are too many or it is malformed.
 */
int approvals_add(const struct msg_HOLD_SHOW *);
/* Remove the call. Returns 0, or -1 if it is not pending. */
int approvals_end(uint64_t id, enum proto_hold state, bool granted);
void approvals_late(uint64_t id);
/*
 * Find out how a call with this short id ended. Returns false if none of the
 * last calls had it.
 */
bool approvals_ended(const char *sid, enum proto_hold *state);
/*
 * Find a call by its short id. If `part`, the beginning of an id is enough if
 * it is unique; otherwise such a beginning is APPROVALS_PART, and `*out` is set
 * so that a message can name the call.
 */
enum approvals_find approvals_find(const char *sid, bool part, struct hold **);
/* Returns the ith pending call, oldest first, or NULL after the last. */
struct hold *approvals_at(unsigned i);
unsigned approvals_count(void);
/*
 * Send the verdict on the call that the user saw. `session` is the digest of
 * what is granted for the session, or NULL; `times` is the number of calls that
 * are granted instead, or 0. `by` is who answers, as a relay claims, or "".
 * Returns 0, or -1 if a digest differs.
 */
int approvals_answer(struct hold *, const uint8_t digest[32],
    const uint8_t *session, unsigned times, bool approve, const char *because,
    const char *answer, const char *by);
/* Send the approver's approval of exactly this call, with its reasoning. */
void approvals_automatic(struct hold *, struct span reasoning);
/* Returns the pending call or request with this id, or NULL. */
struct hold *approvals_by_call(uint64_t id);
/* Returns the short id of a pending call, or NULL. */
const char *approvals_sid_of(uint64_t id);
/* Make a short id that no pending call has. */
void approvals_sid(char dst[APPROVALS_SID + 1]);

#endif
