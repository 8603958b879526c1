/* SPDX-License-Identifier: ISC */
/*
 * Requests of the model path that a person must approve: mitmd sends ASK in
 * place of REQUEST, and what becomes of it leaves for auditd alone.  A request
 * is held whole, as it came and was checked, so that what is released is what
 * was shown; its body stays in mitmd, and its SHA-256 is part of both.  A hold
 * here and a held call never have the same id: PROTO_ASK_ID is in the one and
 * in no other.  Rules have no say: a reload leaves what waits.
 */
#ifndef REQUEST_HOLDS_H
#define REQUEST_HOLDS_H

#include "common/http/approved.h"
#include "common/loop.h"
#include "hold.h"

struct policyd_env;

struct ask {
	uint64_t id;      /* with PROTO_ASK_ID; 0: free */
	uint64_t expires; /* loop ms */
	uint8_t digest[HOLD_DIGEST];
	char tool[257];     /* "POST https://host/path", cut */
	struct buf preview; /* canonical JSON of what is asked for */
	struct msg_ASK msg; /* its texts in mem */
	uint8_t *mem;
	size_t size;
};

struct asks {
	struct ask list[PROTO_MAX_ASKS];
	uint32_t last; /* ids rise */
	struct loop_timer timer;
};

void asks_free(struct policyd_env *);
/* -1: impossible for a mitmd that keeps to the protocol; *why. */
int asks_take(struct policyd_env *, const struct msg_ASK *, const char **why);
int asks_cancel(struct policyd_env *, uint32_t id, const char **why);
/* For an id with PROTO_ASK_ID. */
void asks_verdict(struct policyd_env *, const struct msg_VERDICT_GO *);

/* request_preview.c: pure. */
/* The request in the form that is shown and approved; it borrows the texts. */
struct approved ask_request(const struct msg_ASK *);
/* Returns NULL, or what of it no honest mitmd sends. */
const char *ask_check(const struct msg_ASK *);
/* The canonical JSON of a request that ask_check found good. -1: no room. */
int ask_preview(const struct msg_ASK *, struct buf *);

#endif
