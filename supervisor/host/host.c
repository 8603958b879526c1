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
#include "host/environ.h"
#include "host/sockets.h"
#include "sup.h"

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
	if (host_libraries(fault) == -1)
		return -1;
	return host_path(path != NULL ? path : HOST_PATH, fault);
}

int
host_add_view(const struct view *v, struct fault *fault)
{
	for (unsigned i = 0; i < v->nrows; i++)
		if (v->rows[i].kind == PROTO_VIEW_WRITE &&
		    places_add(&sup.host.places, v->rows[i].fd) == -1)
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
	int n;

	n = host_sockets(&sup.host.places, "/proc/net/unix", sup.workspace,
	    sup.workspace_path, host_socket_found);
	if (n == -1)
		sup_note("/proc/net/unix cannot be read, so it is not known "
			 "whether a program of the host listens in the "
			 "workspace");
	if (n <= 0 || sup.opt.sockets)
		return 0;
	return fault_set(fault,
	    "workspace %s: refused, because a program of the host listens on "
	    "%s%s and the agent could connect to it. End that program, choose "
	    "another workspace, or start with --allow-sockets",
	    sup.workspace_path, first_socket, n > 1 ? " and others" : "");
}

static bool
host_sandboxed(void)
{
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].usable && sup.servers[i].def->sandboxed)
			return true;
	return sup.opt.runtime == RUNTIME_BWRAP;
}

/* Without a word about it: a desktop that has none is as good. */
static void
host_desktop(void)
{
	struct fault why;

	if (getenv("DBUS_SESSION_BUS_ADDRESS") == NULL ||
	    (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL))
		return;
	if (host_find(&sup.host.notify, "notify", "notify-send", &why) == 0)
		sup.host.desktop = true;
	sup.host.notify.refused = false;
}

static int
host_notify(struct fault *fault)
{
	struct fault why;
	const char *name;

	if (sup.config.notify == NULL) {
		host_desktop();
		return 0;
	}
	if (sup.config.notify[0] == NULL)
		return 0;
	name = sup.config.notify[0];
	if (host_find(&sup.host.notify, "notify", name, &why) == 0)
		return 0;
	/*
	 * The session works without a notify command, but must not run one that
	 * the agent can write.
	 */
	if (sup.host.notify.refused) {
		*fault = why;
		return -1;
	}
	sup_warn("%s: you will not be notified of pending calls", why.text);
	return 0;
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
	if (rv == -1 || host_own(fault) == -1 || host_notify(fault) == -1)
		return -1;
	if (host_sandboxed() && box_bwrap() != NULL)
		return host_find(
		    box_program(), "bubblewrap", box_bwrap(), fault);
	return 0;
}
