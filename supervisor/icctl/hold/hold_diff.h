/* SPDX-License-Identifier: ISC */
/*
 * For a call that would write a whole file, or change parts of it: how the file
 * would differ from the file as it is now. This is for the person's eyes; an
 * approval is for the call.
 */
#ifndef ICCTL_HOLD_DIFF_H
#define ICCTL_HOLD_DIFF_H

#include <json-c/json.h>

#include "icctl/hold/hold_view_text.h"

/*
 * Show the difference, if the call has one path to write, and a text "content"
 * or "edits" with "oldText" and "newText", and a regular file is there. Say so
 * if the file or the text has more than 256 KiB, or there are more than 1000
 * edits, which are not compared. Otherwise show nothing.
 */
void hold_diff(
    struct hold_text *, const struct value *arguments, json_object *resources);

/*
 * Show how one text differs from another. `t->full` shows all lines that
 * differ.
 */
void hold_diff_texts(struct hold_text *, struct span was, struct span is);

#endif
