/* SPDX-License-Identifier: ISC */
/* What the box reads about itself, and its environment. */
#ifndef ORIENT_H
#define ORIENT_H

#include "box/locate.h"
#include "common/span.h"

#define ORIENT_MAX_ENV 192U

/* The certificate as PEM, kept until it is written. */
int orient_ca(struct span der, struct fault *);
/* NAME=VALUE into env[ORIENT_MAX_ENV + 1], fresh memory, zeroed before. */
int orient_environment(const struct program *, char **env, struct fault *);
/* Certificates, agent.env, the adapter's files. */
int orient_write(char *const *env, struct fault *);

#endif
