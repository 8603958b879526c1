/* SPDX-License-Identifier: ISC */
/* A message to a session, and the turn that it begins. */
#ifndef ICCTL_SEND_H
#define ICCTL_SEND_H

#include "icctl/talk/wanted.h"

/*
 * Send the message, a memfd, to the session in ctl->dir, and print its events;
 * with `wanted`, ask for an answer that fits, once more if it does not, and
 * print it. Returns the exit status.
 */
int send_one(struct icctl *, int message, struct wanted *wanted);

#endif
