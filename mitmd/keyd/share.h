/* SPDX-License-Identifier: ISC */
/*
 * The share of the session's budget that icsupervisor has given to this keyd,
 * and the part of it that is reserved. Each request that starts a turn reserves
 * an estimate before a byte of it is sent: its input by the bytes that keyd will
 * count out, its answer by PROTO_RESERVED_OUT tokens, or more if mitmd says so.
 * The reservation stays until the request has ended and icsupervisor has
 * counted its usage, so that its cost is always in one of the two places; a
 * request of which mitmd never reports the usage stays reserved.
 *
 * Settled requests are not given back one by one: icsupervisor tells of them
 * when keyd asks for more, which it does before its share is used up.
 */
#ifndef KEYD_SHARE_H
#define KEYD_SHARE_H

#include <sys/queue.h>

#include "common/ipc/chan.h"
#include "common/loop.h"
#include "common/spend.h"

/* Reservations of requests that have ended; older ones stay for ever. */
#define SHARE_MAX_OVER	4096U
/*
 * How long a request waits for the usage of others that have ended, and for a
 * larger share.
 */
#define SHARE_WAIT_MS	5000U

struct stream;
struct txn;

/* The reservation of a request, or of a message on a WebSocket. */
struct reserved {
	TAILQ_ENTRY(reserved) entry;
	uint32_t stream, exchange, message;
	struct spend spend;
	bool over;	/* it has ended: no transaction refers to it */
	bool settled;	/* its usage is counted */
};
TAILQ_HEAD(reserved_list, reserved);
TAILQ_HEAD(share_waiters, stream);

struct share {
	uint32_t number;	/* the last SHARE has it */
	uint8_t rest;		/* enum proto_share */
	struct spend max;
	uint64_t in, out;	/* 10^-9 USD for a token */
	struct spend held;	/* all reservations */
	struct spend over;	/* those of requests that have ended */
	bool asked;		/* SPENT.asks is not answered yet */
	struct reserved_list list;
	unsigned nover;
	struct share_waiters waiting; /* TXN_SHARE; the first one came first */
	struct loop_timer timer;      /* its wait is over */
	struct loop_turn turn;	      /* something was given back */
	void (*report)(void);	      /* send SPENT */
};

/* keyd/share.c */
/* `report` sends SPENT at once. */
void share_init(void (*report)(void));
/* Returns an estimate of a request, and an answer of at most `most` tokens. */
struct spend share_estimate(uint64_t bytes, uint64_t most);
/* Returns the bytes of the request that can be told before it is sent. */
uint64_t share_bytes(const struct stream *);
/* Returns true if the request fits beside the reservations `held`. */
bool share_fits(struct spend want, struct spend held);
/* Returns the reservations of requests that have not ended. */
struct spend share_running(void);
/*
 * Reserve for the transaction, or for a message on its WebSocket. Returns 0, or
 * -1 with ENOMEM.
 */
int share_take(struct stream *, struct spend, uint32_t message);
/*
 * Reserve for the next message on a WebSocket, of that many bytes; those before
 * it have ended. Returns 0, or -1 if it does not fit or with ENOMEM.
 */
int share_message(struct stream *, uint64_t bytes);
/* The transaction is over. `costs`: the provider may have begun to answer. */
void share_end(struct txn *, bool costs);
/* The usage of that request or message is counted. */
void share_settle(uint32_t stream, uint32_t exchange, uint32_t message);
/* Ask for a larger share. */
void share_ask(void);
/* Write the fields of SPENT that tell of the share. */
void share_report(struct msg_SPENT *);

/* keyd/admit.c */
void admit_init(void);
/*
 * Begin the transaction if its request is within the budget: now, or when other
 * requests have given back what it needs. Otherwise fail it.
 */
void admit_begin(struct stream *);
int admit_share(struct chan *, const struct msg_SHARE *);
int admit_settled(struct chan *, const struct msg_SETTLED *);

#endif
