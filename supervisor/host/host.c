/* SPDX-License-Identifier: ISC */
/*
 * Applies host/program.h to a session. Everything here runs while the session
 * starts, before any code of the agent.
 */
#include "host/host.h"

#include <stdlib.h>
#include <string.h>

#include "box/box.h"
#include "box/view.h"
#include "core/sup.h"
#include "host/environ.h"
#include "host/sessions.h"
#include "host/sockets.h"

/* The search path if PATH is not set. */
#define HOST_PATH "/usr/local/bin:/usr/bin:/bin"

static const char *list_name;

static void
host_told(const char *element, const char *place)
{
	sup_warn("%s: the agent can write %s, where %s leads. This session "
		 "looks up no programs and no libraries there",
	    list_name, place, element);
}

/* Remove directories that the agent can write from sup.host.path, and warn. */
static int
host_path(const char *list, struct fault *fault)
{
	char *clean;

	list_name = "PATH";
	clean = host_list_clean(&sup.host.places, list, host_told);
	if (clean == NULL)
		return fault_errno(fault, "PATH");
	free(sup.host.path);
	sup.host.path = clean;
	return 0;
}

static int
host_libraries(struct fault *fault)
{
	const char *list = getenv("LD_LIBRARY_PATH");
	char *clean;

	if (list == NULL)
		return 0;
	list_name = "LD_LIBRARY_PATH";
	clean = host_list_clean(&sup.host.places, list, host_told);
	if (clean == NULL)
		return fault_errno(fault, "LD_LIBRARY_PATH");
	free(clean);
	return 0;
}

int
host_begin(struct fault *fault)
{
	const char *path = getenv("PATH");

	if (places_add(&sup.host.places, sup.workspace) == -1 ||
	    places_add(&sup.host.places, sup.session.sandbox) == -1 ||
	    places_add(&sup.host.places, sup.session.home) == -1)
		return fault_errno(fault, "workspace");
	if (sessions_places(
		&sup.host.places, sup.session.run, sup.session.fd) == -1)
		return fault_errno(fault, "%s/run", sup.paths.home);
	if (host_libraries(fault) == -1)
		return -1;
	return host_path(path != NULL ? path : HOST_PATH, fault);
}

int
host_add_view(const struct view *v, struct fault *fault)
{
	for (unsigned i = 0; i < v->nrows; i++)
		if (v->rows[i].kind == PROTO_VIEW_WRITE &&
		    places_add_view(&sup.host.places, v->rows[i].fd) == -1)
			return fault_errno(fault, "%s", v->rows[i].host);
	return 0;
}

int
host_find(struct host_program *p, const char *what, const char *name,
    struct fault *fault)
{
	const struct host_how how = {.places = &sup.host.places,
	    .path = sup.host.path,
	    .path_env = getenv("PATH"),
	    .user_home = sup.paths.user_home};

	return host_program_find(p, &how, what, name, fault);
}

/*
 * Check files and directories of IronCurtain that are used while the agent
 * runs.
 */
static int
host_own(struct fault *fault)
{
	const struct {
		const char *what, *path;
	} own[] = {{"IronCurtain's programs", sup.paths.bindir},
	    {"IronCurtain's workers", sup.paths.libexecdir},
	    {"the configuration", sup.config.file},
	    {"the list of MCP servers", sup.defs.file}};
	const char *place;

	for (size_t i = 0; i < nitems(own); i++) {
		if (own[i].path == NULL || own[i].path[0] != '/')
			continue;
		place = places_of(&sup.host.places, own[i].path, NULL);
		if (place != NULL)
			return fault_set(fault,
			    "%s: %s is refused: the agent can write %s. Keep "
			    "it elsewhere",
			    own[i].what, own[i].path, place);
	}
	return rules_refuse(sup.rules, fault);
}

static char first_socket[512];

static void
host_socket_found(const char *path)
{
	if (first_socket[0] == '\0')
		snprintf(first_socket, sizeof(first_socket), "%s", path);
	if (sup.opt.sockets)
		sup_warn("%s: a program in the sandbox can connect to what "
			 "listens there",
		    path);
}

int
host_refuse_sockets(struct fault *fault)
{
	struct sockets_seen seen;

	host_sockets(&seen, &sup.host.places, true, host_socket_found);
	if (seen.cut)
		sup_warn("there are too many files where the agent can write "
			 "to look for sockets among all of them. If a program "
			 "of the host listens there, the agent can connect to "
			 "it");
	if (seen.found == 0 || sup.opt.sockets)
		return 0;
	if (!seen.known)
		return fault_set(fault,
		    "workspace %s: refused, because there is a socket at %s%s "
		    "and this kernel does not tell whether a program listens "
		    "on it (sock_diag: %s), so the agent could connect to one. "
		    "Remove it, choose another workspace, or start with "
		    "--allow-sockets",
		    sup.workspace_path, first_socket,
		    seen.found > 1 ? " and elsewhere" : "",
		    strerror(seen.error));
	return fault_set(fault,
	    "workspace %s: refused, because a program of the host listens on "
	    "%s%s and the agent could connect to it. End that program, choose "
	    "another workspace, or start with --allow-sockets",
	    sup.workspace_path, first_socket,
	    seen.found > 1 ? " and others" : "");
}

static bool
host_sandboxed(void)
{
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].usable && sup.servers[i].def->sandboxed)
			return true;
	/* Signatures are checked in one, too. */
	return sup.opt.runtime == RUNTIME_BWRAP ||
	       sup.config.approvers.needed != 0;
}

int
host_resolve(struct fault *fault)
{
	char *path = strdup(sup.host.path);
	int rv;

	if (path == NULL)
		return fault_errno(fault, "PATH");
	rv = host_path(path, fault);
	free(path);
	if (rv == -1 || host_own(fault) == -1)
		return -1;
	if (host_sandboxed() && box_bwrap() != NULL &&
	    host_find(box_program(), "bubblewrap", box_bwrap(), fault) == -1)
		return -1;
	return 0;
}
