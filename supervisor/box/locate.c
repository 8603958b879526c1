/* SPDX-License-Identifier: ISC */
/*
 * Has ic-locate find the programs of MCP servers and agents, and the least that
 * must be bound for them to run. Callers refuse trees that contain the
 * workspace.
 */
#include "box/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/helper.h"
#include "base/report.h"
#include "box/locate_job.h"

/* The programs that are asked about; the next report is about `ask`. */
static struct {
	struct locate_ask *ask, *end;
	size_t nwords;
} locate;

static int
locate_bad(struct fault *fault)
{
	return fault_set(
	    fault, LOCATE_PROGRAM_NAME ": the report is not valid");
}

static int
locate_copy(const char *text, char **to, struct fault *fault)
{
	if (*to != NULL)
		return locate_bad(fault);
	*to = strdup(text);
	return *to == NULL ? fault_errno(fault, LOCATE_PROGRAM_NAME) : 0;
}

/* Take a word of argv[], which always ends in NULL. */
static int
locate_word(struct program *p, const char *text, struct fault *fault)
{
	char **grown;

	if (locate.nwords == LOCATE_MAX_WORDS)
		return locate_bad(fault);
	grown = reallocarray(p->argv, locate.nwords + 2, sizeof(*grown));
	if (grown == NULL)
		return fault_errno(fault, LOCATE_PROGRAM_NAME);
	p->argv = grown;
	grown[locate.nwords] = grown[locate.nwords + 1] = NULL;
	return locate_copy(text, &grown[locate.nwords++], fault);
}

/* The reports about a program are over; it was not found if there is a `why`.
 */
static int
locate_next(const char *why, struct fault *fault)
{
	struct program *p = locate.ask->program;

	if (why != NULL)
		program_free(p);
	else if (p->path == NULL || p->argv == NULL)
		return locate_bad(fault);
	(void)strlcpy(
	    locate.ask->why, why == NULL ? "" : why, sizeof(locate.ask->why));
	locate.nwords = 0;
	locate.ask++;
	return 0;
}

static int
locate_take(int letter, const char *text, struct fault *fault)
{
	struct program *p;

	if (locate.ask == locate.end)
		return locate_bad(fault);
	p = locate.ask->program;
	switch (letter) {
	case LOCATE_PATH:
		if (text[0] != '/')
			return locate_bad(fault);
		return locate_copy(text, &p->path, fault);
	case LOCATE_WORD:
		return locate_word(p, text, fault);
	case LOCATE_TREE:
		if (text[0] != '/' || p->ntrees == LOCATE_MAX_TREES)
			return locate_bad(fault);
		return locate_copy(text, &p->trees[p->ntrees++], fault);
	case LOCATE_OURS:
		p->ours = true;
		return 0;
	case LOCATE_CODE:
		if (strlen(text) < 68 || strlen(text) > 400)
			return locate_bad(fault);
		return locate_copy(text, &p->code, fault);
	case LOCATE_FOUND:
		return locate_next(NULL, fault);
	case LOCATE_WHY:
		return locate_next(text, fault);
	default:
		return locate_bad(fault);
	}
}

static void
locate_tell(struct buf *job, const struct locate *l,
    const struct locate_ask *asks, size_t n)
{
	report_add(job, LOCATE_HOME, l->paths->user_home);
	report_add(job, LOCATE_BIN, l->paths->bindir);
	if (l->path_env != NULL)
		report_add(job, LOCATE_ENV, l->path_env);
	if (l->base != NULL)
		report_add(job, LOCATE_BASE, l->base);
	for (size_t i = 0; i < n; i++) {
		report_add(job, asks[i].plain ? LOCATE_FILE : LOCATE_COMMAND,
		    asks[i].command);
		for (char *const *a = asks[i].args; *a != NULL; a++)
			report_add(job, LOCATE_ARG, *a);
	}
}

int
locate_programs(const struct locate *l, struct locate_ask *asks, size_t n,
    struct fault *fault)
{
	static char *const envp[] = {NULL};
	struct buf job;
	struct helper h = {.libexecdir = l->paths->libexecdir,
	    .name = LOCATE_PROGRAM_NAME,
	    .task = "start",
	    .job = &job,
	    .envp = envp,
	    .take = locate_take,
	    .sp = SPAWNED_INIT,
	    .out = -1};
	int rv = 0;

	for (size_t i = 0; i < n; i++)
		memset(asks[i].program, 0, sizeof(*asks[i].program));
	if (n == 0)
		return 0;
	locate.ask = asks;
	locate.end = asks + n;
	locate.nwords = 0;
	buf_init(&job, LOCATE_JOB);
	locate_tell(&job, l, asks, n);
	if (buf_check(&job) == -1)
		rv = fault_errno(fault, LOCATE_PROGRAM_NAME);
	else if (helper_run(&h, LOCATE_MS, fault) == -1 ||
		 (locate.ask != locate.end && locate_bad(fault) == -1))
		rv = -1;
	buf_free(&job);
	for (size_t i = 0; rv == -1 && i < n; i++)
		program_free(asks[i].program);
	return rv;
}

int
locate_agent(const struct locate *l, const char *command, struct program *p,
    char **tree, char **mount, char **inside, struct fault *fault)
{
	static char *const none[] = {NULL};
	struct locate_ask ask = {
	    .command = command, .args = none, .plain = true, .program = p};
	const char *base;
	size_t n;
	int rv = 0;

	if (locate_programs(l, &ask, 1, fault) == -1)
		return -1;
	if (ask.why[0] != '\0')
		return fault_set(fault, "%s", ask.why);
	*tree = *mount = *inside = NULL;
	if (locate_is_system(p->path)) {
		*inside = strdup(p->path);
		return *inside == NULL ? fault_errno(fault, "%s", command) : 0;
	}
	/*
	 * A tree is bound at /opt/agent, packages below
	 * /opt/agent/node_modules, where they look for their dependencies, and
	 * a single file under its name.
	 */
	*tree = strdup(p->trees[0]);
	n = strlen(p->trees[0]);
	base = strrchr(p->trees[0], '/') + 1;
	if (strcmp(base, "node_modules") == 0 || strlen(p->path) == n)
		rv = asprintf(mount, "/opt/agent/%s", base);
	else
		*mount = strdup("/opt/agent");
	if (rv == -1 || *tree == NULL || *mount == NULL ||
	    strncmp(p->path, p->trees[0], n) != 0 ||
	    asprintf(inside, "%s%s", *mount, p->path + n) == -1)
		return fault_errno(fault, "%s", command);
	return 0;
}
