/* SPDX-License-Identifier: ISC */
/*
 * A login is renewed.  When a token nears its end, or the provider refused
 * it, icsupervisor is asked for the login file, which it hands over under the
 * lock that everybody takes who renews it; with it comes a descriptor for the
 * file's successor.  Whoever was first wins: a token that another session or
 * the vendor's program got meanwhile is simply taken.  A refresh token that
 * was spent is never sent again.
 */
#include "keyd.h"

#include <sys/uio.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "keyd_oauth.h"
#include "log.h"

#define RENEW_LATER_MS 5000U /* after a failure */
#define RENEW_LOOK_MS 10000U /* is there a new login? */
#define RENEW_USABLE 10U     /* seconds a token must have left */

static struct renew {
	enum {
		RENEW_IDLE,
		RENEW_WANTED,
		RENEW_READ,
		RENEW_ASKED,
		RENEW_CAPTURE /* keyd_capture.c asks */
	} phase;
	int out; /* the new file; -1: no lock is held for us */
	uint32_t turn;
	struct loop_timer timer;
	uint64_t later; /* loop_now() before which nothing is asked */
	bool unsaved;   /* our tokens are in no file */
	bool captured;  /* nor were they ever: capture_write has it */
	bool refused;
	struct secret *spent, *dead;
	size_t nspent, ndead;
} renew = {.out = -1};

static void renew_late(struct loop_timer *);

static uint64_t
renew_seconds(void)
{
	return clock_wall_us() / 1000000;
}

static struct span
renew_span(struct secret *s, size_t len)
{
	size_t cap;

	if (s == NULL)
		return span_of(NULL, 0);
	return span_of(secret_bytes(s, &cap), len);
}

/* Two tokens are kept to know them again. */
static void
renew_remember(struct secret **s, size_t *len, struct span token)
{
	uint8_t *p;
	size_t cap;

	*len = 0;
	if (*s == NULL && (*s = secret_new(OAUTH_MAX_TOKEN)) == NULL)
		return;
	p = secret_bytes(*s, &cap);
	explicit_bzero(p, cap);
	if (token.len > cap)
		return;
	for (size_t i = 0; i < token.len; i++)
		p[i] = token.p[i];
	*len = token.len;
}

static void
renew_want(enum proto_want why)
{
	struct keyd_env *e = &keyd_env;
	struct msg_SECRET_WANT m = {
	    .why = (uint8_t)(renew.captured ? PROTO_WANT_CAPTURED : why)};

	if (renew.phase != RENEW_IDLE || loop_now(&e->w.loop) < renew.later)
		return;
	renew.phase = RENEW_WANTED;
	loop_timer_set(
	    &e->w.loop, &renew.timer, KEYD_WANT_MS, renew_late, NULL);
	worker_send(&e->w, ROLE_SUP, 0, MSG_SECRET_WANT, &m, -1);
}

/* Nothing is under way any more; who waits is told. */
static void
renew_rest(uint64_t pause)
{
	struct loop *l = &keyd_env.w.loop;

	renew.phase = RENEW_IDLE;
	renew.later = pause == 0 ? 0 : loop_now(l) + pause;
	if (renew.unsaved)
		loop_timer_set(
		    l, &renew.timer, RENEW_LOOK_MS, renew_late, NULL);
	else
		loop_timer_clear(l, &renew.timer);
	capture_tell();
	exchange_keyed();
}

static void
renew_done(enum proto_done result, const char *text)
{
	struct keyd_env *e = &keyd_env;
	struct msg_SECRET_DONE m = {.turn = renew.turn,
	    .result = (uint8_t)result,
	    .expires = e->now == NULL ? 0 : e->now->expires,
	    .text = span_str(text)};
	uint64_t pause = 0;

	if (m.text.len > 256)
		m.text.len = 256;
	close(renew.out);
	renew.out = -1;
	keyd_file_wipe();
	worker_send(&e->w, ROLE_SUP, 0, MSG_SECRET_DONE, &m, -1);
	switch (result) {
	case PROTO_DONE_WRITTEN:
	case PROTO_DONE_KEPT:
		if (renew.refused && !e->locked)
			keyd_show_loaded();
		renew.refused = false;
		break;
	case PROTO_DONE_FAILED:
		pause = RENEW_LATER_MS;
		break;
	case PROTO_DONE_REFUSED:
		pause = RENEW_LOOK_MS;
		if (!renew.refused) {
			keyd_alarm("login-refused",
			    "the provider's login is over; the user must log "
			    "in again");
			keyd_show(PROTO_KEY_REFUSED, text);
		}
		renew.refused = true;
		break;
	}
	renew_rest(pause);
}

