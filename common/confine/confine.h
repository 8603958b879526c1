/* SPDX-License-Identifier: ISC */
/*
 * The order of locking a worker (design, "How processes start"), driven by a
 * table: non-dumpable, rlimits, namespaces, empty root, capabilities,
 * no_new_privs, Landlock, seccomp.  A missing Landlock or seccomp refuses;
 * namespaces and the empty root are reported, not fatal.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/confine/pledge.h"

enum confine_keep {
	CONFINE_KEEP_NET = 1,	/* stays in the host's network namespace */
	CONFINE_KEEP_ROOT = 2,	/* keeps the host's root directory */
	CONFINE_KEEP_ALIVE = 4,	/* not killed with its parent, whose end it
				 * sees on its channel: auditd's last record */
};

struct confine_limits {
	uint64_t nofile;
	uint64_t fsize;		/* largest message; UINT64_MAX: no limit */
	uint64_t data;		/* RLIMIT_DATA bytes */
	uint64_t memlock;
};

struct unveil_path;

struct confine {
	unsigned keep;			/* enum confine_keep bits */
	struct confine_limits limits;
	struct pledge pledge;
	/* What stays readable: nothing in a worker; unveil.h. */
	const struct unveil_path *unveil;
	size_t nunveil;			/* at most CONFINE_MAX_UNVEIL */
};

#define CONFINE_MAX_UNVEIL 16U

/* What is in force, as HELLO and icctl doctor report it. */
enum confine_flag {
	CONFINE_DUMPABLE0 = 1 << 0,
	CONFINE_NNP = 1 << 1,
	CONFINE_SECCOMP = 1 << 2,
	CONFINE_LANDLOCK = 1 << 3,
	CONFINE_USERNS = 1 << 4,
	CONFINE_NETNS = 1 << 5,
	CONFINE_IPCNS = 1 << 6,
	CONFINE_UTSNS = 1 << 7,
	CONFINE_ROOT = 1 << 8,		/* empty root */
	CONFINE_CAPS0 = 1 << 9,		/* no capability, empty bounding set */
	CONFINE_SECRETMEM = 1 << 10,	/* memfd_secret (keyd) */
};

struct confine_state {
	uint32_t flags;
	uint32_t landlock_abi;
};

/* First statement of every main: non-dumpable, core 0, umask, signals. */
void confine_early(void);
/* The rest. -1 with errno and a message logged: the caller exits. */
int confine_apply(const struct confine *, struct confine_state *);
/* "dumpable=0 nnp seccomp landlock:7 userns ..." into dst. */
const char *confine_describe(const struct confine_state *, char *dst,
    size_t cap);
/* The same of flags alone: "userns netns". */
const char *confine_names(uint32_t flags, char *dst, size_t cap);
/* The flag of that name, or 0. */
uint32_t confine_flag_of(const char *name, size_t len);

#endif
