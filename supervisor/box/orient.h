/* SPDX-License-Identifier: ISC */
/* The files in the sandbox that describe it, and its environment. */
#ifndef ORIENT_H
#define ORIENT_H

#include "box/locate.h"
#include "common/span.h"

#define ORIENT_MAX_ENV 192U

/* Convert the certificate to PEM and keep it until orient_write(). */
int orient_ca(struct span der, struct fault *);
/*
 * Fill env[ORIENT_MAX_ENV + 1], zeroed by the caller, with NAME=VALUE in
 * allocated memory.
 */
int orient_environment(const struct program *, char **env, struct fault *);
/* Write the certificates, agent.env and the adapter's files. */
int orient_write(char *const *env, struct fault *);

#endif
