/* SPDX-License-Identifier: ISC */
/*
 * Each check costs a few reads of /proc for each process. The fuller a sandbox
 * is, the sooner it is checked again. Memory that grows faster can exceed the
 * limit for a moment; the kernel's OOM killer then chooses the sandbox first,
 * as ic-bridge asks it to.
 */
#include "box/watcher.h"

#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "box/cgroup/group.h"
#include "box/hoard.h"
#include "box/oom.h"
#include "box/sandbox.h"
#include "box/usage.h"
#include "core/sup.h"

#define LOOK_MS 1000U
#define LOOK_FULLER_MS 400U /* above a quarter of the memory */
#define LOOK_FULL_MS 100U   /* above a half */
#define HOME_MS 10000U      /* between counts of the home directory */
#define HOME_ENTRIES 2000U  /* counted in each check */
#define MEMFDS_MS 2000U     /* between looks at descriptors */
/* The machine has 4096 by default, a quarter of them for its administrator. */
#define MAX_PTYS 1024U
#define MIB 1048576ULL

static struct {
	struct loop_timer timer;
	struct tree home;
	uint64_t home_at; /* loop_now() of the next count */
	uint64_t memfds_at,
	    memfds;    /* likewise, and the agent's bytes in them */
	uint64_t free; /* bytes of the disk that must stay free */
	bool told_processes, told_tmp, told_shm, told_memory;
	unsigned killed; /* by the kernel, before this turn */
} watcher_env;

/* Check sooner if a sandbox has used much of its limit; 0 means no limit. */
static void
sooner(unsigned *ms, uint64_t used, uint64_t limit)
{
	unsigned want = used > limit / 2   ? LOOK_FULL_MS
			: used > limit / 4 ? LOOK_FULLER_MS
					   : LOOK_MS;

	if (limit != 0 && want < *ms)
		*ms = want;
}

/* End the session, and say why on standard error. */
static void __attribute__((format(printf, 1, 2))) end_over(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!sup.ending)
		sup_warn("%s. The session ends", text);
	end_request(SUP_EXIT_LIMIT, NULL, "%s", text);
}

/* Returns true if it exceeds `mib`, with each shared page counted once. */
static bool
over(pid_t root, uint64_t *memory, uint64_t mib)
{
	if (mib == 0 || *memory <= mib * MIB)
		return false;
	*memory = usage_exact(root);
	return *memory > mib * MIB;
}

static void
tell_once(bool *told, bool now, const char *what, uint64_t n, const char *key)
{
	char text[300];

	if (!now || *told)
		return;
	*told = true;
	snprintf(text, sizeof(text),
	    "it has reached its limit of %2$llu %1$s, and gets no more. The "
	    "limit is %3$s in config.json",
	    what, (unsigned long long)n, key);
	sup_alarm("the agent", "limit", text);
}

/* Returns how many processes of the agent the kernel ended for memory. */
static unsigned
killed(void)
{
	return oom_killed() + group_agent_killed();
}

/* Returns the memory of the agent's memfds, which are looked at more rarely. */
static uint64_t
look_memfds(pid_t root)
{
	const uint64_t now = loop_now(&sup.loop);

	if (now >= watcher_env.memfds_at) {
		watcher_env.memfds_at = now + MEMFDS_MS;
		watcher_env.memfds = usage_memfds(root);
	}
	return watcher_env.memfds;
}

static void
look_agent(unsigned *ms)
{
	const struct limits *l = &sup.config.limits;
	const pid_t root = sandbox_root();
	struct usage u;

	if (root == 0 || sup.agent_ended)
		return;
	usage_read(root, &u);
	if (l->memory_mb != 0 && !l->memory_forced)
		u.memory += look_memfds(root);
	sooner(ms, u.memory, l->memory_mb * MIB);
	if (u.ptys > MAX_PTYS)
		end_over("the agent has opened %u pseudo-terminals, which all "
			 "programs of the machine share "
			 "(/proc/sys/kernel/pty/max); its limit is %u",
		    u.ptys, MAX_PTYS);
	tell_once(&watcher_env.told_processes,
	    l->processes != 0 && u.processes >= l->processes,
	    "processes and threads", l->processes, "limits.processes");
	tell_once(&watcher_env.told_memory, killed() > watcher_env.killed,
	    "MiB of memory, at which the kernel ends its processes",
	    l->memory_mb, "dockerResources.memoryMb");
	tell_once(&watcher_env.told_tmp, u.tmp_full, "MiB of /tmp", l->tmp_mb,
	    "limits.tmpMb");
	tell_once(&watcher_env.told_shm, u.shm_full, "MiB of /dev/shm",
	    l->shm_mb, "limits.shmMb");
	if (over(root, &u.memory, l->memory_mb))
		end_over("the agent used %llu MiB of memory; its limit is %llu "
			 "(dockerResources.memoryMb in config.json)",
		    (unsigned long long)(u.memory / MIB),
		    (unsigned long long)l->memory_mb);
}

