/* SPDX-License-Identifier: ISC */
/* Gives workers their channels to each other, by the topology table. */
#include "core/sup.h"

#include <sys/socket.h>

#include "core/topology.h"

static int
setup_pair(const struct topology_pair *p, unsigned ia, unsigned ib,
    struct fault *fault)
{
	struct msg_PEER pa = {.role = (uint8_t)p->b,
	    .index = (uint16_t)ib,
	    .memory = (uint8_t)p->memory};
	struct msg_PEER pb = {.role = (uint8_t)p->a,
	    .index = (uint16_t)ia,
	    .memory = (uint8_t)p->memory};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1)
		return fault_errno(fault, "socketpair");
	if (chan_memory_give(pair, p->memory) == -1) {
		fault_errno(fault, "channels between the processes");
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	child_send(p->a, ia, MSG_PEER, &pa, pair[0]);
	child_send(p->b, ib, MSG_PEER, &pb, pair[1]);
	return 0;
}

int
setup_peers(struct fault *fault)
{
	const struct topology_size size = sup_size();
	const struct topology_pair *p;
	unsigned na, nb;

	for (size_t i = 0; i < topology_npairs; i++) {
		p = &topology_pairs[i];
		na = topology_instances(p->a, &size);
		nb = topology_instances(p->b, &size);
		for (unsigned a = 0; a < na; a++)
			for (unsigned b = 0; b < nb; b++)
				if (topology_paired(p, a, b, &size) &&
				    setup_pair(p, a, b, fault) == -1)
					return -1;
	}
	return 0;
}

int
setup_peers_of(enum role role, unsigned index, struct fault *fault)
{
	const struct topology_pair *p;

	for (size_t i = 0; i < topology_npairs; i++) {
		p = &topology_pairs[i];
		/*
		 * The keyds of the approver, of remote servers and of logins
		 * were there from the start.
		 */
		if (p->a == ROLE_APPROVE ||
		    (p->a == ROLE_KEY &&
			(p->b == ROLE_BACK || p->b == ROLE_EGRESS)))
			continue;
		if (p->a == role && setup_pair(p, index, 0, fault) == -1)
			return -1;
		if (p->b == role && setup_pair(p, 0, index, fault) == -1)
			return -1;
	}
	return 0;
}
