/* SPDX-License-Identifier: ISC */
/*
 * Streams of events that a remote server of an older revision has ended, and
 * which are to be asked for again: its own one, and those whose answer is still
 * missing, from the last event on, as often as that takes while policyd waits
 * for the answer. No message is sent again for that. policyd
 * is told when the time has come, which the server names; it asks.
 */
#include "backd/remote.h"

#include <string.h>

#include "common/log.h"

/* Streams that wait at once, and how often one may begin to. */
#define AGAIN_MAX 64U
#define AGAIN_MS 1000U /* if the server names no time */
#define AGAIN_LEAST_MS 100U
#define AGAIN_CALL_MS 30000U /* a call waits no longer */
#define AGAIN_OWN_MS 600000U /* nor does a stream of its own that is empty */
#define AGAIN_LASTED_MS 60000U

struct again {
	uint64_t due; /* loop_now(); 0: free */
	bool told;    /* policyd was told, which may not want it */
	struct jsonrpc_id id;
	struct remote_last last;
};

static struct {
	struct again list[AGAIN_MAX];
	struct loop_timer timer;
	struct bucket rate;
	uint64_t own_ms; /* the wait before the server's own stream */
} again = {.rate = {.burst = AGAIN_MAX, .ms = 500}};

static void again_due(struct loop_timer *);

static void
again_arm(struct backd *b)
{
	uint64_t now = loop_now(&b->w.loop), first = UINT64_MAX;

	for (unsigned i = 0; i < AGAIN_MAX; i++)
		if (again.list[i].due != 0 && !again.list[i].told &&
		    again.list[i].due < first)
			first = again.list[i].due;
	if (first == UINT64_MAX)
		loop_timer_clear(&b->w.loop, &again.timer);
	else
		loop_timer_set(&b->w.loop, &again.timer,
		    first > now ? first - now : 1, again_due, b);
}

static void
again_due(struct loop_timer *t)
{
	struct backd *b = t->arg;
	struct msg_EVENTS_END m;

	for (unsigned i = 0; i < AGAIN_MAX; i++) {
		struct again *a = &again.list[i];

		if (a->due == 0 || a->told || a->due > loop_now(&b->w.loop))
			continue;
		a->told = true;
		m.id = span_of(a->id.text, a->id.len);
		m.last = span_str(a->last.id);
		worker_send(&b->w, ROLE_POLICY, 0, MSG_EVENTS_END, &m, -1);
	}
	again_arm(b);
}

/* Returns how long to wait, in ms. */
static uint64_t
again_wait(const struct remote *r, const struct remote_last *last, bool own)
{
	uint64_t ms = last->retry, most = own ? AGAIN_OWN_MS : AGAIN_CALL_MS;

	if (ms == 0)
		ms = AGAIN_MS;
	if (own) {
		/* One that says nothing and does not last is not chased. */
		if (r->told ||
		    loop_now(&r->b->w.loop) - r->begun >= AGAIN_LASTED_MS)
			again.own_ms = 0;
		if (again.own_ms > ms)
			ms = again.own_ms;
		again.own_ms = 2 * ms;
	} else if (!backd_may(r->b, &again.rate)) {
		ms = most;
	} else if (last->refused != 0) {
		/* A server that cannot give it is asked less and less. */
		ms <<= last->refused < 10 ? last->refused - 1 : 9;
	}
	return ms < AGAIN_LEAST_MS ? AGAIN_LEAST_MS : ms < most ? ms : most;
}

/* Returns room: free, or of the one that policyd has not wanted for longest. */
static struct again *
again_room(void)
{
	struct again *room = NULL;

	for (struct again *a = again.list; a < again.list + AGAIN_MAX; a++)
		if ((a->due == 0 || a->told) &&
		    (room == NULL || a->due < room->due))
			room = a;
	return room;
}

bool
remote_again(struct remote *r)
{
	struct backd *b = r->b;
	bool own = remote_is_own(r);
	struct remote_last last = r->last;
	struct again *a;

	if (r->how == REMOTE_EVENTS) {
		memcpy(last.id, r->in.sse.id, sizeof(last.id));
		last.retry = r->in.sse.retry;
		last.refused = 0;
	} else {
		last.refused++;
	}
	if (b->modern || b->gone ||
	    (!own &&
		(r->id.len == 0 || r->id.text[0] == '"' || last.id[0] == '\0')))
		return false;
	if ((a = again_room()) == NULL || (own && !backd_may(b, &again.rate)))
		return false;
	*a = (struct again){
	    .due = loop_now(&b->w.loop) + again_wait(r, &last, own),
	    .id = r->id,
	    .last = last};
	again_arm(b);
	return true;
}

void
remote_again_begun(struct remote *r)
{
	for (struct again *a = again.list; a < again.list + AGAIN_MAX; a++) {
		if (!a->told || !jsonrpc_id_eq(&a->id, &r->id))
			continue;
		r->last = a->last;
		*a = (struct again){.due = 0};
		return;
	}
}

void
remote_again_none(struct backd *b)
{
	memset(again.list, 0, sizeof(again.list));
	again.own_ms = 0;
	again_arm(b);
}
