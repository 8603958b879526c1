/* SPDX-License-Identifier: ISC */
/*
 * What a person is told about a held call or request, besides its arguments:
 * what it would do, worst first, each rule that asks, and every value with a
 * role, whole.  Pure but for looking at the rules once more.
 */
#ifndef DETAILS_H
#define DETAILS_H

#include "common/buf.h"
#include "common/ipc/proto.h"

struct policyd_env;
struct work;

/* As in HOLD. */
struct details {
	char effect[2049]; /* "Deletes ~/a, writes ~/b", escaped, or cut */
	/*
	 * {"asks":[{"reason","role","rule"}],"resources":[{"argument","role",
	 * "value"}]}: canonical JSON behind the arguments, both worst first.
	 * A value with several roles has them in "roles"; the URL that a git
	 * remote leads to has "remote":true.
	 */
	struct buf text; /* the arguments, then this */
	size_t args;     /* bytes of the arguments */
};

/*
 * Begin with the arguments, which are canonical JSON, and add what is known of
 * the judged call.  Returns 0, or -1 with nothing to free.
 */
int details_call(struct details *, struct policyd_env *, const struct work *,
    struct span args);
/* The same for a request that ask_check found good. */
int details_ask(struct details *, const struct msg_ASK *, struct span args);
void details_free(struct details *);

#endif
