/* SPDX-License-Identifier: ISC */
/*
 * A service's own check of its health: a command in its sandbox, run again and
 * again until it succeeds once. Nobody is connected before.
 */
#include "bridge.h"

#include <sys/wait.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEALTH_WAIT_MS 300U	/* between two checks */
#define HEALTH_RUN_MS 30000U	/* a check that takes longer is killed */

static struct {
	char **words; /* NULL: none, or it has succeeded */
	pid_t pid;    /* 0: none runs */
	uint64_t at;  /* when it was started, or may be */
} health_env;

bool
health_take(int n, char **argv)
{
	if (n < 1 || health_env.words != NULL ||
	    (health_env.words = calloc((size_t)n + 1, sizeof(char *))) == NULL)
		return false;
	memcpy(health_env.words, argv, (size_t)n * sizeof(*argv));
	return true;
}

static void
health_start(void)
{
	sigset_t none;
	int null;

	health_env.at = bridge_now_ms();
	if ((health_env.pid = fork()) != 0) {
		if (health_env.pid == -1)
			health_env.pid = 0;
		return;
	}
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if ((null = open("/dev/null", O_RDWR)) != -1) {
		(void)dup2(null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
	}
	execvp(health_env.words[0], health_env.words);
	_exit(127);
}

bool
health_ok(void)
{
	const uint64_t now = bridge_now_ms();

	if (health_env.words == NULL)
		return true;
	if (health_env.pid == 0 && now >= health_env.at)
		health_start();
	else if (health_env.pid != 0 && now >= health_env.at + HEALTH_RUN_MS)
		(void)kill(health_env.pid, SIGKILL);
	return false;
}

void
health_reaped(pid_t pid, int status)
{
	if (pid != health_env.pid)
		return;
	health_env.pid = 0;
	health_env.at = bridge_now_ms() + HEALTH_WAIT_MS;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		health_env.words = NULL;
}
