/* SPDX-License-Identifier: ISC */
/* The digest of a directory's files, by which a copy of them is recognised. */
#ifndef HOST_TREEHASH_H
#define HOST_TREEHASH_H

#include <stddef.h>
#include <stdint.h>

#include "common/sha256.h"
#include "common/span.h"

#define TREEHASH_FILES 50000U
#define TREEHASH_BYTES ((uint64_t)1 << 30)

struct treehash {
	uint8_t sum[SHA256_SIZE];
	unsigned files;
	uint64_t bytes, most;
};

/*
 * Add one thing to the digest: its kind, its name, and what it contains; for
 * callers that name the files themselves and begin with a cleared structure.
 */
void treehash_add(
    struct treehash *, char kind, const char *name, struct span contents);
/*
 * Hash the names, kinds and contents of all that is below the directory, in the
 * order of the names. Nothing may be there but directories, plain files and
 * links. Returns 0, or -1 with errno set: EFBIG if there are more files than
 * above or more than `most` bytes, EINVAL for another kind of file.
 */
int treehash_read(struct treehash *, int dirfd, uint64_t most);

#endif
