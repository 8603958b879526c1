/* SPDX-License-Identifier: ISC */
/*
 * A call that waits for a person, and the reports about it to clients of the
 * control socket.
 */
#ifndef HOLD_H
#define HOLD_H

#include "base/signed.h"
#include "common/ipc/proto.h"

struct json_object;

#define APPROVALS_SID 4U /* characters of a short id */

struct hold {
	uint64_t id; /* the call, or request (PROTO_ASK_ID); 0: free */
	char sid[APPROVALS_SID + 1];
	uint8_t digest[32];
	char server[65]; /* or the provider's name */
	char tool[257];
	char *rule;
	char *reason;
	char *session; /* the grant for the session, canonical JSON; or "" */
	uint8_t session_digest[32];
	char *effect;  /* the call's effect, escaped */
	char *preview; /* the arguments, canonical JSON */
	size_t preview_len;
	/* {"asks":[...],"resources":[...]}, and its size as text. */
	struct json_object *details;
	size_t details_len;
	uint8_t nonce[SIGNED_NONCE]; /* so that a signature is for this call
					alone */
	uint64_t since, expires; /* loop_now() in ms; UINT64_MAX: never */
	bool answered;           /* a verdict has been sent */
	bool automatic;          /* policyd permits the approver's answer */
	bool wanted;             /* the approver has not been asked yet */
	char opinion[600];       /* the approver's, for people; or "" */
};

/* Returns the state as people and scripts read it: "approved", "expired" ... */
const char *hold_state(enum proto_hold);
/* Write "server__tool", or a request and its provider. Returns `dst`. */
const char *hold_label(const struct hold *, char *dst, size_t cap);
/*
 * Append the text that approvers sign to approve the call. Returns 0, or -1 if
 * it cannot be composed.
 */
int hold_to_sign(const struct hold *, struct buf *);
/* Returns the call as JSON. If `whole`, long arguments are not left out. */
struct json_object *hold_json(const struct hold *, bool whole);
/* Note what the approver thinks of the call; it is shown with the call. */
void hold_opinion(struct hold *, const char *text);
/* Tell watchers that the call is pending. */
void hold_tell(const struct hold *);
/* Tell watchers how the call ended, and answer the client that decided it. */
void hold_tell_end(const struct hold *, enum proto_hold, bool granted);
/* Answer the client whose verdict on that call came too late. */
void hold_tell_late(uint64_t call);

#endif
