/* SPDX-License-Identifier: ISC */
/*
 * One call that waits for a person, and what the clients of the control
 * socket are told of it.
 */
#ifndef HOLD_H
#define HOLD_H

#include "common/ipc/proto.h"

struct json_object;

#define APPROVALS_SID 4U /* characters of a short id */

struct hold {
	uint64_t id; /* the call, or request (PROTO_ASK_ID); 0: free */
	char sid[APPROVALS_SID + 1];
	uint8_t digest[32];
	char server[65]; /* or provider */
	char tool[257];
	char *rule;
	char *reason;
	char *session; /* what may be granted, canonical JSON; or "" */
	uint8_t session_digest[32];
	char *effect;  /* what it would do, escaped */
	char *preview; /* the arguments, canonical JSON */
	size_t preview_len;
	/* {"asks":[...],"resources":[...]}, and its size as text. */
	struct json_object *details;
	size_t details_len;
	uint64_t since, expires; /* loop_now() ms */
	bool answered;           /* a verdict is on its way */
};

/* The word for it that people and scripts read: "approved", "expired". */
const char *hold_state(enum proto_hold);
/* "server__tool", or a request and its provider. Returns `dst`. */
const char *hold_label(const struct hold *, char *dst, size_t cap);
/* With `whole`, the arguments however long they are. */
struct json_object *hold_json(const struct hold *, bool whole);
/* Tells watchers that it waits. */
void hold_tell(const struct hold *);
/* Tells watchers how it ended, and answers the client that answered it. */
void hold_tell_end(const struct hold *, enum proto_hold, bool granted);
/* Answers the client whose answer to that call came too late. */
void hold_tell_late(uint64_t call);

#endif
