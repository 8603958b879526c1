/* SPDX-License-Identifier: ISC */
/*
 * Internals of `icctl start`. start.c: the command line, and the start;
 * start_take.c: what a persona, a project and the person's settings add to it.
 */
#ifndef ICCTL_START_PRIV_H
#define ICCTL_START_PRIV_H

#include <limits.h>
#include <stdbool.h>

#include "common/wordlist.h"
#include "files/adapter/adapter.h"
#include "files/persona.h"
#include "icctl/icctl.h"
#include "icctl/project/project.h"
#include "icctl/start_serve.h"
#include "resume/start_file.h"

#define START_ARGS 256
#define START_APPROVED 32U

/* The command line of icsupervisor, while it is composed. */
struct start {
	const char *list[START_ARGS + 16 + 2 * START_APPROVED];
	struct wordlist args;
	const char *agent, *model, *workspace, *config, *profile;
	struct project_use project;
	char settings[PATH_MAX]; /* config.json of the session, or "" */
	const char *dir;         /* --session-dir, or NULL */
	struct persona persona;  /* its texts are among the options */
	char *approved[START_APPROVED];
	char here[PATH_MAX], narrowed[PATH_MAX];
	const char *policy_task; /* compile a policy for this task */
	char policy_dir[4096];
	const char *word; /* the task, if its agent was not named before it */
	bool no_input;    /* the agent reads nothing */
	bool task;        /* it has one */
	bool acp;         /* an editor reads and writes */
	bool detach;
	bool once;    /* its events are printed as lines */
	bool systemd; /* detached, as a unit of the user's manager */
	bool clone;
	start_serve *serve; /* runs the session; NULL: `icctl start` does */
	struct start_file file;   /* the options that start.json keeps */
	struct names agents, all; /* `all` has internal ones too */
};

/* start_take.c */
/* Add a word to the command line. */
void start_push(struct start *, const char *arg);
/* Push an option, and remember it for start.json. `value` NULL: a flag. */
int start_push_option(struct start *, const char *name, const char *value);
/*
 * Take what the persona names and the command line does not; the budget is
 * icsupervisor's. Returns 0, or -1 after it said why.
 */
int start_take_persona(const struct icctl *, struct start *, bool command);
/*
 * Use the current directory as the workspace, unless another one or none was
 * named.
 */
int start_take_workspace(struct start *);
/*
 * Take the project's file, if there is one. Its settings are written to the
 * session's directory once there is one. Returns 0, or an exit status.
 */
int start_take_project(struct icctl *, struct start *, bool command);
/*
 * Compile a policy for the task that was given, unless it is in force already.
 * Returns an exit status; the policy is one of the session's options.
 */
int start_take_policy_task(struct icctl *, struct start *);
/* Ask about servers whose entries the user has changed. */
void start_take_approvals(const struct icctl *, struct start *);

#endif
