/* SPDX-License-Identifier: ISC */
/*
 * Reads what a program of ours prints, without waiting for it longer than said.
 */
#ifndef READ_UNTIL_H
#define READ_UNTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read from `fd` until its end, until `cap` bytes have come, or for `ms`
 * milliseconds. `*len` receives the number of bytes. Returns true if the end
 * was reached.
 */
bool read_until(int fd, void *to, size_t cap, uint64_t ms, size_t *len);

#endif
