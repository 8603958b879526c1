/* SPDX-License-Identifier: ISC */
/*
 * How much of the machine a session may take: "dockerResources" and "limits"
 * of config.json.  0 means that there is no limit.
 */
#ifndef LIMITS_H
#define LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "config/jsonfile.h"

struct limits {
	uint64_t memory_mb; /* of the agent's sandbox */
	uint64_t server_mb; /* of the sandbox of each MCP server */
	uint64_t processes; /* of a sandbox, threads included */
	uint64_t tmp_mb, shm_mb;
	uint64_t home_mb; /* the agent's home directory, and any one file */
	uint64_t free_mb; /* what must stay free of the disk */
	unsigned cpus;
};

void limits_default(struct limits *);
/*
 * Reads both objects of `root`, over the defaults. Returns 0, or -1 with the
 * fault set.
 */
int limits_read(
    struct limits *, const struct jsonfile *, struct json_object *root);
/*
 * What `ic-bridge --limits` is given: processes, the size of a file, and on
 * how many processors it may run. Returns `dst`.
 */
const char *limits_option(const struct limits *, char *dst, size_t cap);
/*
 * Each limit with its figure and how it is enforced, for people and for the
 * log. A fresh object: {"memory": "4096 MiB (watched)", ...}.
 */
struct json_object *limits_json(const struct limits *);

#endif