static void
renew_late(struct loop_timer *t)
{
	(void)t;
	switch (renew.phase) {
	case RENEW_IDLE:
		if (renew.unsaved)
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
	if (renew.phase != RENEW_IDLE)
		return false;
	renew.phase = RENEW_CAPTURE;
	return true;
}

void
renew_captured(bool good)
{
	if (good) {
		renew.unsaved = renew.captured = true;
		renew.refused = false;
		renew.nspent = renew.ndead = 0;
	}
	renew_rest(0);
	if (good)
		renew_want(PROTO_WANT_CAPTURED);
}

static void
renew_keep(void)
{
	static char text[128];

	if (capture_write(renew.out) == 0) {
		renew.unsaved = renew.captured = false;
		renew_done(PROTO_DONE_WRITTEN, capture_route());
		return;
	}
	snprintf(text, sizeof(text), "the login file cannot be written: %s",
	    strerror(errno));
	renew_done(PROTO_DONE_FAILED, text);
}

int
renew_out(struct chan *c, const union proto_any *msg, int fd)
{
	struct msg_SECRET_DONE late = {.result = PROTO_DONE_FAILED,
	    .text = SPAN("a login begins just now")};

	if (keyd_login() == NULL || renew.out != -1) {
		close(fd);
		return chan_violation(c, "SECRET_OUT out of place");
	}
	if (renew.phase == RENEW_CAPTURE) {
		/* Too late: what is under way takes its place. */
		late.turn = msg->SECRET_OUT.turn;
		close(fd);
		worker_send(
		    &keyd_env.w, ROLE_SUP, 0, MSG_SECRET_DONE, &late, -1);
		return 0;
	}
	renew.out = fd;
	renew.turn = msg->SECRET_OUT.turn;
	renew.phase = RENEW_READ;
	if (renew.captured) {
		renew_keep();
		return 0;
	}
	loop_timer_set(
	    &keyd_env.w.loop, &renew.timer, KEYD_TOKEN_MS, renew_late, NULL);
	return 0;
}

int
renew_none(struct chan *c, const union proto_any *msg, int fd)
{
	char text[257];

	(void)c;
	(void)fd;
	if (renew.phase != RENEW_WANTED)
		return 0;
	(void)span_copy(msg->SECRET_NONE.text, text, sizeof(text));
	log_warnx("login: %s", text);
	renew_rest(RENEW_LATER_MS);
	return 0;
}

void
renew_replaced(void)
{
	/* One that is no better is not asked for at every request. */
	if (renew.phase == RENEW_WANTED && keyd_login() == NULL)
		renew_rest(RENEW_LATER_MS);
}

bool
renew_may(const struct keyset *k)
{
	return k != NULL && (k != keyd_env.now || renew.phase != RENEW_IDLE ||
				loop_now(&keyd_env.w.loop) >= renew.later);
}

bool
renew_unread(const char *why)
{
	if (renew.phase != RENEW_READ)
		return false;
	renew_done(PROTO_DONE_FAILED, why);
	return true;
}

static int
renew_take(struct span access, struct span refresh, const struct oauth_file *f,
    uint64_t expires, uint64_t lifetime)
{
	struct keyset *k;

	if ((k = keyset_new(access, refresh, f->secret, f->adds)) == NULL)
		return -1;
	k->expires = expires;
	k->margin = oauth_margin(lifetime);
	keyset_use(k);
	renew.unsaved = renew.captured = false;
	capture_forget();
	return 0;
}

/* fresh: somebody has just got it, so what it has left is its lifetime. */
static int
renew_adopt(const struct oauth_file *f, bool fresh)
{
	uint64_t now = renew_seconds();

	return renew_take(f->access, f->refresh, f, f->expires,
	    fresh && f->expires > now ? f->expires - now : 0);
}

/* The file with the tokens in use. */
static int
renew_write(const struct oauth_file *f, struct span id)
{
	const struct keyset *k = keyd_env.now;
	struct oauth_new n = {.access = k->access,
	    .refresh = k->refresh,
	    .id = id,
	    .expires = k->expires,
	    .now = renew_seconds()};
	struct span parts[OAUTH_PARTS];
	struct iovec iov[OAUTH_PARTS];
	size_t count, want = 0;
	char numbers[64];
	ssize_t done;

	count = oauth_splice(
	    keyd_login(), f, secret_span(keyd_env.file), &n, numbers, parts);
	for (size_t i = 0; i < count; i++) {
		iov[i].iov_base = (void *)(uintptr_t)parts[i].p;
		iov[i].iov_len = parts[i].len;
		want += parts[i].len;
	}
	do {
		done = writev(renew.out, iov, (int)count);
	} while (done == -1 && errno == EINTR);
	if (done == -1 || (size_t)done != want) {
		renew.unsaved = true;
		return -1;
	}
	return 0;
}

static void
renew_store(const struct oauth_file *f, struct span id)
{
	static char text[128];

	if (renew_write(f, id) == 0) {
		renew.unsaved = false;
		renew_done(PROTO_DONE_WRITTEN, "");
		return;
	}
	snprintf(text, sizeof(text), "the new login file cannot be written: %s",
	    strerror(errno));
	renew_done(PROTO_DONE_FAILED, text);
}

/* Under the lock, with the file as it is now. */
static void
renew_decide(const struct oauth_file *f)
{
	const struct keyset *k = keyd_env.now;
	struct oauth_have h = {.bare = keyd_login()->access.len == 0,
	    .access = k->access,
	    .rejected = k->rejected,
	    .spent = renew_span(renew.spent, renew.nspent),
	    .dead = renew_span(renew.dead, renew.ndead),
	    .now = renew_seconds(),
	    .margin = k->margin};
	const char *why = "";

	switch (oauth_next(&h, f)) {
	case OAUTH_STORE:
		renew_store(f, span_of(NULL, 0));
		return;
	case OAUTH_KEEP:
		renew_done(PROTO_DONE_KEPT, "");
		return;
	case OAUTH_ADOPT:
		if (renew_adopt(f, true) == 0)
			renew_done(PROTO_DONE_KEPT, "");
		else
			renew_done(PROTO_DONE_FAILED, "out of secret memory");
		return;
	case OAUTH_RENEW:
		if (token_ask(f, &why) == 0)
			renew.phase = RENEW_ASKED;
		else
			renew_done(PROTO_DONE_FAILED, why);
		return;
	case OAUTH_GIVE_UP:
		break;
	}
	renew_done(PROTO_DONE_REFUSED,
	    f->refresh.len == 0
		? "the login has expired and holds no refresh "
		  "token"
		: "the login was refused and is still the same");
}

int
renew_read(const char **why)
{
	struct oauth_file f;

	if (keyd_env.cap < SCRUB_MAX) {
		*why =
		    "a login needs 512 KiB of locked memory: raise ulimit -l";
		return -1;
	}
	if (oauth_parse_file(
		keyd_login(), secret_span(keyd_env.file), &f, why) == -1)
		return -1;
	if (renew.phase == RENEW_READ) {
		renew_decide(&f);
		return 0;
	}
	/* The first, or another one by the user's will. */
	*why = "out of secret memory";
	if (renew_adopt(&f, false) == -1)
		return -1;
	renew.refused = false;
	renew.nspent = renew.ndead = 0;
	keyd_file_wipe();
	keyd_show_loaded();
	exchange_keyed();
	return 0;
}

static void
renew_got(const struct oauth_file *f, struct span body)
{
	struct oauth_answer a;
	uint64_t now = renew_seconds(), expires = 0;
	const char *why = "";

	if (oauth_parse_answer(body, &a, &why) == -1) {
		renew_done(PROTO_DONE_FAILED,
		    "the token endpoint's answer is malformed");
		return;
	}
	if (a.lifetime == 0) {
		expires = oauth_jwt_expires(a.access);
		a.lifetime = expires > now ? expires - now : 0;
	}
	expires = a.lifetime == 0 ? 0 : now + a.lifetime;
	if (renew_take(a.access, a.refresh.len != 0 ? a.refresh : f->refresh, f,
		expires, a.lifetime) == -1) {
		renew_done(PROTO_DONE_FAILED, "out of secret memory");
		return;
	}
	keyd_env.renewals++;
	if (a.refresh.len != 0)
		renew_remember(&renew.spent, &renew.nspent, f->refresh);
	/* A file of refresh tokens alone is as it was, unless they turn. */
	if (f->access.len == 0 && a.refresh.len == 0)
		renew_done(PROTO_DONE_KEPT, "");
	else
		renew_store(f, a.id);
}

void
renew_answer(unsigned status, struct span body, const char *why)
{
	char text[128];
	struct oauth_file f;

	if (renew.phase == RENEW_CAPTURE) {
		capture_answer(status, body, why);
		return;
	}
	if (renew.phase != RENEW_ASKED)
		return;
	if (status == 0 || oauth_parse_file(keyd_login(),
			       secret_span(keyd_env.file), &f, &why) == -1) {
		renew_done(PROTO_DONE_FAILED, why);
		return;
	}
	switch (oauth_verdict(status)) {
	case OAUTH_GOOD:
		renew_got(&f, body);
		return;
	case OAUTH_REFUSED:
		renew_remember(&renew.dead, &renew.ndead, f.refresh);
		snprintf(text, sizeof(text),
		    "the token endpoint refused the login (status %u)", status);
		renew_done(PROTO_DONE_REFUSED, text);
		return;
	case OAUTH_LATER:
		break;
	}
	snprintf(text, sizeof(text), "the token endpoint answered %u", status);
	renew_done(PROTO_DONE_FAILED, text);
}

void
renew_rejected(struct keyset *k)
{
	k->rejected = true;
}

enum renew_state
renew_check(void)
{
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
	if (renew.phase != RENEW_IDLE)
		return RENEW_WAIT;
	/* A key that cannot be had anew goes: the provider says what it is. */
	if (keyd_login() == NULL)
		return RENEW_GOOD;
	return renew.refused ? RENEW_REFUSED : RENEW_LATER;
}
