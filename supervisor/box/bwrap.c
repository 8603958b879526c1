/* SPDX-License-Identifier: ISC */
/*
 * The agent under bubblewrap: no network, its own namespaces, the system
 * read-only, a private home, the workspace, and the session's sockets. The
 * agent's program is the host's own.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/box.h"
#include "box/cgroup/group.h"
#include "box/cover.h"
#include "box/git/checkout.h"
#include "box/system/hosts.h"
#include "box/kind.h"
#include "box/locate.h"
#include "box/clients/clients.h"
#include "box/inside.h"
#include "box/orient.h"
#include "box/probe.h"
#include "box/sandbox.h"
#include "box/system/survey.h"
#include "box/system/system.h"
#include "box/view.h"
#include "home/caches.h"
#include "core/sup.h"

static struct {
	struct program program;
	char *tree, *mount; /* program's tree and its place; NULL: none */
	struct box_report report;
} bwrap_env = {.report = {.fd = -1}};

/* The agent's own files are not examined. */
static bool
bwrap_in_workspace(const char *command)
{
	return strncmp(command, "./", 2) == 0 ||
	       paths_under(command, INSIDE_WORKSPACE) ||
	       paths_under(command, sup.inside);
}

static int
bwrap_find_named(const char *command, char **inside, struct fault *fault)
{
	const struct locate l = {
	    .paths = &sup.paths, .path_env = sup.host.path, .base = "."};
	int fd, rv;

	if (bwrap_in_workspace(command)) {
		*inside = strdup(command);
		return *inside == NULL ? fault_errno(fault, "agent") : 0;
	}
	if (locate_agent(&l, command, &bwrap_env.program, &bwrap_env.tree,
		&bwrap_env.mount, inside, fault) == -1)
		return -1;
	for (unsigned i = 0; i < bwrap_env.program.ntrees; i++) {
		fd = open(bwrap_env.program.trees[i], O_PATH | O_CLOEXEC);
		if (fd == -1)
			return fault_errno(
			    fault, "agent %s", bwrap_env.program.trees[i]);
		rv = guards_check(&sup.guards, fd, "agent's program",
		    bwrap_env.program.trees[i], fault);
		close(fd);
		if (rv == -1)
			return -1;
	}
	return 0;
}

/* The adapter's program: from config.json, else by its names in PATH. */
static int
bwrap_find_adapter(char **inside, struct fault *fault)
{
	const struct config_agent *cfg =
	    config_agent(&sup.config, sup.adapter.name);
	char **names = sup.adapter.program;
	const struct locate l = {
	    .paths = &sup.paths, .path_env = sup.host.path};
	char *found;

	if (cfg != NULL && cfg->path != NULL)
		return bwrap_find_named(cfg->path, inside, fault);
	for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
		if (locate_is_own(names[i]))
			return bwrap_find_named(names[i], inside, fault);
		if ((found = locate_in_path(&l, names[i])) == NULL)
			continue;
		free(found);
		return bwrap_find_named(names[i], inside, fault);
	}
	if (names != NULL && names[0] != NULL && names[0][0] == '/')
		return fault_set(fault,
		    "agent %s: %s: there is no such program, or it cannot be "
		    "executed",
		    sup.adapter.name, names[0]);
	return fault_set(fault,
	    "agent %s: %s not found in PATH. Install it, "
	    "or say where it is: {\"agent\":{\"%s\":{\"path\":\"...\"}}} in "
	    "config.json",
	    sup.adapter.name,
	    names != NULL && names[0] != NULL ? names[0] : "its program",
	    sup.adapter.name);
}

static int
bwrap_find(char **inside, struct fault *fault)
{
	if (box_bwrap() == NULL)
		return fault_set(fault, "bubblewrap is not installed: apt "
					"install bubblewrap");
	return sup.opt.command != NULL
		   ? bwrap_find_named(sup.opt.command[0], inside, fault)
		   : bwrap_find_adapter(inside, fault);
}

static int
bwrap_environment(char **env, struct fault *fault)
{
	return orient_environment(&bwrap_env.program, env, fault);
}

/* host_resolve() has found bubblewrap itself. */
static int
bwrap_check(struct fault *fault)
{
	return 0;
}

/*
 * Programs that cannot work in a sandbox, and one that says so or does it by
 * way of the person: in the first directory of PATH, and in the place of those
 * that the machine has. A link there leads to another program.
 */
