/* SPDX-License-Identifier: ISC */
/*
 * What a policy puts into views: the directories of its `allow` rules with
 * `within`, less what an earlier rule of it would refuse or ask for there.
 * Reads the policy file only as far as that; whether it is a policy at all,
 * policyd says.
 */
#ifndef MOUNTS_H
#define MOUNTS_H

#include "box/view.h"
#include "common/ipc/proto.h"
#include "common/span.h"
#include "config/servers.h"

#define MOUNTS_MAX 50000U /* as many as rules */

struct mount {
	char *rule;   /* its name, for messages */
	char *within; /* absolute, clean */
	char *real;   /* unless it allows: what that leads to, or NULL */
	char **servers; /* NULL: every one */
	bool allow, deny;
	bool reads, writes; /* roles that it speaks of */
};

struct mounts {
	struct mount *list;
	unsigned n, cap;
};

/*
 * From the text of a policy file. user_home: what "~/" means. What is not a
 * rule with a directory is passed over. -1: ENOMEM, or too many (E2BIG).
 */
int mounts_read(struct mounts *, struct span text, const char *user_home);
void mounts_free(struct mounts *);
/*
 * Adds the rows of one server to its view. What cannot be mounted is told to
 * `warn` (rule, directory, why) and left out: its calls are served one by one.
 */
int mounts_apply(const struct mounts *, struct view *, const struct view_how *,
    const struct server_def *,
    void (*warn)(const char *server, const struct mount *, const char *why));

/*
 * Adds rows that hide, of a directory which one call is given, what deny rules
 * keep back below it; from being written alone, where they say only that.
 * 1: what *rule denies is not there, and could be made.
 */
int mounts_deny(const struct mounts *, struct view *, const char *server,
    const char *path, bool writes, const char **rule);

#endif
