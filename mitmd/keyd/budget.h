/* SPDX-License-Identifier: ISC */
/*
 * What this keyd may still spend, and what it did: icsupervisor sets limits,
 * the counts are ours.
 */
#ifndef KEYD_BUDGET_H
#define KEYD_BUDGET_H

#include "common/ipc/chan.h"
#include "provider/provider.h"

struct budget {
	uint64_t max_turns, until; /* UINT64_MAX: no limit */
	char turns_text[513], ms_text[513], spent_text[513];
	uint64_t turns, requests, sent, received;
	const char *why; /* text of what is being refused */
	struct loop_timer report, over;
};

/* keyd/limit.c */
int keyd_budget(struct chan *, const union proto_any *, int fd);

/* keyd/budget.c */
/* NULL, or what a request on that route is told. */
const char *budget_refusal(const struct provider_route *);
/* A request is taken; an exchange is over. */
void budget_begin(const struct provider_route *);
/* So is a message on a WebSocket. */
void budget_message(const struct provider_route *);
void budget_end(uint64_t sent, uint64_t received);

#endif
