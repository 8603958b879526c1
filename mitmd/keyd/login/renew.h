/* SPDX-License-Identifier: ISC */
/*
 * Replaces a credential that has expired or was refused. keyd/login/renew.c
 * decides when and talks to icsupervisor; keyd/login/renew_login.c handles the
 * login file and the token endpoint's answer.
 */
#ifndef KEYD_RENEW_H
#define KEYD_RENEW_H

#include "common/ipc/chan.h"

struct keyset;
struct oauth_file;

enum renew_phase {
	RENEW_IDLE,
	RENEW_WANTED,  /* waiting for icsupervisor */
	RENEW_READ,    /* holding the lock; reading the file */
	RENEW_ASKED,   /* waiting for the token endpoint */
	RENEW_CAPTURE, /* keyd/capture.c is at work */
};

struct renew {
	enum renew_phase phase;
	int out; /* the new file; -1: keyd does not hold the lock */
	uint32_t turn;
	struct loop_timer timer;
	uint64_t later;     /* loop_now() before which nothing is requested */
	bool unsaved;       /* the tokens in use are in no file */
	bool captured;      /* they never were in one: see unsaved_write() */
	void (*kept)(void); /* called the next time that nothing is running */
	bool refused;
};

enum renew_state {
	RENEW_GOOD,
	RENEW_WAIT,
	RENEW_LATER,
	RENEW_REFUSED
};

/* keyd/login/renew.c */
int renew_out(struct chan *, const struct msg_SECRET_OUT *, int fd);
int renew_none(struct chan *, const struct msg_SECRET_NONE *);
/* The secret could not be read. Returns true if it was for a renewal. */
bool renew_unread(const char *why);
/* A secret that is not a login was processed, successfully or not. */
void renew_replaced(void);
/* Returns true if requesting a replacement for `k` is worthwhile. */
bool renew_may(const struct keyset *k);
/*
 * Returns whether a head can be composed now. Begins a renewal if it is time.
 */
enum renew_state renew_check(void);
/* The provider no longer accepts this keyset. */
void renew_rejected(struct keyset *);
/*
 * Reserve the machinery for a login that begins in the sandbox. Returns false
 * if a renewal is running; none begins until renew_captured().
 */
bool renew_capture(void);
/*
 * If `good`, the new login is current and icsupervisor is asked to keep its
 * file; `kept`, if not NULL, is called once that is done or has failed.
 */
void renew_captured(bool good, void (*kept)(void));
/* Release the lock and report the result. */
void renew_done(enum proto_done, const char *text);

/* keyd/login/renew_login.c */
/*
 * Process the login file in e->file after a SECRET. Returns 0, or -1 with
 * `*why`.
 */
int renew_read(const char **why);
/* Forget spent and refused refresh tokens: they belonged to another login. */
void renew_forget(void);

static inline uint64_t
renew_seconds(void)
{
	return clock_wall_us() / 1000000;
}

#endif
