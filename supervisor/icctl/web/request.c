/* SPDX-License-Identifier: ISC */
/*
 * Takes the requests of the page. icwebd has decoded them, and may be broken:
 * host, origin and login are checked here, and every other member is only
 * compared with what is known.
 */
#include "icctl/web/priv.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json_put.h"

/* Returns true if the text is a line of the page's names. */
static bool
request_host(const struct web *w, struct span host)
{
	struct span all = span_str(w->site), line;

	while (all.len != 0 && span_line(&all, &line))
		if (line.len == host.len && host.len != 0 &&
		    strncasecmp((const char *)line.p, (const char *)host.p,
			host.len) == 0)
			return true;
	return false;
}

/* Returns NULL, or why this is no request of our page. */
static const char *
request_ours(const struct web *w, const struct msg_WEB_REQUEST *m)
{
	struct span origin = m->origin;

	if (!request_host(w, m->host))
		return "this page has another name: use the link of icctl web";
	if (m->from == PROTO_FROM_OTHER || m->from == PROTO_FROM_NONE ||
	    !span_starts(origin, SPAN("http://")))
		return "another page asked for this";
	origin = span_of(origin.p + 7, origin.len - 7);
	return request_host(w, origin) &&
		       origin.len == m->host.len &&
		       strncasecmp((const char *)origin.p,
			   (const char *)m->host.p, origin.len) == 0
		   ? NULL
		   : "another page asked for this";
}

static void
request_login(struct web *w, const struct msg_WEB_REQUEST *m)
{
	json_object *o;
	const uint8_t *token;

	if (!link_use(w, m->token)) {
		send_refuse(w, m->n, 401,
		    "this link was used or is more than a minute old: run "
		    "icctl web for another one");
		return;
	}
	token = login_new(w);
	o = json_object_new_object();
	put_digest(o, "token", token);
	send_answer(w, m->n, 200, o);
}

static void
request_done(struct web *w, const struct msg_WEB_REQUEST *m)
{
	json_object *o = json_object_new_object();

	put_bool(o, "ok", true);
	send_answer(w, m->n, 200, o);
}

int
web_request_take(struct chan *c, const struct msg_WEB_REQUEST *m)
{
	struct web *w = chan_arg(c);
	const char *why = request_ours(w, m);
	struct web_login *login;

	if (why != NULL) {
		send_refuse(w, m->n, 403, why);
		return 0;
	}
	if (m->route == PROTO_WEB_LOGIN) {
		request_login(w, m);
		return 0;
	}
	if ((login = login_of(w, m->token)) == NULL) {
		send_refuse(w, m->n, 401,
		    "you are not logged in: run icctl web for a link");
		return 0;
	}
	switch ((enum proto_web)m->route) {
	case PROTO_WEB_LOGIN:
		break;
	case PROTO_WEB_LOGOUT:
		login_end(w, login);
		request_done(w, m);
		break;
	case PROTO_WEB_STATE:
		state_ask(w, m);
		break;
	case PROTO_WEB_CALL:
		verdict_show(w, m, login);
		break;
	case PROTO_WEB_ANSWER:
		verdict_give(w, m, login);
		break;
	case PROTO_WEB_REVOKE:
		verdict_revoke(w, m);
		break;
	case PROTO_WEB_AUDIT:
		audit_find(w, m);
		break;
	case PROTO_WEB_POLICY:
		audit_policy(w, m);
		break;
	case PROTO_WEB_ALWAYS:
		always_ask(w, m, login);
		break;
	case PROTO_WEB_SEND:
	case PROTO_WEB_INTERRUPT:
	case PROTO_WEB_STOP:
		order_take(w, m);
		break;
	case PROTO_WEB_UNDO:
		web_undo_ask(w, m, login);
		break;
	}
	return 0;
}
