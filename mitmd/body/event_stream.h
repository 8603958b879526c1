/* SPDX-License-Identifier: ISC */
/*
 * The message with which a service ends one of Amazon's event streams after an
 * error: a prelude (length, length of the headers, CRC of both), headers, a
 * payload, and a CRC of it all. Numbers are big-endian; the CRC is that of IEEE
 * 802.3.
 */
#ifndef EVENT_STREAM_H
#define EVENT_STREAM_H

#include "common/buf.h"

#define EVENT_STREAM_MAX_TYPE 64U

/*
 * `type` is a member of the stream's union, such as "validationException";
 * `payload` is its JSON. Returns 0, or -1 if the type is too long or the buffer
 * is full.
 */
int event_stream_exception(struct buf *, struct span type, struct span payload);

#endif
