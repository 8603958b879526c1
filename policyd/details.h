/* SPDX-License-Identifier: ISC */
/*
 * Details of a held call or request for a person, besides its arguments: what
 * it would do, worst first, each rule that asks, and every value with a role,
 * uncut. Has no side effects; the rules are evaluated once more.
 */
#ifndef DETAILS_H
#define DETAILS_H

#include "common/buf.h"
#include "common/ipc/proto.h"

struct policyd_env;
struct work;

/* The texts of a HOLD message. */
struct details {
	char effect[2049]; /* "Deletes ~/a, writes ~/b", escaped and perhaps
			      cut */
	/*
	 * {"asks":[{"reason","role","rule"}],"resources":[{"argument","role",
	 * "value"}]}: canonical JSON after the arguments, both arrays worst
	 * first. A value with several roles has them in "roles"; the URL behind
	 * a git remote has "remote":true; a path to which links lead has
	 * "links":[...] and "named".
	 */
	struct buf text; /* the arguments, then that JSON */
	size_t args;     /* length of the arguments */
};

/*
 * Begin with the arguments, which are canonical JSON, and add the details of
 * the judged call. Returns 0, or -1 with nothing to free.
 */
int details_call(struct details *, struct policyd_env *, const struct work *,
    struct span args);
/* The same for a request that ask_check() accepted. */
int details_ask(
    struct details *, const struct msg_REQUEST_ASK *, struct span args);
void details_free(struct details *);

#endif
