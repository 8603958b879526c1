/* SPDX-License-Identifier: ISC */
/*
 * The server named "proxy", which has no process: its tools are defined here,
 * and icsupervisor carries out what they ask for once auditd has logged the
 * call. A domain is checked before any rule is evaluated. The decision is
 * fixed: adding a domain needs a person's approval each time, everything else
 * is allowed; a compiled rule that names this server can only deny.
 */
#ifndef VIRTUAL_H
#define VIRTUAL_H

#include "policyd.h"

/* Make the server's tools available at START. */
void virtual_start(struct policyd_env *, uint16_t index);
/*
 * Judge a call of one of the tools: check and rewrite its arguments, decide.
 * With WORK_REFUSE, k->answer is set if the agent can correct the call.
 */
enum work_way virtual_judge(struct policyd_env *, struct work *,
    const struct session_tool *);

#endif
