/* SPDX-License-Identifier: ISC */
/*
 * The machine's node.  The program of that name in PATH may be a script that
 * chooses a version, so it is asked once for its own file, the files that it
 * maps, and its options; afterwards that file alone is executed.
 */
#include "docker/agent/code_priv.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NODE_OLDEST 18
#define NODE_REPORT_MAX (64U << 10)
#define NODE_PATIENCE 10000 /* ms */

static const char node_question[] =
    "const {allowedNodeEnvironmentFlags: flags, execPath} = process;"
    "const out = ['version ' + process.versions.node, 'path ' + execPath];"
    "for (const f of ['--permission', '--experimental-permission'])"
    "  if (flags.has(f)) { out.push('permission ' + f); break; }"
    "if (flags.has('--disable-sigusr1')) out.push('sigusr1 1');"
    "const maps = require('fs').readFileSync('/proc/self/maps', 'utf8');"
    "for (const m of new Set(maps.match(/\\/.*$/gm))) out.push('map ' + m);"
    "console.log(out.join('\\n'));";

static struct {
	bool looked, found;
	struct code_node node;
	char why[PATH_MAX + 160];
} state;

static long long
node_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Find `node` in PATH.  Returns 0, or -1 if there is none. */
static int
node_search(char dst[PATH_MAX])
{
	const char *path = getenv("PATH"), *end;
	int n;

	if (path == NULL)
		return -1;
	for (; *path != '\0'; path = *end == ':' ? end + 1 : end) {
		end = strchrnul(path, ':');
		/* A relative directory could be the workspace. */
		if (*path != '/')
			continue;
		n = snprintf(
		    dst, PATH_MAX, "%.*s/node", (int)(end - path), path);
		if (n > 0 && n < PATH_MAX && access(dst, X_OK) == 0)
			return 0;
	}
	return -1;
}

static pid_t
node_spawn(const char *program, int out)
{
	char *argv[] = {(char *)(uintptr_t)program, "-e",
	    (char *)(uintptr_t)node_question, NULL};
	char path[PATH_MAX + 8], home[PATH_MAX + 8];
	char *envp[] = {path, home, NULL};
	posix_spawn_file_actions_t actions;
	const char *value;
	pid_t pid = -1;
	int error;

	value = getenv("PATH");
	snprintf(path, sizeof(path), "PATH=%s", value != NULL ? value : "");
	value = getenv("HOME");
	snprintf(home, sizeof(home), "HOME=%s", value != NULL ? value : "/");
	if ((error = posix_spawn_file_actions_init(&actions)) != 0)
		goto out;
	if ((error = posix_spawn_file_actions_addopen(
		 &actions, 0, "/dev/null", O_RDONLY, 0)) == 0 &&
	    (error = posix_spawn_file_actions_addopen(
		 &actions, 2, "/dev/null", O_WRONLY, 0)) == 0 &&
	    (error = posix_spawn_file_actions_adddup2(&actions, out, 1)) == 0)
		error = posix_spawn(&pid, program, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
out:
	errno = error;
	return error == 0 ? pid : -1;
}

/* Run the program and append its report. Returns 0, or -1 with errno set. */
static int
node_ask(const char *program, struct buf *report)
{
	long long end = node_now() + NODE_PATIENCE, left;
	struct pollfd p = {.events = POLLIN};
	int pipes[2], status = 0, r = -1;
	uint8_t *room;
	ssize_t n;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) == -1)
		return -1;
	pid = node_spawn(program, pipes[1]);
	close(pipes[1]);
	if (pid == -1)
		goto out;
	p.fd = pipes[0];
	for (;;) {
		errno = ETIMEDOUT;
		if ((left = end - node_now()) <= 0)
			break;
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		if ((room = buf_room(report, 4096)) == NULL)
			break;
		if ((n = read(pipes[0], room, 4096)) <= 0) {
			r = n == 0 ? 0 : -1;
			break;
		}
		buf_grow(report, (size_t)n);
	}
	if (r == -1)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	if (r == 0 && status != 0) {
		errno = EIO;
		r = -1;
	}
out:
	close(pipes[0]);
	return r;
}

static void
node_line(struct code_node *node, const char *line)
{
	if (strncmp(line, "version ", 8) == 0)
		node->major = (int)strtol(line + 8, NULL, 10);
	else if (strncmp(line, "path /", 6) == 0)
		strlcpy(node->path, line + 5, sizeof(node->path));
	else if (strncmp(line, "permission --", 13) == 0)
		strlcpy(node->permission, line + 11, sizeof(node->permission));
	else if (strcmp(line, "sigusr1 1") == 0)
		node->sigusr1 = true;
	else if (strncmp(line, "map /", 5) == 0 &&
		 node->nlibs < CODE_LIBS_MAX &&
		 (node->libs[node->nlibs] = strdup(line + 4)) != NULL)
		node->nlibs++;
}

static void
node_look(void)
{
	char program[PATH_MAX], *line, *save;
	struct buf report;

	buf_init(&report, NODE_REPORT_MAX);
	if (node_search(program) == -1) {
		strlcpy(state.why,
		    "There is no program `node` in PATH: install Node.js 18 or "
		    "newer.",
		    sizeof(state.why));
		goto out;
	}
	if (node_ask(program, &report) == -1) {
		snprintf(state.why, sizeof(state.why),
		    "%s could not be asked for its version: %s.", program,
		    strerror(errno));
		goto out;
	}
	buf_addc(&report, '\0');
	if (buf_check(&report) == -1)
		goto out;
	for (line = strtok_r((char *)(report.p + report.off), "\n", &save);
	     line != NULL; line = strtok_r(NULL, "\n", &save))
		node_line(&state.node, line);
	if (state.node.major < NODE_OLDEST || state.node.path[0] == '\0') {
		snprintf(state.why, sizeof(state.why),
		    "%s is version %d: install Node.js 18 or newer.", program,
		    state.node.major);
		goto out;
	}
	state.found = true;
out:
	buf_free(&report);
}

const struct code_node *
code_node_find(const char **why)
{
	if (!state.looked)
		node_look();
	state.looked = true;
	if (!state.found && why != NULL)
		*why = state.why;
	return state.found ? &state.node : NULL;
}

void
code_node_forget(void)
{
	for (size_t i = 0; i < state.node.nlibs; i++)
		free(state.node.libs[i]);
	memset(&state, 0, sizeof(state));
}
