/* SPDX-License-Identifier: ISC */
/*
 * An MCP server that died and runs again.  policyd says when, and how often
 * that may be; auditd and the server's mcp-backd, which stay, get the ends of
 * its new pipes.  It is started as at first: in the view that was opened then.
 */
#include <sys/syscall.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sup.h"

static void
server_begin(struct server *s)
{
	unsigned i = (unsigned)(s - sup.servers);
	struct fault fault;

	s->again = false;
	s->restarts++;
	if (server_pipes(i, &fault) == -1 || server_spawn(s, &fault) == -1)
		server_fail(i, fault.text);
	server_close_theirs(s);
}

void
server_again(struct server *s)
{
	s->again = !sup.ending;
	if (!s->again)
		return;
	if (s->sp.pidfd == -1)
		server_begin(s);
	else
		/* It closed its output and went on: no two of them run. */
		(void)syscall(
		    SYS_pidfd_send_signal, s->sp.pidfd, SIGKILL, NULL, 0);
}

void
server_ended(struct server *s)
{
	if (s->again && !sup.ending)
		server_begin(s);
}
