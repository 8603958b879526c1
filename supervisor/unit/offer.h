/* SPDX-License-Identifier: ISC */
/*
 * A start that icctl offers to the unit icsupervisor@.service: the arguments of
 * icsupervisor, the directory that they are relative to, and the environment of
 * the person's shell, keys included. It passes through a pipe, which no other
 * process can read, so that nothing of it is in an argument vector, in the
 * environment of a process or in a file.
 */
#ifndef OFFER_H
#define OFFER_H

#include <stddef.h>

#include "base/fault.h"

/* In the session's directory: the socket on which the offer waits. */
#define OFFER_SOCKET "start.sock"
/* One byte, with which the pipe comes. */
#define OFFER_BYTE 's'
/*
 * The bytes are strings that end with NUL. The first one is the version, the
 * last one is OFFER_END, and the first letter of each other one says if it is
 * the directory, an argument or a variable.
 */
#define OFFER_VERSION "ironcurtain-start 1"
#define OFFER_END "."
#define OFFER_BYTES (4U << 20)
#define OFFER_STRINGS 4096U
#define OFFER_WAIT_MS 10000

struct offer {
	char *bytes; /* all strings point into it */
	char *dir;
	char *args[OFFER_STRINGS + 1]; /* ends with NULL */
	size_t nargs;
	char *env[OFFER_STRINGS + 1]; /* "NAME=VALUE"; ends with NULL */
	size_t nenv;
};

/*
 * offer_write.c: Write an offer to a pipe, and wait until it is read. Returns
 * 0, or -1 with errno set: EPIPE if the reader is gone, E2BIG if it would not
 * be accepted.
 */
int offer_write(int fd, const char *dir, const char *const *args, char **env);
/*
 * Read an offer from a pipe, within OFFER_WAIT_MS. Values are never copied.
 * Returns 0, or -1 with the fault set and nothing to free.
 */
int offer_read(struct offer *, int fd, struct fault *);
/*
 * Make the offered environment ours. Variables that systemd set for the unit
 * stay as they are, and are not taken. Returns 0, or -1 with errno set. The
 * offer must not be freed after that.
 */
int offer_take_environment(struct offer *);
/* Overwrite and free it. */
void unit_offer_free(struct offer *);

#endif
