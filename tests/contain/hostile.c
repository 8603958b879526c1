/* SPDX-License-Identifier: ISC */
/*
 * The hostile loop. It is linked into the objects of a shipped worker with the
 * linker's --wrap: main, the confinement table, the warm-up, worker_init and
 * all handlers are the real ones; at START, with peers, configuration and
 * secrets available, the attacker takes over.
 */
#include "attempts.h"
#include "probe.h"

#define E attempt_env

struct chan *
__wrap_chan_new(struct loop *l, int fd, enum role self, enum role peer,
    unsigned index, const struct chan_ops *ops, void *arg)
{
	if (E.nchannels < PROTO_MAX_SERVERS) {
		E.channels[E.nchannels] = fd;
		E.peers[E.nchannels++] = peer;
	}
	return __real_chan_new(l, fd, self, peer, index, ops, arg);
}

void
__wrap_worker_init(struct worker *w, enum role role, const struct confine *c,
    void (*warm)(void), size_t timers)
{
	probe_load(role);
	probe_give();
	__real_worker_init(w, role, c, warm, timers);
}

static void
hostile_start(void)
{
	probe_attempt(role_name(E.role));
}

void
__wrap_worker_serve(struct worker *w, const struct chan_handler *h, size_t n)
{
	w->start = hostile_start;
	__real_worker_serve(w, h, n);
}
