/* SPDX-License-Identifier: ISC */
/* Gives workers their channels to each other, by the topology table. */
#include "sup.h"

#include <sys/socket.h>

#include "topology.h"

static int
setup_pair(
    enum role a, unsigned ia, enum role b, unsigned ib, struct fault *fault)
{
	struct msg_PEER pa = {.role = (uint8_t)b, .index = (uint16_t)ib};
	struct msg_PEER pb = {.role = (uint8_t)a, .index = (uint16_t)ia};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1)
		return fault_errno(fault, "socketpair");
	child_send(a, ia, MSG_PEER, &pa, pair[0]);
	child_send(b, ib, MSG_PEER, &pb, pair[1]);
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
				    setup_pair(p->a, a, p->b, b, fault) == -1)
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
		/* The approver's keyd was there from the start. */
		if (p->a == ROLE_APPROVE)
			continue;
		if (p->a == role &&
		    setup_pair(role, index, p->b, 0, fault) == -1)
			return -1;
		if (p->b == role &&
		    setup_pair(p->a, 0, role, index, fault) == -1)
			return -1;
	}
	return 0;
}
