/* SPDX-License-Identifier: ISC */
#include "icctl/agent_find.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "icctl/policy/policy.h"

/*
 * Find the program of that path, or the first one in PATH of that name. Returns
 * -1 if there is none.
 */
static int
agents_in_path(const char *name, char found[PATH_MAX])
{
	const char *path = getenv("PATH"), *end;
	char full[PATH_MAX];

	if (name[0] == '/')
		return access(name, X_OK) == 0 && realpath(name, found) != NULL
			   ? 0
			   : -1;
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

/* A program that is installed with icctl. */
static int
agents_own(const char *name, char found[PATH_MAX])
{
	char tail[64];

	snprintf(tail, sizeof(tail), "bin/%s", name);
	return policy_own_path(tail, found, PATH_MAX);
}

/* The version in the package.json above a program, or "". */
static void
agents_version(const char *program, char *dst, size_t cap)
{
	json_object *root;
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
		snprintf(dst, cap, "%.40s", get_str(root, "version", ""));
		json_object_put(root);
		return;
	}
}

bool
agent_find(const struct adapter *a, const struct config *cfg,
    char program[PATH_MAX], char version[AGENT_VERSION])
{
	const struct config_agent *own = config_agent(cfg, a->name);
	bool found = false;

	version[0] = '\0';
	if (own != NULL && own->path != NULL)
		found = realpath(own->path, program) != NULL;
	for (size_t i = 0; !found && a->program != NULL && a->program[i] != NULL;
	     i++)
		found = strcmp(a->program[i], "ic-agent") == 0
			    ? agents_own(a->program[i], program) == 0
			    : agents_in_path(a->program[i], program) == 0;
	if (found)
		agents_version(program, version, AGENT_VERSION);
	return found;
}
