/* SPDX-License-Identifier: ISC */
/*
 * Memory for a real credential: memfd_secret where the kernel has it, which not
 * even root can read through /proc or ptrace, else mmap, mlock and
 * MADV_DONTDUMP.  Either kind has guard pages on both sides, is not inherited
 * by fork and is wiped when freed.  Bytes are read into it from a descriptor
 * and sent from it through an iovec; no copy is made elsewhere.
 */
#ifndef SECRET_H
#define SECRET_H

#include <sys/uio.h>

#include <stdbool.h>

#include "common/span.h"

enum secret_kind {
	SECRET_MEMFD,	/* memfd_secret */
	SECRET_LOCKED,	/* mlock'd anonymous memory */
};

struct secret;

/*
 * The arena that keyd asks for; with less it accepts short keys and no logins.
 */
#define SECRET_WHOLE (448U << 10)

/*
 * Make the arena; `bytes` is the sum of all secrets.  Call once, before
 * confinement: it needs system calls that the filter later forbids.  Returns 0,
 * or -1 with errno set if neither kind of memory is available.
 */
int secret_prepare(size_t bytes);
enum secret_kind secret_kind(void);
/* Returns true if secret_prepare() has succeeded. */
bool secret_ready(void);

/* Allocate `cap` bytes from the arena.  Returns NULL with errno ENOMEM. */
struct secret *secret_new(size_t cap);
void secret_free(struct secret *);
/*
 * Read `fd` (a file or pipe) to its end, directly into the secret, and drop
 * trailing CR and LF.  Returns 0 at the end of file, 1 if more may come
 * (EAGAIN), or -1 with errno ENOBUFS (too long), ENODATA (empty) or the error
 * of read().
 */
int secret_read_fd(struct secret *, int fd);
struct span secret_span(const struct secret *);
/*
 * Returns the `cap` bytes of the secret, to compose in; the caller keeps track
 * of the length.
 */
uint8_t *secret_bytes(struct secret *, size_t *cap);
/* Returns the number of bytes that were asked for. */
size_t secret_cap(const struct secret *);

#endif
