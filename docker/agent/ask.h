/* SPDX-License-Identifier: ISC */
/* The person's messages, from the terminal or from standard input. */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>

#define ASK_MAX (1U << 20)

/*
 * Take over the terminal: what is typed is not echoed until there is a prompt.
 * Returns false if it cannot be.
 */
bool ask_open(void);
/* Give it back as it was. */
void ask_close(void);
/* Remember a message of an earlier session. */
void ask_remember(const char *text);
/* Returns the next message from the terminal, or NULL at the end. */
char *ask_message(void);
/* Returns all of standard input, or NULL if it is empty or too long. */
char *ask_all(void);

#endif
