/* SPDX-License-Identifier: ISC */
/*
 * Looks at a port of this machine before an agent gets it: which user and which
 * program listen there, whether that is a way to run programs outside of the
 * sandbox, and what a service of that kind can do to this machine. It asks as
 * any program without a login may, and says no more than the answers show.
 */
#ifndef HOST_SERVICE_LOOK_H
#define HOST_SERVICE_LOOK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

struct service_seen {
	bool local;          /* the address is one of this machine */
	bool listens;        /* a program of this machine listens there */
	bool mixed;          /* several users do */
	uid_t uid;           /* the listener's, if one listens */
	char program[64];    /* if it is this user's process; or "" */
	const char *refused; /* the kind that no agent may have, or NULL */
	const char *kind;    /* a name for the service, or NULL */
	const char *can;     /* its powers over this machine, or NULL */
};

/*
 * Fill in `seen`, but for what only the service itself can say. Returns 0, or
 * -1 with errno set if the kernel does not tell who listens.
 */
int service_listener(
    const char *address, uint16_t port, struct service_seen *seen);
/* Returns true if the service is to be asked what it is. */
bool service_asks(const struct service_seen *);

#define SERVICE_USER 96U
#define SERVICE_WHOSE 200U
/* service_text.c: Write "user postgres (110)". Returns `text`. */
const char *service_user(int64_t uid, char text[SERVICE_USER]);
/* Write "PostgreSQL, run by user postgres (110)", or why it is not known. */
const char *service_whose(
    const struct service_seen *, char text[SERVICE_WHOSE]);

#define SERVICE_PROBES 5
struct service_probe {
	int fds[SERVICE_PROBES]; /* a connection for each question, or -1 */
};
/* service_probe.c: Begin to connect to the service. */
void service_connect(
    struct service_probe *, const char *address, uint16_t port);
/*
 * Ask it what it is, for at most a second, and close the connections: this
 * needs no right. Sets the kinds in `seen`; a service that answers nothing
 * known leaves them unchanged.
 */
void service_ask(struct service_probe *, struct service_seen *seen);

#endif
