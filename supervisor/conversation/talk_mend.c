/* SPDX-License-Identifier: ISC */
#include "conversation/talk_mend.h"

#include <string.h>

#include "base/json_put.h"
#include "budget/budget.h"
#include "conversation/talk_events.h"
#include "conversation/talk_trouble.h"
#include "core/sup.h"
#include "resume/resume.h"

static const char *
talk_said(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v)
						     : "";
}

void
talk_mend(const struct talk_cut *cut, uint32_t turn)
{
	struct json_object *o;

	if (!cut->open)
		return;
	talk_events_turn(turn);
	for (unsigned i = cut->nholds; i-- > 0;)
		talk_event_hold(talk_said(cut->holds[i], "id"),
		    talk_said(cut->holds[i], "server"),
		    talk_said(cut->holds[i], "tool"), "expired");
	talk_events_turn(0);
	o = json_object_new_object();
	put_str(o, "text",
	    "the session died during the turn; what the agent had not finished "
	    "is lost");
	talk_event("error", turn, o);
	if (!cut->usage) {
		o = json_object_new_object();
		json_object_object_add(o, "budget", budget_json());
		talk_event("usage", turn, o);
	}
	if (!cut->result) {
		o = json_object_new_object();
		put_bool(o, "is_error", true);
		put_str(o, "why", "the session died during the turn");
		talk_event("result", turn, o);
	}
	o = json_object_new_object();
	put_str(o, "status", "failed");
	talk_event("turn_end", turn, o);
}

int
talk_again(struct fault *fault)
{
	const struct record *was = resume_record();
	char **again = sup.adapter.talk.resume;
	bool named = false;

	if (!sup.opt.resume)
		return 0;
	if (was->conversation[0] != '\0') {
		(void)strlcpy(sup.conversation.name, was->conversation,
		    sizeof(sup.conversation.name));
		sup.conversation.talked = was->talked;
		talk_trouble_carry(was->quota);
		return 0;
	}
	/* It had the terminal; its last conversation has no name of ours. */
	for (; again != NULL && *again != NULL; again++)
		named = named || strstr(*again, "{conversation}") != NULL;
	if (sup.opt.command != NULL)
		return 0;
	if (sup.adapter.talk.resume == NULL || named)
		return fault_set(fault,
		    "the agent of this session was in the terminal, and %s "
		    "cannot go on from there with messages: resume it without "
		    "--detach",
		    sup.adapter.name);
	sup.conversation.talked = true;
	return 0;
}
