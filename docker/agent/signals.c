/* SPDX-License-Identifier: ISC */
/* Ctrl-C and the end of the session, as something that poll() sees. */
#include "docker/agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct {
	volatile sig_atomic_t got;
	int pipe[2];
} signals_env = {.pipe = {-1, -1}};

static void
on_signal(int sig)
{
	const int saved = errno;

	signals_env.got = sig;
	(void)!write(signals_env.pipe[1], "x", 1);
	code_cancel();
	errno = saved;
}

int
signals_setup(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	sigemptyset(&sa.sa_mask);
	if (pipe2(signals_env.pipe, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    sigaction(SIGINT, &sa, NULL) == -1 ||
	    sigaction(SIGTERM, &sa, NULL) == -1 ||
	    sigaction(SIGHUP, &sa, NULL) == -1)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	return signals_env.pipe[0];
}

int
signals_got(void)
{
	return signals_env.got;
}

void
signals_clear(void)
{
	char drop[64];

	signals_env.got = 0;
	while (read(signals_env.pipe[0], drop, sizeof(drop)) > 0)
		continue;
}
