/* SPDX-License-Identifier: ISC */
/*
 * Which workers there are and which of them may talk: the trust diagram as
 * data.  A pair that is not here has no channel.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "common/confine.h"
#include "common/proto.h"

enum topology_count {
	TOPOLOGY_ONE,
	TOPOLOGY_PER_SERVER,
	TOPOLOGY_PER_PROVIDER,
	TOPOLOGY_IF_PROVIDERS, /* one, when there is any provider */
};

struct topology_worker {
	enum role role;
	const char *program; /* in libexecdir */
	enum topology_count count;
	uint32_t required; /* confine flags without which it may not run */
};

struct topology_pair {
	enum role a, b;
};

extern const struct topology_worker topology_workers[];
extern const size_t topology_nworkers;
extern const struct topology_pair topology_pairs[];
extern const size_t topology_npairs;

const struct topology_worker *topology_find(enum role);
/* How many of a worker run with so many servers and providers. */
unsigned topology_instances(enum role, unsigned servers, unsigned providers);

#endif
