/* SPDX-License-Identifier: ISC */
/*
 * The order in which the answers of an HTTP/2 connection are sent. libnghttp2
 * would send one of them until its window is full, and fill whatever room a
 * window has, even if that is one byte: a client that gives back each frame's
 * bytes then gets frames of a few bytes for ever, and others of its streams get
 * none. Here the streams that have something take turns, one frame each, and
 * one that does not fit waits until there is room for a whole frame, or for all
 * that its answer has so far. So that no client waits for a few bytes that wait
 * here for its window, such a wait is short.
 */
#include "h2.h"

/* Returns the largest frame that the windows admit, or 0. */
static size_t
turn_room(const struct h2 *h, const struct exchange *x)
{
	int32_t all = nghttp2_session_get_remote_window_size(h->session);
	int32_t own =
	    nghttp2_session_get_stream_remote_window_size(h->session, x->id);
	int32_t room = own < all ? own : all;

	if (room > (int32_t)H2_FRAME)
		room = (int32_t)H2_FRAME;
	return room > 0 ? (size_t)room : 0;
}

/*
 * Returns the smallest frame for which it is worth to fill a window: half of
 * the window that the agent gives each stream, if that is small.
 */
static size_t
turn_least(const struct h2 *h)
{
	uint32_t half = nghttp2_session_get_remote_settings(
			    h->session, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE) /
			2;

	return half < H2_FRAME ? half : H2_FRAME;
}

/* Returns true if a frame of this answer can be sent, and is worth it. */
static bool
turn_fits(struct h2 *h, const struct exchange *x)
{
	size_t room = turn_room(h, x);

	if (room == 0)
		return false;
	if (x->answer.len <= room)
		return x->answer.len != 0 || x->ended;
	if (room >= turn_least(h) || h->small)
		return true;
	h->waits = true;
	return false;
}

void
h2_turn_add(struct exchange *x)
{
	if (x->turning || x->gone)
		return;
	x->turning = true;
	TAILQ_INSERT_TAIL(&x->a->turns, x, turn);
}

void
h2_turn_drop(struct exchange *x)
{
	if (!x->turning)
		return;
	x->turning = false;
	TAILQ_REMOVE(&x->a->turns, x, turn);
}

void
h2_turn_taken(struct exchange *x)
{
	h2_turn_drop(x);
	if (x->answer.len != 0)
		h2_turn_add(x);
}

bool
h2_turn_next(struct h2 *h)
{
	struct exchange *x;

	h->turn = 0;
	h->waits = false;
	if (nghttp2_session_get_remote_window_size(h->session) <= 0)
		return false;
	TAILQ_FOREACH (x, &h->a->turns, turn) {
		if (!turn_fits(h, x))
			continue;
		h->turn = x->id;
		/* It may not have been asked for its answer yet. */
		(void)nghttp2_session_resume_data(h->session, x->id);
		return true;
	}
	return false;
}
