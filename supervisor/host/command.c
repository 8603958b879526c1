/* SPDX-License-Identifier: ISC */
#include "host/command.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "box/box.h"
#include "core/sup.h"
#include "host/environ.h"
#include "host/hidden.h"
#include "host/reach.h"
#include "host/sessions.h"

extern char **environ;

int
host_places_now(struct places *now, struct fault *fault)
{
	if (places_copy(now, &sup.host.places) == -1)
		return fault_errno(fault, "the agent's directories");
	if (sessions_places(now, sup.session.run, sup.session.fd) == 0)
		return 0;
	places_clear(now);
	return fault_errno(fault, "%s/run", sup.paths.home);
}

/* Returns true for a program that would lose its rights in a namespace. */
static bool
command_set_id(const struct host_program *p)
{
	struct stat st;

	return fstat(p->files[p->nfiles - 1].fd, &st) == -1 ||
	       (st.st_mode & S_ISUID) != 0 ||
	       ((st.st_mode & S_ISGID) != 0 && (st.st_mode & S_IXGRP) != 0);
}

/*
 * Returns true if bubblewrap can start the command. A session without a sandbox
 * of ours needs none, and may be where there can be none; the session of a
 * trial runs commands as the sessions do that it is made for.
 */
static bool
command_can_hide(const struct host_program *p)
{
	struct fault ignored;

	if ((sup.opt.runtime == RUNTIME_NONE && sup.opt.trial == NULL) ||
	    command_set_id(p) || box_bwrap() == NULL)
		return false;
	return box_program()->nfiles != 0 ||
	       host_find(box_program(), "bubblewrap", box_bwrap(), &ignored) ==
		   0;
}

static void
command_environ(const struct host_command *c, const struct places *places,
    struct environ_how *how)
{
	*how = (struct environ_how){.places = places,
	    .user_home = sup.paths.user_home,
	    .listed = c->def.variables};
}

int
host_command_inline(const struct host_program *program, char *const *words,
    bool shell, const char *what, struct fault *fault)
{
	const char *text, *name = "";
	char *real;

	real = paths_of_fd(program->files[program->nfiles - 1].fd);
	if (real == NULL)
		return fault_errno(fault, "%s", what);
	text = shell ? NULL : reach_inline(words, real, &name);
	free(real);
	if (text != NULL)
		return fault_set(fault,
		    "%s: %s with a program as text (%.20s) is refused: it "
		    "runs without a sandbox, and nobody can tell whether the "
		    "text leads to files that the agent can write. Put the "
		    "text into a script of your own and name that, or write "
		    "\"shell\": true into its entry if it leads to none",
		    what, name, text);
	return 0;
}

/* Refuse an argument of which a part leads to a place of an agent's. */
static int
command_judge(const struct host_command *c, const struct places *places,
    const char *what, struct fault *fault)
{
	char *const *words = c->def.argv;
	const char *place;

	if (host_command_inline(
		&c->program, words, c->def.shell, what, fault) == -1)
		return -1;
	for (size_t i = 1; words[i] != NULL; i++) {
		place = reach_text(places, sup.paths.user_home, words[i]);
		if (place != NULL)
			return fault_set(fault,
			    "%s: the argument \"%s\" is refused: it leads into "
			    "%s, where the agent could put a program of its "
			    "own",
			    what, words[i], place);
	}
	return 0;
}

/* Refuse an argument that is a path of the agent's: it would not be there. */
static int
command_hidden_judge(
    const struct host_command *c, const char *what, struct fault *fault)
{
	const char *place;

	for (char **a = c->def.argv + 1; *a != NULL; a++) {
		place = reach_path(&sup.host.places, *a);
		if (place != NULL)
			return fault_set(fault,
			    "%s: the argument \"%s\" is refused: it leads into "
			    "%s, where the agent could put a program of its "
			    "own, and which is empty for this command",
			    what, *a, place);
	}
	return 0;
}

