/* SPDX-License-Identifier: ISC */
/*
 * The kinds of sandbox in which an agent can run, as --runtime names them.
 * box/runtime.c calls these functions and knows no other difference.
 */
#ifndef BOX_KIND_H
#define BOX_KIND_H

#include <sys/types.h>

#include <stdbool.h>

#include "base/fault.h"

struct box_kind {
	/* Find the agent's command: its name in the sandbox, allocated. */
	int (*find)(char **inside, struct fault *);
	/*
	 * Fill env[ORIENT_MAX_ENV + 1], zeroed by the caller, with the agent's
	 * environment.
	 */
	int (*environment)(char **env, struct fault *);
	/*
	 * Find out whether such a sandbox can be made. Called before anything
	 * of the session runs, when it is known what the agent can write.
	 */
	int (*check)(struct fault *);
	/*
	 * Start argv in a new sandbox. The process that ends with it becomes
	 * sup.agent, and its status is that of argv. Standard error of whatever
	 * makes it goes to `log`.
	 */
	int (*start)(
	    char *const *argv, char *const *env, int log, struct fault *);
	/* Returns true if that process on the host is the sandbox's first. */
	bool (*is_first)(pid_t);
	/* sup.agent has ended: returns true if argv had been started. */
	bool (*made)(int code, int status);
	/* It had not: find the reason and a remedy. `how`: how it ended. */
	void (*unmade)(const char *how, struct fault *why, const char **remedy);
	/* Kill everything in the sandbox; called at any time. */
	void (*stop)(void);
	/* sup.agent has been reaped: leave nothing behind. */
	void (*remove)(void);
};

extern const struct box_kind box_bwrap_kind, box_engine_kind;

#endif
