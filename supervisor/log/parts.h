/* SPDX-License-Identifier: ISC */
/*
 * The files of a session's audit log. audit.jsonl is always the newest; older
 * ones are audit.1.jsonl, audit.2.jsonl and so on, and the first record of each
 * file continues the chain of the file before. A part is numbered from 1, and
 * keeps its number when it becomes an older one.
 */
#ifndef AUDITPARTS_H
#define AUDITPARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

#define AUDITPARTS_NAME 24
#define AUDITPARTS_MAX 99999U

/*
 * Count the older files. Returns 0, or -1 with errno set: ENODATA if the file
 * of part `*older` is missing, although there is one with a higher number.
 */
int auditparts_count(int dirfd, unsigned *older);
/* Returns the file name of a part, written to `name`. */
const char *auditparts_name(
    unsigned part, unsigned older, char name[AUDITPARTS_NAME]);
/*
 * Map a file of the log. Returns 0 (with nothing mapped if the file is empty),
 * or -1 with errno set: EINVAL if it is no plain file.
 */
int auditparts_map(int dirfd, const char *name, struct span *all);
void auditparts_unmap(struct span *all);
/*
 * Read the end of the log, at most `max` bytes of it, which may come from
 * several files. Sets `*cut` if there is more. Returns it with a NUL behind it,
 * for the caller to free, or NULL with errno set.
 */
char *auditparts_tail(int dirfd, size_t max, size_t *len, bool *cut);
/* Returns true if the log has at least one byte. */
bool auditparts_any(int dirfd);
/* Returns the bytes of disk that the log takes. */
uint64_t auditparts_blocks(int dirfd);

/*
 * Begin another file: make it, make the present one an older one, and give the
 * other its name. `fds` are two descriptions of the new one, for appending;
 * `reserve` bytes of disk are kept for it. Returns 0 with `*older` one more, or
 * -1 with errno set and the log as it was.
 */
int auditparts_rotate(
    int dirfd, unsigned *older, uint64_t reserve, int fds[2]);
/*
 * A crash may leave an empty audit.jsonl, or none, beside older files: make the
 * last of those the newest again, so that the log's end is in it. Nobody may
 * append to the log meanwhile. Returns 0, or -1 with errno set.
 */
int auditparts_settle(int dirfd);
/* Returns true if there is nothing like that to do. */
bool auditparts_settled(int dirfd);

#endif
