/* SPDX-License-Identifier: ISC */
/*
 * Finds programs of MCP servers and agents, and the least that must be bound
 * for them to run.
 */
#include "workers/locate/locate_priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/config.h"

/* `node [OPTION]... FILE`; a relative FILE is below l->base. */
static int
locate_node(const struct locate *l, char *const *args, struct program *p,
    struct fault *fault)
{
	char *file = NULL, *node;
	size_t i = 0;

	if ((node = locate_in_path(l, "node")) == NULL)
		return fault_set(fault, "node: not found in PATH. Install "
					"Node.js: apt install nodejs");
	p->path = node;
	while (args[i] != NULL && args[i][0] == '-')
		i++;
	if (args[i] == NULL)
		return fault_set(fault, "node: its args name no FILE");
	if (args[i][0] == '/' || args[i][0] == '~')
		file = config_path("", l->paths->user_home, args[i]);
	else
		file = paths_join(l->base, args[i]);
	if (file == NULL ||
	    (p->argv = locate_argv(
		 (const char *const[]){"node", NULL}, args)) == NULL)
		goto nomem;
	free(p->argv[i + 1]);
	if ((p->argv[i + 1] = locate_real(file)) == NULL) {
		fault_errno(fault, "node %s", file);
		free(file);
		/* argv must have no gap. */
		p->argv[i + 1] = strdup("");
		return -1;
	}
	free(file);
	if (locate_add_tree(l, p, node, 0) == -1 ||
	    locate_add_tree(l, p, p->argv[i + 1], 1) == -1)
		return fault_errno(fault, "node %s", p->argv[i + 1]);
	return 0;
nomem:
	free(file);
	return fault_errno(fault, "node");
}

/* Returns true for IronCurtain's file server, by whatever name. */
static bool
locate_ours(const struct locate *l, const char *real)
{
	char *own = paths_join(l->paths->bindir, "icfs");
	char *own_real = own == NULL ? NULL : locate_real(own);
	bool same = own_real != NULL && strcmp(own_real, real) == 0;

	free(own);
	free(own_real);
	return same;
}

/* Resolve a name in PATH or a path. Links are followed, except in a venv. */
static int
locate_plain(const struct locate *l, const char *command, char *const *args,
    struct program *p, struct fault *fault)
{
	char *found, *dir, *slash, *real;
	bool venv;

	if (locate_is_own(command)) {
		found = paths_join(l->paths->bindir, command);
	} else if (strchr(command, '/') == NULL) {
		found = locate_in_path(l, command);
	} else if (command[0] == '/' || command[0] == '~') {
		found = config_path("", l->paths->user_home, command);
	} else {
		found = paths_join(l->base, command);
	}
	if (found == NULL)
		return fault_set(fault,
		    "%s: not found in PATH. Install it, or "
		    "write its whole path",
		    command);
	if ((real = locate_real(found)) == NULL ||
	    faccessat(AT_FDCWD, real, X_OK, 0) == -1) {
		fault_errno(fault, "%s", found);
		free(found);
		free(real);
		return -1;
	}
	p->ours = locate_ours(l, real);
	dir = strdup(found);
	if (dir != NULL && (slash = strrchr(dir, '/')) != NULL)
		*slash = '\0';
	if (dir != NULL && (slash = strrchr(dir, '/')) != NULL)
		*slash = '\0';
	venv = dir != NULL && locate_has(dir, "pyvenv.cfg");
	p->path = strdup(venv ? found : real);
	p->argv = locate_argv((const char *const[]){command, NULL}, args);
	if (dir == NULL || p->path == NULL || p->argv == NULL ||
	    (venv && locate_put_tree(p, strdup(dir)) == -1) ||
	    locate_add_tree(l, p, real, 0) == -1)
		fault_errno(fault, "%s", found);
	else
		fault->text[0] = '\0';
	free(dir);
	free(found);
	free(real);
	return fault->text[0] == '\0' ? 0 : -1;
}

int
locate_program(const struct locate *l, const char *command, bool plain,
    char *const *args, struct program *p, struct fault *fault)
{
	int rv;

	memset(p, 0, sizeof(*p));
	if (!plain && strcmp(command, "npx") == 0)
		rv = locate_npx(l, args, p, fault);
	else if (!plain && strcmp(command, "node") == 0)
		rv = locate_node(l, args, p, fault);
	else
		rv = locate_plain(l, command, args, p, fault);
	if (rv == -1)
		program_free(p);
	return rv;
}
