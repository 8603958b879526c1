/* SPDX-License-Identifier: ISC */
/*
 * The tool calls that a session may still make: icsupervisor sets the limits,
 * the calls and the time are counted here. A call beyond the limits is refused
 * like any other, through auditd.
 */
#include "policyd.h"

#include <stdio.h>

#define BUDGET_REPORT_MS 100U /* interval of reports ... */
#define BUDGET_NEAR 32U       /* ... unless so few calls are left */

static void
budget_report(struct loop_timer *t)
{
	struct policyd_env *env = t->arg;
	struct msg_CALLS_SPENT m = {.calls = env->budget.calls};

	env->send(env, ROLE_SUP, MSG_CALLS_SPENT, &m);
}

static void
budget_text(struct span s, char dst[513])
{
	snprintf(dst, 513, "%.*s", (int)s.len, (const char *)s.p);
}

void
budget_set(struct policyd_env *env, const struct msg_BUDGET_CALLS *m)
{
	struct call_budget *b = &env->budget;
	uint64_t now = loop_now(env->loop);

	b->told = true;
	b->max = m->calls;
	b->until = m->ms < UINT64_MAX - now ? now + m->ms : UINT64_MAX;
	budget_text(m->calls_text, b->calls_text);
	budget_text(m->ms_text, b->ms_text);
}

const char *
budget_take(struct policyd_env *env)
{
	struct call_budget *b = &env->budget;

	if (!b->told)
		return NULL;
	if (b->until != UINT64_MAX && loop_now(env->loop) >= b->until)
		return b->ms_text;
	if (b->calls >= b->max)
		return b->calls_text;
	b->calls++;
	b->report.arg = env;
	if (b->max != UINT64_MAX && b->max < b->calls + BUDGET_NEAR)
		budget_report(&b->report);
	else if (b->report.at == 0)
		loop_timer_set(env->loop, &b->report, BUDGET_REPORT_MS,
		    budget_report, env);
	return NULL;
}