int
host_command_find(struct host_command *c, const char *what,
    const struct config_command *def, struct fault *fault)
{
	struct environ_how how;
	int rv;

	*c = (struct host_command){.def = *def};
	if (host_find(&c->program, what, def->argv[0], fault) == -1)
		return -1;
	c->hidden = command_can_hide(&c->program);
	command_environ(c, &sup.host.places, &how);
	rv = host_environ_check(&how, environ, what, fault);
	if (rv == 0)
		rv = c->hidden
			 ? command_hidden_judge(c, what, fault)
			 : command_judge(c, &sup.host.places, what, fault);
	if (rv == 0)
		return 0;
	host_program_free(&c->program);
	c->program.refused = true;
	return -1;
}

/* Without a word about it: a desktop that has none is as good. */
static void
command_desktop(void)
{
	static char program[] = "notify-send";
	static char *argv[] = {program, NULL};
	const struct config_command def = {.argv = argv};
	struct fault why;

	if (getenv("DBUS_SESSION_BUS_ADDRESS") == NULL ||
	    (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL))
		return;
	if (host_command_find(&sup.host.notify, "notify", &def, &why) == 0)
		sup.host.desktop = true;
	sup.host.notify.program.refused = false;
}

int
host_command_notify(struct fault *fault)
{
	const struct config_command *def = &sup.config.notify;
	struct fault why;

	if (def->argv == NULL) {
		command_desktop();
		return 0;
	}
	if (def->argv[0] == NULL ||
	    host_command_find(&sup.host.notify, "notify", def, &why) == 0)
		return 0;
	/*
	 * The session works without a notify command, but must not run one that
	 * the agent can write.
	 */
	if (sup.host.notify.program.refused) {
		*fault = why;
		return -1;
	}
	sup_warn("%s: you will not be notified of pending calls", why.text);
	return 0;
}

/* Start it, with the places that agents can write now. */
static int
command_start(const struct host_command *c, const struct places *now,
    const char *what, const struct spawn *how, struct spawned *out,
    struct fault *fault)
{
	struct hidden h = {.bwrap = box_program(), .places = now};
	struct environ_how environ_how;
	struct spawn s = *how;
	const char *place;
	char *bridge, **env;
	int rv;

	place = host_program_reached(&c->program, now);
	if (place != NULL)
		return fault_set(fault,
		    "%s: %s is not run: by now an agent can write %s, where "
		    "its program is",
		    what, c->def.argv[0], place);
	if (!c->hidden && command_judge(c, now, what, fault) == -1)
		return -1;
	command_environ(c, now, &environ_how);
	if (host_environ_check(&environ_how, environ, what, fault) == -1)
		return -1;
	if ((env = host_environ(&environ_how, environ)) == NULL)
		return fault_errno(fault, "%s", what);
	bridge = paths_join(sup.paths.bindir, "ic-bridge");
	if (c->hidden && bridge != NULL) {
		h.bridge = bridge;
		h.env = env;
		rv = hidden_start(&h, &c->program, how, out);
	} else {
		s.envp = env;
		rv = host_program_start(&c->program, now, &s, out);
	}
	if (rv == -1)
		fault_errno(fault, "%s: %s", what, c->def.argv[0]);
	free(bridge);
	jsonfile_strings_free(env);
	return rv;
}

int
host_command_start(const struct host_command *c, const char *what,
    const struct spawn *how, struct spawned *out, struct fault *fault)
{
	static struct places now;
	int rv;

	if (c->program.nfiles == 0)
		return fault_set(
		    fault, "%s: %s was not found", what, c->def.argv[0]);
	if (host_places_now(&now, fault) == -1)
		return -1;
	rv = command_start(c, &now, what, how, out, fault);
	places_clear(&now);
	return rv;
}

const char *
host_command_lost(
    struct host_command *c, const char *where, char *dst, size_t cap)
{
	struct environ_how how;
	char names[300], first[100];
	unsigned n;

	dst[0] = '\0';
	if (c->failed)
		return dst;
	c->failed = true;
	command_environ(c, &sup.host.places, &how);
	n = host_environ_lost(&how, environ, true, names, sizeof(names));
	if (n == 0)
		return dst;
	snprintf(first, sizeof(first), "%.*s", (int)strcspn(names, ","), names);
	snprintf(dst, cap,
	    ". It did not get %s%s, which %s set here: such commands get few "
	    "variables. If it needs one, add to %s of config.json: "
	    "\"variables\": [\"%s\"]",
	    names, strlen(names) > sizeof(names) - 40 ? ", ..." : "",
	    n == 1 ? "is" : "are", where, first);
	return dst;
}
