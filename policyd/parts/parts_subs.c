/* SPDX-License-Identifier: ISC */
/*
 * Subscriptions to resources that a server was sent. They are kept so that one
 * can be ended, and so that a server that was started again, which knows
 * nothing of them, is sent them again: each was decided about when it began.
 * Revision 2026-07-28 has a request for each that stays open; a server that
 * ends one is asked again with the subscription to its lists.
 */
#include "parts/parts.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "policyd.h"

static void
sub_clear(struct session_sub *sub)
{
	free(sub->uri);
	*sub = (struct session_sub){0};
}

/* Returns a free place, or one that is in use if there is none. */
static struct session_sub *
sub_place(struct session *s)
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (s->subs[i].uri == NULL)
			return &s->subs[i];
	return &s->subs[s->nsubs++ % SESSION_SUBS];
}

void
parts_sent(struct session *s, const uint8_t digest[HOLD_DIGEST], uint64_t call,
    struct span uri)
{
	struct session_sub *sub;

	/* A server of an older revision has one for each address. */
	for (unsigned i = 0; !s->modern && i < SESSION_SUBS; i++)
		if (memcmp(s->subs[i].digest, digest, HOLD_DIGEST) == 0)
			sub_clear(&s->subs[i]);
	sub = sub_place(s);
	sub_clear(sub);
	if ((sub->uri = strndup((const char *)uri.p, uri.len)) == NULL)
		fatal("strndup");
	sub->call = call;
	memcpy(sub->digest, digest, HOLD_DIGEST);
}

bool
parts_was_sent(const struct session *s, const uint8_t digest[HOLD_DIGEST])
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (s->subs[i].uri != NULL &&
		    memcmp(s->subs[i].digest, digest, HOLD_DIGEST) == 0)
			return true;
	return false;
}

void
parts_unsent(struct session *s, struct span uri)
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (s->subs[i].uri != NULL && span_is(uri, s->subs[i].uri))
			sub_clear(&s->subs[i]);
}

/*
 * A subscription whose request was sent to another process, or has been ended
 * by the server, is part of the one to its lists.
 */
static bool
sub_joined(const struct session_sub *sub)
{
	return sub->uri != NULL && sub->joined;
}

void
parts_cancelled(struct policyd_env *env, uint64_t call)
{
	struct session_sub *sub;
	struct session *s;

	for (unsigned i = 0; i < PROTO_FIRST_INSTANCE * SESSION_SUBS; i++) {
		s = &env->sessions[i / SESSION_SUBS];
		sub = &s->subs[i % SESSION_SUBS];
		if (sub->uri == NULL || sub->call != call)
			continue;
		if (s->modern && !sub->joined &&
		    !session_is_dead(env, s->index) &&
		    compose_cancelled(&env->line, call) == 0)
			session_send(env, s->index, "cancelled");
		sub_clear(sub);
		return;
	}
}

unsigned
parts_joined(const struct session *s, const char **uris)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (sub_joined(&s->subs[i]))
			uris[n++] = s->subs[i].uri;
	return n;
}

void
parts_join(struct session *s)
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		s->subs[i].joined = s->subs[i].uri != NULL;
}

bool
parts_ended(struct session *s, uint64_t call)
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (s->subs[i].uri != NULL && s->subs[i].call == call &&
		    !s->subs[i].joined)
			return s->subs[i].joined = true;
	return false;
}

void
parts_given_up(struct session *s, uint64_t call)
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (s->subs[i].uri != NULL && s->subs[i].call == call)
			sub_clear(&s->subs[i]);
}

void
parts_resend(struct session *s)
{
	struct buf *b = &s->env->line;

	if ((s->parts & PROTO_PART_SUBSCRIBE) == 0 || s->modern)
		return;
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		if (s->subs[i].uri != NULL &&
		    compose_subscribe(b, span_str(s->subs[i].uri)) == 0)
			session_send(s->env, s->index, PARTS_SUBSCRIBE);
}

void
parts_forget(struct session *s)
{
	for (unsigned i = 0; i < SESSION_SUBS; i++)
		sub_clear(&s->subs[i]);
}
