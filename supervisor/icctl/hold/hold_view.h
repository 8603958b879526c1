/* SPDX-License-Identifier: ISC */
/*
 * Shows a pending call or request, everywhere in the same way: first its effect
 * and every value with a role, in full, then each rule that asks, then free
 * text. All text of an agent is escaped (common/visible.h).
 */
#ifndef ICCTL_HOLD_VIEW_H
#define ICCTL_HOLD_VIEW_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

enum hold_view_form {
	HOLD_VIEW_LIST,  /* name, effect and resources */
	HOLD_VIEW_WHOLE, /* everything, with long texts cut in the middle */
	HOLD_VIEW_FULL,  /* everything, and no text is cut */
};

/*
 * Show `hold`, an object as the session's `show` returns it. `flags` are those
 * of visible_add(). Returns true if everything was shown (of a list: every value
 * with a role). Returns false if something was left out, or the call is
 * incomplete or malformed; the text then says that it cannot be approved from
 * there.
 */
bool hold_view(FILE *, json_object *hold, enum hold_view_form, unsigned flags);
/*
 * Name the commands that answer it, where no key does. If `digest`, the approval
 * is for what was just shown in full.
 */
void hold_view_answers(
    FILE *, json_object *hold, bool digest, unsigned flags);
/*
 * Show a line with the text `before`, id, name and effect, divided between
 * words on a terminal; not enough to approve the call.
 */
void hold_view_line(
    FILE *, const char *before, json_object *hold, unsigned flags);
/*
 * Show what else an approval for the session would allow; nothing if the
 * session does not offer it.
 */
void hold_view_session(FILE *, json_object *hold, unsigned flags);

#endif
