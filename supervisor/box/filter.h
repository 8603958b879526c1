/* SPDX-License-Identifier: ISC */
/*
 * The system calls that a process in a sandbox must not make. This is a deny
 * list that returns errors, since nobody knows everything that servers and
 * agents need. Workers have an allow list of their own (pledge.h).
 */
#ifndef FILTER_H
#define FILTER_H

enum filter_kind {
	FILTER_SERVER,
	FILTER_OURS,  /* icfs: may call openat2, to resolve names */
	FILTER_AGENT, /* may also debug its own processes and query netlink */
};

/* Returns a new memfd with the filter for bubblewrap, or -1 with errno. */
int filter_memfd(enum filter_kind);

#endif
