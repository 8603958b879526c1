/* SPDX-License-Identifier: ISC */
/*
 * The built-in agent in a container: an image has neither it nor the libraries
 * that it was linked with. Its program for containers looks for its loader and
 * its libraries in one directory (docker/agent/meson.build); this machine's own
 * ones are mounted there, read-only, so that it runs in every image.
 */
#include "box/containers/engine.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_until.h"
#include "core/sup.h"

#define OWN_PROGRAM "ic-agent"
#define OWN_INSIDE "/opt/ironcurtain/bin/" OWN_PROGRAM
#define OWN_LIBRARIES "/opt/ironcurtain/lib"
#define OWN_MS 10000
#define OWN_TEXT 16384U
#define OWN_MAX 80U

static struct {
	char *program; /* this machine's */
	char *boxed;   /* the one for containers */
	struct {
		char *path; /* on the host */
		char *name; /* in OWN_LIBRARIES */
	} libraries[OWN_MAX];
	size_t n;
} own_env;

/* Have the program's own loader list its libraries. */
static int
own_trace(char text[OWN_TEXT], struct fault *fault)
{
	char *const argv[] = {own_env.program, NULL};
	char *const envp[] = {
	    (char *)(uintptr_t) "LD_TRACE_LOADED_OBJECTS=1", NULL};
	struct spawn s = {.path = own_env.program,
	    .argv = argv,
	    .envp = envp,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true};
	struct spawned sp = SPAWNED_INIT;
	int ends[2], code, status, rv;
	size_t len = 0;

	if (pipe2(ends, O_CLOEXEC) == -1)
		return fault_errno(fault, "%s", own_env.program);
	s.fds[1] = ends[1];
	rv = spawn_start(&s, &sp);
	if (rv == 0)
		rv = spawn_check(&sp);
	close(ends[1]);
	if (rv == -1)
		fault_errno(fault, "%s", own_env.program);
	else if (!read_until(
		     ends[0], text, OWN_TEXT - 1, OWN_MS, &len)) {
		rv = fault_set(fault, "%s: its libraries cannot be listed",
		    own_env.program);
		(void)kill(sp.pid, SIGKILL);
	}
	text[len] = '\0';
	close(ends[0]);
	if (sp.pidfd == -1)
		return rv;
	if (spawn_reap(sp.pidfd, true, &code, &status) != 1 ||
	    code != CLD_EXITED || status != 0)
		rv = rv == -1 ? -1
			      : fault_set(fault,
				    "%s: its libraries cannot be listed",
				    own_env.program);
	close(sp.pidfd);
	return rv;
}

/*
 * Take a line: "NAME => PATH (0x...)", "PATH (0x...)" for the loader, or "NAME
 * (0x...)" for the kernel's own.
 */
static int
own_line(char *line, struct fault *fault)
{
	char *path = strchr(line, '/');
	const char *name;

	if (strstr(line, "not found") != NULL)
		return fault_set(fault, "%s: a library is missing: %s",
		    own_env.program, line + strspn(line, " \t"));
	if (path == NULL)
		return 0;
	path[strcspn(path, " ")] = '\0';
	name = strstr(line, "=>") == NULL ? "ld.so" : strrchr(path, '/') + 1;
	/* A library is asked for by the name before the arrow. */
	if (strstr(line, "=>") != NULL) {
		line += strspn(line, " \t");
		line[strcspn(line, " ")] = '\0';
		name = strrchr(line, '/') != NULL ? strrchr(line, '/') + 1
						  : line;
	}
	if (own_env.n == OWN_MAX)
		return fault_set(
		    fault, "%s has too many libraries", own_env.program);
	own_env.libraries[own_env.n].path = strdup(path);
	own_env.libraries[own_env.n].name = strdup(name);
	if (own_env.libraries[own_env.n].path == NULL ||
	    own_env.libraries[own_env.n].name == NULL)
		return fault_errno(fault, "%s", own_env.program);
	own_env.n++;
	return 0;
}

int
engine_own(const char *program, char **inside, struct fault *fault)
{
	static char text[OWN_TEXT];
	char *rest = text, *line;

	if (strcmp(program, OWN_PROGRAM) != 0)
		return 0;
	own_env.boxed = paths_join(sup.paths.libexecdir, OWN_PROGRAM "-boxed");
	own_env.program = paths_join(sup.paths.bindir, OWN_PROGRAM);
	if (own_env.boxed == NULL || own_env.program == NULL)
		return fault_errno(fault, "%s", program);
	if (access(own_env.boxed, X_OK) == -1)
		return fault_errno(fault, "%s", own_env.boxed);
	/* Both have the same libraries. */
	if (own_trace(text, fault) == -1)
		return -1;
	while ((line = strsep(&rest, "\n")) != NULL)
		if (own_line(line, fault) == -1)
			return -1;
	/* It may be `program`. */
	free(*inside);
	*inside = strdup(OWN_INSIDE);
	return *inside == NULL ? fault_errno(fault, OWN_PROGRAM) : 0;
}

const char *
engine_own_nth(size_t n)
{
	if (own_env.n == 0 || n > own_env.n)
		return NULL;
	return n == own_env.n ? own_env.boxed : own_env.libraries[n].path;
}

int
engine_own_add(struct wordlist *args)
{
	if (own_env.n == 0)
		return 0;
	for (size_t i = 0; i < own_env.n; i++)
		if (engine_add_mount(args,
			"type=bind,source=%s,target=" OWN_LIBRARIES
			"/%s,readonly",
			own_env.libraries[i].path,
			own_env.libraries[i].name) == -1)
			return -1;
	return engine_add_mount(args,
	    "type=bind,source=%s,target=" OWN_INSIDE ",readonly",
	    own_env.boxed);
}
