/* SPDX-License-Identifier: ISC */
/*
 * Web hosts that a person approves during a session whose list is open: a leaf
 * is signed for each when icsupervisor names it, with the CA's key, which this
 * module uses. No byte from an agent can cause it.
 */
#include "mitmd.h"

#include <errno.h>

#include "provider/dest.h"
#include "tls.h"

int
added_take(struct mitmd_provider *pv, struct provider *p)
{
	struct mitmd_leaf leaf;

	/* Only hosts that need no credential and can only be read. */
	if (!mitmd_env.open || p->dest != &dest_web || p->nhosts != 1 ||
	    p->nkinds != 0) {
		errno = EPERM;
		return -1;
	}
	if (mitmd_ca_leaf(&mitmd_env.ca, p->hosts[0], &leaf) == -1)
		return -1;
	pv->ctx[0] = mitmd_tls_ctx(&leaf, &p->hosts[0], p->http1);
	mitmd_leaf_free(&leaf);
	if (pv->ctx[0] == NULL) {
		errno = EIO;
		return -1;
	}
	pv->p = p;
	return 0;
}

int
added_drop(struct chan *c, const struct msg_PROVIDER_DROP *m)
{
	unsigned index = m->index;
	struct mitmd_provider *pv = &mitmd_env.providers[index];
	struct agent *a, *next;

	if (index < PROTO_FIRST_ADDED || pv->p == NULL || pv->dropped)
		return chan_violation(c, "PROVIDER_DROP %u of none", index);
	/*
	 * Keep its data: connections that are being closed still refer to it.
	 */
	pv->dropped = true;
	for (a = TAILQ_FIRST(&mitmd_env.agents); a != NULL; a = next) {
		next = TAILQ_NEXT(a, entry);
		if (a->provider != index)
			continue;
		mitmd_note(a, "its host was taken off the list: closed");
		agent_hold(a);
		agent_close(a);
		agent_leave(a);
	}
	return 0;
}
