/* SPDX-License-Identifier: ISC */
/*
 * `icctl attach`: adds a viewer of the agent's terminal. The viewer gets a
 * channel to termd and nothing else. It may type, so attach is a command.
 */
#include "hub/control.h"

#include <unistd.h>

#include "base/json_put.h"
#include "conversation/conversation.h"
#include "core/sup.h"
#include "relay/link.h"

void
control_op_attach(struct client *c, struct json_object *req)
{
	struct fault fault;
	struct json_object *o;
	int fd;

	if (sup.opt.runtime == RUNTIME_NONE) {
		control_fail(c, "not-found",
		    "no agent is run by this session (--runtime none): there "
		    "is no terminal to show");
		return;
	}
	if (sup.opt.acp) {
		control_fail(c, "not-found",
		    "the agent of this session belongs to an editor (--acp): "
		    "there is no terminal to show");
		return;
	}
	if ((fd = terminal_viewer(true, false, &fault)) == -1) {
		control_fail(c, "busy", fault.text);
		return;
	}
	sup_note("pid %d attached to the terminal", (int)c->peer.pid);
	o = control_ok();
	put_str(o, "session", sup.session.id);
	put_bool(o, "screen", link_has_screen());
	put_bool(o, "messages", conversation_on());
	control_hand(c, o, fd);
}
