/* SPDX-License-Identifier: ISC */
/*
 * Requests to a relay. Each has a number, by which alone its reply is known; a
 * relay that does not read gets no more of them.
 */
#include "icctl/fleet/priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"

static void
ask_writable(struct loop_io *io, uint32_t events)
{
	struct fleet_node *n = io->arg;

	(void)events;
	if (ask_flush(n) == -1)
		n->lost(n, "it reads no more requests");
}

int
ask_flush(struct fleet_node *n)
{
	struct span out = buf_span(&n->requests);
	ssize_t done;

	while (out.len != 0) {
		done = write(n->to, out.p, out.len);
		if (done == -1 && errno == EINTR)
			continue;
		if (done == -1 && errno == EAGAIN)
			break;
		if (done == -1)
			return -1;
		buf_drain(&n->requests, (size_t)done);
		out = buf_span(&n->requests);
	}
	return loop_watch(n->fleet->loop, &n->out, n->to,
	    out.len != 0 ? EPOLLOUT : 0U, ask_writable, n);
}

/* Queue a line, which it takes. Returns 0, or -1 with errno set. */
static int
ask_line(struct fleet_node *n, json_object *o)
{
	const char *text = json_object_to_json_string_ext(o, ICCTL_JSON);
	size_t room = n->requests.max - n->requests.len;
	int r = -1;

	if (n->to == -1 || !n->met) {
		errno = ENOTCONN;
	} else if (strlen(text) + 1 > room) {
		errno = EBUSY;
	} else {
		buf_adds(&n->requests, text);
		buf_addc(&n->requests, '\n');
		/* A failure is found when the loop looks. */
		(void)ask_flush(n);
		r = 0;
	}
	json_object_put(o);
	return r;
}

void
ask_alive(struct fleet_node *n)
{
	json_object *o = json_object_new_object();

	put_bool(o, "alive", true);
	(void)ask_line(n, o);
}

int
fleet_ask_send(void *arg, struct live_session *s, json_object *req, const char *op,
    const char *id, uint64_t token)
{
	struct fleet *f = arg;
	struct fleet_node *n = s->far;
	const char *grant = icctl_text(req, "session"),
		   *by = icctl_text(req, "by");
	char claim[2 * LIVE_BY + 8];
	struct fleet_ask *ask;

	errno = n == NULL || !n->met ? ENOTCONN : EBUSY;
	if (n == NULL || !n->met || n->nasks == FLEET_ASKS ||
	    strlen(s->id) <= strlen(n->name)) {
		json_object_put(req);
		return -1;
	}
	snprintf(claim, sizeof(claim), "%s%s%s", by,
	    by[0] != '\0' ? " through " : "", f->by);
	claim[LIVE_BY] = '\0';
	/* A session calls the digest of a grant so; here it is a name. */
	if (grant[0] != '\0')
		put_str(req, "session-digest", grant);
	put_str(req, "session", s->id + strlen(n->name) + 1);
	if (strcmp(op, "approve") == 0 || strcmp(op, "deny") == 0)
		put_str(req, "by", claim);
	put_int(req, "n", (int64_t)++f->n);
	if (ask_line(n, req) == -1)
		return -1;
	ask = &n->asks[n->nasks++];
	*ask = (struct fleet_ask){.n = f->n, .token = token, .op = op};
	(void)strlcpy(ask->session, s->id, sizeof(ask->session));
	(void)strlcpy(ask->id, id, sizeof(ask->id));
	return 0;
}

static void
ask_tell(struct fleet_node *n, const struct fleet_ask *ask, bool ok,
    const char *code, const char *error)
{
	struct live_session *s = live_find(n->fleet->live, ask->session);
	json_object *o = json_object_new_object();
	struct live_reply r = {.token = ask->token,
	    .op = ask->op,
	    .id = ask->id,
	    .ok = ok,
	    .code = code,
	    .error = error,
	    .reply = o};

	if (s != NULL)
		live_far_reply(s, &r);
	json_object_put(o);
}

bool
ask_replied(struct fleet_node *n, const struct hear_reply *r)
{
	struct fleet_ask ask;

	for (unsigned i = 0; i < n->nasks; i++) {
		if (n->asks[i].n != r->n)
			continue;
		ask = n->asks[i];
		n->nasks--;
		memmove(n->asks + i, n->asks + i + 1,
		    (n->nasks - i) * sizeof(ask));
		ask_tell(n, &ask, r->ok != 0, r->code, r->error);
		return true;
	}
	return false;
}

void
ask_lost(struct fleet_node *n)
{
	char why[300];
	struct fleet_ask ask;

	snprintf(why, sizeof(why),
	    "the relay %s was lost before it answered: look again whether the "
	    "call still waits",
	    n->name);
	while (n->nasks != 0) {
		ask = n->asks[--n->nasks];
		ask_tell(n, &ask, false, "lost", why);
	}
}
