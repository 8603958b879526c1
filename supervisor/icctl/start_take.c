/* SPDX-License-Identifier: ISC */
/*
 * Adds to a start what its command line does not have: a persona, the project's
 * file, a policy for the task, and entries that the person changed.
 */
#include "icctl/start_priv.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/workspace_option.h"
#include "icctl/policy/compile/command.h"
#include "icctl/refer.h"
#include "icctl/start_entries.h"
#include "icctl/start_persona.h"

void
start_push(struct start *st, const char *arg)
{
	wordlist_add(&st->args, arg);
}

int
start_push_option(struct start *st, const char *name, const char *value)
{
	struct fault fault;

	if (start_file_add(&st->file, name, value, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	start_push(st, name);
	if (value != NULL)
		start_push(st, value);
	return 0;
}

int
start_take_persona(const struct icctl *ctl, struct start *st, bool command)
{
	const char *name = start_file_get(&st->file, "persona"), *policy;
	struct persona *p = &st->persona;
	struct fault fault;

	if (name == NULL)
		return 0;
	if (!refer_persona(ctl, name))
		return -1;
	if (persona_load(p, ctl->home, name, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	if (st->workspace == NULL && !st->clone)
		st->workspace = p->workspace;
	if (st->profile == NULL && p->profile != NULL &&
	    start_push_option(st, "--profile", st->profile = p->profile) == -1)
		return -1;
	if (st->policy_task == NULL &&
	    start_file_get(&st->file, "policy") == NULL &&
	    (policy = start_persona_policy(p, name)) != NULL &&
	    start_push_option(st, "--policy", policy) == -1)
		return -1;
	if (st->agent != NULL || command)
		return 0;
	/* Its model is its agent's. */
	if (st->model == NULL && p->model != NULL &&
	    start_push_option(st, "--model", p->model) == -1)
		return -1;
	return p->agent == NULL ? 0
				: start_push_option(st, "--agent", p->agent);
}

int
start_take_workspace(struct start *st)
{
	const char *dir = st->workspace;

	if (dir != NULL && strcmp(dir, "none") == 0)
		return 0;
	if (dir == NULL && st->clone)
		return 0;
	if (dir == NULL) {
		if (getcwd(st->here, sizeof(st->here) - 1) == NULL) {
			warn("the current directory");
			return -1;
		}
		dir = workspace_option_dir(st->here);
	}
	if (st->project.read_only && workspace_option_len(dir) == strlen(dir)) {
		snprintf(st->narrowed, sizeof(st->narrowed), "%.4090s:ro", dir);
		dir = st->narrowed;
	}
	return start_push_option(st, "--workspace", dir);
}

/* Take what the project chooses, where the person has not chosen. */
static int
take_chosen(struct start *st, bool command)
{
	const struct project_use *u = &st->project;
	const char *runtime = start_file_get(&st->file, "runtime");

	if (u->agent != NULL && !command &&
	    start_file_get(&st->file, "agent") == NULL) {
		if (!names_have(&st->agents, u->agent)) {
			warnx("%s names the agent %s, and there is none of "
			      "this name (icctl agents)",
			    PROJECT_FILE, u->agent);
			return -1;
		}
		st->agent = u->agent;
		if (start_push_option(st, "--agent", u->agent) == -1)
			return -1;
		if (u->model != NULL &&
		    start_file_get(&st->file, "model") == NULL &&
		    start_push_option(st, "--model", u->model) == -1)
			return -1;
	}
	if (u->image != NULL && runtime != NULL &&
	    (strcmp(runtime, "docker") == 0 ||
		strcmp(runtime, "podman") == 0) &&
	    start_file_get(&st->file, "image") == NULL &&
	    start_push_option(st, "--image", u->image) == -1)
		return -1;
	return u->installs && start_file_get(&st->file, "home") == NULL
		   ? start_push_option(st, "--home", "project")
		   : 0;
}

int
start_take_project(struct icctl *ctl, struct start *st, bool command)
{
	const char *clone = start_file_get(&st->file, "clone");
	const char *dir = clone != NULL           ? clone
			  : st->workspace != NULL ? st->workspace
						  : ".";
	struct project_use *u = &st->project;
	char path[PATH_MAX];
	int status;

	snprintf(
	    path, sizeof(path), "%.*s", (int)workspace_option_len(dir), dir);
	u->workspace = path;
	u->config = st->config;
	u->profile = st->profile;
	u->runtime = start_file_get(&st->file, "runtime");
	u->clone = clone != NULL;
	/* icsupervisor says what is wrong with a directory that is none. */
	u->off = u->off || strcmp(dir, "none") == 0 || access(path, X_OK) == -1;
	u->may_ask = !ctl->json && !st->acp && isatty(STDIN_FILENO) &&
		     isatty(STDERR_FILENO);
	if ((status = project_take(ctl, u)) != 0)
		return status;
	if (take_chosen(st, command) == -1)
		return ICCTL_USAGE;
	if (u->settings == NULL)
		return st->config != NULL && start_push_option(st, "--config",
						 st->config) == -1
			   ? ICCTL_USAGE
			   : 0;
	start_push(st, "--config");
	start_push(st, st->settings);
	return 0;
}

/*
 * Compile with everything on standard error: standard output belongs to a
 * script or to an editor.
 */
static int
compile_aside(struct icctl *ctl, struct start *st)
{
	int out, status;

	if (fflush(stdout) == EOF ||
	    (out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) == -1 ||
	    dup2(STDERR_FILENO, STDOUT_FILENO) == -1) {
		warn("standard output");
		return ICCTL_FAILED;
	}
	status = compile_task(ctl, st->policy_task, st->policy_dir);
	(void)fflush(stdout);
	if (dup2(out, STDOUT_FILENO) == -1)
		status = ICCTL_FAILED;
	close(out);
	return status;
}

int
start_take_policy_task(struct icctl *ctl, struct start *st)
{
	int status;

	if (st->policy_task == NULL)
		return ICCTL_OK;
	if (start_file_get(&st->file, "policy") != NULL) {
		warnx("--policy-for-task and --policy exclude each other");
		return ICCTL_USAGE;
	}
	status = ctl->json || st->acp || st->detach
		     ? compile_aside(ctl, st)
		     : compile_task(ctl, st->policy_task, st->policy_dir);
	if (status != ICCTL_OK) {
		warnx("no session was started: the policy for this task is not "
		      "in force");
		return status;
	}
	return start_push_option(st, "--policy", st->policy_dir) == -1
		   ? ICCTL_FAILED
		   : ICCTL_OK;
}

void
start_take_approvals(const struct icctl *ctl, struct start *st)
{
	size_t n = start_entries(
	    ctl, st->config, st->profile, st->approved, START_APPROVED);

	for (size_t i = 0; i < n; i++) {
		start_push(st, "--approved-entry");
		start_push(st, st->approved[i]);
	}
}