/* Check a server's sandbox, or that of its instance for one call. */
static void
look_server(const struct server *s, const struct spawned *sp, unsigned *ms)
{
	const struct limits *l = &sup.config.limits;
	char text[300], who[80];
	struct usage u;

	if (sp->pidfd == -1 || !s->def->sandboxed || l->server_mb == 0)
		return;
	usage_read(sp->pid, &u);
	if (!l->server_forced)
		u.memory += usage_memfds(sp->pid);
	sooner(ms, u.memory, l->server_mb * MIB);
	if (!over(sp->pid, &u.memory, l->server_mb))
		return;
	snprintf(text, sizeof(text),
	    "it used %llu MiB of memory and is ended; its limit is %llu "
	    "(limits.serverMemoryMb in config.json)",
	    (unsigned long long)(u.memory / MIB),
	    (unsigned long long)l->server_mb);
	snprintf(who, sizeof(who), "MCP server %.64s", s->def->name);
	sup_alarm(who, "limit", text);
	(void)syscall(SYS_pidfd_send_signal, sp->pidfd, SIGKILL, NULL, 0);
}

/* The kernel has ended a process of a server at its group's limit. */
static void
server_killed(const char *who, uint64_t mb)
{
	char text[300];

	snprintf(text, sizeof(text),
	    "it has reached its limit of %llu MiB of memory, at which the "
	    "kernel ends its processes. The limit is limits.serverMemoryMb in "
	    "config.json",
	    (unsigned long long)mb);
	sup_alarm(who, "limit", text);
}

static uint64_t
free_bytes(int fd)
{
	struct statvfs v;

	return fstatvfs(fd, &v) == -1 ? UINT64_MAX
				      : (uint64_t)v.f_bavail * v.f_frsize;
}

static void
look_disk(void)
{
	uint64_t left = free_bytes(sup.session.fd);

	if (left >= watcher_env.free)
		return;
	end_over("%llu MiB are free on the disk of %s, and %llu must stay free "
		 "(limits.minFreeDiskMb in config.json)",
	    (unsigned long long)(left / MIB), sup.session.dir,
	    (unsigned long long)(watcher_env.free / MIB));
}

static void
look_home(void)
{
	uint64_t limit = sup.config.limits.home_mb * MIB;
	struct tree *t = &watcher_env.home;
	uint64_t now = loop_now(&sup.loop);

	if (limit == 0 || sup.opt.runtime == RUNTIME_NONE)
		return;
	if (t->depth == 0 && (now < watcher_env.home_at ||
				 tree_begin(t, sup.session.home) == -1))
		return;
	if (!tree_step(t, HOME_ENTRIES) && t->bytes <= limit && !t->deep)
		return;
	watcher_env.home_at = now + HOME_MS;
	if (t->deep)
		end_over("the agent's home directory has directories nested "
			 "more than %u deep, so that its size cannot be "
			 "watched (limits.homeMb in config.json; null watches "
			 "nothing)",
		    TREE_DEPTH);
	else if (t->bytes > limit)
		end_over(
		    "the agent's home directory has %llu MiB; its limit is "
		    "%llu (limits.homeMb in config.json)",
		    (unsigned long long)(t->bytes / MIB),
		    (unsigned long long)sup.config.limits.home_mb);
	tree_end(t);
}

static void
look_hoard(void)
{
	char why[300];

	if (hoard_look(sup.agent_ended ? 0 : sandbox_root(), why, sizeof(why)))
		end_over("%s", why);
}

static void
look(struct loop_timer *timer)
{
	unsigned ms = LOOK_MS;

	look_agent(&ms);
	for (unsigned i = 0; i < sup.nservers; i++)
		look_server(&sup.servers[i], &sup.servers[i].sp, &ms);
	for (unsigned i = 0; i < PROTO_MAX_INSTANCES; i++)
		if (sup.instances[i].call != 0)
			look_server(&sup.servers[sup.instances[i].of],
			    &sup.instances[i].sp, &ms);
	group_look(server_killed);
	look_disk();
	look_hoard();
	look_home();
	if (watcher_env.home.depth != 0 && ms > LOOK_FULLER_MS)
		ms = LOOK_FULLER_MS;
	loop_timer_set(&sup.loop, timer, ms, look, NULL);
}

void
watcher_turn(bool begins)
{
	unsigned ms = LOOK_MS;

	if (begins) {
		watcher_env.told_processes = watcher_env.told_memory = false;
		watcher_env.told_tmp = watcher_env.told_shm = false;
		watcher_env.killed = killed();
	} else if (!sup.ending) {
		look_agent(&ms);
	}
}

void
watcher_start(void)
{
	uint64_t left = free_bytes(sup.session.fd);

	/* A disk that is nearly full from the start must not prevent work. */
	watcher_env.free = sup.config.limits.free_mb * MIB;
	if (watcher_env.free > left / 2)
		watcher_env.free = left / 2;
	loop_timer_set(&sup.loop, &watcher_env.timer, LOOK_MS, look, NULL);
}
