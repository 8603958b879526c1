/* SPDX-License-Identifier: ISC */
/* A git that runs, for the files that wait for it: git.c and batch.c. */
#ifndef REPO_GIT_RUN_H
#define REPO_GIT_RUN_H

#include "repo/git.h"

#define GIT_SAID 400U
#define GIT_TICK_MS 100

struct run {
	struct spawned sp;
	int in, out, err; /* our ends; -1: closed */
	char said[GIT_SAID];
	size_t nsaid;
	int status; /* exit status; -1: it runs */
};

/*
 * Start a git. `in`, which is taken, is its input; -1: a pipe from us. `words`
 * NULL: start `icgit batch`. Returns 0, or -1 with the fault set.
 */
int run_start(struct run *, const struct repo_env *, const struct repo_view *,
    const char *const *words, int in, struct fault *);
void run_end(struct run *);
/* Keep the beginning of this text as what git wrote to stderr. */
void run_keep(struct run *, struct span);
/* Read what it wrote to stderr, and notice its exit. */
void run_look(struct run *);
/* Write the first line that git said which is no mere warning. */
void run_reason(const struct run *, struct fault *);
/* Returns 0 if git may go on, or -1 with the fault set. */
int run_allowed(const struct repo_env *, struct fault *);

#endif
