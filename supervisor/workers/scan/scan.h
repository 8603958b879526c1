/* SPDX-License-Identifier: ISC */
/* Parts of ic-scan (box/system/scan.h). */
#ifndef WORKERS_SCAN_H
#define WORKERS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/span.h"

#define SCAN_MAX_LIST 128U

struct scan_list {
	const char *list[SCAN_MAX_LIST];
	size_t n;
};

/* say.c: Report a line for the person. */
void scan_warn(const char *, ...) __attribute__((format(printf, 1, 2)));
/*
 * Write a name from outside as a person may see it, between quotes of JSON if
 * `quoted` (common/visible.h).
 */
const char *scan_vis(struct span, bool quoted, char *dst, size_t cap);

/*
 * secrets.c: Name files of the workspace in which a key or a password lies, but
 * those that the sandbox has empty.
 */
void secrets_say(int workspace, const struct scan_list *covers);

/* A directory that this program can read. */
struct scan_tree {
	const char *path;
	int fd; /* or -1 */
};

/*
 * links.c: Replace an absolute, clean path by the one to which the links in it
 * lead, as far as they lie in the tree. Returns false if nothing is there, or
 * the path becomes longer than `cap`.
 */
bool links_end(const struct scan_tree *, char *path, size_t cap);

struct scan_path {
	struct scan_tree home;
	struct scan_list unseen; /* directories of PATH */
	struct scan_list real;   /* the same, without links */
	struct scan_list seen;   /* others of PATH, without links */
	struct scan_list shown;  /* places that the sandbox sees */
	struct scan_list refused; /* nothing that they meet can be shown */
};

/*
 * path.c: Name directories of PATH, and programs in them, that the sandbox does
 * not see, and what would show them.
 */
void path_say(const struct scan_path *);

/*
 * lost.c: Name the settings of the workspace and of the user's home (a
 * directory each, or -1) that the agent does not have here: of the entries of
 * its "leftOut", those that are there. An MCP server that the session has is
 * not one of them.
 */
void lost_say(const char *agent, int workspace, int home,
    const struct scan_list *entries, const struct scan_list *servers);

#endif
