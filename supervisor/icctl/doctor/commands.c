/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` about commands that run on the host: which of the
 * variables that are set here such a command does not get.
 */
#include "icctl/doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/config.h"
#include "host/environ.h"

extern char **environ;

static void
commands_one(doctor_check *check, const struct config_command *c,
    const char *where, const char *user_home)
{
	static const struct places none;
	const struct environ_how how = {
	    .places = &none, .user_home = user_home, .listed = c->variables};
	char names[300], text[800], remedy[800];
	unsigned n;

	if (c->argv == NULL || c->argv[0] == NULL ||
	    (n = host_environ_lost(
		 &how, environ, false, names, sizeof(names))) == 0)
		return;
	snprintf(text, sizeof(text), "%s (%.200s) does not get %s", where,
	    c->argv[0], names);
	snprintf(remedy, sizeof(remedy),
	    "%s set here, but commands that run on the host get few "
	    "variables. If it needs one, add to %s of config.json: "
	    "\"variables\": [\"%.*s\"]",
	    n == 1 ? "it is" : "they are", where, (int)strcspn(names, ","),
	    names);
	check(NOTE, "command", text, remedy);
}

void
doctor_commands(
    const struct config *cfg, const char *user_home, doctor_check *check)
{
	char where[128];

	commands_one(check, &cfg->notify, "notify", user_home);
	for (size_t i = 0; i < cfg->nproviders; i++) {
		snprintf(where, sizeof(where), "credentials.%.64s",
		    cfg->providers[i].name);
		if (cfg->providers[i].kind == CREDENTIAL_COMMAND)
			commands_one(check, &cfg->providers[i].command, where,
			    user_home);
	}
	for (size_t i = 0; i < cfg->ndestinations; i++) {
		snprintf(where, sizeof(where), "destinations.%.64s.credential",
		    cfg->destinations[i].as.name);
		if (cfg->destinations[i].as.kind == CREDENTIAL_COMMAND)
			commands_one(check, &cfg->destinations[i].as.command,
			    where, user_home);
	}
	if (cfg->proxy.auth.kind == CREDENTIAL_COMMAND)
		commands_one(check, &cfg->proxy.auth.command,
		    "proxy.credential", user_home);
}
