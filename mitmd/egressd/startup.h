/* SPDX-License-Identifier: ISC */
/*
 * Reads what a client of PostgreSQL sends before it is logged in. The client is
 * the agent's: every byte may be hostile. Keeps no state and allocates nothing;
 * spans point into the input.
 */
#ifndef STARTUP_H
#define STARTUP_H

#include "common/ipc/wire.h"

#define STARTUP_MAX 8192U /* the longest packet */
#define STARTUP_WHY 400U

enum startup_kind {
	STARTUP_MORE,   /* the packet is not complete */
	STARTUP_SSL,    /* the client asks for TLS */
	STARTUP_GSS,    /* it asks for GSSAPI */
	STARTUP_CANCEL, /* cancel a query: `pid` and `key` */
	STARTUP_LOGIN,  /* a StartupMessage */
	STARTUP_BAD,    /* `why` is for the client */
};

struct startup {
	size_t size; /* the packet's bytes */
	uint32_t pid;
	uint8_t key[4];
	/* The client would speak more than 3.0: it is told that we do not. */
	bool newer;
	struct span user, database; /* may be empty */
	struct msg_LOGIN values;    /* only those of pg_parameters */
	char why[STARTUP_WHY];
};

enum startup_kind startup_read(struct span in, struct startup *);

#endif
