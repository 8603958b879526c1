/* SPDX-License-Identifier: ISC */
/*
 * Directories of the machine that the agent's sandbox sees besides /usr, all of
 * them read-only and at their own paths: those of /opt, /nix/store, Homebrew's,
 * and what the user names.
 */
#ifndef SYSTEM_SHOWN_H
#define SYSTEM_SHOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"
#include "box/system/survey.h"

struct shown {
	char *path;   /* in the sandbox and on the host */
	char *target; /* the text of a symbolic link; or NULL */
	int fd;       /* O_PATH */
	int dir;      /* the same, to look through it; -1: it is a file */
	bool named;   /* by the user, whom a refusal stops */
	bool refused;
	char *covers[SURVEY_MAX_COVERS]; /* paths below it */
	unsigned ncovers;
};

/*
 * Find the directories, and refuse those that the guards refuse. Returns 0, or
 * -1 with the fault set.
 */
int shown_find(struct fault *);
/*
 * Add parts of /var, as far as a sandbox may see them. Returns 0, or -1 with
 * the fault set.
 */
struct var_list;
int shown_var(const struct var_list *, struct fault *);
/* Returns the nth, or NULL. Refused ones are among them. */
struct shown *shown_nth(size_t n);
/*
 * Refuse one by name: it has `what` at `at`, a path below it, or "". Returns 0,
 * or -1 with the fault set if the user named it.
 */
int shown_refuse(
    struct shown *, const char *what, const char *at, struct fault *);
/*
 * Refuse those that hold a place in which an agent or a server can write, or
 * lie in one. Called once all views are known.
 */
int shown_judge(struct fault *);
/* Returns true if the path is, or lies in, one of them. */
bool shown_has(const char *path);

#endif
