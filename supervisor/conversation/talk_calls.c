/* SPDX-License-Identifier: ISC */
#include "conversation/talk_calls.h"

#include <string.h>

#include "base/json_put.h"
#include "common/log.h"
#include "conversation/talk_events.h"
#include "core/sup.h"
#include "hub/hold.h"

static const char *
call_decision(const struct msg_CALL_SHOW *m)
{
	const enum proto_hold state = (enum proto_hold)m->hold;

	/* New rules that came meanwhile have decided by themselves. */
	if (state != PROTO_HOLD_NONE && state != PROTO_HOLD_RELOADED)
		return hold_state(state);
	return m->forward != 0 ? "allow" : "deny";
}

int
talk_call(const struct msg_CALL_SHOW *m)
{
	struct json_object *o;
	char text[4 * 2048 + 1];

	if (!sup.opt.conversation)
		return -1;
	o = json_object_new_object();
	put_int(o, "call", (int64_t)m->id);
	put_str(o, "server", log_vis(m->server_name, text, sizeof(text)));
	put_str(o, "tool", log_vis(m->tool, text, sizeof(text)));
	put_str(o, "preview", log_vis(m->preview, text, sizeof(text)));
	put_str(o, "decision", call_decision(m));
	if (m->forward == 0)
		put_str(o, "reason", log_vis(m->reason, text, sizeof(text)));
	if (m->missed != 0)
		put_int(o, "missed", m->missed);
	talk_event_now("tool_call", o);
	return 0;
}

int
talk_call_end(const struct msg_RESULT_SHOW *m)
{
	static const char *const statuses[] = {
	    "success", "error", "lost", "undelivered", "cancelled"};
	struct json_object *o;

	if (!sup.opt.conversation)
		return -1;
	o = json_object_new_object();
	put_int(o, "call", (int64_t)m->id);
	put_str(o, "status", statuses[m->status]);
	put_int(o, "ms", (int64_t)(m->us / 1000));
	talk_event_now("tool_result", o);
	return 0;
}

/*
 * Returns true if `tool` contains "SERVER__": the names that the agent was
 * offered do, with a prefix of the agent's own in some.
 */
static bool
names_server(struct span tool, const char *server)
{
	char with[80];
	int n = snprintf(with, sizeof(with), "%.64s__", server);

	return n > 0 && memmem(tool.p, tool.len, with, (size_t)n) != NULL;
}

void
talk_call_own(struct span tool)
{
	struct json_object *o;
	char text[4 * 256 + 1];

	for (unsigned i = 0; i < sup.nservers; i++)
		if (names_server(tool, sup.servers[i].def->name))
			return;
	if (names_server(tool, "proxy"))
		return;
	o = json_object_new_object();
	put_str(o, "server", "");
	put_str(o, "tool", log_vis(tool, text, sizeof(text)));
	put_str(o, "decision", "own");
	talk_event_now("tool_call", o);
}
