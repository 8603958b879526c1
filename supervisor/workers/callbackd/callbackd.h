/* SPDX-License-Identifier: ISC */
/* Internals of mcp-callbackd. */
#ifndef CALLBACKD_H
#define CALLBACKD_H

#include "common/ipc/worker.h"

#define CALLBACKD_CONNS 16U
#define CALLBACKD_TIMERS CALLBACKD_CONNS

void callbackd_serve(struct worker *) __attribute__((noreturn));

#endif
