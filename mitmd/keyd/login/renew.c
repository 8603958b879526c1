/* SPDX-License-Identifier: ISC */
/*
 * Renews a credential. When a token is about to expire or the provider has
 * refused it, icsupervisor is asked for the login file. It hands the file over
 * under the lock that everybody who renews it takes, with a descriptor for the
 * new file. A key that can be fetched again is requested the same way, without
 * a lock.
 */
#include "keyd/login/renew.h"

#include "keyd/keyd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define RENEW_LATER_MS 5000U /* pause after a failure */
#define RENEW_LOOK_MS 10000U /* interval for looking for a new login */
#define RENEW_USABLE 10U     /* seconds of validity that a token needs */

static void renew_late(struct loop_timer *);

static void
renew_want(enum proto_want why)
{
	struct keyd_env *e = &keyd_env;
	struct renew *r = &e->renew;
	struct msg_SECRET_WANT m = {
	    .why = (uint8_t)(r->captured ? PROTO_WANT_CAPTURED : why)};

	if (r->phase != RENEW_IDLE || loop_now(&e->w.loop) < r->later)
		return;
	r->phase = RENEW_WANTED;
	loop_timer_set(&e->w.loop, &r->timer, KEYD_WANT_MS, renew_late, NULL);
	worker_send(&e->w, ROLE_SUP, 0, MSG_SECRET_WANT, &m, -1);
}

/* Nothing is running any more: call `kept`, and pause. */
static void
renew_rest(uint64_t pause)
{
	struct renew *r = &keyd_env.renew;
	struct loop *l = &keyd_env.w.loop;
	void (*kept)(void);

	r->phase = RENEW_IDLE;
	r->later = pause == 0 ? 0 : loop_now(l) + pause;
	if (r->unsaved)
		loop_timer_set(l, &r->timer, RENEW_LOOK_MS, renew_late, NULL);
	else
		loop_timer_clear(l, &r->timer);
	if ((kept = r->kept) != NULL) {
		r->kept = NULL;
		kept();
	}
	keyd_env.login_changed();
}

void
renew_done(enum proto_done result, const char *text)
{
	struct keyd_env *e = &keyd_env;
	struct renew *r = &e->renew;
	struct msg_SECRET_DONE m = {.turn = r->turn,
	    .result = (uint8_t)result,
	    .expires = e->now == NULL ? 0 : e->now->expires,
	    .text = span_str(text)};
	uint64_t pause = 0;

	if (m.text.len > 256)
		m.text.len = 256;
	close(r->out);
	r->out = -1;
	keyd_file_wipe();
	worker_send(&e->w, ROLE_SUP, 0, MSG_SECRET_DONE, &m, -1);
	switch (result) {
	case PROTO_DONE_WRITTEN:
	case PROTO_DONE_KEPT:
		if (r->refused && !e->locked)
			keyd_show_loaded();
		keyd_tell();
		r->refused = false;
		break;
	case PROTO_DONE_FAILED:
		pause = RENEW_LATER_MS;
		break;
	case PROTO_DONE_REFUSED:
		pause = RENEW_LOOK_MS;
		if (!r->refused) {
			keyd_alarm("login-refused",
			    "the provider's login is over; the user must log "
			    "in again");
			keyd_show(PROTO_KEY_REFUSED, text);
		}
		r->refused = true;
		break;
	}
	renew_rest(pause);
}

static void
renew_late(struct loop_timer *t)
{
	struct renew *r = &keyd_env.renew;

	switch (r->phase) {
	case RENEW_IDLE:
		if (r->unsaved)
			renew_want(PROTO_WANT_UNSAVED);
		return;
	case RENEW_WANTED:
		renew_rest(RENEW_LATER_MS);
		return;
	case RENEW_READ:
		renew_done(PROTO_DONE_FAILED, "the login file did not come");
		return;
	case RENEW_ASKED:
	case RENEW_CAPTURE:
		return;
	}
}

bool
renew_capture(void)
{
	struct renew *r = &keyd_env.renew;

	if (r->phase != RENEW_IDLE)
		return false;
	r->phase = RENEW_CAPTURE;
	return true;
}

