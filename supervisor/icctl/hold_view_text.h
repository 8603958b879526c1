/* SPDX-License-Identifier: ISC */
/*
 * The texts of a pending call: escaped, and where they have no role and are
 * long, without their middle.
 */
#ifndef ICCTL_HOLD_VIEW_TEXT_H
#define ICCTL_HOLD_VIEW_TEXT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/json/value.h"

struct hold_text {
	FILE *out;
	unsigned flags; /* of visible_add */
	bool full;      /* long texts with their middle */
	struct span id;
	unsigned leaves; /* shown of one call's arguments */
};

/* Whole, escaped; between quotes; or of what may be escaped already. */
void hold_text_plain(struct hold_text *, struct span);
void hold_text_quoted(struct hold_text *, struct span);
void hold_text_again(struct hold_text *, struct span);
/*
 * Every value of the arguments on a line of its own, but those that are shown
 * among the resources.
 */
void hold_text_arguments(
    struct hold_text *, const struct value *arguments, json_object *resources);

#endif
