/* SPDX-License-Identifier: ISC */
/* Asks the kernel which Unix sockets can be reached by a file (sock_diag(7)).
 */
#ifndef HOST_SOCKDIAG_H
#define HOST_SOCKDIAG_H

#include <sys/types.h>

#include <stdint.h>

#define SOCKDIAG_MAX 65536U

struct sockdiag_row {
	dev_t dev;    /* the file system */
	uint32_t ino; /* the lower half of the file's inode */
	char *name;   /* as it was bound; relative, or no longer right */
};

struct sockdiag {
	struct sockdiag_row *rows;
	unsigned n;
};

/*
 * List the sockets that have a file and can be sent to: listening ones, and
 * datagram sockets. Returns 0, or -1 with errno set and no rows.
 */
int sockdiag_read(struct sockdiag *);
void sockdiag_free(struct sockdiag *);

#endif
