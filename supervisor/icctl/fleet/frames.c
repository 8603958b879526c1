/* SPDX-License-Identifier: ISC */
/*
 * Takes the frames of ic-hear. A relay could have taken that program over, so
 * nothing that it writes is believed: lengths are checked, texts are made to
 * end, trees are decoded strictly, and all of it concerns sessions below the
 * relay's own name alone.
 */
#include "icctl/fleet/priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_CHUNK 65536U
#define FRAMES_TURN 64U      /* frames, until others have their turn */
#define FRAMES_SECOND 20000U /* from one relay */

#define ENDS(text) ((text)[sizeof(text) - 1] = '\0')

/* Returns the live set's name of a session, or NULL if it is too long. */
static const char *
frames_name(
    const struct fleet_node *n, const char *session, char dst[LIVE_NAME])
{
	if (session[0] == '\0' || (size_t)snprintf(dst, LIVE_NAME, "%s/%s",
				      n->name, session) >= LIVE_NAME)
		return NULL;
	return dst;
}

/* Returns the relay's session, or NULL. */
static struct live_session *
frames_find(const struct fleet_node *n, const char *session)
{
	char name[LIVE_NAME];
	struct live_session *s;

	if (frames_name(n, session, name) == NULL)
		return NULL;
	s = live_find(n->fleet->live, name);
	return s != NULL && s->far == n ? s : NULL;
}

static enum live_state
frames_state(const char *is)
{
	if (strcmp(is, "runs") == 0)
		return LIVE_RUNS;
	if (strcmp(is, "silent") == 0)
		return LIVE_SILENT;
	if (strcmp(is, "lost") == 0)
		return LIVE_LOST;
	return strcmp(is, "over") == 0 ? LIVE_OVER : LIVE_ABSENT;
}

static const char frames_much[] =
    "not all is shown: calls and states of its machine have more than 64 MiB. "
    "Answer it there, with icctl watch";

/* Returns the number of the relay's sessions. */
static unsigned
frames_sessions(const struct fleet_node *n)
{
	struct live_session *s;
	unsigned sum = 0;

	for (unsigned i = 0; (s = live_far_at(n->fleet->live, i)) != NULL; i++)
		sum += s->far == n;
	return sum;
}

static const char *
take_row(struct fleet_node *n, struct span p)
{
	struct live_session *s;
	char name[LIVE_NAME];
	struct live_row row;
	struct hear_row f;

	if (p.len != sizeof(f))
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.session), ENDS(f.is), ENDS(f.agent), ENDS(f.workspace);
	ENDS(f.policy), ENDS(f.state), ENDS(f.until), ENDS(f.why);
	if (frames_name(n, f.session, name) == NULL)
		return "frame";
	if ((s = frames_find(n, f.session)) == NULL) {
		if (frames_sessions(n) == FLEET_SESSIONS)
			return "it tells of more than 256 sessions";
		if ((s = live_far_add(n->fleet->live, name, n)) == NULL)
			return NULL; /* the list says that there are more */
	}
	row = (struct live_row){.is = frames_state(f.is),
	    .starting = frames_state(f.is) == LIVE_ABSENT,
	    .agent = f.agent,
	    .workspace = f.workspace,
	    .policy = f.policy,
	    .state = f.state,
	    .until = f.until,
	    .why = s->much && f.why[0] == '\0' ? frames_much : f.why};
	live_far_row(s, &row);
	return NULL;
}

/* Returns the bytes of all pending calls and states of the relay. */
static size_t
frames_held(const struct fleet_node *n)
{
	struct live_session *s;
	size_t sum = 0;

	for (unsigned i = 0; (s = live_far_at(n->fleet->live, i)) != NULL;
	     i++) {
		if (s->far != n)
			continue;
		sum += s->status_bytes + s->budget_bytes;
		for (unsigned k = 0; k < s->nholds; k++)
			sum += s->holds[k].bytes;
	}
	return sum;
}

/*
 * Returns false if the relay has no room for so many bytes more, after the
 * session's row says so: what is left out cannot be answered here.
 */
static bool
frames_room(struct fleet_node *n, struct live_session *s, size_t more)
{
	if (more > FLEET_HELD || more > FLEET_HELD - n->kept)
		n->kept = frames_held(n);
	if (more > FLEET_HELD || more > FLEET_HELD - n->kept) {
		live_far_much(s, frames_much);
		return false;
	}
	n->kept += more;
	return true;
}

