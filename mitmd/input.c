/* SPDX-License-Identifier: ISC */
/*
 * Reads connections: as much as the state allows, through TLS, handed to the
 * front, with a limit on the bytes that wait. Every byte comes from the agent.
 */
#include "mitmd.h"

#include <errno.h>
#include <unistd.h>

#include "body.h"
#include "common/log.h"
#include "tls.h"

#define INPUT_READS 4 /* rounds per wake-up, of up to INPUT_SCRATCH bytes */
#define INPUT_RECORD 16384U /* largest content of a TLS record */
#define INPUT_SCRATCH 65536U

/* Decrypted bytes of one round: one connection is read at a time. */
static uint8_t input_scratch[INPUT_SCRATCH];

static bool
input_wanted(const struct agent *a)
{
	struct exchange *x = a->x;

	switch (x->state) {
	case EXCHANGE_HOLD:
		return body_room(x);
	case EXCHANGE_IDLE:
	case EXCHANGE_DISCARD:
		return true;
	case EXCHANGE_QUEUED:
	case EXCHANGE_OPENING:
	case EXCHANGE_ON:
	case EXCHANGE_ANSWER:
		if (x->req.websocket)
			return ws_reads(x);
		if (!x->whole)
			return x->up.out.len < MITMD_WINDOW;
		/* Read to notice when the agent leaves; its input is kept. */
		return a->in.len < MITMD_MAX_AHEAD;
	}
	return false;
}

/*
 * Returns true if a worker that this connection's requests go to is behind.
 * Then the connection waits: a request may be only a few bytes long.
 */
static bool
input_behind(const struct agent *a)
{
	const struct worker *w = &mitmd_env.w;
	const struct chan *key =
	    a->state == AGENT_OPEN ? w->peers[ROLE_KEY][a->provider] : NULL;

	if (!worker_is_behind(w))
		return false;
	return (w->peers[ROLE_AUDIT][0] != NULL &&
		   chan_is_behind(w->peers[ROLE_AUDIT][0])) ||
	       (w->peers[ROLE_POLICY][0] != NULL &&
		   chan_is_behind(w->peers[ROLE_POLICY][0])) ||
	       (key != NULL && chan_is_behind(key));
}

bool
input_reads(const struct agent *a)
{
	switch (a->state) {
	case AGENT_TLS:
	case AGENT_LINGER:
		return true;
	case AGENT_CONNECT:
		return !input_behind(a);
	case AGENT_OPEN:
		if (input_behind(a))
			return false;
		return a->h2 != NULL ? h2_reads(a) : input_wanted(a);
	case AGENT_WANTED:
	case AGENT_PENALTY:
		return false;
	}
	return false;
}

/* Hand the input to the front; the rest waits in a->in. */
static void
input_take(struct agent *a, struct span s)
{
	bool waited = a->in.len != 0;
	size_t used;

	if (waited) {
		buf_addspan(&a->in, s);
		if (a->in.failed) {
			a->x->front->refuse(a->x, REFUSE_HEADERS, NULL, false);
			return;
		}
		s = buf_span(&a->in);
	}
	used = request1_input(a, s);
	if (a->dead || a->state == AGENT_LINGER)
		return;
	if (waited) {
		buf_drain(&a->in, used);
	} else if (used != s.len) {
		buf_add(&a->in, s.p + used, s.len - used);
		if (a->in.failed) {
			a->x->front->refuse(a->x, REFUSE_HEADERS, NULL, false);
			return;
		}
	}
	if (a->in.len == 0)
		buf_reset(&a->in, 0);
	else if (!waited && a->state == AGENT_OPEN &&
		 a->x->state == EXCHANGE_IDLE)
		agent_enter(a, AGENT_OPEN, MITMD_HEAD_MS);
}

/* Returns true if more is likely to follow: trying costs a call. */
static bool
input_more(const struct agent *a, size_t len)
{
	return a->h2 != NULL ? len % INPUT_RECORD == 0 : a->x->left > len;
}

/* Read a held body directly into its place, as much as is available. */
static ssize_t
input_place(struct agent *a, uint8_t *dst, size_t cap, size_t *len)
{
	ssize_t n = 1;

	*len = 0;
	while (
	    *len < cap && (n = mitmd_tls_read(a, dst + *len, cap - *len)) > 0)
		*len += (size_t)n;
	a->progress = loop_now(&mitmd_env.w.loop);
	if (*len != 0)
		request1_placed(a->x, *len);
	return n;
}

/*
 * Fill the scratch buffer; while a body arrives, with as much as is available.
 */
