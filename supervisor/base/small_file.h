/* SPDX-License-Identifier: ISC */
/* Reads small files, above all those of the kernel in /proc and in cgroups. */
#ifndef SMALL_FILE_H
#define SMALL_FILE_H

#include <sys/types.h>

#include <stddef.h>

/*
 * Read the file `path`, below `dirfd` unless it is absolute, into `text`, which
 * has room for `cap` bytes and is NUL-terminated in every case; what does not
 * fit is left out. No link is followed in the last part of `path`. One read(2)
 * does it: the kernel composes its files anew for each, and with room for a
 * page it cuts no line and no number of a list. Returns the number of bytes,
 * or -1 with errno set.
 */
ssize_t small_file_read(int dirfd, const char *path, char *text, size_t cap);

#endif
