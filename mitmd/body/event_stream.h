/* SPDX-License-Identifier: ISC */
/*
 * A message of Amazon's event streams, as a service ends one with that went
 * wrong: a prelude (length, length of the headers, CRC of both), headers, a
 * payload, a CRC of it all; numbers are big-endian, CRCs as in IEEE 802.3.
 */
#ifndef EVENT_STREAM_H
#define EVENT_STREAM_H

#include "common/buf.h"

#define EVENT_STREAM_MAX_TYPE 64U

/*
 * type: a member of the stream's union, such as "validationException";
 * payload: its JSON.  -1: too long, or the buffer is full.
 */
int event_stream_exception(struct buf *, struct span type, struct span payload);

#endif
