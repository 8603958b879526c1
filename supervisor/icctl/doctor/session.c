/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` that goes the way of a start with the user's own
 * files, up to where processes would be started: `icsupervisor --check` finds
 * the programs of servers, opens their views and reads the policy. Then the
 * user's policies are checked.
 */
#include "icctl/doctor/doctor.h"

#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "common/plural.h"
#include "icctl/policy/lint.h"

#define SESSION_TEXT 65536U
#define SESSION_POLICIES 64U

/* The output of icsupervisor: its JSON line, and its messages. */
struct session_said {
	char out[SESSION_TEXT], err[SESSION_TEXT];
	int status;
};

/*
 * Run it with an empty workspace, and everything else as the user has it.
 * Returns 0, or -1 with errno set if it cannot be run.
 */
static int
session_run(const char *dir, struct session_said *said)
{
	char program[PATH_MAX], session[PATH_MAX], work[PATH_MAX];
	const char *const argv[] = {"icsupervisor", "--check", "--runtime",
	    "none", "--session-dir", session, "--workspace", work, NULL};
	struct spawn s = {
	    .path = program, .argv = (char *const *)(uintptr_t)argv};

	snprintf(session, sizeof(session), "%s/session", dir);
	snprintf(work, sizeof(work), "%s/work", dir);
	if (mkdir(work, 0700) == -1 ||
	    icctl_program("icsupervisor", program, sizeof(program)) == -1)
		return -1;
	said->status =
	    spawn_read(&s, (struct spawn_said){said->out, sizeof(said->out)},
		(struct spawn_said){said->err, sizeof(said->err)});
	return said->status == -1 ? -1 : 0;
}

static void
session_servers(json_object *servers, doctor_check *check)
{
	char text[ICCTL_PATH + 300], path[ICCTL_PATH];
	json_object *o;
	const char *name;

	for (size_t i = 0; i < json_object_array_length(servers); i++) {
		o = json_object_array_get_idx(servers, i);
		name = icctl_text(o, "name");
		if (*icctl_text(o, "program") != '\0') {
			snprintf(text, sizeof(text), "%s: %s", name,
			    icctl_path(icctl_text(o, "program"), path));
			check(GOOD, "MCP server", text, "");
		} else {
			snprintf(text, sizeof(text), "%s cannot run", name);
			check(WRONG, "MCP server", text, icctl_text(o, "why"));
		}
	}
}

/* Report each message; the last is the reason if the start failed. */
static void
session_messages(char *text, bool failed, doctor_check *check)
{
	static const char prefix[] = "icsupervisor: ";
	char *line, *rest = text, *last = NULL;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (strncmp(line, prefix, sizeof(prefix) - 1) != 0 ||
		    strstr(line, "running as root") != NULL)
			continue;
		if (last != NULL)
			check(NOTE, "session", last, "icsupervisor(8)");
		last = line + sizeof(prefix) - 1;
	}
	if (failed)
		check(WRONG, "session",
		    last != NULL ? last : "icsupervisor does not run",
		    "no session starts until it is corrected");
	else if (last != NULL)
		check(NOTE, "session", last,
		    "a session starts; ironcurtain-config(5)");
}

void
doctor_session(doctor_check *check)
{
	static struct session_said said;
	char dir[] = "/tmp/ic-doctor-XXXXXX", work[PATH_MAX];
	json_object *o, *servers;

	if (mkdtemp(dir) == NULL) {
		check(BAD, "session", strerror(errno),
		    "icctl needs a directory below /tmp");
		return;
	}
	if (session_run(dir, &said) == -1)
		said.status = -1;
	o = json_tokener_parse(said.out);
	if (o != NULL && json_object_object_get_ex(o, "servers", &servers))
		session_servers(servers, check);
	session_messages(said.err, said.status != 0, check);
	json_object_put(o);
	/* icsupervisor has removed the session. */
	snprintf(work, sizeof(work), "%s/work", dir);
	(void)rmdir(work);
	(void)rmdir(dir);
}

/* Check one policy; `name` is NULL for the one in force. */
static void
session_policy(struct icctl *ctl, const char *name, doctor_check *check)
{
	struct policy_opts opts = {.nargs = 0};
	char found[400], remedy[400], shown[ICCTL_PATH];
	unsigned errors, warnings;

	opts.files[PROTO_RULES_POLICY] = name;
	policy_count(ctl, &opts, &errors, &warnings);
	if (name != NULL)
		name = icctl_path(name, shown);
	snprintf(found, sizeof(found), "%.200s: %u error%s, %u warning%s",
	    name == NULL ? "in force" : name, errors, plural((uint64_t)errors),
	    warnings, plural((uint64_t)warnings));
	snprintf(remedy, sizeof(remedy), "see them: icctl policy check%s%.200s",
	    name == NULL ? "" : " --policy ", name == NULL ? "" : name);
	/* Sessions start in spite of one that is not in force. */
	check(errors + warnings == 0        ? GOOD
	      : errors != 0 && name == NULL ? WRONG
					    : NOTE,
	    "policy", found, remedy);
}

static int
session_is_policy(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

void
doctor_policies(struct icctl *ctl, doctor_check *check)
{
	struct dirent **list;
	char path[PATH_MAX];
	struct stat st;
	int n;

	session_policy(ctl, NULL, check);
	snprintf(path, sizeof(path), "%.3800s/policies", ctl->home);
	if ((n = scandir(path, &list, session_is_policy, alphasort)) == -1)
		return;
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%.3800s/policies/%.255s",
		    ctl->home, list[i]->d_name);
		if ((unsigned)i < SESSION_POLICIES && stat(path, &st) == 0 &&
		    S_ISDIR(st.st_mode))
			session_policy(ctl, path, check);
		free(list[i]);
	}
	free(list);
}
