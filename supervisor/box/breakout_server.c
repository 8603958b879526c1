/* SPDX-License-Identifier: ISC */
/*
 * Starts ic-bridge, which makes the attempts, exactly as an MCP server of
 * others is started: with its filter, its view and its limits. Its standard
 * input and output are pipes, as a server's are, and carry the question and the
 * report.
 */
#include "box/breakout_server.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/read_until.h"
#include "box/sandbox.h"
#include "core/sup.h"

#define BREAKOUT_SERVER_MS 20000U

struct report {
	uint8_t nonce[ATTEMPT_NONCE];
	struct attempt_record records[ATTEMPT_COUNT];
};

/* Returns a server whose sandbox has the workspace, or NULL. */
static const struct server *
server_like(void)
{
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].def->sandboxed &&
		    sup.servers[i].def->remote == NULL &&
		    !sup.servers[i].def->internal &&
		    sup.servers[i].def->egress == NULL)
			return &sup.servers[i];
	return NULL;
}

static int
server_start(const struct server *like, const int stdio[3], struct spawned *sp,
    struct fault *fault)
{
	char name[] = "ic-bridge", probe[] = "probe", in[] = "0", out[] = "1";
	char path[] = SANDBOX_BRIDGE;
	char *args[] = {name, probe, in, out, NULL};
	struct server s = *like;

	/* Not ours: it gets the filter of any other server. */
	s.program.ours = false;
	s.program.path = path;
	return server_spawn_box(&s, s.def, &like->view, args, stdio, sp, fault);
}

int
breakout_server(const struct attempt_ask *ask,
    struct attempt_record records[ATTEMPT_COUNT], struct fault *fault)
{
	const struct server *like = server_like();
	int in[2] = {-1, -1}, out[2] = {-1, -1}, rv = -1;
	struct spawned sp = SPAWNED_INIT;
	struct report report;
	size_t len = 0;

	if (like == NULL)
		return fault_set(fault, "no MCP server has a sandbox");
	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1) {
		fault_errno(fault, "pipe");
		goto out;
	}
	if (server_start(like, (const int[3]){in[0], out[1], -1}, &sp, fault) ==
	    -1)
		goto out;
	close(out[1]);
	out[1] = -1;
	/* A pipe has room for all of it. */
	if (write(in[1], ask, sizeof(*ask)) == (ssize_t)sizeof(*ask))
		(void)read_until(out[0], &report, sizeof(report),
		    BREAKOUT_SERVER_MS, &len);
	if (len != sizeof(report) ||
	    memcmp(report.nonce, ask->nonce, ATTEMPT_NONCE) != 0) {
		fault_set(fault,
		    "the sandbox of an MCP server did not report its attempts");
		goto out;
	}
	memcpy(records, report.records, sizeof(report.records));
	rv = 0;
out:
	for (unsigned i = 0; i < 2; i++) {
		if (in[i] != -1)
			close(in[i]);
		if (out[i] != -1)
			close(out[i]);
	}
	spawn_stop(&sp, 0);
	return rv;
}
