/* SPDX-License-Identifier: ISC */
/*
 * Confines a worker, driven by a table and in this order: non-dumpable,
 * namespaces, empty root, capabilities, no_new_privs, Landlock, rlimits,
 * seccomp.  A worker that cannot have Landlock or seccomp does not start; a
 * missing namespace or empty root is reported and not fatal.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/confine/pledge.h"

enum confine_keep {
	CONFINE_KEEP_NET = 1,	/* stays in the host's network namespace */
	CONFINE_KEEP_ROOT = 2,	/* keeps the host's root directory */
	/*
	 * not killed with its parent, whose end it sees on its channel: auditd
	 * writes a last record
	 */
	CONFINE_KEEP_ALIVE = 4,
	/*
	 * Keeps the user's hard limit on open files: it sends descriptors.  The
	 * kernel refuses to pass one while those in flight, of all the user's
	 * processes, are more than the sender may open.  So its limit has to be
	 * far above that of any sandbox.
	 */
	CONFINE_KEEP_FILES = 8,
};

/* The highest limit on open files that is of use. */
#define CONFINE_MAX_FILES (1U << 30)

struct confine_limits {
	/* Needed at most; the limit too, unless CONFINE_KEEP_FILES is set. */
	uint64_t nofile;
	uint64_t fsize;		/* in bytes; UINT64_MAX for no limit */
	uint64_t data;		/* RLIMIT_DATA bytes */
	uint64_t memlock;
};

struct unveil_path;

struct confine {
	unsigned keep;			/* enum confine_keep bits */
	struct confine_limits limits;
	struct pledge pledge;
	/* Paths that stay accessible (see unveil.h); none in a worker. */
	const struct unveil_path *unveil;
	size_t nunveil;			/* at most CONFINE_MAX_UNVEIL */
};

#define CONFINE_MAX_UNVEIL 100U

/* The layers in force, as HELLO and icctl doctor report them. */
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

/*
 * Set both limits on core dumps to 1. The kernel writes no file then, and
 * starts no program of core_pattern either, which a limit of 0 does not stop
 * (core(5)). A hard limit of 0 cannot be raised and stays. Returns 0, or -1.
 */
int confine_no_core(void);
/*
 * Become non-dumpable, forbid core dumps, and set the umask and signals.  Each
 * program that confines itself calls this first in main().
 */
void confine_early(void);
/*
 * Apply all other layers.  Returns 0, or -1 with errno set and a message
 * logged; the caller must then exit.
 */
int confine_apply(const struct confine *, struct confine_state *);
/*
 * Returns how many descriptors the process may have under this table: fewer
 * than it asks for, if the user's own hard limit is lower.
 */
unsigned confine_files(const struct confine *);
/*
 * Write "dumpable=0 nnp seccomp landlock:7 userns ..." into `dst`; returns it.
 */
const char *confine_describe(const struct confine_state *, char *dst,
    size_t cap);
/* Write the names of `flags` into `dst`, such as "userns netns"; returns it. */
const char *confine_names(uint32_t flags, char *dst, size_t cap);
/* Returns the flag with that name, or 0. */
uint32_t confine_flag_of(const char *name, size_t len);

#endif
