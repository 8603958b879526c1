/* SPDX-License-Identifier: ISC */
/*
 * The reason for a refusal: a text for a person that says where, what is wrong,
 * and what to do. Functions that set one return -1 (or NULL).
 */
#ifndef FAULT_H
#define FAULT_H

enum fault_kind {
	FAULT_OTHER,  /* the caller decides what it means */
	FAULT_BUSY,   /* another icsupervisor runs in the session directory */
	FAULT_CONFIG, /* something that the user configured does not work */
	FAULT_SCARCE, /* the system ran out of something: no file is wrong */
	FAULT_KEY,    /* a file has a member of a name that is not known */
};

struct fault {
	char text[2048];
	enum fault_kind kind; /* the program decides by this, never by the
				 text */
};

/*
 * Set the text. Always returns -1. A long text is cut and ends in "...";
 * control and invisible characters of the arguments are escaped.
 */
int fault_set(struct fault *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* Like fault_set(), which sets FAULT_OTHER, but with another kind. */
int fault_set_kind(struct fault *, enum fault_kind, const char *, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns what to do about an errno, ". Make room there, ...", or "". */
const char *fault_remedy(int error);
/*
 * Like fault_set() with ": strerror(errno)" and the remedy appended, and with
 * FAULT_SCARCE if the system ran out of disk, descriptors or memory.
 */
int fault_errno(struct fault *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

#endif