void
renew_captured(bool good, void (*kept)(void))
{
	struct renew *r = &keyd_env.renew;

	if (good) {
		r->unsaved = r->captured = true;
		r->refused = false;
	}
	renew_rest(0);
	r->kept = kept;
	if (good)
		renew_want(PROTO_WANT_CAPTURED);
}

static void
renew_keep(void)
{
	struct renew *r = &keyd_env.renew;
	static char text[128];

	if (unsaved_write(r->out) == 0) {
		r->unsaved = r->captured = false;
		renew_done(PROTO_DONE_WRITTEN, unsaved_route());
		return;
	}
	snprintf(text, sizeof(text), "the login file cannot be written: %s",
	    strerror(errno));
	renew_done(PROTO_DONE_FAILED, text);
}

int
renew_out(struct chan *c, const struct msg_SECRET_OUT *m, int fd)
{
	struct renew *r = &keyd_env.renew;
	struct msg_SECRET_DONE late = {.result = PROTO_DONE_FAILED,
	    .text = SPAN("a login begins just now")};

	if (keyd_login() == NULL || r->out != -1) {
		close(fd);
		return chan_violation(c, "SECRET_OUT out of place");
	}
	if (r->phase == RENEW_CAPTURE) {
		/* Too late: the login that has begun replaces this one. */
		late.turn = m->turn;
		close(fd);
		worker_send(
		    &keyd_env.w, ROLE_SUP, 0, MSG_SECRET_DONE, &late, -1);
		return 0;
	}
	r->out = fd;
	r->turn = m->turn;
	r->phase = RENEW_READ;
	if (r->captured) {
		renew_keep();
		return 0;
	}
	loop_timer_set(
	    &keyd_env.w.loop, &r->timer, KEYD_TOKEN_MS, renew_late, NULL);
	return 0;
}

int
renew_none(struct chan *c, const struct msg_SECRET_NONE *m)
{
	char text[257];

	if (keyd_env.renew.phase != RENEW_WANTED)
		return 0;
	(void)span_copy(m->text, text, sizeof(text));
	log_warnx("credential: %s", text);
	renew_rest(RENEW_LATER_MS);
	return 0;
}

void
renew_replaced(void)
{
	/* If the new key is no better, do not request another one at once. */
	if (keyd_env.renew.phase == RENEW_WANTED && keyd_login() == NULL)
		renew_rest(RENEW_LATER_MS);
}

bool
renew_may(const struct keyset *k)
{
	struct renew *r = &keyd_env.renew;

	return k != NULL && (k != keyd_env.now || r->phase != RENEW_IDLE ||
				loop_now(&keyd_env.w.loop) >= r->later);
}

bool
renew_unread(const char *why)
{
	if (keyd_env.renew.phase != RENEW_READ)
		return false;
	renew_done(PROTO_DONE_FAILED, why);
	return true;
}

void
renew_rejected(struct keyset *k)
{
	k->rejected = true;
}

enum renew_state
renew_check(void)
{
	struct renew *r = &keyd_env.renew;
	const struct keyset *k = keyd_env.now;
	uint64_t now, least;

	if (!keyd_renews() || k == NULL)
		return RENEW_GOOD;
	now = renew_seconds();
	least = k->margin < RENEW_USABLE ? k->margin : RENEW_USABLE;
	if (!k->rejected && k->access.len != 0 &&
	    (k->expires == 0 || k->expires > now + least)) {
		if (k->expires != 0 && k->expires <= now + k->margin)
			renew_want(PROTO_WANT_EXPIRES);
		return RENEW_GOOD;
	}
	renew_want(k->rejected ? PROTO_WANT_REJECTED : PROTO_WANT_EXPIRES);
	if (r->phase != RENEW_IDLE)
		return RENEW_WAIT;
	/*
	 * A key that cannot be fetched again is sent: the provider reports the
	 * problem.
	 */
	if (keyd_login() == NULL)
		return RENEW_GOOD;
	return r->refused ? RENEW_REFUSED : RENEW_LATER;
}
