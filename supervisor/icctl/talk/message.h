/* SPDX-License-Identifier: ISC */
/* The message of `icctl send`, as a sealed memfd. */
#ifndef ICCTL_MESSAGE_H
#define ICCTL_MESSAGE_H

#include "icctl/icctl.h"

/*
 * Read the arguments of send. Returns the message, or -1 after it said why,
 * with an exit status in `*status`.
 */
int message_find(const struct icctl *, int argc, char **argv, int *status);
/* Returns this text as a message, or -1 after it said why. */
int message_text(const char *text);
/* Returns a message with more text behind it, or -1 after it said why. */
int message_with(int message, const char *more);

#endif
