/* SPDX-License-Identifier: ISC */
/*
 * A command that stops itself, as full-screen programs do at ^Z. On a terminal
 * of its own the person's viewer is asked to stop, too, and its shell's `fg`
 * continues both. Where nobody can be asked, the command is continued here: not
 * at once, because a program that has sent the signal may not wait for its
 * continuation yet, and a second time for one that was still not ready.
 */
#include "bridge.h"

#include <sys/types.h>

#define STOPPED_FIRST_MS 300U   /* after the stop */
#define STOPPED_SECOND_MS 1000U /* after the first SIGCONT */

static struct {
	pid_t command; /* 0: it runs */
	uint64_t since;
	uint64_t at; /* ms: send SIGCONT then; 0: wait for the viewer */
	pid_t again; /* it was continued: once more, at `at` */
} stopped_env;

bool
stopped_is(void)
{
	return stopped_env.command != 0;
}

void
stopped_begin(pid_t command, bool told)
{
	stopped_env.command = command;
	stopped_env.again = 0;
	stopped_env.since = bridge_now_ms();
	stopped_env.at = 0;
	if (!told)
		stopped_continue();
}

void
stopped_continue(void)
{
	if (stopped_env.command != 0 && stopped_env.at == 0)
		stopped_env.at = stopped_env.since + STOPPED_FIRST_MS;
}

void
stopped_end(void)
{
	if (stopped_env.command != 0)
		(void)kill(-stopped_env.command, SIGCONT);
	stopped_env.command = stopped_env.again = 0;
	stopped_env.at = 0;
}

void
stopped_gone(void)
{
	stopped_env.command = stopped_env.again = 0;
	stopped_env.at = 0;
}

int
stopped_timeout(void)
{
	uint64_t now;

	if (stopped_env.at == 0)
		return -1;
	now = bridge_now_ms();
	return stopped_env.at <= now ? 0 : (int)(stopped_env.at - now);
}

void
stopped_move(void)
{
	if (stopped_timeout() != 0)
		return;
	if (stopped_env.command != 0) {
		stopped_env.again = stopped_env.command;
		stopped_env.command = 0;
		stopped_env.at = bridge_now_ms() + STOPPED_SECOND_MS;
	} else {
		stopped_env.at = 0;
	}
	(void)kill(-stopped_env.again, SIGCONT);
}
