/* SPDX-License-Identifier: ISC */
/* Decides where the session's groups are, and keeps those of its sandboxes. */
#include "box/cgroup/group.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/cgroup/scope.h"
#include "box/cgroup/tree.h"
#include "core/sup.h"

#define GROUP_MAX 64U
#define GROUP_CALL_MS 4000
#define GROUP_MOVE_MS 2000U
#define GROUP_MOVE_STEP_MS 2
/* bubblewrap's own processes are in the group, too. */
#define GROUP_BWRAP 2U

struct group_box {
	char name[96];
	char who[80]; /* "" for the agent */
	int dir;      /* -1: free */
	unsigned killed;
};

static struct {
	struct cgroup_tree tree;
	struct group_box boxes[GROUP_MAX];
	unsigned made; /* numbers the servers' groups */
	bool told;
	char path[4096];
	char where[300]; /* for sup.config.limits.group */
} group_env = {.tree = {.dir = -1}};

static void
group_none(const char *why)
{
	snprintf(group_env.where, sizeof(group_env.where), "none: %s", why);
	sup.config.limits.group = group_env.where;
}

/* Open the group of this process. Returns -1 after saying why there is none. */
static int
group_own(void)
{
	int dir;

	if (cgroup_find("/proc/self/mountinfo", "/proc/self/cgroup",
		group_env.path, sizeof(group_env.path)) == -1 ||
	    (dir = open(group_env.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
		-1) {
		group_none("no control groups of version 2 are mounted");
		return -1;
	}
	return dir;
}

/* Wait until systemd has moved this process into the scope. */
static bool
group_moved(const char *name)
{
	const uint64_t until = clock_mono_us() + GROUP_MOVE_MS * 1000ULL;
	char path[4096];

	do {
		if (cgroup_find("/proc/self/mountinfo", "/proc/self/cgroup",
			path, sizeof(path)) == 0 &&
		    strstr(path, name) != NULL) {
			memcpy(group_env.path, path, sizeof(path));
			return true;
		}
		/* The kernel reports no such move. */
		(void)poll(NULL, 0, GROUP_MOVE_STEP_MS);
	} while (clock_mono_us() < until);
	return false;
}

/* Run busctl. Returns true if systemd has accepted the scope. */
static bool
group_call(const struct host_program *busctl, const struct scope_call *call)
{
	struct spawned sp = SPAWNED_INIT;
	const struct spawn s = {.argv = (char *const *)(uintptr_t)call->words,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true};
	struct pollfd p = {.events = POLLIN};
	int code = 0, status = 1;

	if (host_program_start(busctl, &sup.host.places, &s, &sp) == -1)
		return false;
	if (spawn_check(&sp) == 0) {
		p.fd = sp.pidfd;
		if (poll(&p, 1, GROUP_CALL_MS) != 1)
			(void)kill(sp.pid, SIGKILL);
	}
	if (spawn_reap(sp.pidfd, true, &code, &status) != 1)
		status = 1;
	close(sp.pidfd);
	return code == CLD_EXITED && status == 0;
}

/*
 * Ask the user's systemd for a scope. Returns its directory, or -1 after saying
 * why there is none.
 */
static int
group_scope(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct host_program busctl = {.nfiles = 0};
	struct scope_call call;
	struct fault fault;
	char bus[512];
	int dir = -1;

	if (runtime == NULL ||
	    snprintf(bus, sizeof(bus), "%.400s/bus", runtime) < 0 ||
	    access(bus, W_OK) == -1) {
		group_none("no group is delegated to this session, and no "
			   "systemd of the user can be asked for one");
		return -1;
	}
	if (host_find(&busctl, "the control group", "busctl", &fault) == -1) {
		group_none("busctl(1), which asks systemd for a group, is not "
			   "installed");
		return -1;
	}
	if (scope_compose(&call, sup.session.id, getpid()) == -1)
		group_none("its command line is too long");
	else if (!group_call(&busctl, &call))
		group_none("systemd refuses to make a scope: journalctl "
			   "--user says why");
	else if (!group_moved(call.name))
		group_none("systemd has not moved the session into its scope");
	else if ((dir = open(group_env.path,
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		group_none("the scope of systemd cannot be opened");
	host_program_free(&busctl);
	return dir;
}

/* Returns true if systemd waits for this very process. */
static bool
group_is_service(void)
{
	return getenv("NOTIFY_SOCKET") != NULL;
}

static int
group_choose(void)
{
	int dir = group_own();

	if (dir == -1)
		return -1;
	if (cgroup_delegated(dir, group_env.path, sup.opt.unit != NULL))
		return dir;
	if (cgroup_controllers(dir) == 0)
		group_none("the groups of version 2 have no controllers here");
	else if (group_is_service())
		group_none("this session is a unit without Delegate=yes");
	close(dir);
	return group_env.where[0] != '\0' ? -1 : group_scope();
}

/* Say what the kernel enforces from now on. */
static void
group_in_force(void)
{
	struct limits *l = &sup.config.limits;
	const unsigned have = group_env.tree.have;

	snprintf(group_env.where, sizeof(group_env.where), "%.250s (%s%s%s%s)",
	    group_env.path, (have & CGROUP_MEMORY) != 0 ? "memory" : "",
	    (have & CGROUP_PIDS) != 0 ? " pids" : "",
	    (have & CGROUP_CPU) != 0 ? " cpu" : "",
	    group_env.tree.v1 ? ", version 1" : "");
	l->group = group_env.where;
	l->group_cpus = (have & CGROUP_CPU) != 0;
	l->server_forced = (have & CGROUP_MEMORY) != 0;
	if (sup.opt.runtime != RUNTIME_BWRAP)
		return;
	l->memory_forced = (have & CGROUP_MEMORY) != 0;
	l->processes_forced = (have & CGROUP_PIDS) != 0;
	l->cpus_forced = (have & CGROUP_CPU) != 0;
}

/* Use version 1, where version 2 has nothing for us. */
static void
group_v1(void)
{
	int dir;

	if (cgroup_v1_find("/proc/self/mountinfo", "/proc/self/cgroup",
		group_env.path, sizeof(group_env.path)) == -1 ||
	    (dir = open(group_env.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
		-1)
		return;
	if (cgroup_v1_open(&group_env.tree, dir))
		group_in_force();
	else
		close(dir);
}

void
group_begin(void)
{
	int dir;

	for (unsigned i = 0; i < GROUP_MAX; i++)
		group_env.boxes[i].dir = -1;
	if ((dir = group_choose()) == -1) {
		group_v1();
		return;
	}
	if (cgroup_tree_open(&group_env.tree, dir) == -1) {
		group_none("the group cannot be divided: its controllers "
			   "cannot be enabled");
		close(dir);
		return;
	}
	group_in_force();
}

/* Forget groups whose processes have all ended. */
static void
group_sweep(void)
{
	struct group_box *b;

	for (unsigned i = 0; i < GROUP_MAX; i++) {
		b = &group_env.boxes[i];
		if (b->dir == -1 || b->name[0] == '\0' ||
		    !cgroup_remove(&group_env.tree, b->name))
			continue;
		close(b->dir);
		b->dir = -1;
	}
}

void
group_end(void)
{
	int dir = group_env.tree.dir;

	if (dir == -1)
		return;
	group_sweep();
	cgroup_tree_close(&group_env.tree);
	close(dir);
}

static int
group_make(const char *name, const char *who, uint64_t memory_mb)
{
	const struct limits *limits = &sup.config.limits;
	const struct cgroup_limits l = {.memory_mb = memory_mb,
	    .processes =
		limits->processes == 0 ? 0 : limits->processes + GROUP_BWRAP,
	    .cpus = limits_processors(limits)};
	struct group_box *b = group_env.boxes;

	if (group_env.tree.dir == -1)
		return -1;
	group_sweep();
	while (b < group_env.boxes + GROUP_MAX && b->dir != -1)
		b++;
	if (b == group_env.boxes + GROUP_MAX)
		return -1;
	*b = (struct group_box){.killed = 0};
	/* Those of version 1 are beside those of other sessions. */
	snprintf(b->name, sizeof(b->name), "%s%.60s%s%s",
	    group_env.tree.v1 ? "ironcurtain-" : "",
	    group_env.tree.v1 ? sup.session.id : "",
	    group_env.tree.v1 ? "-" : "", name);
	if ((b->dir = cgroup_make(&group_env.tree, b->name, &l)) == -1) {
		if (!group_env.told)
			sup_warn("the control group of %s cannot be made (%s); "
				 "its limits are watched instead",
			    who[0] == '\0' ? "the agent" : who,
			    strerror(errno));
		group_env.told = true;
		return -1;
	}
	(void)strlcpy(b->who, who, sizeof(b->who));
	return cgroup_entrance(b->dir);
}

int
group_agent(void)
{
	return group_make("agent", "", sup.config.limits.memory_mb);
}

int
group_server(const char *who)
{
	char name[32];

	snprintf(name, sizeof(name), "server-%u", ++group_env.made);
	return group_make(name, who, sup.config.limits.server_mb);
}

unsigned
group_agent_killed(void)
{
	for (unsigned i = 0; i < GROUP_MAX; i++) {
		struct group_box *b = &group_env.boxes[i];
		unsigned n;

		if (b->dir == -1 || b->who[0] != '\0' || b->name[0] == '\0')
			continue;
		/* The file is empty when the group is gone. */
		if ((n = cgroup_killed(b->dir)) > b->killed)
			b->killed = n;
		return b->killed;
	}
	return 0;
}

void
group_look(void (*told)(const char *who, uint64_t mb))
{
	unsigned n;

	for (unsigned i = 0; i < GROUP_MAX; i++) {
		struct group_box *b = &group_env.boxes[i];

		if (b->dir == -1 || b->who[0] == '\0' ||
		    (n = cgroup_killed(b->dir)) <= b->killed)
			continue;
		b->killed = n;
		told(b->who, sup.config.limits.server_mb);
	}
}
