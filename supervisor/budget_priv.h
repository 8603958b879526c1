/* SPDX-License-Identifier: ISC */
/* State of the budget; private to budget.c and budget_show.c. */
#ifndef BUDGET_PRIV_H
#define BUDGET_PRIV_H

#include <sys/queue.h>

#include "budget.h"
#include "common/loop.h"
#include "config/prices.h"

#define BUDGET_SHOW_MS 1000U
#define BUDGET_MODELS 64U
#define BUDGET_LIVE 4096U /* answers in progress, or recently finished */
#define BUDGET_ROWS 256U

struct budget_sum {
	uint64_t in, out, cache_read, cache_write, reasoning;
};

struct budget_model {
	char name[132];
	unsigned provider;
	struct budget_sum sum;
	uint64_t answers;
	double tokens; /* as maxTotalTokens counts them */
	double usd;
	bool priced;
};

/* An answer, as far as it was reported. */
struct budget_live {
	TAILQ_ENTRY(budget_live) age; /* the oldest report comes first */
	bool last;                    /* the answer is complete */
	LIST_ENTRY(budget_live) row;
	uint32_t stream, exchange;
	struct budget_sum sum;
};

LIST_HEAD(budget_row, budget_live);
TAILQ_HEAD(budget_ages, budget_live);

struct budget_env {
	struct budget_limits limits;
	struct prices prices;
	struct budget_model models[BUDGET_MODELS];
	unsigned nmodels;
	struct budget_row live[BUDGET_ROWS]; /* by stream */
	struct budget_ages going, finished;
	struct budget_live pool[BUDGET_LIVE];
	unsigned nlive;
	struct msg_SPENT keys[PROTO_MAX_PROVIDERS];
	uint64_t calls;
	bool warned[BUDGET_KEYS], over[BUDGET_KEYS];
	bool started;
	uint64_t began;  /* loop_now() */
	uint64_t waited; /* ms in which calls were pending, before `since` */
	uint64_t since;  /* loop_now() when a call became pending, or 0 */
	struct loop_timer timer; /* next mark of maxSessionSeconds */
	struct loop_timer show;
};

extern struct budget_env budget_env;

/* Returns how much of the limit is used. */
double budget_used(enum budget_key);
uint64_t budget_turns(void);

#endif
