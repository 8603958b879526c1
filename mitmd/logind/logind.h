/* SPDX-License-Identifier: ISC */
/* Internals of mcp-logind, which uses keyd's TLS and its requests. */
#ifndef LOGIND_H
#define LOGIND_H

#include "keyd/keyd.h"

void logind_serve(void) __attribute__((noreturn));

#endif
