/* SPDX-License-Identifier: ISC */
/*
 * Memory for a real credential: memfd_secret where the kernel has it (not
 * even root reads it through /proc or ptrace), else mmap + mlock +
 * MADV_DONTDUMP + MADV_DONTFORK; guard pages on both sides either way; wiped
 * when freed.  Bytes go in from a descriptor and out through an iovec: no
 * copy is made elsewhere.
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

/* As much as keyd asks for; with less it takes short keys and no logins. */
#define SECRET_WHOLE (448U << 10)

/*
 * What secret_new would use on this kernel. Reserves everything that needs a
 * system call which the filter later forbids: call before confinement, once.
 * -1 with errno when neither kind can be had.
 */
int secret_prepare(size_t bytes);
enum secret_kind secret_kind(void);
/* Whether secret_prepare succeeded. */
bool secret_ready(void);

/* Room for cap bytes out of what was prepared. NULL with ENOMEM. */
struct secret *secret_new(size_t cap);
void secret_free(struct secret *);
/*
 * Reads fd (file or pipe) to its end straight into the secret. Trailing CR and
 * LF are dropped. 0 when the end was reached, 1 when more will come
 * (EAGAIN), -1: ENOBUFS (too long), ENODATA (empty), or of read().
 */
int secret_read_fd(struct secret *, int fd);
struct span secret_span(const struct secret *);
/* Scratch inside secret memory for composing: cap bytes, caller tracks. */
uint8_t *secret_bytes(struct secret *, size_t *cap);

#endif