static const char *
take_hold(
    struct fleet_node *n, struct live_session *s, json_object *o, size_t bytes)
{
	struct live_hold *h = live_hold(s, icctl_text(o, "id"));

	/* Screens show the digest, and answers carry it. */
	if (strlen(icctl_text(o, "digest")) != 64 ||
	    strspn(icctl_text(o, "digest"), "0123456789abcdef") != 64)
		return "it sent a pending call without a digest";
	if (h != NULL)
		h->bytes = 0;
	if (!frames_room(n, s, bytes)) {
		/* An earlier form of the call is no longer what waits. */
		live_far_end(s, icctl_text(o, "id"));
		return NULL;
	}
	live_far_hold(s, o);
	if ((h = live_hold(s, icctl_text(o, "id"))) != NULL)
		h->bytes = bytes;
	return NULL;
}

static const char *
take_state(struct fleet_node *n, struct live_session *s, enum hear_kind kind,
    json_object *o, size_t bytes)
{
	size_t *now = kind == HEAR_STATUS ? &s->status_bytes : &s->budget_bytes;

	*now = 0;
	if (!frames_room(n, s, bytes))
		return NULL;
	*now = bytes;
	if (kind == HEAR_STATUS)
		live_far_status(s, o);
	else
		live_far_budget(s, o);
	return NULL;
}

/* An earlier form of a call that is too large now is no longer what waits. */
static void
take_too_large(
    struct live_session *s, enum hear_kind kind, const struct value *v)
{
	const struct value *id = value_getspan(v, SPAN("id"));
	char text[64];

	if (kind == HEAR_HOLD && id != NULL && id->type == VALUE_STRING &&
	    span_copy(id->text, text, sizeof(text)) == 0)
		live_far_end(s, text);
}

/* Take a tree about a session. */
static const char *
take_tree(struct fleet_node *n, enum hear_kind kind, struct span p)
{
	const char *why = NULL;
	const struct value *v;
	struct live_session *s;
	struct hear_name f;
	json_object *o;
	size_t bytes;

	if (p.len < sizeof(f))
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.session);
	p = span_of(p.p + sizeof(f), p.len - sizeof(f));
	value_pool_reset(n->fleet->pool);
	v = value_decode(n->fleet->pool, p);
	if (v == NULL || v->type != VALUE_OBJECT)
		return "frame";
	if ((s = frames_find(n, f.session)) == NULL)
		return NULL;
	/* Small frames can be large objects. */
	if ((bytes = tree_weight(v)) > FLEET_HELD) {
		live_far_much(s, frames_much);
		take_too_large(s, kind, v);
		return NULL;
	}
	o = tree_object(v);
	if (!icctl_reply_ok(o))
		why = "it sent an object of an unknown form";
	else if (kind == HEAR_HOLD)
		why = take_hold(n, s, o, bytes);
	else
		why = take_state(n, s, kind, o, bytes);
	json_object_put(o);
	return why;
}

static const char *
take_name(struct fleet_node *n, enum hear_kind kind, struct span p)
{
	struct live_session *s;
	struct hear_name f;

	if (p.len != sizeof(f))
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.session), ENDS(f.id), ENDS(f.state);
	if ((s = frames_find(n, f.session)) == NULL)
		return NULL;
	if (kind == HEAR_HOLD_END) {
		live_far_end(s, f.id);
		return NULL;
	}
	live_far_drop(s);
	return NULL;
}

static const char *
take_item(struct fleet_node *n, struct span p)
{
	struct live_item item;
	struct live_session *s;
	struct hear_item f;

	if (p.len != sizeof(f))
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.session), ENDS(f.id), ENDS(f.state), ENDS(f.text);
	if (f.kind > LIVE_NOTE)
		f.kind = LIVE_NOTE;
	if ((s = frames_find(n, f.session)) == NULL)
		return NULL;
	item = (struct live_item){.kind = (enum live_kind)f.kind, .us = f.us};
	(void)strlcpy(item.id, f.id, sizeof(item.id));
	(void)strlcpy(item.state, f.state, sizeof(item.state));
	(void)strlcpy(item.text, f.text, sizeof(item.text));
	live_far_item(s, &item);
	return NULL;
}

static const char *
take_reply(struct fleet_node *n, struct span p)
{
	struct hear_reply f;

	if (p.len != sizeof(f))
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.code), ENDS(f.error);
	return ask_replied(n, &f) ? NULL
				  : "it answered what nobody had asked it";
}

