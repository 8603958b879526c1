/* SPDX-License-Identifier: ISC */
#include "credential/revoke.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/json_put.h"
#include "core/sup.h"
#include "files/parse.h"
#include "host/command.h"

#define REVOKE_MS 10000

static struct host_command *revoke_commands; /* one for each of config's */

const char *
revoke_session(void)
{
	return strrchr(sup.session.dir, '/') + 1;
}

static void
revoke_list(json_object *o, const char *key, char *const *words)
{
	json_object *list = json_object_new_array();

	for (; words != NULL && *words != NULL; words++)
		json_object_array_add(list, json_object_new_string(*words));
	json_object_object_add(o, key, list);
}

/* Write the commands that have not succeeded yet; none removes the file. */
static int
revoke_write(const bool *done, struct fault *fault)
{
	json_object *all = json_object_new_array(), *o;
	const struct config_provider *p;
	int rv = -1;

	for (size_t i = 0; i < sup.config.nproviders; i++) {
		p = &sup.config.providers[i];
		if (p->revoke.argv == NULL || (done != NULL && done[i]))
			continue;
		o = json_object_new_object();
		put_str(o, "credential", p->name);
		revoke_list(o, "command", p->revoke.argv);
		revoke_list(o, "variables", p->revoke.variables);
		json_object_array_add(all, o);
	}
	o = json_object_new_object();
	put_str(o, "session", revoke_session());
	json_object_object_add(o, "revoke", all);
	if (json_object_array_length(all) != 0)
		rv = session_write(sup.session.fd, REVOKE_FILE, 0600,
		    span_str(json_object_to_json_string(o)));
	/* At the start, what an earlier run of the session left stays. */
	else if (done == NULL ||
		 unlinkat(sup.session.fd, REVOKE_FILE, 0) == 0 ||
		 errno == ENOENT)
		rv = 0;
	json_object_put(o);
	return rv == 0 ? 0 : fault_errno(fault, REVOKE_FILE);
}

int
revoke_begin(struct fault *fault)
{
	const struct config_provider *p;
	char what[96];

	revoke_commands = calloc(PROTO_MAX_PROVIDERS, sizeof(*revoke_commands));
	for (size_t i = 0; i < sup.config.nproviders; i++) {
		p = &sup.config.providers[i];
		if (p->revoke.argv == NULL || revoke_commands == NULL)
			continue;
		snprintf(
		    what, sizeof(what), "credentials.%.64s.revoke", p->name);
		if (host_command_find(
			&revoke_commands[i], what, &p->revoke, fault) == -1)
			return -1;
	}
	return revoke_write(NULL, fault);
}

/* Run one. Returns true if it has succeeded. */
static bool
revoke_run(struct host_command *c, const struct config_provider *p)
{
	struct spawn s = {
	    .fds = {-1, -1, STDERR_FILENO}, .nfds = 3, .session = true};
	struct spawned sp = SPAWNED_INIT;
	struct pollfd fd = {.events = POLLIN};
	struct fault fault = {.text = "see above"};
	int code = 0, status = -1;
	bool good = false;

	s.argv = config_command_words(p->revoke.argv, revoke_session());
	if (s.argv != NULL &&
	    host_command_start(c, "revoke", &s, &sp, &fault) == 0 &&
	    spawn_check(&sp) == 0) {
		fd.fd = sp.pidfd;
		(void)poll(&fd, 1, REVOKE_MS);
		good = spawn_reap(sp.pidfd, false, &code, &status) == 1 &&
		       spawn_status(code, status) == 0;
	}
	spawn_stop(&sp, 0);
	jsonfile_strings_free((char **)(uintptr_t)s.argv);
	if (good)
		sup_note("credentials.%s: the key of this session is revoked",
		    p->name);
	else
		sup_warn("credentials.%s.revoke has failed, and the key may be "
			 "good: %s. To try again: icctl close %s",
		    p->name, fault.text, sup.session.dir);
	return good;
}

void
revoke_end(void)
{
	bool done[PROTO_MAX_PROVIDERS] = {false};
	struct fault fault = {""};
	bool any = false;

	for (size_t i = 0; revoke_commands != NULL && i < sup.config.nproviders;
	     i++) {
		if (revoke_commands[i].program.nfiles == 0)
			continue;
		any = true;
		done[i] =
		    revoke_run(&revoke_commands[i], &sup.config.providers[i]);
	}
	/* icctl close and icctl gc try again what has failed, and only that. */
	if (any && revoke_write(done, &fault) == -1)
		sup_warn("%s", fault.text);
}
