/* SPDX-License-Identifier: ISC */
/* Memory that a sandbox holds in memfds, which need not be mapped. */
#ifndef MEMFDS_H
#define MEMFDS_H

#include <sys/types.h>

#include <stdint.h>

/* The most descriptors that are looked at. */
#define MEMFDS_LOOK 20000U

/* The memfds of several processes, each counted once. */
struct memfds {
	ino_t *seen; /* a table with open addressing; 0: free; or NULL */
	unsigned looked;
	uint64_t bytes;
};

/* Begin. A memfd for which there is no memory is not counted. */
void memfds_begin(struct memfds *);
/* Add the memfds that a process has open. */
void memfds_add(struct memfds *, pid_t);
/* Returns the bytes in all of them, and frees the table. */
uint64_t memfds_end(struct memfds *);

#endif
