/* SPDX-License-Identifier: ISC */
/*
 * HTTP/2 connections: input from TLS goes to libnghttp2, which parses the
 * agent's bytes, after h2_scan has seen them; output is written as TLS takes
 * it. A connection ends with GOAWAY.
 */
#include "h2.h"

#include <stdlib.h>

#include "common/log.h"
#include "tls.h"

/* Frames of one turn: one connection is written at a time. */
static uint8_t h2_frames[65536];

void
h2_free(struct h2 *h)
{
	if (h == NULL)
		return;
	loop_timer_clear(&mitmd_env.w.loop, &h->late);
	nghttp2_session_del(h->session);
	h2_head_free(&h->head);
	free(h);
}

struct exchange *
h2_exchange(struct h2 *h, int32_t stream)
{
	return nghttp2_session_get_stream_user_data(h->session, stream);
}

/* Returns the length of the next frame; 0 or less: there is none. */
static ssize_t
h2_next(struct h2 *h, const uint8_t **p)
{
	struct exchange *x;
	ssize_t n;

	while (h->turn != 0 || h2_turn_next(h)) {
		h->inside = true;
		n = nghttp2_session_mem_send(h->session, p);
		h->inside = false;
		if (n != 0 || h->turn == 0)
			return n;
		/* The library has no use for this answer. */
		if ((x = h2_exchange(h, h->turn)) != NULL)
			h2_turn_drop(x);
		h->turn = 0;
	}
	h->inside = true;
	n = nghttp2_session_mem_send(h->session, p);
	h->inside = false;
	return n;
}

/*
 * Collect as many frames as fit into the buffer. Returns 0 if there are none.
 */
static size_t
h2_gather(struct h2 *h)
{
	const uint8_t *p;
	size_t len = 0;
	ssize_t n;

	/* The windows may be others than at the last choice. */
	h->turn = 0;
	/* A frame is at most 16 KiB plus its header. */
	while (len <= sizeof(h2_frames) - 20000) {
		if ((n = h2_next(h, &p)) <= 0)
			break;
		if ((size_t)n > sizeof(h2_frames) - len)
			break;
		memcpy(h2_frames + len, p, (size_t)n);
		len += (size_t)n;
	}
	return len;
}

/* The windows did not open any further: send what they admit. */
static void
h2_late(struct loop_timer *t)
{
	struct h2 *h = t->arg;
	struct agent *a = h->a;

	agent_hold(a);
	h->small = true;
	h2_send(a);
	h->small = false;
	agent_leave(a);
}

void
h2_send(struct agent *a)
{
	struct h2 *h = a->h2;
	size_t len;

	if (h->inside || a->dead || a->state == AGENT_LINGER)
		return;
	while (a->out.len < MITMD_WINDOW) {
		if ((len = h2_gather(h)) == 0)
			break;
		if (mitmd_tls_put(a, span_of(h2_frames, len)) == -1) {
			agent_close(a);
			return;
		}
	}
	if (h->waits && h->late.at == 0)
		loop_timer_set(
		    &mitmd_env.w.loop, &h->late, H2_SMALL_MS, h2_late, h);
	if (a->out.len == 0 && nghttp2_session_want_read(h->session) == 0 &&
	    nghttp2_session_want_write(h->session) == 0)
		agent_linger(a);
}

void
h2_end(struct agent *a, uint32_t code, const char *why)
{
	struct h2 *h = a->h2;

	mitmd_note(a, "HTTP/2 ends with GOAWAY %u: %s", code, why);
	h->over = true;
	(void)nghttp2_session_terminate_session(h->session, code);
	h2_send(a);
	agent_linger(a);
}

void
h2_input(struct agent *a, struct span s)
{
	struct h2 *h = a->h2;
	uint64_t now = loop_now(&mitmd_env.w.loop);
	const char *bad;
	ssize_t n;

	if ((bad = h2_scan(&h->scan, s, now)) != NULL) {
		h2_end(a,
		    h->scan.illegal ? NGHTTP2_PROTOCOL_ERROR
				    : NGHTTP2_ENHANCE_YOUR_CALM,
		    bad);
		return;
	}
	h->inside = true;
	n = nghttp2_session_mem_recv(h->session, s.p, s.len);
	h->inside = false;
	if (a->dead)
		return;
	if (n < 0) {
		h2_end(a,
		    n == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM
					     : NGHTTP2_PROTOCOL_ERROR,
		    nghttp2_strerror((int)n));
		return;
	}
	if (!h2_scan_partial(&h->scan))
		h->partial = 0;
	else if (h->partial == 0)
		h->partial = now;
	h2_send(a);
}

bool
h2_reads(const struct agent *a)
{
	return a->out.len < MITMD_WINDOW;
}

static void
h2_stalled(struct agent *a)
{
	mitmd_note(a, "takes no byte of its answers for %u ms: closed",
	    MITMD_STALL_MS);
	agent_close(a);
}

void
h2_expired(struct agent *a)
{
	struct h2 *h = a->h2;
	uint64_t now = loop_now(&mitmd_env.w.loop), idle = now - a->progress;

	if (h->partial != 0 && now - h->partial >= MITMD_HEAD_MS)
		h2_end(a, NGHTTP2_NO_ERROR, "a frame did not come whole");
	else if (TAILQ_EMPTY(&a->exchanges) && idle >= MITMD_IDLE_MS)
		h2_end(a, NGHTTP2_NO_ERROR, "idle");
	else if (a->out.len != 0 && idle >= MITMD_STALL_MS)
		h2_stalled(a);
	else
		agent_enter(a, AGENT_OPEN, MITMD_HEAD_MS);
}
