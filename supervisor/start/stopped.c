/* SPDX-License-Identifier: ISC */
/*
 * Watches for workers that somebody has stopped. The session cannot go on
 * without them, and nothing else would say so, so after a while it is an alarm.
 * The kernel notifies this process, their parent, with SIGCHLD; a session with
 * no stopped worker pays nothing.
 */
#include "core/sup.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "hub/control.h"

#define STOPPED_MS 10000U

static struct loop_timer stopped_timer;

/* Update the worker's state since the last look. */
static void
stopped_child(struct child *c)
{
	siginfo_t si;

	for (;;) {
		memset(&si, 0, sizeof(si));
		if (waitid((idtype_t)P_PIDFD, (id_t)c->sp.pidfd, &si,
			WSTOPPED | WCONTINUED | WNOHANG) == -1 ||
		    si.si_pid == 0)
			return;
		if (si.si_code == CLD_STOPPED && c->stopped == 0) {
			c->stopped = loop_now(&sup.loop);
		} else if (si.si_code == CLD_CONTINUED) {
			if (c->stopped_told)
				sup_note("%s continues", c->name);
			c->stopped = 0;
			c->stopped_told = false;
		}
	}
}

static void
stopped_tell(struct child *c)
{
	char text[200];

	snprintf(text, sizeof(text),
	    "%s (pid %d) has been stopped for %u seconds, and everything that "
	    "needs it waits. To continue it: kill -CONT %d. To end the "
	    "session: icctl stop",
	    c->name, (int)c->sp.pid, STOPPED_MS / 1000, (int)c->sp.pid);
	c->stopped_told = true;
	sup_alarm(c->name, "stopped", text);
	event_stopped(c);
}

static void
stopped_due(struct loop_timer *t)
{
	stopped_look();
}

void
stopped_look(void)
{
	uint64_t now = loop_now(&sup.loop), next = 0, left;
	struct child *c;

	for (unsigned i = 0; i < sup.nchildren; i++) {
		c = &sup.children[i];
		if (c->dead || c->sp.pidfd == -1)
			continue;
		stopped_child(c);
		if (c->stopped == 0 || c->stopped_told)
			continue;
		if (now - c->stopped >= STOPPED_MS) {
			stopped_tell(c);
			continue;
		}
		left = STOPPED_MS - (now - c->stopped);
		next = next == 0 || left < next ? left : next;
	}
	if (next != 0)
		loop_timer_set(
		    &sup.loop, &stopped_timer, next, stopped_due, NULL);
}
