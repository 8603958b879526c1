/* SPDX-License-Identifier: ISC */
/*
 * The hosts to which any forge may redirect for a file, which dialerd and
 * tunneld check without the other tables. Made by tables.py.
 */
#ifndef FORGE_HOSTS_H
#define FORGE_HOSTS_H

/* Names, and patterns "*.name"; ends with NULL. */
extern const char *const forge_hosts[];

#endif
