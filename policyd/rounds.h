/* SPDX-License-Identifier: ISC */
/*
 * Calls that a server of revision 2026-07-28 answers with a question
 * (input_required). The request is kept, so that it can be sent again with
 * answers, as the same call: under the approval and in the thread of records
 * that it has. Each question is decided here, or by the person (asks/). One that
 * has no answer ends the call.
 *
 * A server may also return nothing but a state, with which the request is to be
 * sent again. An agent of that revision decides when: it gets a random text
 * that stands for the state, and nothing of the state itself. The text is good
 * for one request that is the same in server, tool and arguments.
 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "common/ipc/proto.h"
#include "compose.h"

#define ROUND_MAX_ASKED	16U		/* questions at once */
#define ROUND_MAX_KEY	128U
#define ROUND_MAX_STATE	((size_t)64 << 10)
#define ROUND_MAX_KEPT	((size_t)32 << 20) /* bytes, for all calls together */
#define ROUND_STATES	32U
#define ROUND_STATE_MS	600000U
#define ROUND_HANDLE	32U		/* hexadecimal digits */
#define ROUND_DIGEST	32U

struct call;
struct policyd_env;
struct work;

struct round_asked {
	char *key;
	const char *method;		/* a text of ours */
	char *answer;			/* JSON; NULL: it is waited for */
};

/* A request that may be sent again. */
struct round {
	uint8_t n;			/* how often it was */
	bool open;			/* the server waits for answers */
	uint64_t thread;		/* the call that it began with */
	uint8_t digest[ROUND_DIGEST];	/* covers server, tool and arguments */
	struct round_asked asked[ROUND_MAX_ASKED];
	unsigned nasked;
	char *state;			/* the server's, or NULL */
	size_t state_len;
	char *params;			/* session_params(), or NULL */
	size_t len;
	char text[];			/* its line, between id and end */
};

/* A state that an agent may give back. */
struct round_state {
	char handle[ROUND_HANDLE + 1];	/* "": free */
	uint64_t expires;		/* loop ms */
	uint16_t server;
	uint64_t thread;
	uint8_t digest[ROUND_DIGEST];
	char *state;
	size_t len;
};

struct round_states {
	struct round_state list[ROUND_STATES];
	size_t kept;			/* bytes of all rounds */
	uint64_t dropped;		/* questions about nothing that is open */
};

/* Keep the request in env->line if its server may ask a question about it. */
void round_keep(struct policyd_env *, struct call *, const struct work *,
    const struct composed *);
/* The call has ended. */
void round_drop(struct policyd_env *, struct call *);
/* A server has answered a call with a question. */
void round_wanted(struct policyd_env *, uint16_t server,
    const struct msg_INPUT_WANTED *);
/* End the call, whose questions are open, with this text for the agent. */
void round_fail(struct policyd_env *, struct call *, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns the id that the call's request has at its server now. */
uint64_t round_id(const struct call *);

/*
 * Put the state that the agent gave back into the line in env->line. Returns
 * false if it is not good for this call.
 */
bool round_resume(struct policyd_env *, struct work *, struct composed *);
void round_free(struct policyd_env *);

#endif
