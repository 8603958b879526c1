/* SPDX-License-Identifier: ISC */
/*
 * Holds the lock of a home that stays until the process ends. An agent of an
 * earlier session may have filled the home with traps, so it is reached through
 * a descriptor, and only session_seed() and session_write() put files into it.
 */
#include "home/project.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/tree.h"
#include "core/sup.h"
#include "home/store.h"
#include "start/builtin.h"

static struct home_env {
	int homes; /* IRONCURTAIN_HOME/homes */
	int dir;   /* homes/ID */
	int lock;
	bool stays;
	bool made;
	char id[HOME_ID];
} home_env = {.homes = -1, .dir = -1, .lock = -1};

/* Create and open a directory of ours, without following a link. */
static int
home_subdir(int dirfd, const char *name, bool *made)
{
	*made = mkdirat(dirfd, name, 0700) == 0;
	if (!*made && errno != EEXIST)
		return -1;
	/* An agent can take the rights to its own home away. */
	return tree_open(dirfd, name, true);
}

static int
home_busy(struct fault *fault)
{
	char user[HOME_USER_MAX];

	if (errno != EWOULDBLOCK && errno != ESTALE)
		return fault_errno(fault, "%s/" HOMES "/%s/" HOME_LOCK,
		    sup.paths.home, home_env.id);
	home_user(home_env.dir, user);
	return fault_set_kind(fault, FAULT_BUSY,
	    "--home project: %s%s uses the home of %s for %s. Wait until it "
	    "has ended (icctl ls), or start without --home project",
	    user[0] != '\0' ? "session " : "another session", user,
	    sup.opt.agent != NULL ? sup.opt.agent : "this agent",
	    sup.workspace_path);
}

/* Write whose home it is, for people. */
static int
home_describe(const char *agent)
{
	json_object *o = json_object_new_object();
	const char *text;
	int rv;

	put_str(o, "workspace", sup.workspace_path);
	put_str(o, "agent", agent);
	put_int(o, "used", (int64_t)(clock_wall_us() / 1000000));
	text = json_object_to_json_string_ext(
	    o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	rv = session_write(home_env.dir, HOME_FILE, 0600, span_str(text));
	json_object_put(o);
	return rv;
}

static int
home_swap(const char *agent, struct fault *fault)
{
	int fd;
	bool made;

	if (home_describe(agent) == -1 ||
	    home_sign(home_env.lock, sup.session.dir) == -1 ||
	    (fd = home_subdir(home_env.dir, "home", &made)) == -1)
		return fault_errno(fault, "%s/" HOMES "/%s", sup.paths.home,
		    home_env.id);
	/* Its owner may have closed it, or opened it to others. */
	if (fchmod(fd, 0700) == -1) {
		close(fd);
		return fault_errno(fault, "%s/" HOMES "/%s/home",
		    sup.paths.home, home_env.id);
	}
	close(sup.session.home);
	sup.session.home = fd;
	home_env.stays = true;
	return 0;
}

static int
home_refuse(struct fault *fault)
{
	if (sup.opt.runtime == RUNTIME_NONE)
		return fault_set(fault, "--home project: --runtime none starts "
					"no agent, which has no home");
	if (sup.opt.clone != NULL)
		return fault_set(fault, "--home project and --clone cannot be "
					"used together: each clone is another "
					"workspace");
	if (sup.opt.workspace == NULL)
		return fault_set(fault, "--home project needs a workspace that "
					"stays: --workspace DIR");
	return 0;
}

int
home_open(struct fault *fault)
{
	const char *agent = sup.opt.agent;
	char *path;
	bool made;

	if (!sup.opt.project_home || sup.opt.check)
		return 0;
	if (home_refuse(fault) == -1)
		return -1;
	if (agent == NULL)
		agent = sup.opt.command != NULL ? "command" : BUILTIN_USUAL;
	home_id(sup.workspace_path, agent, home_env.id);
	if ((path = paths_join(sup.paths.home, HOMES)) == NULL)
		return fault_errno(fault, "--home project");
	home_env.homes = home_subdir(AT_FDCWD, path, &made);
	free(path);
	if (home_env.homes == -1 ||
	    (home_env.dir = home_subdir(
		 home_env.homes, home_env.id, &home_env.made)) == -1)
		return fault_errno(fault, "%s/" HOMES, sup.paths.home);
	if ((home_env.lock = home_take(home_env.dir)) == -1)
		return home_busy(fault);
	return home_swap(agent, fault);
}

bool
home_stays(void)
{
	return home_env.stays;
}

int
home_blocked(struct fault *fault)
{
	size_t n = strlen(fault->text);

	if (home_env.stays && !home_env.made) {
		if (fault->kind == FAULT_OTHER)
			fault->kind = FAULT_CONFIG;
		snprintf(fault->text + n, sizeof(fault->text) - n,
		    ". The home stays from an earlier session, whose agent may "
		    "have left this. Remove the home: icctl home rm %s",
		    home_env.id);
	}
	return -1;
}

void
home_close(void)
{
	struct stat st = {.st_dev = 0};
	struct tree t;

	if (home_env.lock == -1 || !home_env.made || sup.agent_started)
		return;
	(void)fstat(home_env.dir, &st);
	t = (struct tree){.dev = st.st_dev};
	tree_whole(&t, home_env.homes, home_env.id);
	home_env.stays = false;
}
