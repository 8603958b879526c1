/* SPDX-License-Identifier: ISC */
/* State of the budget; private to the files budget*.c. */
#ifndef BUDGET_PRIV_H
#define BUDGET_PRIV_H

#include <sys/queue.h>

#include "budget/budget.h"
#include "common/loop.h"
#include "common/spend.h"
#include "files/prices.h"

#define BUDGET_SHOW_MS 1000U
#define BUDGET_MODELS 64U
#define BUDGET_LIVE 4096U /* answers in progress, or recently finished */
#define BUDGET_ROWS 256U

struct budget_model {
	char name[132];
	unsigned provider;
	struct price_use sum;
	uint64_t answers, estimated;
	double tokens; /* as maxTotalTokens counts them */
	double usd;
	const struct price *price; /* NULL: none */
	enum price_how how;
	bool regional; /* the provider keeps data in one place */
};

/* An answer, as far as it was reported. */
struct budget_live {
	TAILQ_ENTRY(budget_live) age; /* the oldest report comes first */
	bool last;                    /* the answer is complete */
	LIST_ENTRY(budget_live) row;
	uint32_t stream, exchange, message;
	struct price_use sum;
	double tokens, usd; /* as the budget counts them */
};

/* A question to the person about a limit. */
struct budget_ask {
	uint64_t id; /* with PROTO_BUDGET_ID; 0: none waits */
	bool done;   /* it was asked since the limit was last changed */
	double to;   /* the limit, if it is approved */
	uint8_t digest[32];
	uint32_t nargs; /* bytes of its arguments */
};

LIST_HEAD(budget_row, budget_live);
TAILQ_HEAD(budget_ages, budget_live);

/* An answer whose usage is counted, before its keyd is told. */
struct budget_settled {
	uint32_t stream, exchange, message;
};

/* The part of the budget that a keyd may reserve. */
struct budget_share {
	struct spend sent;  /* as the last SHARE has it */
	struct spend given; /* as much as it may have reserved */
	bool lowered; /* it has not answered a SHARE that takes something */
	bool asks;    /* it has not been answered */
	bool served;  /* the same, and others were asked to give back */
	struct spend held, want; /* by its last report */
	uint32_t number;	 /* the last SHARE has it; 0: none was sent */
	uint64_t in, out; /* prices as they were sent */
	/* since the last SHARE */
	struct budget_settled settled[PROTO_MAX_SETTLED];
	unsigned nsettled;
};

struct budget_env {
	struct budget_limits limits;
	struct prices prices;
	struct budget_model models[BUDGET_MODELS];
	unsigned nmodels;
	struct budget_row live[BUDGET_ROWS]; /* by stream */
	struct budget_ages going, finished;
	struct budget_live pool[BUDGET_LIVE];
	unsigned nlive;
	double lost_tokens, lost_usd; /* spent by answers that were forgotten */
	struct msg_SPENT keys[PROTO_MAX_PROVIDERS];
	struct budget_share shares[PROTO_MAX_PROVIDERS];
	uint64_t calls;
	bool warned[BUDGET_KEYS], over[BUDGET_KEYS];
	double step[BUDGET_KEYS]; /* an approval raises the limit by this */
	struct budget_ask asks[BUDGET_KEYS];
	uint64_t nasks;
	/* the person knows that this provider's answers are estimated */
	bool silent[PROTO_MAX_PROVIDERS], ended[PROTO_MAX_PROVIDERS];
	bool started;
	uint64_t began;  /* loop_now() */
	uint64_t waited; /* ms in which calls were pending, before `since` */
	uint64_t since;  /* loop_now() when a call became pending, or 0 */
	bool turning;    /* the agent's turn has begun */
	uint64_t turn;   /* ms of the session when it did */
	double turn_base[BUDGET_KEYS]; /* used by the session when it did */
	void (*turn_ends)(const char *why); /* a turn's limit ends the turn */
	/* Spent by earlier runs of the session. */
	struct {
		double tokens, usd;
		uint64_t steps, ms;
	} base;
	bool person[BUDGET_KEYS]; /* a person set this limit in the session */
	void (*changed)(void);	  /* called when more is spent; or NULL */
	struct loop_timer timer; /* next mark of a limit of time */
	struct loop_timer show;
};

extern struct budget_env budget_env;

/* budget.c: Tell each worker its new limit. */
void budget_push(void);
/* budget.c: Set the timer for the next mark of a limit of time. */
void budget_arm(void);

/* sum.c */
/* Returns how much of the limit is used, rounded down for people. */
double budget_shown(enum budget_key);
uint64_t budget_turns(void);
/*
 * Returns the increase since the last report, and updates `*old`. The count
 * never falls.
 */
uint64_t budget_rise(uint64_t *old, uint64_t now);
/* Tell the one who watches that more is spent. */
void budget_changed(void);
/* Add what an answer has cost since its last report. */
void budget_charge(const struct msg_USAGE_SHOW *);

/* share.c */
/* Returns what is left of all limits that are in force. */
struct spend budget_left_over(void);
/* The usage of an answer that is over is counted. */
void budget_settle(const struct msg_USAGE_SHOW *);
/* Take a keyd's report of what it has reserved. */
void budget_held(unsigned provider, const struct msg_SPENT *);
/* Give keyds less if the limits, or what is used, leave less. */
void budget_shares(void);

/* ask.c */
/*
 * Ask whether the limit is to be raised, unless that was done since it was
 * last changed. Returns true if a question waits.
 */
bool budget_ask(enum budget_key);
/* Withdraw the question, if there is one, and allow another. */
void budget_ask_again(enum budget_key);
/*
 * End the question that this is the answer to. Returns false if there is none,
 * or if the answer is for something else.
 */
bool budget_ask_end(const struct msg_VERDICT_GO *, enum budget_key *);

#endif
