/* SPDX-License-Identifier: ISC */
/* Files of signatures, which `icctl sign` writes. */
#ifndef ICCTL_SIGN_FILE_H
#define ICCTL_SIGN_FILE_H

#include <stddef.h>

/*
 * Read a file, "-" for standard input, as text with a NUL. Returns 0, or -1
 * once the reason was printed.
 */
int sign_file_read(const char *path, char *text, size_t cap);

#endif
