/* SPDX-License-Identifier: ISC */
/*
 * The limits on a session's use of the machine: "dockerResources" and "limits"
 * of config.json. 0 means no limit.
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/jsonfile.h"

struct limits {
	uint64_t memory_mb; /* for the agent's sandbox */
	uint64_t server_mb; /* for the sandbox of each MCP server */
	uint64_t processes; /* for each sandbox, threads included */
	uint64_t files;	    /* open in each process of a sandbox */
	uint64_t tmp_mb, shm_mb; /* at most the memory */
	uint64_t home_mb; /* the agent's home directory, and any one file */
	uint64_t free_mb; /* space on the disk that must stay free */
	unsigned cpus;
	/* The kernel enforces these for the agent's sandbox, by a group. */
	bool memory_forced, processes_forced, cpus_forced;
	bool server_forced; /* and the memory of servers */
	bool group_cpus;    /* groups of ours limit the time of processors */
	/* The session's control group, or why there is none; may be NULL. */
	const char *group;
};

void limits_default(struct limits *);
/*
 * Read both objects of `root`, on top of the defaults. Returns 0, or -1 with
 * the fault set.
 */
int limits_read(
    struct limits *, const struct jsonfile *, struct json_object *root);
/* Write the limits of an MCP server's sandbox: its memory bounds /tmp. */
void limits_server(const struct limits *, struct limits *out);
/*
 * Write the argument of `ic-bridge --limits`: the number of processes, the size
 * of a file, and the number of processors. `own_users`: the sandbox has a user
 * namespace, in which the kernel counts its processes alone. Returns `dst`.
 */
const char *limits_option(
    const struct limits *, bool own_users, char *dst, size_t cap);
/*
 * Returns the number of processors to limit to, or 0 if the machine has no more
 * or there is no limit.
 */
unsigned limits_processors(const struct limits *);
/*
 * Returns how many files a process in a sandbox may have open at most: half of
 * the limit that this process was started with, or less; 0 means no limit. What
 * the processes of a user hold in flight in sockets together can exceed this
 * number by little, and stops only senders whose own limit it exceeds: our
 * workers, which have the user's, are not among them.
 */
uint64_t limits_files(const struct limits *);
/*
 * Returns each limit with its figure and how it is enforced, for people and for
 * the log: {"memory": "4096 MiB (watched)", ...}. The caller owns the object.
 */
struct json_object *limits_json(const struct limits *);

#endif
