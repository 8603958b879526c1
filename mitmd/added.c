/* SPDX-License-Identifier: ISC */
/*
 * Web hosts that a person approved while the session runs, where the list was
 * left open: a leaf for each is signed when icsupervisor names it.  Holds the
 * CA's key for that; nothing here is asked for by an agent's bytes.
 */
#include "mitmd.h"

#include <errno.h>

#include "provider/dest.h"
#include "tls.h"

int
added_take(struct mitmd_provider *pv, struct provider *p)
{
	struct mitmd_leaf leaf;

	/* Nothing but what needs no credential, and only reads. */
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
added_drop(struct chan *c, const union proto_any *msg, int fd)
{
	unsigned index = msg->PROVIDER_DROP.index;
	struct mitmd_provider *pv = &mitmd_env.providers[index];
	struct agent *a, *next;

	(void)fd;
	if (index < PROTO_FIRST_ADDED || pv->p == NULL || pv->dropped)
		return chan_violation(c, "PROVIDER_DROP %u of none", index);
	/* What it is stays, for whoever is still being taken down. */
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
