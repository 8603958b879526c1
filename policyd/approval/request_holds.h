/* SPDX-License-Identifier: ISC */
/*
 * Requests of the model path that a person must approve. mitmd sends
 * REQUEST_ASK in place of REQUEST; the outcome goes to auditd alone. A request
 * is held whole, as it was received and checked, so that what is released is
 * what was shown; its body stays in mitmd, and its SHA-256 is part of both. The
 * ids of held requests have PROTO_ASK_ID set, those of held calls never have.
 * Rules do not apply to requests: a reload leaves them pending.
 */
#ifndef REQUEST_HOLDS_H
#define REQUEST_HOLDS_H

#include "common/http/approved.h"
#include "common/loop.h"
#include "approval/hold.h"

struct policyd_env;

struct ask {
	uint64_t id;      /* has PROTO_ASK_ID; 0: free */
	uint64_t expires; /* ms of the loop's clock */
	uint8_t digest[HOLD_DIGEST];
	char tool[257];     /* "POST https://host/path", cut */
	struct buf preview; /* the request in canonical JSON */
	struct msg_REQUEST_ASK msg; /* texts are in `mem` */
	uint8_t *mem;
	size_t size;
	struct buf tree;         /* if it goes to a forge */
	struct forge_ask *forge; /* NULL: no request to a forge */
	bool shown;              /* a person is asked */
};

struct asks {
	struct ask list[PROTO_MAX_ASKS];
	uint32_t last; /* last id used; ids rise */
	struct buf tree;  /* the next request's */
	uint32_t tree_of; /* its id; 0: there is none */
	struct loop_timer timer;
};

void asks_free(struct policyd_env *);
/* Return -1 with *why if mitmd broke the protocol. */
int asks_take(
    struct policyd_env *, const struct msg_REQUEST_ASK *, const char **why);
int asks_cancel(struct policyd_env *, uint32_t id, const char **why);
/* A piece of the tree of the next request. Returns likewise. */
int asks_tree(struct policyd_env *, const struct msg_FORGE_TREE *,
    const char **why);
/* The thing of an id in a request to a forge. Returns likewise. */
int asks_found(struct policyd_env *, const struct msg_FORGE_FOUND_GO *,
    const char **why);
/* The id has PROTO_ASK_ID. */
void asks_verdict(struct policyd_env *, const struct msg_VERDICT_GO *);

/* approval/request_preview.c: without side effects. */
/*
 * Returns the request in the form that is shown and approved. Borrows the
 * texts.
 */
struct approved ask_request(const struct msg_REQUEST_ASK *);
/* Returns NULL, or a text naming a field that no honest mitmd sends. */
const char *ask_check(const struct msg_REQUEST_ASK *);
/*
 * Write the canonical JSON of a request that ask_check() accepted. Returns 0,
 * or -1 if the buffer is full.
 */
int ask_preview(const struct msg_REQUEST_ASK *, struct buf *);

#endif
