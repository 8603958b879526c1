/* SPDX-License-Identifier: ISC */
/*
 * Runs git in a sandbox of its own: behind icgit, which runs nothing that a
 * repository names, without network, and with only the directories that the
 * caller binds. Whatever git prints is bounded, and git is bounded in time.
 */
#ifndef REPO_GIT_H
#define REPO_GIT_H

#include "box/box.h"

#define REPO_MAX_BINDS 48U
/* As much as may go from one repository to another, and in which time. */
#define REPO_MAX_BYTES ((uint64_t)2 << 30)
#define REPO_MAX_SECONDS 600U

/* The caller's side: how long git may take, and what is told meanwhile. */
struct repo_env {
	const char *libexecdir;
	uint64_t until;        /* clock_mono_us() */
	bool (*stopped)(void); /* the user wants to end this; NULL: never */
	void (*progress)(uint64_t bytes); /* or NULL */
};

/* A directory, a file with this text, or a link that exists in one view only. */
struct repo_made {
	const char *dest;
	const char *text; /* or NULL */
	const char *link; /* its target; or NULL */
};

/* The directories and files that one git sees. */
struct repo_view {
	struct {
		int fd; /* borrowed */
		char *dest;
		bool writable;
	} binds[REPO_MAX_BINDS];
	unsigned n;
	const char *dir;      /* its working directory, in the sandbox */
	const char *identity; /* configuration for commits; NULL: none */
	/* Paths in the sandbox; NULL: those of the repository. */
	const char *store;   /* for new objects */
	const char *objects; /* further objects */
	const char *index;
	/* Made before anything is bound; the last one has no `dest`; or NULL. */
	const struct repo_made *made;
	/* A sandbox for all of its gits (batch.h); NULL: one for each. */
	struct repo_batch *batch;
	/* repo_batch_git(), where there is a batch. */
	int (*batch_git)(const struct repo_env *, const struct repo_view *,
	    const char *const *words, struct span in, struct buf *out,
	    struct fault *);
	/* Words before git's own, and "NAME", "VALUE", ..., NULL; or NULL. */
	const char *const *before, *const *env;
};

/* Bind a directory or a file. Returns 0, or -1 with errno set. */
int repo_view_add(struct repo_view *, int fd, const char *dest, bool writable);
void repo_view_free(struct repo_view *);

/*
 * Run git with these words and this input. Its output goes to `out`, which may
 * be NULL. Returns git's exit status, or -1 with the fault set. For a status
 * other than 0, the fault has the first line that git wrote to stderr, escaped.
 */
int repo_git(const struct repo_env *, const struct repo_view *,
    const char *const *words, struct span in, struct buf *out, struct fault *);
#define REPO_GIT(env, view, in, out, fault, ...)                               \
	repo_git((env), (view), (const char *const[]){__VA_ARGS__, NULL},      \
	    (in), (out), (fault))

/* Returns the output of a git without the newline at its end. */
struct span repo_line(const struct buf *out);

/*
 * Start a git that the caller waits for, without input. Its messages go to
 * `err`, which is borrowed. Returns 0, or -1 with the fault set.
 */
int repo_git_start(const struct repo_env *, const struct repo_view *,
    const char *const *words, int err, struct spawned *, struct fault *);

/*
 * Run two gits, the first of which gets `in` and writes into the second one.
 * `objects` limits the number of objects of the pack that passes; 0: no limit.
 * Returns 0 if both succeed, or -1 with the fault set.
 */
struct repo_flow {
	const struct repo_view *from, *to;
	const char *const *from_words, *const *to_words;
	struct span in;
	uint32_t objects;
};
int repo_pump(
    const struct repo_env *, const struct repo_flow *, struct fault *);

#endif
