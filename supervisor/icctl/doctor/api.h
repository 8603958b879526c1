/* SPDX-License-Identifier: ISC */
/* Between the two files of `icctl doctor --check-api`. */
#ifndef ICCTL_DOCTOR_API_H
#define ICCTL_DOCTOR_API_H

#include "common/buf.h"
#include "files/providers/providers.h"
#include "icctl/doctor/doctor.h"

/* The result of one trial. */
struct api_answer {
	bool started;	  /* the session */
	unsigned status;  /* HTTP status; 0: no answer */
	bool sent;        /* the request left the session */
	char source[256]; /* variable, file or login; "": unknown */
	char why[512];    /* why it failed, in one sentence; or "" */
	/*
	 * Set before the trial to ask a forge about its token: the number of
	 * requests at most, each for one page of `limit` repositories. `more`
	 * has the lines of ic-asker then (workers/asker/list.h).
	 */
	unsigned pages, limit;
	struct buf more;
};

/*
 * api_try.c: Start a session that offers only this provider, and send it
 * the request of its "check". The credential is handled as in any session.
 */
void doctor_api_try(const struct provider *, struct api_answer *);

/*
 * forge.c: Say what the tokens of the configured forges can do beyond what
 * their destinations list. Returns the number of forges.
 */
unsigned doctor_api_forges(const struct icctl *, doctor_check *);

#endif
