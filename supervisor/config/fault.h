/* SPDX-License-Identifier: ISC */
/*
 * Why something was refused: one text for a person, saying where, what was
 * wrong, and what to do.  Functions that fill one return -1 (or NULL).
 */
#ifndef FAULT_H
#define FAULT_H

struct fault {
	char text[2048];
};

/*
 * Always returns -1. Cut with "..." when too long; control and invisible
 * characters of what is put in come out escaped.
 */
int fault_set(struct fault *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* As above with ": strerror(errno)" behind it. */
int fault_errno(struct fault *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

#endif