static void
bwrap_instead(struct box *b)
{
	static const char engine[] = "no-engine", web[] = "open-link",
			  paste[] = "paste-image";
	static const char *const names[][2] = {{"docker", engine},
	    {"podman", engine}, {"buildah", engine}, {"nerdctl", engine},
	    {"docker-compose", engine}, {"podman-compose", engine},
	    {"xdg-open", web}, {"sensible-browser", web},
	    {"x-www-browser", web}, {"www-browser", web}, {"xclip", paste},
	    {"wl-paste", paste}};
	static const char *const dirs[] = {
	    "/opt/ironcurtain/bin", "/usr/bin", "/usr/local/bin"};
	char *file, at[64];
	struct stat st;

	for (size_t i = 0; i < nitems(names); i++) {
		file = paths_join(sup.paths.datadir, names[i][1]);
		for (size_t d = 0; file != NULL && d < nitems(dirs); d++) {
			snprintf(at, sizeof(at), "%s/%s", dirs[d], names[i][0]);
			if (access(file, X_OK) == 0 &&
			    (d == 0 ||
				(lstat(at, &st) == 0 && S_ISREG(st.st_mode))))
				box_bind_path(b, file, at, false);
		}
		free(file);
	}
	box_setenv(b, "BROWSER", "xdg-open");
}

static void
bwrap_box(struct box *b, char *const *env)
{
	static const char certs[] = "/etc/ssl/certs/ca-certificates.crt";
	const struct program *p = &bwrap_env.program;
	const struct cache_shared *c;
	char *eq, *hosts;
	int fd;

	box_init(b, FILTER_AGENT, &sup.config.limits);
	box_status(b, &bwrap_env.report);
	/* ic-bridge itself is process 1, which nothing inside can trace. */
	box_arg(b, "--as-pid-1");
	system_bind(b);
	if (bwrap_env.tree != NULL)
		box_bind_path(b, bwrap_env.tree, bwrap_env.mount, false);
	for (unsigned i = 1; i < p->ntrees; i++)
		box_bind_path(b, p->trees[i], p->trees[i], false);
	box_bind_path(b, sandbox.bridge, SANDBOX_BRIDGE, false);
	bwrap_instead(b);
	for (size_t i = 0; (c = caches_nth(i)) != NULL; i++)
		box_bind(b, c->fd, c->inside, false);
	box_bind(b, sup.session.home, "/home/agent", true);
	box_bind(b, sup.workspace, INSIDE_WORKSPACE, !sup.read_only);
	if (sup.opt.same_path)
		box_bind(b, sup.workspace, sup.inside, !sup.read_only);
	checkout_bind(b);
	cover_bind(b);
	box_bind(b, sup.session.sockets, "/run/ironcurtain", false);
	box_bind(b, sup.session.orientation, "/etc/ironcurtain", false);
	fd = openat(sup.session.orientation, "ca-bundle.pem",
	    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd != -1 && box_etc_has(certs))
		box_bind(b, fd, certs, false);
	if (fd != -1)
		close(fd);
	if (sup.services && (hosts = hosts_text(SURVEY_HOSTS)) != NULL) {
		box_data(b, "/etc/hosts", span_str(hosts));
		free(hosts);
	}
	clients_bind(b);
	for (char *const *e = env; *e != NULL; e++) {
		eq = strchr(*e, '=');
		*eq = '\0';
		box_setenv(b, *e, eq + 1);
		*eq = '=';
	}
	box_args(b, "--remount-ro", "/", NULL);
	box_args(b, "--chdir", sup.inside, NULL);
}

static int
bwrap_start(char *const *argv, char *const *env, int log, struct fault *fault)
{
	const int stdio[3] = {-1, log, log};
	struct box b;
	int rv;

	bwrap_box(&b, env);
	b.group = group_agent();
	rv = box_spawn(&b, stdio, argv, &sup.agent, fault);
	box_free(&b);
	if (rv == 0 && spawn_check(&sup.agent) == -1)
		rv = fault_errno(fault, "bwrap%s", spawn_step());
	return rv;
}

static bool
bwrap_is_first(pid_t pid)
{
	return pid == box_first(&bwrap_env.report);
}

static bool
bwrap_made(int code, int status)
{
	return code != CLD_EXITED || box_reached(&bwrap_env.report);
}

static void
bwrap_unmade(const char *how, struct fault *why, const char **remedy)
{
	if (box_probe(why, remedy) == -1)
		return;
	fault_set(why, "bubblewrap %s", how);
	*remedy = "Its own message is above, or in session.log";
}

/* bubblewrap dies with its parent's child, and the pid namespace with it. */
static void
bwrap_stop(void)
{
	if (sup.agent.pidfd != -1)
		(void)syscall(
		    SYS_pidfd_send_signal, sup.agent.pidfd, SIGKILL, NULL, 0);
}

static void
bwrap_remove(void)
{
}

const struct box_kind box_bwrap_kind = {
    .find = bwrap_find,
    .environment = bwrap_environment,
    .check = bwrap_check,
    .start = bwrap_start,
    .is_first = bwrap_is_first,
    .made = bwrap_made,
    .unmade = bwrap_unmade,
    .stop = bwrap_stop,
    .remove = bwrap_remove,
};
