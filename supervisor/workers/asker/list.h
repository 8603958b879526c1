/* SPDX-License-Identifier: ISC */
/* Reads what a forge says about a token and about its repositories. */
#ifndef ASKER_LIST_H
#define ASKER_LIST_H

#include "common/buf.h"
#include "common/span.h"

#define LIST_MAX_ANSWER (4U << 20)
#define LIST_MAX_NAME 200U
#define LIST_MAX_NAMES 100U /* in a page */
#define LIST_MAX_PAGES 20U
#define LIST_MAX_SCOPES 512U

struct list_page {
	unsigned n;     /* elements of this page */
	unsigned total; /* elements of all pages; 0: not said */
	bool more;      /* the forge says that another page follows */
};

/* Returns true if the answer has all of its body, or can have none. */
bool list_complete(struct span answer);
/*
 * Append what one answer says, in lines:
 *
 *   scopes TEXT                    of the token; "-" if it has none
 *   repository OWNER/NAME RIGHT    and " runners" if the answer has the token
 *                                  of its runners
 *   unread                         an element that is no repository
 *
 * RIGHT is read, write, maintain or admin, or unknown. The body is a page of
 * repositories, or GitLab's object about the token. Returns 0, or -1 if it is
 * neither.
 */
int list_read(struct span answer, struct buf *out, struct list_page *);

#endif
