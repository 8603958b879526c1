/* SPDX-License-Identifier: ISC */
/* Shared between the files of `icctl doctor`. */
#ifndef ICCTL_DOCTOR_H
#define ICCTL_DOCTOR_H

#include "icctl/icctl.h"

enum grade {
	GOOD,
	NOTE,
	BAD,
	WRONG, /* a mistake in a file of the user's */
	FAILED /* a provider that was tried */
};

typedef void doctor_check(
    enum grade, const char *what, const char *found, const char *remedy);

/*
 * Check the user's own files as a session would. Returns the number of
 * credentials that config.json names.
 */
unsigned doctor_files(struct icctl *, doctor_check *);
struct paths;
struct config;
/* agents.c: the agents that are installed; returns their number. */
unsigned doctor_agents(
    const struct paths *, const struct config *, doctor_check *);
/* Returns the names of those, "claude-code, codex", or "" if there are none. */
const char *doctor_agents_named(void);
/* constitution.c: constitutions that are not in force. */
void doctor_constitutions(
    const struct paths *, const struct config *, doctor_check *);
/* definitions.c: tools that running sessions leave out. */
void doctor_definitions(const struct icctl *, doctor_check *);
/* toolchains.c: toolchains in the home, and whether agents see them. */
void doctor_toolchains(
    const struct paths *, const struct config *, doctor_check *);
/* browsers.c: browsers that agents can run, and what these are told. */
void doctor_browsers(doctor_check *);
/* cores.c: a handler of core dumps that sandboxes would reach. */
void doctor_cores(doctor_check *);
/* services.c: what listens at the ports of "services", and what it can do. */
void doctor_services(const struct config *, doctor_check *);
/* Disk and terminal. */
void doctor_place(const struct icctl *, doctor_check *);
/* trial.c: Run a session with an empty workspace, and report the result. */
void doctor_trial(doctor_check *);
#define TRIAL_SAYS 16384U
struct box_trial {
	/* icsupervisor's further arguments; the list ends with NULL. */
	const char *const *words;
	bool engine; /* it runs in a container of the user's engine */
	bool keyed;  /* its agent has a provider, and a key that is none */
	bool prints; /* `text` has its standard output as well */
	/* A command that shows all of a failure, or NULL: icctl start. */
	const char *shown_by;
	/* Called when it has ended, before its directory is removed, or NULL.
	 */
	void (*look)(struct box_trial *, const char *dir);
	void *arg;
	int status; /* as a shell has it, or -1 */
	char text[TRIAL_SAYS];
};
/* Run it. Returns -1 after a check said that this is impossible here. */
int trial_run(struct box_trial *, doctor_check *);
/* Returns true if it ended with 0. */
bool trial_good(const struct box_trial *);
/* Get the last words of it, and what to do. */
void trial_why(struct box_trial *, const char **found, const char **remedy);
/*
 * attack.c: Make the break-out test in every runtime that this machine
 * has, print every attempt, and add them to `list`. Containers are of `image`,
 * or NULL.
 */
void doctor_attack(
    doctor_check *, const char *image, bool json, json_object *list);
/* Returns true if a program of that name is in PATH. */
bool doctor_has(const char *program);
/* Returns true for the line of icsupervisor's that every session ends with. */
bool doctor_is_log_end(const char *line);
/*
 * Returns the last message of icsupervisor in `text`, which is changed, without
 * the program's name: the reason why no session started.
 */
const char *doctor_last_said(char *text);
/*
 * api.c: Ask each provider whether it accepts its credential, and add a
 * description of each answer to `list`. Returns 0, or -1 if config.json cannot
 * be read.
 */
int doctor_api(const struct icctl *, doctor_check *, json_object *list);
/* Ask one provider, and report it. */
enum icctl_api {
	ICCTL_API_WORKS,
	ICCTL_API_REFUSED,
	ICCTL_API_UNCLEAR
};
enum icctl_api doctor_api_one(
    const struct icctl *, doctor_check *, const char *provider);
/*
 * session.c: Find servers' programs and open their views, as a start
 * does with the user's files.
 */
void doctor_session(doctor_check *);
/*
 * commands.c: Name variables that are set here and that commands of config.json
 * do not get.
 */
void doctor_commands(
    const struct config *, const char *user_home, doctor_check *);
/* Check the policy in force, and those in IRONCURTAIN_HOME/policies. */
void doctor_policies(struct icctl *, doctor_check *);
/* remote.c: remote MCP servers, and which of them needs a login. */
void doctor_remote(doctor_check *);
/* jobs.c: Name jobs that failed, were skipped, or are overdue. */
void doctor_jobs(const struct icctl *, doctor_check *);
/* Check the corporate proxy that a session started here would use, if any. */
void doctor_proxy(const struct icctl *, doctor_check *);

#endif
