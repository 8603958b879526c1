/* SPDX-License-Identifier: ISC */
/*
 * The agent's side of a service with a login: a client gets a connection that
 * pgkeyd has logged in, and never one on which it could log in itself.
 */
#ifndef FRONT_H
#define FRONT_H

#include "common/ipc/wire.h"

struct tunnel;

/* A service of this index has a login. Returns -1 if its names are too long. */
int front_add(unsigned service, const struct msg_DOOR *);
/* Read the client's first packets. */
void front_read(struct tunnel *);
/*
 * pgkeyd has logged in. Takes `fd`. Returns -1 if the server's parameters are
 * malformed.
 */
int front_open(struct tunnel *, struct span parameters, int fd);
/* Tell the client why there is no connection, and end the tunnel. */
void front_stop(struct tunnel *, const char *why);

#endif
