/* SPDX-License-Identifier: ISC */
/*
 * A server without a sandbox runs as the user: its program, the files that
 * belong to it, its arguments and its variables must be out of every agent's
 * reach, at the start and whenever it is started again.
 */
#include "box/server_plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "box/locate.h"
#include "host/environ.h"
#include "host/lead.h"

/* Refuse what leads into a place that an agent can write. */
static int
plain_judge(const struct server *s, const struct places *places,
    const char *what, struct fault *fault)
{
	struct lead lead = {.code = places,
	    .data = places,
	    .env = places,
	    .user_home = sup.paths.user_home,
	    .cwd = -1,
	    .files = true};
	const char *place;

	for (unsigned k = 0; k < s->program.ntrees; k++) {
		place = places_of(places, s->program.trees[k], NULL);
		if (place != NULL)
			return fault_set(fault,
			    "%s: %s is refused: the agent can write %s, and "
			    "the server runs without its sandbox",
			    what, s->program.trees[k], place);
	}
	if (lead_arguments(&lead, s->def->command, s->def->args) ||
	    lead_variables(&lead, s->def->env))
		return fault_set(fault,
		    "%s: %s is refused: it leads into %s, which the agent can "
		    "write, and the server runs without its sandbox",
		    what, lead.what, lead.place);
	return host_command_inline(
	    &s->host, s->program.argv, s->def->shell, what, fault);
}

int
server_plain_prepare(struct fault *fault)
{
	struct server *s;
	char what[96];

	for (unsigned i = 0; i < sup.nservers; i++) {
		s = &sup.servers[i];
		if (!s->usable || s->def->sandboxed)
			continue;
		snprintf(what, sizeof(what), "server %s", s->def->name);
		if (host_find(&s->host, what, s->program.path, fault) == -1 ||
		    plain_judge(s, &sup.host.places, what, fault) == -1)
			return -1;
	}
	return 0;
}

/* Returns PATH, HOME and the variables of the entry, or NULL with the fault. */
static char **
plain_environment(
    const struct server *s, const struct places *places, struct fault *fault)
{
	char *base[3] = {NULL}, *path, **env = NULL;

	path = host_list_clean(places, sup.host.path, NULL);
	if (path != NULL && asprintf(&base[0], "PATH=%s", path) != -1 &&
	    asprintf(&base[1], "HOME=%s", sup.paths.user_home) != -1)
		env = locate_argv(
		    (const char *const *)(uintptr_t)base, s->def->env);
	free(path);
	free(base[0]);
	free(base[1]);
	if (env == NULL)
		fault_errno(fault, "environment");
	return env;
}

int
server_plain_spawn(struct server *s, const int stdio[3], struct fault *fault)
{
	/*
	 * Run in /, like everything that runs as the user: many programs load
	 * code from their working directory.
	 */
	struct spawn sp = {.argv = s->program.argv, .nfds = 3, .session = true};
	static struct places now;
	const char *place;
	char what[96], **env = NULL;
	int rv = -1;

	snprintf(what, sizeof(what), "server %s", s->def->name);
	if (host_places_now(&now, fault) == -1)
		return -1;
	if ((place = host_program_reached(&s->host, &now)) != NULL) {
		fault_set(fault,
		    "%s: by now an agent can write %s, where its program is",
		    what, place);
	} else if (plain_judge(s, &now, what, fault) == 0 &&
		   (env = plain_environment(s, &now, fault)) != NULL) {
		sp.envp = env;
		memcpy(sp.fds, stdio, 3 * sizeof(int));
		rv = host_program_start(&s->host, &now, &sp, &s->sp);
		if (rv == -1)
			fault_errno(fault, "%s", s->program.path);
	}
	places_clear(&now);
	jsonfile_strings_free(env);
	return rv;
}
