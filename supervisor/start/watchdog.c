/* SPDX-License-Identifier: ISC */
/*
 * Tells systemd at half the interval of WatchdogSec= that the event loop turns.
 * A loop that hangs sends nothing, and the manager ends the session.
 */
#include "core/sup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct loop_timer watchdog_timer;
static uint64_t watchdog_ms;

/* Returns the value of a variable, digits only; or 0. */
static uint64_t
watchdog_number(const char *name)
{
	const char *text = getenv(name);
	unsigned long long n;

	if (text == NULL || text[0] == '\0' ||
	    text[strspn(text, "0123456789")] != '\0')
		return 0;
	errno = 0;
	n = strtoull(text, NULL, 10);
	return errno != 0 ? 0 : n;
}

static void
watchdog_ping(struct loop_timer *t)
{
	ready_notify("WATCHDOG=1");
	loop_timer_set(&sup.loop, t, watchdog_ms, watchdog_ping, NULL);
}

void
watchdog_start(void)
{
	/* Meant for another process, whose environment we inherited. */
	if (getenv("WATCHDOG_PID") != NULL &&
	    watchdog_number("WATCHDOG_PID") != (uint64_t)getpid())
		return;
	watchdog_ms = watchdog_number("WATCHDOG_USEC") / 2000;
	if (watchdog_ms != 0)
		watchdog_ping(&watchdog_timer);
}
