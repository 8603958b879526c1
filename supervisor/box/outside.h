/* SPDX-License-Identifier: ISC */
/*
 * The half of the break-out test that is made from outside: a program of the
 * same user, which is not the workers' parent, tries to access each of them.
 * icsupervisor, which judges, and this program, ic-outsider, share this table:
 * ic-outsider reads a count and that many process ids, and writes one errno per
 * row for each of them, 0 for an attempt that succeeded.
 */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include <stdint.h>

/* clang-format off */
/* A(name, action, expected errors) */
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

#define OUTSIDE_MAX 256U /* maximum number of workers */

struct outside_report {
	int32_t found[OUTSIDE_COUNT];
};

#endif
