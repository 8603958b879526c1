/* SPDX-License-Identifier: ISC */
/*
 * The few facts that icsupervisor and icctl use of a provider file. ic-reader
 * (files/reader.h) reads it as mitmd and keyd do, and includes this file for
 * the letters of its reports (base/report.h).
 */
#ifndef PROVIDERS_FACTS_H
#define PROVIDERS_FACTS_H

#include "common/buf.h"
#include "common/ipc/proto.h"
#include "mitmd/provider/check.h"

#define FACTS_MAX_STEPS 1024U

enum facts_report {
	FACTS_BAD = 'E', /* "where: what is wrong", and nothing else */
	FACTS_NAME = 'n',
	FACTS_HOST = 'h',
	FACTS_ENV = 'e',
	FACTS_SENTINEL = 's',
	FACTS_PART = 'p',
	FACTS_LOGIN = 'L', /* the name of a login, which the next ones are of */
	FACTS_FILE = 'f',
	FACTS_LOGIN_SENTINEL = 'S',
	FACTS_URL = 'u',
	FACTS_DIR = 'd', /* a variable, and the path below it */
	FACTS_BELOW = 'b',
	FACTS_LOCK_DIR = 'k',
	FACTS_LOCK_FILE = 'K',
	FACTS_ROUTES = 'r',   /* their number */
	FACTS_STEP = 't',     /* the number of a route that starts a turn */
	FACTS_MESSAGES = 'm', /* one of those is a WebSocket */
	FACTS_ANSWERS = 'a',  /* provider_answers() */
};

struct facts {
	struct provider_facts facts;
	unsigned routes;
	uint16_t steps[FACTS_MAX_STEPS];
	unsigned nsteps;
	bool messages;
	bool answers; /* the provider can be asked a plain question */
	/* The arrays that `facts` points to. */
	struct span hosts[PROTO_MAX_HOSTS], parts[PROVIDER_PARTS];
	unsigned nparts;
	struct provider_place logins[PROVIDER_MAX_LOGINS];
	struct buf text;
};

/*
 * Read the text of a provider file; `model` is that of the plain question, or
 * empty. Returns 0, or -1 with "where: what is wrong" in err[cap]. After
 * success, facts_free() must follow.
 */
int facts_read(
    struct facts *, struct span text, struct span model, char *err, size_t cap);
void facts_free(struct facts *);
#endif
