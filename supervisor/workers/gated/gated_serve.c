/* SPDX-License-Identifier: ISC */
/* Messages from icsupervisor to gated, all of which come before START. */
#include "workers/gated/gated.h"

#include <string.h>
#include <unistd.h>

#include "common/log.h"

static int
on_gate(struct chan *c, const struct msg_GATE *m)
{
	if (gated_env.has_token || m->token.len != GATE_TOKEN)
		return chan_violation(c, "GATE twice, or of another length");
	memcpy(gated_env.token, m->token.p, GATE_TOKEN);
	gated_env.has_token = true;
	return 0;
}

static int
on_gate_listen(struct chan *c, const struct msg_GATE_LISTEN *m, int fd)
{
	if (gated_env.ways[m->way].fd != -1) {
		close(fd);
		return chan_violation(c, "GATE_LISTEN twice");
	}
	gated_env.ways[m->way].fd = fd;
	return 0;
}

/* clang-format off */
static const struct chan_handler serve_handlers[] = {
	HANDLER(GATE,		on_gate),
	HANDLER(GATE_LISTEN,	on_gate_listen),
};
/* clang-format on */

static void
serve_start(void)
{
	if (!gated_env.has_token || gated_env.ways[GATE_CHECK].fd == -1)
		fatalx("START before GATE and GATE_LISTEN");
	proof_start();
}

void
gated_serve(void)
{
	for (size_t i = 0; i < GATE_WAYS; i++)
		gated_env.ways[i].fd = gated_env.ways[i].io.fd = -1;
	for (size_t i = 0; i < GATED_MAX_UNPROVEN; i++)
		gated_env.unproven[i].fd = gated_env.unproven[i].io.fd = -1;
	gated_env.w.start = serve_start;
	worker_serve(&gated_env.w, serve_handlers, nitems(serve_handlers));
}
