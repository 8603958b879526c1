/* SPDX-License-Identifier: ISC */
/*
 * The limits that icsupervisor has set for this keyd, and keyd's own counts of
 * what was spent.
 */
#ifndef KEYD_BUDGET_H
#define KEYD_BUDGET_H

#include "common/ipc/chan.h"
#include "provider/provider.h"

struct budget {
	uint64_t max_turns, until; /* UINT64_MAX: no limit */
	char turns_text[513], ms_text[513], spent_text[513];
	uint64_t turns, requests, sent, received;
	const char *why; /* text of the limit that was reached */
	struct loop_timer report, over;
};

/* keyd/limit.c */
int keyd_budget(struct chan *, const struct msg_BUDGET *);

/* keyd/budget.c */
/* Returns NULL, or the text for refusing a request on this route. */
const char *budget_refusal(const struct provider_route *);
/* Count a request that was accepted. */
void budget_begin(const struct provider_route *);
/* Count a message on a WebSocket. */
void budget_message(const struct provider_route *);
void budget_end(uint64_t sent, uint64_t received);
/* Report to icsupervisor now. */
void budget_report(void);

#endif
