/* SPDX-License-Identifier: ISC */
/*
 * The messages of a conversation, in memory and in a file of the agent's home:
 * one JSON object a line, so that an interrupted agent loses at most the line
 * that it was writing.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "docker/model/model.h"

#define HISTORY_MESSAGES_MAX 20000U
#define HISTORY_NAME_MAX 64U

struct history {
	struct model_message *messages;
	size_t n, room;
	uint64_t tokens;	/* used by the latest request and answer */
	int dir;		/* all conversations; -1: none is kept */
	int fd;			/* this one's file, or -1 */
	char name[HISTORY_NAME_MAX + 8];
	bool lost;		/* it could not be written: said once */
};

/*
 * Open the conversation, which is created if it does not exist.  `name` has
 * letters, digits and -; NULL stands for a new one.  Returns the number of
 * messages read, or -1 with errno set.
 */
long history_open(struct history *, const char *home, const char *name);
/*
 * Write the name of the latest conversation.  Returns false if there is none.
 */
bool history_latest(const char *home, char name[HISTORY_NAME_MAX + 1]);
void history_close(struct history *);
/*
 * Append a message, which is taken over, and write it down.  Returns 0, or -1
 * if there is no room for it; it is freed then.
 */
int history_add(struct history *, struct model_message *);
/* The same for a text. */
int history_add_text(struct history *, enum model_role, const char *text);
/*
 * Answer all calls that have no result with this error, so that providers
 * accept the conversation.  Returns their number.
 */
size_t history_mend(struct history *, const char *text);
/* Replace the first `n` messages by a text of the user, also in the file. */
int history_replace(struct history *, size_t n, const char *text);

#endif
