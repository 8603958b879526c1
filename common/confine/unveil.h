/* SPDX-License-Identifier: ISC */
/*
 * Landlock.  Workers unveil nothing: every right that the running kernel
 * knows is handled and none is granted; abstract sockets and signals are
 * scoped where the ABI has it (6).  Constants are our own up to ABI 7, as
 * Debian 12's headers stop at 2.
 */
#ifndef UNVEIL_H
#define UNVEIL_H

#include <stddef.h>
#include <stdint.h>

struct unveil_path {
	int fd;			/* O_PATH directory or file; -1: CONNECT */
	uint64_t access;	/* UNVEIL_READ | UNVEIL_EXEC | UNVEIL_WRITE */
};

#define UNVEIL_READ	1U
#define UNVEIL_EXEC	2U
/* No path (fd -1): outbound TCP stays possible; binding does not. */
#define UNVEIL_CONNECT	4U
/* Of a directory: making, renaming and removing in it as well. */
#define UNVEIL_WRITE	8U

/* The highest ABI that the masks below it are written for. */
#define UNVEIL_ABI_MAX	7

/* What ABI abi (1 to UNVEIL_ABI_MAX, higher taken for it) can handle. */
struct unveil_masks {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};
struct unveil_masks unveil_masks(int abi);

/* The kernel's Landlock ABI; 0: none. */
int unveil_abi(void);
/*
 * Handle all, grant what is listed (workers: n == 0). Needs no_new_privs.
 * Returns the ABI in force (at most UNVEIL_ABI_MAX), or -1 with errno (ENOSYS,
 * EOPNOTSUPP: no Landlock).
 */
int unveil_apply(const struct unveil_path *, size_t n);
/*
 * Nothing but what lies at or below these (O_PATH) may be executed from now
 * on, by whom we start either; all other rights stay. 0, or -1 with errno.
 */
int unveil_exec(const int *fds, size_t n);

#endif
