/* SPDX-License-Identifier: ISC */
/*
 * How a pending call or request is shown, wherever it is shown: first what it
 * would do and every value with a role, whole, then each rule that asks, then
 * free text.  Everything an agent wrote is escaped (common/visible.h).
 */
#ifndef ICCTL_HOLD_VIEW_H
#define ICCTL_HOLD_VIEW_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

enum hold_view_form {
	HOLD_VIEW_LIST,  /* what it is, does and touches */
	HOLD_VIEW_WHOLE, /* and the rest, with long texts cut in the middle */
	HOLD_VIEW_FULL,  /* and nothing is cut */
};

/*
 * Show `hold`, an object as the session's `show` gives it.  `flags` are those
 * of visible_add.  Returns true if every value with a role was shown.  Returns
 * false if not, because the hold is cut or malformed: it may not be approved,
 * and the text says so.
 */
bool hold_view(FILE *, json_object *hold, enum hold_view_form, unsigned flags);
/* One line of it: id, what it is, what it would do.  Not to be approved by. */
void hold_view_line(FILE *, json_object *hold, unsigned flags);
/* What an approval for the session would allow besides; nothing if it cannot.
 */
void hold_view_session(FILE *, json_object *hold, unsigned flags);

#endif
