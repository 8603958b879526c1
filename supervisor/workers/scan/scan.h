/* SPDX-License-Identifier: ISC */
/* Parts of ic-scan (start/scan.h). */
#ifndef WORKERS_SCAN_H
#define WORKERS_SCAN_H

#include <stddef.h>

#define SCAN_MAX_LIST 128U

struct scan_list {
	const char *list[SCAN_MAX_LIST];
	size_t n;
};

/* say.c: Report a line for the person. */
void scan_warn(const char *, ...) __attribute__((format(printf, 1, 2)));

/*
 * secrets.c: Name files of the workspace in which a key or a password lies, but
 * those that the sandbox has empty.
 */
void secrets_say(int workspace, const struct scan_list *covers);

/*
 * lost.c: Name the settings of the workspace and of the user's home (a
 * directory each, or -1) that the agent does not have here: of the entries of
 * its "leftOut", those that are there. An MCP server that the session has is
 * not one of them.
 */
void lost_say(const char *agent, int workspace, int home,
    const struct scan_list *entries, const struct scan_list *servers);

#endif
