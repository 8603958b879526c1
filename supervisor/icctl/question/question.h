/* SPDX-License-Identifier: ISC */
/*
 * Questions of MCP servers to the person: `icctl answer`, and the browser that
 * an address is opened in.
 */
#ifndef ICCTL_QUESTION_H
#define ICCTL_QUESTION_H

#include "icctl/icctl.h"

/*
 * answer.c: Ask the person on the terminal what the pending question asks, and
 * send the answer. Returns an exit status.
 */
int question_ask(struct icctl *, json_object *hold);

/*
 * open.c: Open an address that was checked in the user's browser. Returns 0, or
 * -1 after it printed the reason.
 */
int question_open(const char *url);

#endif
