/* SPDX-License-Identifier: ISC */
/*
 * The half of the break-out test that is made from outside: a program of the
 * same user, which is no parent of the workers, tries to reach into each of
 * them.  This table is shared by icsupervisor, which judges, and by that
 * program, ic-outsider: it reads a count and as many process ids, and writes
 * for each of them one errno per row, 0 for an attempt that succeeded.
 */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include <stdint.h>

/* clang-format off */
/* A(name, what it tries, the errors that may come of it) */
#define OUTSIDE_ATTEMPTS(A)						\
	A(trace,	"tracing it",			EPERM)		\
	A(memory,	"opening its memory",		EACCES, EPERM)	\
	A(read,		"reading its memory",		EPERM)		\
	A(write,	"writing its memory",		EPERM)		\
	A(maps,		"reading its memory's map",	EACCES, EPERM)	\
	A(environ,	"reading its environment",	EACCES, EPERM)	\
	A(files,	"listing its open files",	EACCES, EPERM)	\
	A(root,		"opening its root directory",	EACCES, EPERM)	\
	A(cwd,		"opening its working directory", EACCES, EPERM)	\
	A(net,		"opening its network",		EACCES, EPERM)	\
	A(getfd,	"taking an open file from it",	EPERM)		\
	/* EBUSY: the file belongs to root, as it must */		\
	A(owner,	"owning its memory",		EBUSY)
/* clang-format on */

enum outside {
#define A(name, what, ...) OUTSIDE_##name,
	OUTSIDE_ATTEMPTS(A)
#undef A
	OUTSIDE_COUNT
};

#define OUTSIDE_MAX 256U /* workers */

struct outside_report {
	int32_t found[OUTSIDE_COUNT];
};

#endif
