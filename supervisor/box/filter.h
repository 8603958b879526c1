/* SPDX-License-Identifier: ISC */
/*
 * The system calls that a process in a box may not make (security.md 6.4):
 * a deny-list with errors, since what servers and agents need is not known.
 * Workers have an allow-list of their own (pledge.h).
 */
#ifndef FILTER_H
#define FILTER_H

enum filter_kind {
	FILTER_SERVER,
	FILTER_OURS,  /* icfs: openat2, which it resolves names with */
	FILTER_AGENT, /* also may debug its own processes and ask netlink */
};

/* A fresh memfd with the filter as bubblewrap takes it; -1 errno. */
int filter_memfd(enum filter_kind);

#endif
