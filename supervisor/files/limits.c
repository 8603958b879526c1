/* SPDX-License-Identifier: ISC */
#include "files/limits.h"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_put.h"
#include "common/confine/confine.h"
#include "files/limits_priv.h"

/* Enough for a large install, and for browsers and data loaders. */
#define LIMITS_TMP_MB 2048U
#define LIMITS_SHM_MB 512U

void
limits_default(struct limits *l)
{
	*l = (struct limits){.memory_mb = 4096,
	    .server_mb = 2048,
	    .processes = 512,
	    .files = 16384,
	    .tmp_mb = LIMITS_TMP_MB,
	    .shm_mb = LIMITS_SHM_MB,
	    .home_mb = 10240,
	    .free_mb = 256,
	    .cpus = 2};
}

/* Bound `*mb` by a memory of `memory` MiB; 0 is no limit. */
static void
limit_bound(uint64_t *mb, uint64_t memory)
{
	if (memory != 0 && (*mb == 0 || *mb > memory))
		*mb = memory;
}

void
limits_bound(struct limits *l, uint64_t memory, bool tmp, bool shm)
{
	if (memory == 0)
		return;
	limit_bound(&l->tmp_mb, tmp ? memory : memory / 2);
	limit_bound(&l->shm_mb, shm ? memory : memory / 4);
}

void
limits_server(const struct limits *l, struct limits *out)
{
	*out = *l;
	limits_bound(out, l->server_mb, false, false);
}

/*
 * Since Linux 5.14, processes are counted separately for each user namespace.
 */
static bool
counts_namespaces(void)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) == -1 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 14);
}

unsigned
limits_processors(const struct limits *l)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (l->cpus == 0 || sched_getaffinity(0, sizeof(set), &set) == -1 ||
	    (unsigned)CPU_COUNT(&set) <= l->cpus)
		return 0;
	return l->cpus;
}

uint64_t
limits_files(const struct limits *l)
{
	uint64_t half = CONFINE_MAX_FILES / 2;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_max / 2 < half)
		half = rl.rlim_max / 2;
	return l->files < half ? l->files : half;
}

const char *
limits_option(const struct limits *l, bool own_users, char *dst, size_t cap)
{
	snprintf(dst, cap, "processes=%llu,file=%llu,cpus=%u",
	    own_users && counts_namespaces() ? (unsigned long long)l->processes
					     : 0ULL,
	    (unsigned long long)l->home_mb << 20,
	    l->group_cpus ? 0 : limits_processors(l));
	return dst;
}

static void
add(struct json_object *o, const char *key, const char *text)
{
	put_str(o, key, text);
}

static void
add_mib(struct json_object *o, const char *key, uint64_t mib, const char *how)
{
	char text[96];

	snprintf(
	    text, sizeof(text), "%llu MiB%s", (unsigned long long)mib, how);
	add(o, key, mib == 0 ? "no limit" : text);
}

struct json_object *
limits_json(const struct limits *l)
{
	struct json_object *o = json_object_new_object();
	char text[96];

	add_mib(o, "memory", l->memory_mb,
	    l->memory_forced ? ", by a control group" : ", watched");
	add_mib(o, "serverMemory", l->server_mb,
	    l->server_forced ? ", by a control group" : ", watched");
	snprintf(text, sizeof(text), "%u, by %s", limits_processors(l),
	    l->cpus_forced ? "a control group" : "affinity: no limit of time");
	add(o, "processors", limits_processors(l) == 0 ? "no limit" : text);
	snprintf(text, sizeof(text), "%llu, threads included",
	    (unsigned long long)l->processes);
	add(o, "processes",
	    !l->processes_forced && !counts_namespaces()
		? "no limit: this kernel is older than 5.14"
	    : l->processes == 0 ? "no limit"
				: text);
	snprintf(text, sizeof(text), "%llu in each process%s",
	    (unsigned long long)limits_files(l),
	    limits_files(l) < l->files ? ", half of ulimit -Hn" : "");
	add(o, "openFiles", l->files == 0 ? "no limit" : text);
	add_mib(o, "tmp", l->tmp_mb, "");
	add_mib(o, "shm", l->shm_mb, "");
	add_mib(o, "home", l->home_mb, ", watched");
	add_mib(o, "freeDisk", l->free_mb, " at least, watched");
	if (l->group != NULL)
		add(o, "controlGroup", l->group);
	return o;
}
