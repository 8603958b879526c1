/* SPDX-License-Identifier: ISC */
/* The table of workers and pairs. Only data; the tests have a golden copy. */
#include "topology.h"

#ifdef IC_SANITIZED
/* A sanitized program needs system calls that the filters forbid. */
#define MUST (CONFINE_DUMPABLE0 | CONFINE_NNP)
#else
#define MUST                                                                   \
	(CONFINE_DUMPABLE0 | CONFINE_NNP | CONFINE_SECCOMP | CONFINE_LANDLOCK)
#endif

/*
 * The layers of each worker. policyd looks up paths in the host's root, and
 * dialerd uses the host's network; no other worker has either.
 */
#define SHOULD                                                                 \
	(MUST | CONFINE_USERNS | CONFINE_NETNS | CONFINE_IPCNS |               \
	    CONFINE_UTSNS | CONFINE_ROOT | CONFINE_CAPS0)
#define NO_ROOT (SHOULD & ~(uint32_t)CONFINE_ROOT)
#define NO_NETNS (SHOULD & ~(uint32_t)CONFINE_NETNS)
#define SECRET (SHOULD | CONFINE_SECRETMEM)

/* clang-format off */
/* Workers that are slow to start come first. */
const struct topology_worker topology_workers[] = {
	{ ROLE_MITM,	"mitmd",	TOPOLOGY_ONE,		MUST, SHOULD },
	{ ROLE_KEY,	"keyd",		TOPOLOGY_PER_PROVIDER,	MUST, SECRET },
	{ ROLE_FOLLOW,	"followd",	TOPOLOGY_IF_NETWORK,	MUST, SECRET },
	{ ROLE_AUDIT,	"auditd",	TOPOLOGY_ONE,		MUST, SHOULD },
	{ ROLE_POLICY,	"policyd",	TOPOLOGY_ONE,		MUST, NO_ROOT },
	{ ROLE_PROXY,	"mcp-proxyd",	TOPOLOGY_ONE,		MUST, SHOULD },
	{ ROLE_DIAL,	"dialerd",	TOPOLOGY_IF_NETWORK,	MUST, NO_NETNS },
	{ ROLE_TUNNEL,	"tunneld",	TOPOLOGY_IF_PROXY,	MUST, SECRET },
	{ ROLE_BACK,	"mcp-backd",	TOPOLOGY_PER_SERVER,	MUST, SHOULD },
	{ ROLE_EGRESS,	"egressd",	TOPOLOGY_PER_DOOR,	MUST, SHOULD },
	{ ROLE_TERM,	"termd",	TOPOLOGY_IF_AGENT,	MUST, SHOULD },
	{ ROLE_PORT,	"portd",	TOPOLOGY_IF_PORTS,	MUST, SHOULD },
	{ ROLE_ACP,	"acpd",		TOPOLOGY_IF_EDITOR,	MUST, SHOULD },
	{ ROLE_GATE,	"gated",	TOPOLOGY_IF_GATE,	MUST, SHOULD },
	{ ROLE_APPROVE,	"approver",	TOPOLOGY_IF_APPROVER,	MUST, SHOULD },
};

/*
 * If a role has several instances, each has its own channel. termd only has a
 * channel to icsupervisor, and acpd one to auditd: viewers are not workers, and
 * come and go. gated has only that one, too: icsupervisor gives its connections
 * to their owners.
 */
