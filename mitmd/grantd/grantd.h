/* SPDX-License-Identifier: ISC */
/* Internals of mcp-grantd, which uses keyd's TLS and its requests. */
#ifndef GRANTD_H
#define GRANTD_H

#include "keyd/keyd.h"

/* dialerd's targets of mcp-grantd. */
#define GRANTD_REGISTRATION 0U
#define GRANTD_TOKEN 1U
#define GRANTD_REVOCATION 2U

void grantd_serve(void) __attribute__((noreturn));

#endif
