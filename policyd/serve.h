/* SPDX-License-Identifier: ISC */
/* The part of policyd that tests replace with a hostile one. */
#ifndef SERVE_H
#define SERVE_H

#include "common/ipc/worker.h"

void policyd_serve(struct worker *) __attribute__((noreturn));

#endif
