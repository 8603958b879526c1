/* SPDX-License-Identifier: ISC */
/*
 * Which workers there are and which of them may talk: the trust diagram as
 * data.  A pair that is not here has no channel.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "common/confine/confine.h"
#include "common/ipc/proto.h"

enum topology_count {
	TOPOLOGY_ONE,
	TOPOLOGY_PER_SERVER,
	TOPOLOGY_PER_PROVIDER,
	TOPOLOGY_PER_DOOR,   /* one per server that has network */
	TOPOLOGY_IF_NETWORK, /* one, if there is, or may be, a provider, or a
				door */
	TOPOLOGY_IF_PROXY, /* one, if there is network and a proxy before it */
	TOPOLOGY_IF_AGENT, /* one, if we run the agent ourselves */
};

struct topology_worker {
	enum role role;
	const char *program; /* in libexecdir */
	enum topology_count count;
	uint32_t required; /* confine flags without which it may not run */
	uint32_t layers;   /* those that it has where the system allows all */
};

struct topology_pair {
	enum role a, b;
};

extern const struct topology_worker topology_workers[];
extern const size_t topology_nworkers;
extern const struct topology_pair topology_pairs[];
extern const size_t topology_npairs;

const struct topology_worker *topology_find(enum role);
/* The layers that it should have and does not. */
uint32_t topology_missing(enum role, const struct confine_state *);
struct topology_size {
	unsigned servers, providers;
	uint32_t doors; /* bit i: server i has network */
	bool proxy;     /* a corporate one */
	bool open;      /* providers may be added in the session */
	bool agent;     /* is run by us */
};

/* Indices of a worker are below this number. */
unsigned topology_instances(enum role, const struct topology_size *);
/* Does the one of that index run? */
bool topology_runs(enum role, unsigned index, const struct topology_size *);

#endif