const struct topology_pair topology_pairs[] = {
	/* tool calls: agent -> proxy -> policy -> audit -> server -> back */
	{ ROLE_PROXY,	ROLE_POLICY,	PROTO_MEMORY_RINGS },
	{ ROLE_POLICY,	ROLE_AUDIT,	PROTO_MEMORY_RINGS },
	{ ROLE_AUDIT,	ROLE_PROXY,	PROTO_MEMORY_RINGS },
	{ ROLE_BACK,	ROLE_PROXY,	PROTO_MEMORY_RINGS },
	{ ROLE_BACK,	ROLE_POLICY,	PROTO_MEMORY_RINGS },
	{ ROLE_BACK,	ROLE_AUDIT,	PROTO_MEMORY_RINGS },
	/* model requests: agent -> mitm -> audit -> key; bodies mitm <-> key */
	{ ROLE_MITM,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	{ ROLE_MITM,	ROLE_KEY,	PROTO_MEMORY_ARENA },
	/*
	 * requests that a person must approve: mitm -> policy -> audit -> key
	 */
	{ ROLE_MITM,	ROLE_POLICY,	PROTO_MEMORY_NONE },
	{ ROLE_KEY,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	{ ROLE_KEY,	ROLE_DIAL,	PROTO_MEMORY_NONE },
	/* answers of remote servers: audit -> key -> back */
	{ ROLE_KEY,	ROLE_BACK,	PROTO_MEMORY_NONE },
	/*
	 * connections of servers, and of the agent to services:
	 * server -> egress -> audit -> dial -> egress
	 */
	{ ROLE_EGRESS,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	{ ROLE_AUDIT,	ROLE_DIAL,	PROTO_MEMORY_NONE },
	{ ROLE_DIAL,	ROLE_EGRESS,	PROTO_MEMORY_NONE },
	/* the same with a login: egress -> audit -> key -> egress */
	{ ROLE_KEY,	ROLE_EGRESS,	PROTO_MEMORY_NONE },
	/* both kinds of connections, through a corporate proxy */
	{ ROLE_DIAL,	ROLE_TUNNEL,	PROTO_MEMORY_NONE },
	/* files of a forge: key -> audit -> follow -> mitm */
	{ ROLE_FOLLOW,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	{ ROLE_FOLLOW,	ROLE_MITM,	PROTO_MEMORY_NONE },
	{ ROLE_FOLLOW,	ROLE_DIAL,	PROTO_MEMORY_NONE },
	/* how much published ports are used */
	{ ROLE_PORT,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	/* requests that an agent makes of an editor */
	{ ROLE_ACP,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	/* the approver's question to a model: approve -> audit -> key */
	{ ROLE_APPROVE,	ROLE_AUDIT,	PROTO_MEMORY_NONE },
	{ ROLE_APPROVE,	ROLE_KEY,	PROTO_MEMORY_NONE },
};
/* clang-format on */

const size_t topology_nworkers = nitems(topology_workers);
const size_t topology_npairs = nitems(topology_pairs);

const struct topology_worker *
topology_find(enum role role)
{
	for (size_t i = 0; i < topology_nworkers; i++)
		if (topology_workers[i].role == role)
			return &topology_workers[i];
	return NULL;
}

uint32_t
topology_missing(enum role role, const struct confine_state *have)
{
	const struct topology_worker *w = topology_find(role);

	return w == NULL ? 0 : w->layers & ~have->flags;
}

unsigned
topology_instances(enum role role, const struct topology_size *size)
{
	const struct topology_worker *w = topology_find(role);

	/* Only forges have files elsewhere. */
	if (w == NULL || (role == ROLE_FOLLOW && !size->forge))
		return 0;
	switch (w->count) {
	case TOPOLOGY_ONE:
		return 1;
	case TOPOLOGY_PER_SERVER:
		return size->servers;
	case TOPOLOGY_PER_DOOR:
		return size->services ? PROTO_DOORS : size->servers;
	case TOPOLOGY_PER_PROVIDER:
		return size->providers;
	case TOPOLOGY_IF_NETWORK:
		return size->providers != 0 || size->doors != 0 ||
			       size->services || size->open
			   ? 1
			   : 0;
	case TOPOLOGY_IF_AGENT:
		return size->agent && !size->editor ? 1 : 0;
	case TOPOLOGY_IF_EDITOR:
		return size->agent && size->editor ? 1 : 0;
	case TOPOLOGY_IF_PORTS:
		return size->ports ? 1 : 0;
	case TOPOLOGY_IF_GATE:
		return size->gate ? 1 : 0;
	case TOPOLOGY_IF_APPROVER:
		return size->approver != 0 ? 1 : 0;
	case TOPOLOGY_IF_PROXY:
		return size->proxy && (size->providers != 0 ||
					  size->doors != 0 || size->open)
			   ? 1
			   : 0;
	}
	return 0;
}

bool
topology_runs(enum role role, unsigned index, const struct topology_size *size)
{
	const struct topology_worker *w = topology_find(role);

	if (index >= topology_instances(role, size))
		return false;
	if (w->count != TOPOLOGY_PER_DOOR)
		return true;
	if (index == PROTO_SERVICES)
		return size->services;
	return index < size->servers && (size->doors >> index & 1) != 0;
}

/* Returns true if the provider's place is that of a remote server. */
static bool
topology_afar(unsigned provider, const struct topology_size *size)
{
	for (unsigned i = 0; i < size->servers; i++)
		if (size->afar[i] == provider + 1)
			return true;
	return false;
}

bool
topology_paired(const struct topology_pair *p, unsigned a, unsigned b,
    const struct topology_size *size)
{
	if (!topology_runs(p->a, a, size) || !topology_runs(p->b, b, size))
		return false;
	/* No agent reaches the keyd of a remote server but through policyd. */
	if (p->a == ROLE_MITM && p->b == ROLE_KEY)
		return !topology_afar(b, size) && !topology_logs_in(b, size);
	if (p->a == ROLE_KEY && p->b == ROLE_EGRESS)
		return b == PROTO_SERVICES && topology_logs_in(a, size);
	if (p->a == ROLE_KEY && p->b == ROLE_BACK)
		return size->afar[b] == a + 1;
	return p->a != ROLE_APPROVE || p->b != ROLE_KEY ||
	       b + 1 == size->approver;
}
