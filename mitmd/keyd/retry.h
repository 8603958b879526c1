/* SPDX-License-Identifier: ISC */
/* Reads from a provider's 429 when it takes requests again. */
#ifndef KEYD_RETRY_H
#define KEYD_RETRY_H

#include "common/http/http1.h"

/* The longest quotas are of a month; more seconds than that count as none. */
#define RETRY_MAX (31U * 86400U)

/*
 * Returns the seconds from `now`, in seconds since 1970, until the provider
 * takes requests again, or 0 if the head names no such time. A date is compared
 * with the answer's own Date, if it has one, so that a wrong clock here does no
 * harm.
 */
uint32_t retry_seconds(const struct http1_head *, int64_t now);

#endif