static const char *
take_text(struct fleet_node *n, enum hear_kind kind, struct span p)
{
	struct hear_text f;

	if (p.len != sizeof(f))
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.text);
	if (kind == HEAR_SAID) {
		(void)strlcpy(n->said, f.text, sizeof(n->said));
		return NULL;
	}
	(void)strlcpy(n->why, f.text, sizeof(n->why));
	return n->why;
}

static const char *
take_hello(struct fleet_node *n, struct span p)
{
	struct hear_hello f;

	if (p.len != sizeof(f) || n->met)
		return "frame";
	memcpy(&f, p.p, sizeof(f));
	ENDS(f.host), ENDS(f.boot), ENDS(f.user), ENDS(f.version);
	n->hello(n, &f);
	return NULL;
}

/* Take a frame. Returns NULL, or why the relay is of no more use. */
static const char *
take_frame(struct fleet_node *n, uint32_t kind, struct span p)
{
	n->asked_alive = false;
	if (!n->met && kind != HEAR_HELLO && kind != HEAR_SAID &&
	    kind != HEAR_BAD)
		return "frame";
	switch (kind) {
	case HEAR_HELLO:
		return take_hello(n, p);
	case HEAR_ROW:
		return take_row(n, p);
	case HEAR_STATUS:
	case HEAR_BUDGET:
	case HEAR_HOLD:
		return take_tree(n, (enum hear_kind)kind, p);
	case HEAR_GONE:
	case HEAR_HOLD_END:
		return take_name(n, (enum hear_kind)kind, p);
	case HEAR_ITEM:
		return take_item(n, p);
	case HEAR_REPLY:
		return take_reply(n, p);
	case HEAR_SAID:
	case HEAR_BAD:
		return take_text(n, (enum hear_kind)kind, p);
	case HEAR_ALIVE:
		return NULL;
	default:
		return "frame";
	}
}

/* Returns true if the relay may be heard in this second. */
static bool
frames_may(struct fleet_node *n)
{
	uint64_t second = loop_now(n->fleet->loop) / 1000;

	if (n->second != second) {
		n->second = second;
		n->frames_now = 0;
	}
	return n->frames_now < FRAMES_SECOND;
}

/* Take frames that are whole, up to a turn. Returns as take_frame(). */
static const char *
frames_each(struct fleet_node *n)
{
	const char *why = NULL;
	struct hear_head head;
	struct span s;

	for (unsigned i = 0; i < FRAMES_TURN && why == NULL; i++) {
		s = buf_span(&n->frames);
		if (s.len < sizeof(head))
			break;
		memcpy(&head, s.p, sizeof(head));
		if (head.len > HEAR_FRAME)
			return "frame";
		if (s.len - sizeof(head) < head.len)
			break;
		n->frames_now++;
		why = take_frame(
		    n, head.kind, span_of(s.p + sizeof(head), head.len));
		buf_drain(&n->frames, sizeof(head) + head.len);
	}
	return why;
}

static bool
frames_whole(const struct fleet_node *n)
{
	struct span s = buf_span(&n->frames);
	struct hear_head head;

	if (s.len < sizeof(head))
		return false;
	memcpy(&head, s.p, sizeof(head));
	return s.len - sizeof(head) >= head.len;
}

enum frames_next
frames_take(struct fleet_node *n)
{
	const char *why;
	uint8_t *room;
	ssize_t got = 1;

	if (!frames_may(n))
		return FRAMES_PAUSE;
	if (!frames_whole(n)) {
		if ((room = buf_room(&n->frames, FRAMES_CHUNK)) == NULL) {
			n->lost(n, "there is no memory for what it says");
			return FRAMES_OVER;
		}
		got = read(n->from, room, FRAMES_CHUNK);
		if (got == -1 && (errno == EAGAIN || errno == EINTR))
			return FRAMES_WAIT;
		if (got > 0)
			buf_grow(&n->frames, (size_t)got);
	}
	why = frames_each(n);
	if (why == NULL && got > 0)
		return frames_whole(n) ? FRAMES_MORE : FRAMES_WAIT;
	n->lost(n, why == NULL                 ? "it has ended"
		   : strcmp(why, "frame") == 0 ? "its reader broke down"
					       : why);
	return FRAMES_OVER;
}
