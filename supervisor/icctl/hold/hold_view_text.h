/* SPDX-License-Identifier: ISC */
/*
 * The texts of a pending call: escaped; unless all is shown in full, long texts
 * without a role lose their middle, and values after the first 100 are counted.
 */
#ifndef ICCTL_HOLD_VIEW_TEXT_H
#define ICCTL_HOLD_VIEW_TEXT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/json/value.h"

struct hold_text {
	FILE *out;
	unsigned flags; /* flags of visible_add() */
	bool full;      /* show long texts in full */
	struct span id;
	unsigned leaves; /* values of one call's arguments so far */
	bool left_out;	 /* something was not shown */
};

/*
 * Print escaped text: as it is, in quotes, or text that may be escaped already.
 */
void hold_text_plain(struct hold_text *, struct span);
void hold_text_quoted(struct hold_text *, struct span);
void hold_text_again(struct hold_text *, struct span);
/*
 * Print every value of the arguments on its own line, except those that are
 * shown as resources.
 */
void hold_text_arguments(
    struct hold_text *, const struct value *arguments, json_object *resources);

#endif
