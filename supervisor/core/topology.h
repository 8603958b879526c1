/* SPDX-License-Identifier: ISC */
/*
 * The workers, and which of them may communicate: the trust diagram as data. A
 * pair that is not in the table has no channel.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "common/confine/confine.h"
#include "common/ipc/proto.h"

enum topology_count {
	TOPOLOGY_ONE,
	TOPOLOGY_PER_SERVER,
	TOPOLOGY_PER_PROVIDER,
	TOPOLOGY_PER_DOOR,    /* one per server that has network, and one for
				 services */
	TOPOLOGY_IF_NETWORK,  /* one, if there is or may be a provider, a server
				 has network, or there are services */
	TOPOLOGY_IF_PROXY,    /* one, if there is network behind a corporate
				 proxy */
	TOPOLOGY_IF_AGENT,    /* one, if this session runs the agent and shows
				 its output */
	TOPOLOGY_IF_EDITOR,   /* one, if an editor talks to the agent */
	TOPOLOGY_IF_PORTS,    /* one, if ports of the sandbox are published */
	TOPOLOGY_IF_GATE,     /* one, if its connections come over TCP */
	TOPOLOGY_IF_APPROVER, /* one, if config.json has autoApprove */
};

struct topology_worker {
	enum role role;
	const char *program; /* in libexecdir */
	enum topology_count count;
	uint32_t required; /* confine flags without which it must not run */
	uint32_t layers;   /* flags that it has if the system allows all */
};

struct topology_pair {
	enum role a, b;
	enum proto_memory memory; /* shared beside the channel */
};

extern const struct topology_worker topology_workers[];
extern const size_t topology_nworkers;
extern const struct topology_pair topology_pairs[];
extern const size_t topology_npairs;

const struct topology_worker *topology_find(enum role);
/* Returns the layers that the worker should have and lacks. */
uint32_t topology_missing(enum role, const struct confine_state *);
struct topology_size {
	unsigned servers, providers;
	uint32_t doors; /* bit i: server i has network */
	bool services;  /* the agent has services */
	bool proxy;     /* there is a corporate proxy */
	bool open;      /* providers may be added in the session */
	bool agent;     /* this session runs the agent */
	bool editor;    /* an editor talks to it */
	bool ports;     /* ports of the sandbox are published */
	bool gate;      /* the sandbox's connections come over TCP */
	bool forge;     /* one of the providers is a forge */
	uint64_t logins; /* bit i: provider i logs in to a database */
	/* the place of each remote server among the providers, + 1; or 0 */
	uint8_t afar[PROTO_MAX_SERVERS];
	unsigned approver; /* its provider's index + 1; 0: there is none */
};

/* Returns the number of the role's indices. */
unsigned topology_instances(enum role, const struct topology_size *);
/* Returns true if this keyd is a pgkeyd. */
static inline bool
topology_logs_in(unsigned key, const struct topology_size *size)
{
	return (size->logins >> key & 1) != 0;
}

/* Returns true if the worker of that index runs. */
bool topology_runs(enum role, unsigned index, const struct topology_size *);
/*
 * Returns true if both run and have a channel: of the keyds, the approver only
 * has one to that of its provider.
 */
bool topology_paired(const struct topology_pair *, unsigned a, unsigned b,
    const struct topology_size *);

#endif
