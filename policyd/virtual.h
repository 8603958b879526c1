/* SPDX-License-Identifier: ISC */
/*
 * The server named "proxy" (original.md 1.13, 4.9), behind which no program
 * runs: its tools are defined here, and what they ask for is carried out by
 * icsupervisor, once auditd has written the call down.  A domain is checked
 * before any rule is asked.  What decides is fixed: to add one a person is
 * asked each time, the rest is allowed; a compiled rule that names this server
 * may only deny.
 */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "policyd.h"

/* START: its tools are there from the beginning. */
void virtual_start(struct policyd_env *, uint16_t index);
/*
 * A call of one of them: checks and rewrites its arguments, decides.
 * WORK_REFUSE: k->answer is set where the agent can mend it.
 */
enum work_way virtual_judge(struct policyd_env *, struct work *,
    const struct session_tool *);

#endif
