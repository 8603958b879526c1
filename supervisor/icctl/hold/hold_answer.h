/* SPDX-License-Identifier: ISC */
/*
 * Makes the answer to a server's question of one line of a person's words:
 * "NAME=VALUE; NAME=VALUE", or the value alone if there is one field. Fields
 * that are not named have their defaults.
 */
#ifndef ICCTL_HOLD_ANSWER_H
#define ICCTL_HOLD_ANSWER_H

#include <json-c/json.h>
#include <stdbool.h>

#include "common/buf.h"

#define HOLD_ANSWER_WHY 400U

/* Returns true if signatures alone approve it. */
bool hold_is_signed(json_object *hold);
/* Returns true if the pending thing is a question, which is not approved. */
bool hold_is_question(json_object *hold);
/* Returns the address that the question wants to have opened, or NULL. */
const char *hold_address(json_object *hold);
/* Write what the words may be, for a prompt. Returns `dst`. */
const char *hold_answer_form(json_object *hold, char *dst, size_t cap);
/*
 * Append the answer as JSON; nothing for an address. Returns 0, or -1 with the
 * reason, in which the server's words are escaped.
 */
int hold_answer(json_object *hold, struct span words, struct buf *answer,
    char why[HOLD_ANSWER_WHY]);

#endif
