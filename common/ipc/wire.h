/* SPDX-License-Identifier: ISC */
/*
 * The one encoder and the one decoder, driven by the protocol table.  A
 * message: u16 type, u8 flags (1: the big field is in the memfd), u8 zero; then
 * the fields in order, integers little-endian in their width, texts as u32
 * length and bytes.  Only one encoding of a value is accepted, and nothing may
 * follow it.
 */
#ifndef WIRE_H
#define WIRE_H

#include "common/ipc/proto.h"

#define WIRE_HEADER 4U
#define WIRE_MEMFD 1U

/*
 * Encode everything except the bytes of a big field into
 * dst[PROTO_MAX_DATAGRAM].  `*big` is the span of that field (p == NULL if
 * there is none); it follows the head if both fit in a datagram, else it goes
 * into a memfd and WIRE_MEMFD is set in dst[2].  Returns 0, or -1 with errno
 * EINVAL if a field exceeds its maximum.
 */
int wire_encode(const struct proto_msg *, const void *msg, uint8_t *dst,
    size_t *len, struct span *big);
/*
 * Decode in[len], a message of the type of `m`.  `big` is the mapped memfd if
 * WIRE_MEMFD is set, else p == NULL.  Spans point into `in` or `big`.  Returns
 * 0, or -1 with errno EBADMSG and `*msg` all zero.
 */
int wire_decode(const struct proto_msg *, const uint8_t *in, size_t len,
    struct span big, union proto_any *msg);

#endif
