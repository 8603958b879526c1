/* SPDX-License-Identifier: ISC */
/*
 * A listener's way out when every descriptor is in use: one is kept, and given
 * up for the moment that it takes to refuse a connection. Otherwise the
 * connection would wait, and the loop would report it again and again.
 */
#ifndef SPARE_H
#define SPARE_H

#include <sys/socket.h>

#include "common/span.h"

struct spare {
	int fd;
};

#define SPARE_INIT { .fd = -1 }

/* Keep a descriptor. Without one, connections wait. */
void spare_keep(struct spare *);
/*
 * Accept a connection, as accept4() does; it is non-blocking and closed on
 * exec. Without a free descriptor, send `text` on the connection, close it, and
 * fail with EMFILE.
 */
int spare_accept(struct spare *, int listener, struct sockaddr *, socklen_t *,
    struct span text);

#endif
