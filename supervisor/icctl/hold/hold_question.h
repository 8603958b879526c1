/* SPDX-License-Identifier: ISC */
/*
 * Shows a question of an MCP server: the server first, then the call that it
 * belongs to, then the server's own words, which are escaped and marked as such.
 */
#ifndef ICCTL_HOLD_QUESTION_H
#define ICCTL_HOLD_QUESTION_H

#include "icctl/hold/hold_view_text.h"

/*
 * Show what was asked, the "arguments" of the pending question. Returns false
 * if it cannot be read, so that it cannot be answered either.
 */
bool hold_question(struct hold_text *, json_object *hold);

#endif
