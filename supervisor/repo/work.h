/* SPDX-License-Identifier: ISC */
/*
 * Looks at the clone of a session: its branches, and its files as they are now.
 * The agent may have written anything into it, so that git sees nothing but the
 * clone, read-only, and a scratch directory of ours for new objects.
 */
#ifndef REPO_WORK_H
#define REPO_WORK_H

#include "repo/git.h"
#include "repo/record.h"

/* The largest file that is read, and the largest of those for git itself. */
#define REPO_MAX_FILE ((uint64_t)1 << 30)
#define REPO_MAX_RULES ((uint64_t)64 << 20)

/* The branch of what is in no commit, and of commits on no branch. */
#define REPO_UNSAVED "unsaved"
#define REPO_DETACHED "detached"
/* The newest stash: git stash apply takes this branch. */
#define REPO_STASH "stash"

struct repo_work {
	const struct repo_env *env;
	void (*say)(const char *line); /* tells the user; may be NULL */
	int session;                   /* the session's directory, borrowed */
	const char *dir;               /* its path */
	struct repo_record record;
	int sandbox, scratch, out, objects, lock;
	struct repo_view clone;
	/* Names of objects, asked for at once; "": there is none. */
	char head[REPO_OID], head_tree[REPO_OID], last_tree[REPO_OID];
	char stash[REPO_OID];
	char branch[REPO_NAME]; /* checked out; "": none */
	char tree[REPO_OID];    /* for the files as they are now */
	struct repo_refs all;   /* all branches, with or without new commits */
	/* The branches that have commits of the session. */
	struct repo_refs refs;
	int64_t commits[REPO_MAX_REFS]; /* those that were never pulled */
	bool ended;    /* set before: no agent can write the files any more */
	bool unsaved;  /* the files differ from head and from what was pulled */
	int64_t files; /* the number of those that differ */
	char known[REPO_MAX_PULLED + 1][REPO_OID]; /* commits that the clone
						      has and the user had */
	unsigned nknown;
};

/*
 * work_open.c: Begin, and keep others from doing the same. Returns 0, or -1
 * with the fault set; errno is ENOENT if the session has no clone.
 * repo_work_close() must follow in both cases.
 */
int repo_work_open(struct repo_work *, const struct repo_env *, int session,
    const char *dir, struct fault *);
void repo_work_close(struct repo_work *);
/* Find the branches and the state of the files. Returns 0, or -1. */
int repo_work_look(struct repo_work *, struct fault *);
/*
 * Make a commit of what is in none, beside every branch; it becomes the last
 * one in `refs`. Returns 0, or -1 with the fault set.
 */
int repo_work_commit(struct repo_work *, struct fault *);
/* Returns the number of commits to pull, without that of unsaved work. */
int64_t repo_work_commits(const struct repo_work *);

/* Put options in front of words of git that keep the clone in its place. */
struct wordlist;
#define REPO_WORK_WORDS 64U
void repo_work_words(const char *const *words, struct wordlist *all);
/* Run git on the clone. Returns its exit status, or -1 with the fault set. */
int repo_work_git(const struct repo_work *, struct span in, struct buf *out,
    struct fault *, const char *const *words);
#define REPO_WORK_GIT(w, in, out, fault, ...)                                  \
	repo_work_git((w), (in), (out), (fault),                               \
	    (const char *const[]){__VA_ARGS__, NULL})

/*
 * work_files.c: Write the tree of the files as they are now to `tree`. Returns
 * 0, or -1 with the fault set, also if they change meanwhile.
 */
int repo_work_snapshot(struct repo_work *, struct fault *);
/*
 * work_sizes.c: Add a pathspec to `leave` for each file of the work tree that
 * is too large, ending in a NUL, after telling the user. Returns 0, or -1 with
 * the fault set if git would have to read too much.
 */
int repo_work_sizes(struct repo_work *, struct buf *leave, struct fault *);
/* Count the files that differ in two trees. Returns 0, or -1. */
int repo_work_differ(const struct repo_work *, const char *a, const char *b,
    int64_t *n, struct fault *);
/*
 * work_pipes.c: Returns 0 if the git directory has no named pipe, or -1 with
 * the fault set.
 */
int repo_work_pipes(const struct repo_work *, struct fault *);

#endif
