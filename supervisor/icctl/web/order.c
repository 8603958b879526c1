/* SPDX-License-Identifier: ISC */
/*
 * Messages to an agent, and orders to interrupt a turn or to end a session.
 * Each names its session, and is refused for one that has ended. A message of
 * the page is no order that the approver of pending calls may go by: icwebd,
 * which decoded it, reads what browsers send.
 */
#include "icctl/web/priv.h"

#include <errno.h>
#include <string.h>

/* Returns the session that is named and runs, or NULL after the page was told.
 */
static struct live_session *
order_session(struct web *w, const struct msg_WEB_REQUEST *m)
{
	struct live_session *s = NULL;
	char id[LIVE_NAME];

	if (span_copy(m->session, id, sizeof(id)) == 0)
		s = live_find(w->live, id);
	if (s == NULL || s->is == LIVE_ABSENT) {
		send_refuse(w, m->n, 404, "there is no such session");
		return NULL;
	}
	if (s->is == LIVE_OVER) {
		send_refuse(w, m->n, 409, s->why);
		return NULL;
	}
	return s;
}

void
order_take(struct web *w, const struct msg_WEB_REQUEST *m)
{
	struct live_session *s = order_session(w, m);
	const char *op = m->route == PROTO_WEB_SEND        ? "say"
			 : m->route == PROTO_WEB_INTERRUPT ? "interrupt"
							   : "stop";
	char text[PROTO_MAX_SAID + 1] = "";

	if (s == NULL)
		return;
	if (m->route == PROTO_WEB_SEND &&
	    (m->text.len == 0 ||
		span_copy(m->text, text, sizeof(text)) == -1)) {
		send_refuse(w, m->n, 400, "a message has 1 to 4096 bytes");
		return;
	}
	if (live_order(s, op, text, m->n) == -1)
		send_refuse(w, m->n, 503,
		    errno == ENOTCONN ? "the session does not answer"
				      : "too many answers are open: try again");
}
