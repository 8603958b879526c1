/* SPDX-License-Identifier: ISC */
/*
 * Calls that wait for a person.  policyd owns their state; here they get a
 * short id and are shown, and a verdict goes off to auditd.
 */
#ifndef APPROVALS_H
#define APPROVALS_H

#include "common/proto.h"

#define APPROVALS_SID 4U /* characters of a short id */

struct hold {
	uint64_t id; /* the call; 0: free */
	char sid[APPROVALS_SID + 1];
	uint8_t digest[32];
	char server[65];
	char tool[257];
	char *rule;
	char *reason;
	char *preview; /* canonical JSON */
	size_t preview_len;
	uint64_t since, expires; /* loop_now() ms */
	bool answered;           /* a verdict is on its way */
};

enum approvals_find {
	APPROVALS_FOUND,
	APPROVALS_NONE,
	APPROVALS_SEVERAL,
};

void approvals_init(void);
void approvals_free(void);
/* -1: too many, or that call is held already. */
int approvals_add(const struct msg_HOLD_SHOW *);
/* -1: no such call is held. */
int approvals_end(uint64_t id, enum proto_hold state);
void approvals_late(uint64_t id);
/* By short id or a unique part of its beginning. */
enum approvals_find approvals_find(const char *sid, struct hold **);
/* The i-th, oldest first; NULL behind the last. */
struct hold *approvals_at(unsigned i);
unsigned approvals_count(void);
/* Sends the verdict for what the user saw. -1: digest differs. */
int approvals_answer(
    struct hold *, const uint8_t digest[32], bool approve, const char *because);
/* A short id that no held call has. */
void approvals_sid(char dst[APPROVALS_SID + 1]);
const char *approvals_state(enum proto_hold);

#endif
