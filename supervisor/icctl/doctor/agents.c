/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor` about the agents that are installed, the disk that sessions
 * are kept on, and the terminal.  No agent is run: its version is what its npm
 * package says.
 */
#include "icctl/doctor/doctor.h"

#include <sys/statvfs.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "files/adapter/adapter.h"
#include "files/config.h"
#include "icctl/agent_find.h"

/* The log's reserve, and room for an agent's home. */
#define AGENTS_DISK_MB 200U

static char agents_named[512]; /* those that are installed */

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
	char program[PATH_MAX], version[AGENT_VERSION], text[PATH_MAX + 500];
	char shown[ICCTL_PATH];
	struct fault ignored;
	struct adapter a;
	bool found, internal;

	/* Whatever is wrong with its file was said before. */
	if (adapter_load(&a, paths, name, &ignored) == -1)
		return false;
	internal = a.internal;
	found = !internal && agent_find(&a, cfg, program, version);
	adapter_free(&a);
	if (!found && !internal && own != NULL && own->path != NULL) {
		snprintf(
		    text, sizeof(text), "%s: %s does not exist", name,
		    icctl_path(own->path, shown));
		check(WRONG, "agent", text,
		    "correct \"agent\" in config.json, or install it");
	}
	if (!found)
		return false;
	snprintf(text, sizeof(text), "%s%s%s: %s", name,
	    version[0] != '\0' ? " " : "", version,
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
