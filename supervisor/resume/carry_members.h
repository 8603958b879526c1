/* SPDX-License-Identifier: ISC */
/* The table of carry_report.c, for it and carry_tell.c. */
#ifndef CARRY_MEMBERS_H
#define CARRY_MEMBERS_H

#include <stddef.h>

#include "resume/carry_report.h"

enum kind {
	KIND_BOOL,
	KIND_U32,
	KIND_U64,
	KIND_I64,
	KIND_DOUBLE,
	KIND_TEXT
};

/* A member of `struct carry` that has a fixed size. */
struct carry_row {
	enum kind kind;
	size_t at, size;
};

/* The letters of their reports are those from this one on. */
#define CARRY_FIRST 'A'

extern const struct carry_row carry_rows[];
extern const size_t carry_nrows;

/* Reports of lists. */
enum {
	LIST_LIMIT = 0x80, /* "KEY VALUE" */
	LIST_LOCKED,       /* a provider */
	LIST_HOLD,         /* an id, then its server and its tool */
	LIST_SERVER,
	LIST_TOOL,
	LIST_GRANT, /* "KEY CALL MADE", then its two texts */
	LIST_TEXT,
	LIST_BOUND,
};

#endif
