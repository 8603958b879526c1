/* SPDX-License-Identifier: ISC */
/* Logins of agents on this machine. */
#ifndef ICCTL_LOGIN_H
#define ICCTL_LOGIN_H

#include <stddef.h>

/*
 * Write the path of the file of a login, such as "claude-code". Returns NULL if
 * sessions can use it, or else its fault.
 */
const char *login_path(const char *name, char *path, size_t cap);

#endif
