/* SPDX-License-Identifier: ISC */
/*
 * The operations of a conversation. A message comes in the request, or, if it
 * is too long for that, as a sealed memfd beside it.
 */
#include "hub/control.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto/said.h"
#include "base/json_put.h"
#include "common/bridge_frames.h"
#include "conversation/conversation.h"
#include "core/sup.h"
#include "relay/link.h"

#define TALK_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static bool
talk_none(struct client *c)
{
	if (conversation_on())
		return false;
	control_fail(c, "not-found",
	    "this session is no conversation: it does one task. Start one that "
	    "takes messages: icctl start --detach");
	return true;
}

/* Read the memfd. Returns NULL with the reason in `*why`. */
static char *
talk_read(int fd, size_t *len, const char **why)
{
	struct stat st;
	char *text;
	ssize_t n;

	/* Only a memfd can be sealed, and reading it never blocks. */
	*why = "the message must be a memfd that is sealed";
	if (fcntl(fd, F_GET_SEALS) == -1 ||
	    (fcntl(fd, F_GET_SEALS) & TALK_SEALS) != TALK_SEALS ||
	    fstat(fd, &st) == -1)
		return NULL;
	*why = "the message has more than 1 MiB";
	if (st.st_size > (off_t)BRIDGE_MAX_MESSAGE)
		return NULL;
	*why = "the message cannot be read";
	if ((text = malloc((size_t)st.st_size + 1)) == NULL)
		return NULL;
	n = pread(fd, text, (size_t)st.st_size, 0);
	if (n != st.st_size) {
		free(text);
		return NULL;
	}
	*len = (size_t)n;
	return text;
}

/*
 * Returns true if "typed" has this value: "yes" of a message that is a word of
 * icctl's command line, "no" of one that a page has sent.
 */
static bool
talk_typed(struct json_object *req, const char *value)
{
	struct json_object *v;

	return json_object_object_get_ex(req, "typed", &v) &&
	       strcmp(json_object_get_string(v), value) == 0;
}

void
control_op_send(struct client *c, struct json_object *req)
{
	struct json_object *v = NULL, *o;
	const char *why, *code = "bad-request";
	char *text = NULL;
	struct span s;
	size_t len = 0;

	if (talk_none(c))
		return;
	if (json_object_object_get_ex(req, "message", &v)) {
		s = span_of(json_object_get_string(v),
		    (size_t)json_object_get_string_len(v));
	} else if (c->handed == -1) {
		control_fail(c, code, "\"message\" is missing");
		return;
	} else {
		text = talk_read(c->handed, &len, &why);
		if (text == NULL) {
			control_fail(c, code, why);
			return;
		}
		s = span_of(text, len);
	}
	/* The first event comes before the reply; the client expects it. */
	c->follows = true;
	c->turn = conversation_turn() + 1;
	o = control_ok();
	put_int(o, "turn", c->turn);
	if ((why = conversation_send(s, &code)) != NULL) {
		c->follows = false;
		json_object_put(o);
		control_fail(c, code, why);
	} else {
		said_take(s, talk_typed(req, "yes"));
		sup_note("turn %u begins, by pid %d", (unsigned)c->turn,
		    (int)c->peer.pid);
		control_reply(c, o);
	}
	if (text != NULL)
		freezero(text, len);
}

/*
 * A viewer's input line. The person typed it there, and whoever may ask for
 * this could answer pending calls as well (op_commands). In a conversation it
 * begins a turn; otherwise the viewer, which has the keyboard, types it to the
 * agent. A page has no keyboard, and its message is not one that was typed.
 */
void
control_op_say(struct client *c, struct json_object *req)
{
	struct json_object *v = NULL, *o;
	const char *why, *code = "bad-request";
	bool page = talk_typed(req, "no");
	struct span s;

	if (!json_object_object_get_ex(req, "message", &v) ||
	    !json_object_is_type(v, json_type_string)) {
		control_fail(c, code, "\"message\" is missing");
		return;
	}
	s = span_of(json_object_get_string(v),
	    (size_t)json_object_get_string_len(v));
	if (s.len == 0 || s.len > PROTO_MAX_SAID || !said_plain(s)) {
		control_fail(c, code,
		    "a message has 1 to 4096 bytes of UTF-8 and no control "
		    "characters");
		return;
	}
	if (!conversation_on() && (page || !link_has_screen())) {
		control_fail(c, "not-found",
		    page ? "this session takes messages in its terminal only"
			 : "this session takes no messages: it does one task");
		return;
	}
	if (conversation_on() && (why = conversation_send(s, &code)) != NULL) {
		control_fail(c, code, why);
		return;
	}
	said_take(s, !page);
	o = control_ok();
	put_bool(o, "type", !conversation_on());
	if (conversation_on())
		put_int(o, "turn", conversation_turn());
	sup_note("pid %d: a message of %zu bytes %s",
	    (int)c->peer.pid, s.len,
	    page ? "came from the page" : "was typed in a viewer");
	control_reply(c, o);
}

void
control_op_interrupt(struct client *c, struct json_object *req)
{
	(void)req;
	if (talk_none(c))
		return;
	if (!conversation_interrupt()) {
		control_fail(c, "not-found", "no turn is running");
		return;
	}
	sup_note("the turn is interrupted by pid %d", (int)c->peer.pid);
	control_reply(c, control_ok());
}

void
control_op_events(struct client *c)
{
	struct json_object *o;

	if (talk_none(c))
		return;
	o = control_ok();
	put_str(o, "session", sup.session.id);
	put_str(o, "state", conversation_state());
	put_int(o, "turn", conversation_turn());
	c->follows = true;
	c->turn = 0;
	control_reply(c, o);
}