static ssize_t
input_fill(struct agent *a, size_t *len)
{
	ssize_t n;

	*len = 0;
	do {
		n = mitmd_tls_read(a, input_scratch + *len, INPUT_RECORD);
		if (n <= 0)
			return n;
		*len += (size_t)n;
	} while (input_more(a, *len) && *len <= INPUT_SCRATCH - INPUT_RECORD);
	return 1;
}

static void
input_given(struct agent *a, struct span s)
{
	a->progress = loop_now(&mitmd_env.w.loop);
	if (a->h2 != NULL) {
		h2_input(a, s);
		return;
	}
	a->x->progress = a->progress;
	input_take(a, s);
}

/* Read one round to where its bytes belong. */
static ssize_t
input_round(struct agent *a)
{
	uint8_t *dst = NULL;
	size_t cap, len;
	ssize_t n;

	if (a->h2 == NULL && a->in.len == 0 &&
	    (dst = request1_place(a->x, &cap)) != NULL)
		return input_place(a, dst, cap, &len);
	n = input_fill(a, &len);
	if (len != 0)
		input_given(a, span_of(input_scratch, len));
	return n;
}

static void
input_pull(struct agent *a)
{
	ssize_t n;

	for (int i = 0;
	     i < INPUT_READS && a->state == AGENT_OPEN && input_reads(a); i++) {
		n = input_round(a);
		if (n == -1 && !a->dead)
			agent_close(a);
		/* Go on only if more is certain to be there, or expected. */
		if (a->dead || n == 0 || a->state != AGENT_OPEN ||
		    (!agent_pending(a) && (a->h2 != NULL || a->x->left == 0)))
			break;
	}
}

void
input_resume(struct agent *a)
{
	struct span s;
	size_t used;

	/* HTTP/2 keeps no unused input, and may be in a callback. */
	if (a->dead || a->state != AGENT_OPEN || a->h2 != NULL ||
	    input_behind(a))
		return;
	if (a->in.len != 0) {
		a->seen = 0;
		s = buf_span(&a->in);
		used = request1_input(a, s);
		if (a->dead || a->state == AGENT_LINGER)
			return;
		buf_drain(&a->in, used);
	}
	if (a->in.len == 0)
		buf_reset(&a->in, 0);
	else if (a->state == AGENT_OPEN && a->x->state == EXCHANGE_IDLE)
		agent_enter(a, AGENT_OPEN, MITMD_HEAD_MS);
	if (agent_pending(a))
		input_pull(a);
}

static void
input_handshake(struct agent *a)
{
	int r;

	if ((r = mitmd_tls_handshake(a)) == 0)
		return;
	if (r == -1) {
		mitmd_note(a, "TLS with %s: %s", (const char *)mitmd_host(a).p,
		    mitmd_tls_error());
		agent_close(a);
		return;
	}
	trim_begun(&mitmd_env.trim, &mitmd_env.w.loop);
	if (mitmd_tls_is_h2(a))
		mitmd_note(a, "HTTP/2 with %s", (const char *)mitmd_host(a).p);
	if ((mitmd_tls_is_h2(a) ? h2_open(a) : request1_open(a)) == -1) {
		agent_close(a);
		return;
	}
	if (agent_pending(a))
		input_pull(a);
}

/* Read and discard, so that the agent can read the last output. */
static void
input_drop(struct agent *a)
{
	ssize_t n;

	for (int i = 0; i < INPUT_READS; i++) {
		n = read(a->fd, input_scratch, sizeof(input_scratch));
		if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) {
			agent_close(a);
			return;
		}
		if (n < (ssize_t)sizeof(input_scratch))
			return;
	}
}

static void
input_read(struct agent *a, uint32_t events)
{
	switch (a->state) {
	case AGENT_CONNECT:
		connect_read(a);
		break;
	case AGENT_TLS:
		input_handshake(a);
		break;
	case AGENT_LINGER:
		input_drop(a);
		break;
	case AGENT_WANTED:
		/* It is not read: this is the end of the connection. */
		if ((events & (EPOLLHUP | EPOLLERR)) != 0)
			agent_close(a);
		break;
	case AGENT_OPEN:
	case AGENT_PENALTY:
		if (!input_reads(a) && (events & (EPOLLHUP | EPOLLERR)) != 0)
			agent_close(a);
		else
			input_pull(a);
		break;
	}
}

void
input_ready(struct loop_io *io, uint32_t events)
{
	struct agent *a = io->arg;

	agent_hold(a);
	if ((events & EPOLLOUT) != 0 && mitmd_tls_flush(a) == -1)
		agent_close(a);
	else if ((events & EPOLLOUT) != 0 && a->h2 != NULL)
		h2_send(a);
	if (!a->dead && a->state == AGENT_LINGER)
		agent_linger(a);
	if (!a->dead && ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 ||
			    a->state == AGENT_TLS || agent_pending(a)))
		input_read(a, events);
	agent_leave(a);
}
