/* SPDX-License-Identifier: ISC */
/*
 * Landlock.  Workers unveil nothing: every right that the running kernel knows
 * is handled and none is granted; abstract sockets and signals are scoped from
 * ABI 6.  The constants up to ABI 7 are our own, because the headers of Debian
 * 12 end at ABI 2.
 */
#ifndef UNVEIL_H
#define UNVEIL_H

#include <stddef.h>
#include <stdint.h>

struct unveil_path {
	int fd;			/* O_PATH directory or file; -1 for CONNECT */
	uint64_t access;	/* UNVEIL_READ | UNVEIL_EXEC | UNVEIL_WRITE */
};

#define UNVEIL_READ	1U
#define UNVEIL_EXEC	2U
/* With fd -1: outbound TCP stays possible, binding does not. */
#define UNVEIL_CONNECT	4U
/* In a directory this also allows creating, renaming and removing. */
#define UNVEIL_WRITE	8U

/* The highest ABI that unveil_masks() knows. */
#define UNVEIL_ABI_MAX	7

/*
 * The rights that `abi` can handle; an ABI above UNVEIL_ABI_MAX is taken for
 * it.
 */
struct unveil_masks {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};
struct unveil_masks unveil_masks(int abi);

/* Returns the kernel's Landlock ABI, or 0 if it has no Landlock. */
int unveil_abi(void);
/*
 * Handle every right and grant only those in the list (workers have none).
 * Needs no_new_privs.  Returns the ABI in force (at most UNVEIL_ABI_MAX), or -1
 * with errno set (ENOSYS or EOPNOTSUPP: no Landlock).
 */
int unveil_apply(const struct unveil_path *, size_t n);
/*
 * From now on let this process and its children execute only files at or below
 * these O_PATH descriptors; all other rights stay.  Returns 0, or -1 with errno
 * set.
 */
int unveil_exec(const int *fds, size_t n);

#endif
