/* SPDX-License-Identifier: ISC */
/* The person's messages, from the terminal or from standard input. */
#ifndef ASK_H
#define ASK_H

#define ASK_MAX (1U << 20)

/* Returns the next message from the terminal, "" for none, or NULL at the end. */
char *ask_message(void);
/* Returns all of standard input, or NULL if it is empty or too long. */
char *ask_all(void);

#endif
