/* SPDX-License-Identifier: ISC */
/*
 * The calls that wait for the person's answer, as the session tells them over
 * its control socket.  A viewer knows their ids and one line of each; they are
 * shown in full, and answered, by the panel.
 */
#ifndef PENDING_H
#define PENDING_H

#include <stdbool.h>

#define PENDING_ID 16U

struct pending_call {
	char id[PENDING_ID];
	char *line;       /* its tool and effect, printable */
	unsigned seconds; /* that it may wait, from when we heard of it; 0: no
			     limit */
	bool asked;       /* the panel need not open by itself for it */
};

struct pending_ops {
	void (*added)(const struct pending_call *);
	/* It is no longer in the list; `state` is a word of the session's. */
	void (*ended)(const struct pending_call *, const char *state);
};

/* Begins to listen to the session in `dir`, once; again when it breaks off. */
void pending_open(const char *dir, const struct pending_ops *);
unsigned pending_count(void);
/* The oldest, or NULL. */
const struct pending_call *pending_first(void);
/* The person has seen all of them: true if there was one that was new. */
bool pending_asked(void);

#endif
