/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor` about the agents that are installed, the disk that sessions
 * are kept on, and the terminal.  No agent is run: its version is what its npm
 * package says.
 */
#include "icctl/doctor.h"

#include <sys/statvfs.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/adapter.h"
#include "config/config.h"
#include "config/names.h"

/* The log's reserve, and room for an agent's home. */
#define AGENTS_DISK_MB 200U

static char agents_named[512]; /* those that are installed */

/* The first program in PATH of that name. Returns -1 if there is none. */
static int
agents_in_path(const char *name, char found[PATH_MAX])
{
	const char *path = getenv("PATH"), *end;
	char full[PATH_MAX];

	for (; path != NULL; path = *end == '\0' ? NULL : end + 1) {
		end = strchrnul(path, ':');
		snprintf(full, sizeof(full), "%.*s/%s", (int)(end - path), path,
		    name);
		if (full[0] == '/' && access(full, X_OK) == 0 &&
		    realpath(full, found) != NULL)
			return 0;
	}
	return -1;
}

/* The version in the package.json above a program, or "". */
static void
agents_version(const char *program, char *dst, size_t cap)
{
	json_object *root, *v;
	char dir[PATH_MAX], file[PATH_MAX + 16], *slash;

	dst[0] = '\0';
	snprintf(dir, sizeof(dir), "%s", program);
	for (unsigned up = 0; up < 5; up++) {
		if ((slash = strrchr(dir, '/')) == NULL || slash == dir)
			return;
		*slash = '\0';
		snprintf(file, sizeof(file), "%s/package.json", dir);
		if (access(file, R_OK) == -1 ||
		    (root = json_object_from_file(file)) == NULL)
			continue;
		if (json_object_object_get_ex(root, "version", &v) &&
		    json_object_is_type(v, json_type_string))
			snprintf(dst, cap, " %.40s", json_object_get_string(v));
		json_object_put(root);
		return;
	}
}

const char *
doctor_agents_named(void)
{
	return agents_named;
}

/* Returns true if the agent is installed. */
static bool
agents_one(const struct paths *paths, const struct config *cfg,
    const char *name, doctor_check *check)
{
	const struct config_agent *own = config_agent(cfg, name);
	char program[PATH_MAX], version[64], text[PATH_MAX + 500];
	char shown[ICCTL_PATH];
	struct fault ignored;
	struct adapter a;
	bool found = false;

	/* Whatever is wrong with its file was said before. */
	if (adapter_load(&a, paths, name, &ignored) == -1)
		return false;
	if (own != NULL && own->path != NULL)
		found = realpath(own->path, program) != NULL;
	for (size_t i = 0; !found && a.program != NULL && a.program[i] != NULL;
	     i++)
		found = agents_in_path(a.program[i], program) == 0;
	adapter_free(&a);
	if (!found && own != NULL && own->path != NULL) {
		snprintf(
		    text, sizeof(text), "%s: %s does not exist", name,
		    icctl_path(own->path, shown));
		check(WRONG, "agent", text,
		    "correct \"agent\" in config.json, or install it");
	}
	if (!found)
		return false;
	agents_version(program, version, sizeof(version));
	snprintf(text, sizeof(text), "%s%s: %s", name, version,
	    icctl_path(program, shown));
	check(GOOD, "agent", text, "");
	if (agents_named[0] != '\0')
		(void)strlcat(agents_named, ", ", sizeof(agents_named));
	(void)strlcat(agents_named, name, sizeof(agents_named));
	return true;
}

unsigned
doctor_agents(
    const struct paths *paths, const struct config *cfg, doctor_check *check)
{
	struct names names;
	unsigned n = 0;

	names_find(&names, paths, "agents");
	for (size_t i = 0; i < names.n; i++)
		n += agents_one(paths, cfg, names.list[i], check);
	names_free(&names);
	if (n == 0)
		check(NOTE, "agent", "none is in PATH",
		    "install Claude Code, Codex, OpenCode or Gemini CLI; or "
		    "name its program in config.json: "
		    "{\"agent\":{\"codex\":{\"path\":\"...\"}}}");
	return n;
}

void
doctor_place(const struct icctl *ctl, doctor_check *check)
{
	const char *term = getenv("TERM");
	char text[160], dir[PATH_MAX];
	unsigned long long mb;
	struct statvfs vfs;

	snprintf(dir, sizeof(dir), "%.4000s", ctl->home);
	if (access(dir, F_OK) == -1 && strrchr(dir, '/') != NULL)
		*strrchr(dir, '/') = '\0';
	if (statvfs(dir, &vfs) == 0) {
		mb = (unsigned long long)vfs.f_bavail * vfs.f_frsize >> 20;
		snprintf(text, sizeof(text), "%llu MiB free", mb);
		if (mb < AGENTS_DISK_MB)
			check(NOTE, "disk", text,
			    "sessions are kept there until you remove them "
			    "(~/.ironcurtain/sessions); make room");
		else
			check(GOOD, "disk", text, "");
	}
	if (isatty(STDOUT_FILENO) &&
	    (term == NULL || *term == '\0' || strcmp(term, "dumb") == 0))
		check(NOTE, "terminal", term == NULL ? "TERM is not set" : term,
		    "an agent without a task needs a full-screen terminal; "
		    "with a task it does not");
}
