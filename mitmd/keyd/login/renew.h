/* SPDX-License-Identifier: ISC */
/*
 * How a credential that is over becomes another one.  When, and what is asked
 * of icsupervisor: keyd/login/renew.c.  What a login file and the token endpoint's
 * answer make of it: keyd/login/renew_login.c.
 */
#ifndef KEYD_RENEW_H
#define KEYD_RENEW_H

#include "common/ipc/chan.h"

struct keyset;
struct oauth_file;

enum renew_phase {
	RENEW_IDLE,
	RENEW_WANTED,  /* icsupervisor was asked */
	RENEW_READ,    /* the lock is held; the file comes */
	RENEW_ASKED,   /* so was the token endpoint */
	RENEW_CAPTURE, /* keyd/login/capture.c asks */
};

struct renew {
	enum renew_phase phase;
	int out; /* the new file; -1: no lock is held for us */
	uint32_t turn;
	struct loop_timer timer;
	uint64_t later; /* loop_now() before which nothing is asked */
	bool unsaved;   /* our tokens are in no file */
	bool captured;  /* nor were they ever: unsaved_write has it */
	void (*kept)(void); /* for the next time that nothing is under way */
	bool refused;
};

enum renew_state {
	RENEW_GOOD,
	RENEW_WAIT,
	RENEW_LATER,
	RENEW_REFUSED
};

/* keyd/login/renew.c */
int renew_out(struct chan *, const union proto_any *, int fd);
int renew_none(struct chan *, const union proto_any *, int fd);
/* A SECRET came to nothing: true when it was ours. */
bool renew_unread(const char *why);
/* A SECRET that is no login's is dealt with, well or not. */
void renew_replaced(void);
/* Is it worth while to ask for another one than k? */
bool renew_may(const struct keyset *k);
/* May a head be composed now?  Begins to renew where it is time. */
enum renew_state renew_check(void);
/* The provider does not take this one any more. */
void renew_rejected(struct keyset *);
/*
 * Takes the turn for a login that begins in the sandbox.  Returns false if a
 * renewal is under way; none begins until renew_captured.
 */
bool renew_capture(void);
/*
 * If `good`, the new login is current and icsupervisor is asked to keep its
 * file; `kept`, if not NULL, is called once that is done or has failed.
 */
void renew_captured(bool good, void (*kept)(void));
/* The lock is given back, with what came of it. */
void renew_done(enum proto_done, const char *text);

/* keyd/login/renew_login.c */
/* e->file holds the login file: after a SECRET. -1: *why. */
int renew_read(const char **why);
/* Tokens that were spent or refused are another login's. */
void renew_forget(void);

static inline uint64_t
renew_seconds(void)
{
	return clock_wall_us() / 1000000;
}

#endif
