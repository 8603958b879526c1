/* SPDX-License-Identifier: ISC */
/*
 * Hosts that a person opens during a session whose list is open: a leaf is
 * signed for each when icsupervisor names it, with the CA's key, which this
 * module uses. No byte from an agent can cause it.
 */
#include "mitmd.h"

#include <errno.h>

#include "provider/dest.h"
#include "tls.h"

/*
 * Returns true if a person could have opened the provider: it needs no
 * credential, and can only be read.
 */
static bool
added_ok(const struct provider *p)
{
	if (p->nkinds != 0 || p->dest == NULL)
		return false;
	if (p->dest == &dest_web)
		return p->nhosts == 1;
	if (!mitmd_env.asks_hosts)
		return false;
	if (p->dest == &dest_registry)
		return p->nhosts <= 2;
	return p->dest == &dest_git && p->nhosts == 1 && dest_git_reads(p);
}

/* Make a leaf, and a context that has it, for each host. */
static int
added_contexts(struct mitmd_provider *pv, const struct provider *p)
{
	struct mitmd_leaf leaf;

	for (unsigned i = 0; i < p->nhosts; i++) {
		if (mitmd_ca_leaf(&mitmd_env.ca, p->hosts[i], &leaf) == -1)
			return -1;
		pv->ctx[i] = mitmd_tls_ctx(&leaf, &p->hosts[i], p->http1);
		mitmd_leaf_free(&leaf);
		if (pv->ctx[i] != NULL)
			continue;
		errno = EIO;
		return -1;
	}
	return 0;
}

int
added_take(struct mitmd_provider *pv, struct provider *p)
{
	if (!mitmd_env.open || !added_ok(p)) {
		errno = EPERM;
		return -1;
	}
	if (added_contexts(pv, p) == -1)
		return -1;
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
