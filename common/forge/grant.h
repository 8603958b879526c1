/* SPDX-License-Identifier: ISC */
/*
 * Reads the settings of a destination of the kind forge. icsupervisor sends the
 * same text to mitmd, policyd and keyd, and each reads it for itself.
 *
 * {"name": "shop", "kind": "forge", "forge": "github", "hosts": [...],
 *  "repositories": ["me/shop"], "read": "allow", "write": "ask", "run": "ask",
 *  "merge": "deny", "release": "deny", ...}
 */
#ifndef FORGE_GRANT_H
#define FORGE_GRANT_H

#include "common/forge/forge.h"

/* The destination's name, its host and what it grants; all in the pool. */
struct forge_settings {
	struct span name, host;
	struct forge_grant grant;
};

/*
 * Read the members named above; the others are not looked at. Texts point into
 * the pool. Returns 0, or -1 with "where: what is wrong" in `fail`.
 */
int forge_settings_read(struct value_pool *, const struct value *file,
    struct forge_settings *, struct forge_fail *);
/*
 * Read a word. Returns 0, or -1 with EINVAL; a class that changes something is
 * never "allow".
 */
int forge_word_find(enum forge_class, struct span, enum forge_word *);

#endif
