/* SPDX-License-Identifier: ISC */
/* The files in the sandbox that describe it, and its environment. */
#ifndef ORIENT_H
#define ORIENT_H

#include "box/locate.h"
#include "common/ipc/proto.h"
#include "common/span.h"

#define ORIENT_MAX_ENV 192U

/* Convert the certificate to PEM and keep it until orient_write(). */
int orient_ca(struct span der, struct fault *);
/*
 * orient_text.c: Compose what the agent is told about the session, once the
 * hosts are known. Returns 0, or -1 with the fault set.
 */
int orient_compose(struct fault *);
/* Keep the text about tools. Returns -1 if it is not plain text. */
int orient_tools(const struct msg_TOOLS_TOLD *);
/* Send mcp-proxyd what it tells every agent. */
void orient_setup(void);
/*
 * Fill env[ORIENT_MAX_ENV + 1], zeroed by the caller, with NAME=VALUE in
 * allocated memory.
 */
int orient_environment(const struct program *, char **env, struct fault *);
/* Write the certificates, agent.env and the adapter's files. */
int orient_write(char *const *env, struct fault *);
/* Write the adapter's files again if they tell of tools, which are known now. */
int orient_write_tools(struct fault *);

#endif
