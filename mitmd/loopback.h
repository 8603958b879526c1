/* SPDX-License-Identifier: ISC */
/* Addresses and names that mean the sandbox itself. */
#ifndef MITMD_LOOPBACK_H
#define MITMD_LOOPBACK_H

#include <stdbool.h>

#include "common/span.h"

/*
 * Returns true if the target of a request, HOST:PORT or http://HOST..., means
 * the machine on which the client itself runs: 127.0.0.0/8, ::1, an address
 * that stands for all of its own, localhost, or the sandbox's own host name.
 */
bool loopback_target(struct span target);

#endif
