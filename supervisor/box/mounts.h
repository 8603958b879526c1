/* SPDX-License-Identifier: ISC */
/*
 * The mounts that a policy adds to views: the directories of its `allow` rules
 * with `within`, without the parts that an earlier rule denies or escalates.
 * Reads only this from the policy file; policyd decides whether the file is
 * valid.
 */
#ifndef MOUNTS_H
#define MOUNTS_H

#include "box/view.h"
#include "common/ipc/proto.h"
#include "common/span.h"
#include "files/servers.h"

#define MOUNTS_MAX 50000U /* the maximum number of rules */

struct mount {
	char *rule;     /* name, for messages */
	char *within;   /* absolute, without . and .. */
	char *real;     /* rules that do not allow: `within` with links
			   resolved, or NULL */
	char **servers; /* NULL: all */
	bool allow, deny;
	bool reads, writes; /* the kinds of roles that the rule is about */
};

struct mounts {
	struct mount *list;
	unsigned n, cap;
};

/*
 * Read the mounts from the text of a policy file. `user_home` replaces "~/".
 * Skips everything that is not a rule with a directory. Returns 0, or -1 with
 * errno ENOMEM or E2BIG (too many).
 */
int mounts_read(struct mounts *, struct span text, const char *user_home);
void mounts_free(struct mounts *);
/*
 * Add rows to one server's view. A directory that cannot be mounted is reported
 * to `warn` and left out; calls for it are then served by an instance each.
 */
void mounts_apply(const struct mounts *, struct view *, const struct view_how *,
    const struct server_def *,
    void (*warn)(const char *server, const struct mount *, const char *why));

/*
 * Add rows that hide the parts of a directory, given to one call, that deny
 * rules withhold; parts that they withhold from writing only become read-only.
 * Returns 0, -1 with errno, or 1 if a part does not exist and could be created;
 * *rule is the rule then.
 */
int mounts_deny(const struct mounts *, struct view *, const char *server,
    const char *path, bool writes, const char **rule);

#endif
