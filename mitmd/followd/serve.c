/* SPDX-License-Identifier: ISC */
/* followd's messages. Its peers are keyd's, and as little trusted. */
#include "followd/followd.h"

#include <unistd.h>

#include "common/log.h"

static int
on_roots(struct chan *c, const struct msg_ROOTS *m)
{
	if (tls_roots(c, m) == -1)
		return -1;
	if (keyd_env.w.started)
		up_balance();
	return 0;
}

static int
on_dialed(struct chan *c, const struct msg_DIALED *m, int fd)
{
	struct msg_DIALED one = *m;

	if (m->id == 0 || m->id > keyd_env.dial) {
		close(fd);
		return chan_violation(c, "DIALED %u was not asked for", m->id);
	}
	/* Another address of the name is not asked for. */
	one.more = 0;
	up_dialed(&one, fd);
	return 0;
}

static int
on_dial_fail(struct chan *c, const struct msg_DIAL_FAIL *m)
{
	char detail[257];

	if (m->id == 0 || m->id > keyd_env.dial)
		return chan_violation(
		    c, "DIAL_FAIL %u was not asked for", m->id);
	(void)span_copy(m->text, detail, sizeof(detail));
	up_dial_failed(m->id, (enum proto_proxy)m->proxy, detail);
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(ROOTS,		on_roots),
	HANDLER(FOLLOW_GO,	place_fetch),
	HANDLER(DIALED,		on_dialed),
	HANDLER(DIAL_FAIL,	on_dial_fail),
};
/* clang-format on */

/*
 * icsupervisor names the process that is gone and ends the session, or ends it
 * anyway; do nothing more until then.
 */
static void
serve_lost(enum role role, unsigned index)
{
	streams_abort("a process of the session is gone");
}

static void
serve_after(void *arg)
{
	(void)arg;
	(void)streams_reap();
}

void
followd_serve(void)
{
	struct keyd_env *e = &keyd_env;

	place_init();
	streams_init();
	e->budget.max_turns = e->budget.until = UINT64_MAX;
	admit_init();
	e->w.lost = serve_lost;
	e->w.loop.after = serve_after;
	worker_serve(&e->w, serve_handlers, nitems(serve_handlers));
}
