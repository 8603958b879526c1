/* SPDX-License-Identifier: ISC */
/*
 * The part of PostgreSQL's protocol 3 that egressd and pgkeyd share: how messages
 * are composed, and the parameters that a client in the sandbox may choose.
 * Both check their values.
 */
#ifndef PG_H
#define PG_H

#include "common/buf.h"

#define PG_PROTOCOL 0x00030000U /* 3.0, which every server speaks */
#define PG_CANCEL 80877102U
#define PG_SSL 80877103U
#define PG_GSS 80877104U

struct pg_parameter {
	const char *name; /* clients may write it in any case */
	size_t at;        /* its span's offset in struct msg_LOGIN, and LOGIN_GO */
};

#define PG_PARAMETERS 7U
extern const struct pg_parameter pg_parameters[PG_PARAMETERS];

/*
 * Returns true for at most PROTO_MAX_LOGIN bytes of a closed alphabet: letters,
 * digits and a few signs, enough for "Europe/Berlin" and for a search_path.
 */
bool pg_value_ok(struct span);
/* The alphabet's signs, to be told of. */
#define PG_SIGNS " _/,.:+-()\"$"

uint32_t pg_u32(const uint8_t *);
/* A number of four bytes, and a text with its NUL. */
void pg_put_u32(struct buf *, uint32_t);
void pg_put_text(struct buf *, struct span);
/*
 * Begin a message: without a type if that is 0. Returns its place, for
 * pg_end(), which sets its length.
 */
size_t pg_begin(struct buf *, uint8_t type);
void pg_end(struct buf *, size_t at);
/* Take the text up to the next NUL off the front. Returns false without one. */
bool pg_take_text(struct span *rest, struct span *text);

#endif
