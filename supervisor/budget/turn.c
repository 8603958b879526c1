/* SPDX-License-Identifier: ISC */
/*
 * The limits of one turn, which begin anew with each. In a conversation a turn
 * that reaches one ends, and the session goes on.
 */
#include "budget/priv.h"

#include "core/sup.h"

/* Begin to count anew. Returns true if a turn has a limit. */
static bool
turn_forget(void)
{
	struct budget_env *b = &budget_env;
	bool any = false;

	for (unsigned i = 0; i < BUDGET_KEYS; i++) {
		enum budget_key key = (enum budget_key)i;

		if (!budget_is_turn(key) || !b->limits.on[i])
			continue;
		any = true;
		b->warned[i] = b->over[i] = false;
		budget_ask_again(key);
	}
	return any;
}

void
budget_turn(void)
{
	struct budget_env *b = &budget_env;

	b->turn = budget_elapsed();
	for (unsigned i = 0; i < BUDGET_KEYS; i++)
		b->turn_base[i] =
		    budget_used(budget_of_session((enum budget_key)i));
	b->turning = true;
	if (!turn_forget())
		return;
	budget_arm();
	budget_push();
}

void
budget_turn_over(void)
{
	budget_env.turning = false;
	if (turn_forget())
		budget_push();
	budget_arm();
}

void
budget_turn_ends(void (*over)(const char *why))
{
	budget_env.turn_ends = over;
}
