/* SPDX-License-Identifier: ISC */
/* The errand, as icsupervisor has told it, and how ic-repo answers. */
#ifndef WORKERS_REPO_TOLD_H
#define WORKERS_REPO_TOLD_H

#include "host/places.h"
#include "repo/errand.h"
#include "repo/git.h"

#define ERRAND_MAX_LIST 512U

struct errand_list {
	const char *list[ERRAND_MAX_LIST];
	size_t n;
};

struct errand {
	/* Texts, which are NULL if they were not told. */
	const char *libexecdir, *home, *session_path, *workspace, *named,
	    *clone, *url, *ref, *ignore, *inside, *path;
	bool changes, dirty, bwrap, gitfile, far;
	struct errand_list with, destinations, shown;
	/* ic-serve's */
	const char *limits, *tool, *engine;
	struct errand_list services, before, labels;
	struct places places; /* agents write there */
};
extern struct errand errand;

/* Read what icsupervisor has written; the texts stay in memory. */
void errand_read(void);

void errand_say(enum errand_report, const char *, ...)
    __attribute__((format(printf, 2, 3)));
#define errand_warn(...) errand_say(ERRAND_WARN, __VA_ARGS__)
#define errand_note(...) errand_say(ERRAND_NOTE, __VA_ARGS__)
/* Report a text, unless it is NULL. */
void errand_report(enum errand_report, const char *text);
/* Returns true if icsupervisor wants this to end. */
bool errand_stopped(void);
/* Open the session's sandbox/. Returns it, or -1 with the fault set. */
int errand_sandbox(struct fault *);
/* Returns true if the sandbox has the path of the host. */
bool errand_shown(const char *path);
/* Returns true if config.json has a git destination with this host. */
bool errand_listed(struct span host);

#endif
