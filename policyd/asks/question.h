/* SPDX-License-Identifier: ISC */
/*
 * Questions of MCP servers to the person (elicitation): shown as what waits for
 * a person is, answered by a person alone, recorded with the call that they
 * belong to, and only then sent to the server. The agent never sees them. A
 * server may ask only while a call of its own is open; each list has a limit,
 * because servers make it grow.
 */
#ifndef QUESTION_H
#define QUESTION_H

#include "approval/hold.h"
#include "asks/address.h"
#include "asks/form.h"
#include "common/loop.h"

#define QUESTIONS_MAX_ASKED 256U /* in one session, of all servers */
#define QUESTIONS_EACH 64U       /* the same for one server */
#define QUESTIONS_CALL 3U        /* during one call */
#define QUESTIONS_WAITING 3U     /* at once, by one server */
#define QUESTION_MESSAGE 4096U   /* bytes of its text */
/* Calls that ended lately, to which an error may still have a question. */
#define QUESTIONS_ENDED 16U

struct call;
struct policyd_env;

/* The origin of a question, which says how the answer travels. */
struct question_from {
	uint16_t server;  /* or an instance of one */
	uint64_t call;    /* 0: unknown */
	bool wanted;      /* the call failed for want of it (-32042) */
	struct span done; /* calls that were answered: ASKED.done; or empty */
	bool string;      /* the kind of id of the server's request */
	char rid[257];
	/*
	 * Tell the server. content: canonical JSON of the form's values, with
	 * PROTO_ACTION_ACCEPT only; p == NULL: there is none. Called once.
	 */
	void (*ended)(struct policyd_env *, const struct question_from *,
	    enum proto_action, struct span content);
	uint32_t round; /* for the caller */
	uint32_t key;
};

struct question {
	uint64_t id; /* has PROTO_QUESTION_ID; 0: free */
	uint64_t expires;
	uint16_t server; /* the configured one, also of an instance */
	struct question_from from;
	uint8_t digest[HOLD_DIGEST];
	uint8_t call_digest[HOLD_DIGEST];
	bool form;        /* else an address to open */
	struct buf asked; /* as it was shown: canonical JSON */
};

struct questions {
	struct question list[PROTO_MAX_QUESTIONS];
	uint64_t last;
	unsigned asked, of_server[PROTO_MAX_SERVERS];
	struct question_call {
		uint64_t id;
		uint16_t server, at;
		uint8_t digest[HOLD_DIGEST];
		char tool[PROTO_MAX_TOOL_NAME + 1];
	} ended[QUESTIONS_ENDED];
	unsigned nended;
	struct loop_timer timer;
};

/*
 * Ask the person what the parameters of elicitation/create say. Returns NULL,
 * or why the server cannot ask that, as a sentence for its author; from->ended
 * is not called then.
 */
const char *question_take(struct policyd_env *, const struct question_from *,
    const struct value *params);
/* A question that came from an mcp-backd. */
void questions_asked(
    struct policyd_env *, uint16_t index, const struct msg_ASKED *);
/* The ids have PROTO_QUESTION_ID. */
void questions_verdict(struct policyd_env *, const struct msg_VERDICT_GO *);
/* The call has ended, or was cancelled: nobody waits for the answer. */
void questions_call_ended(struct policyd_env *, const struct call *);
/* The server has ended. */
void questions_server_gone(struct policyd_env *, uint16_t server);
void questions_free(struct policyd_env *);
/*
 * question_show.c: append canonical JSON without the secrets that the log must
 * not have, or {} if that fails.
 */
void question_put_logged(struct policyd_env *, struct buf *, struct span json);

#endif
