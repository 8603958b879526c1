/* SPDX-License-Identifier: ISC */
/*
 * The system calls that a process in a sandbox must not make. This is a deny
 * list that returns errors, since nobody knows everything that servers and
 * agents need. Workers have an allow list of their own (pledge.h).
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdint.h>

#include "common/buf.h"

struct scmp_arg_cmp;

enum filter_kind {
	FILTER_SERVER,
	FILTER_OURS,  /* icfs: may call openat2, to resolve names */
	FILTER_AGENT, /* may also debug its own processes and query netlink */
};

/*
 * Receives the rules: the action of libseccomp for a system call whose
 * arguments meet all `n` conditions. Returns 0, or -1 with errno.
 */
struct filter_sink {
	int (*rule)(void *arg, uint32_t action, int nr, unsigned n,
	    const struct scmp_arg_cmp *);
	void *arg;
};

/* Give every rule to the sink. Returns 0, or -1 with errno. */
int filter_rules(const struct filter_sink *, enum filter_kind);
/*
 * filter_json.c: Append the filter as a container engine reads it. System calls
 * that libseccomp has no name for are missing: ic-bridge adds the whole filter
 * inside the container. Returns 0, or -1 with errno.
 */
int filter_json(enum filter_kind, struct buf *);
/* Returns a new memfd with the filter for bubblewrap, or -1 with errno. */
int filter_memfd(enum filter_kind);

#endif
