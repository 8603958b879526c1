/* SPDX-License-Identifier: ISC */
/* The message of `icctl send`, as a sealed memfd. */
#ifndef ICCTL_MESSAGE_H
#define ICCTL_MESSAGE_H

#include <stdbool.h>

/*
 * Read the arguments of send. Returns the message, or -1 after it said why,
 * with an exit status in `*status`. Sets `*schema` to the value of --schema.
 */
int message_find(int argc, char **argv, const char **schema, int *status);
/* Returns true if the message is a word of these arguments, not a file. */
bool message_typed(int argc, char **argv);
/* Returns this text as a message, or -1 after it said why. */
int message_text(const char *text);
/* Returns a message with more text behind it, or -1 after it said why. */
int message_with(int message, const char *more);

#endif
