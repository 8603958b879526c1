/* SPDX-License-Identifier: ISC */
/*
 * The challenges of an answer (WWW-Authenticate, RFC 9110 section 11.6.1), of
 * which only Bearer's is read: where the resource's metadata is (RFC 9728
 * section 5.1), and which scopes a request wants (RFC 6750 section 3).
 */
#ifndef CHALLENGE_H
#define CHALLENGE_H

#include "common/http/http1.h"

#define CHALLENGE_MAX 16U /* challenges in all headers together */
#define CHALLENGE_URL 2048U
#define CHALLENGE_SCOPES 8192U

struct challenge {
	/* Printable ASCII; "": it does not say. */
	char metadata[CHALLENGE_URL + 1];
	char scope[CHALLENGE_SCOPES + 1];
	char error[65];
};

/*
 * Find the first challenge of Bearer. Returns 1, 0 if there is none, or -1 if a
 * header is malformed, or longer than the limits.
 */
int challenge_read(const struct http1_head *, struct challenge *);
/*
 * Returns true if the text is one or more scopes with a space between each two
 * (RFC 6749 section 3.3).
 */
bool challenge_is_scopes(struct span);

#endif
