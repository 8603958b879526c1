/* SPDX-License-Identifier: ISC */
/* Shared by the files that say what a call does. */
#ifndef FORGE_SAY_PRIV_H
#define FORGE_SAY_PRIV_H

#include "common/forge/forge_priv.h"
#include "common/forge/say.h"

struct sayer {
	const struct forge_call *call;
	const struct forge_found *found;	/* NULL: nothing was looked up */
	const struct forge_member *members;	/* the input's or the body's */
	const struct value *values;		/* may be NULL */
};

/* say_value.c: append a value in the words of a sentence. */
void say_value(const struct sayer *, struct buf *, const struct forge_member *,
    const struct value *);
/* Append the thing that an id or a number stands for. */
void say_ref(
    const struct sayer *, struct buf *, struct span id, uint32_t is);
/* Append a text in quotes, cut after about 200 bytes. */
void say_quoted(struct buf *, struct span);
/* Append a name, in quotes if it is not plain. */
void say_name(struct buf *, struct span);

/* say_text.c: append every value, whole. */
void say_text(const struct sayer *, struct buf *);

/* say_query.c: append what a read asks for. */
void say_query(const struct sayer *, struct buf *);

/* notes.c: append lines about what acts by itself. */
void say_notes(const struct sayer *, struct buf *);

#endif
