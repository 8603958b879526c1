/* SPDX-License-Identifier: ISC */
/*
 * Compares what a call touches with the person's own message, before any model
 * is asked. Each thing must be named in the message, or lie below one that is.
 * No memory, no state.
 *
 *   path    /srv/a/b or ~/a/b, exactly; or below such a directory, unless that
 *           is /, the home directory or one above it, or has one component only
 *   URL     https://host/path, exactly; or below it, without query
 *   remote  the same, with or without .git; github.com/owner/repository and the
 *           like for well-known hosts; or user@host:path, exactly
 *   e-mail  the address, without regard to case
 *   other   the word, exactly; alone it is not enough
 *
 * What lies below is refused if a part of its name begins with a dot, looks
 * like that of a secret, or is long.
 */
#ifndef MENTION_H
#define MENTION_H

#include <stdbool.h>

#include "common/buf.h"

#define MENTION_MAX_TEXT 200U /* per value, and per name in the message */
#define MENTION_MAX_THINGS 32U
#define MENTION_MAX_BELOW 8U /* levels */

struct mention_thing {
	struct span role;  /* as in tool-annotations.json */
	struct span value; /* as it will be sent */
	struct span host;  /* the same path on this machine, or NULL */
	bool program;      /* an executable file is there */
};

/*
 * Returns NULL if the message names everything, with a line about each thing in
 * `lines`, none of whose texts is the agent's own; or the reason why not, for
 * people.
 */
const char *mention_check(struct span message, struct span home,
    const struct mention_thing *, size_t n, struct buf *lines);

#endif
