/* SPDX-License-Identifier: ISC */
/*
 * The one encoder and the one decoder, driven by the protocol table.  A
 * message: u16 type, u8 flags (1: the big field is in the memfd), u8 zero;
 * then the fields in order, integers little-endian in their width, texts as
 * u32 length and bytes.  Exactly one encoding of a value is accepted and
 * nothing may be left over.
 */
#ifndef WIRE_H
#define WIRE_H

#include "common/ipc/proto.h"

#define WIRE_HEADER 4U
#define WIRE_MEMFD 1U

/*
 * Encodes all but the bytes of a big field into dst[PROTO_MAX_DATAGRAM].  *big
 * is that field's span (p == NULL: there is none); it goes behind the head if
 * both fit in a datagram, else into a memfd with WIRE_MEMFD set in dst[2].
 * -1 EINVAL: a field exceeds its maximum.
 */
int wire_encode(const struct proto_msg *, const void *msg, uint8_t *dst,
    size_t *len, struct span *big);
/*
 * Decodes in[len] whose type is m's; big: the mapped memfd when WIRE_MEMFD is
 * set, else p == NULL. Spans point into `in` or `big`. -1 EBADMSG; *msg is
 * then all zero.
 */
int wire_decode(const struct proto_msg *, const uint8_t *in, size_t len,
    struct span big, union proto_any *msg);

#endif
