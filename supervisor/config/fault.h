/* SPDX-License-Identifier: ISC */
/*
 * Why something was refused: one text for a person, saying where, what was
 * wrong, and what to do.  Functions that fill one return -1 (or NULL).
 */
#ifndef FAULT_H
#define FAULT_H

enum fault_kind {
	FAULT_OTHER,  /* the caller knows what follows from it */
	FAULT_BUSY,   /* another icsupervisor runs in the session directory */
	FAULT_CONFIG, /* what the user configured does not work */
	FAULT_SCARCE, /* the system had no more of something: no file is wrong */
};

struct fault {
	char text[2048];
	enum fault_kind kind; /* decisions go by this, never by the text */
};

/*
 * Always returns -1. Cut with "..." when too long; control and invisible
 * characters of what is put in come out escaped.
 */
int fault_set(struct fault *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* As fault_set(), which leaves FAULT_OTHER, with another kind. */
int fault_set_kind(struct fault *, enum fault_kind, const char *, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * As fault_set() with ": strerror(errno)" behind it; FAULT_SCARCE where the
 * system had no more disk, descriptors or memory.
 */
int fault_errno(struct fault *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

#endif
