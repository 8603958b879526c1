/* SPDX-License-Identifier: ISC */
/*
 * What is read here is the value of an environment variable, once.  Used by
 * icsupervisor at start, and by icctl, which gives a session another one.
 */
#include "credential_env.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREDENTIAL_MAX 65536U /* what an empty pipe takes at once */

extern char **environ;

void
credential_env_wipe(const char *name)
{
	size_t n = strlen(name);
	char **e = environ;

	while (e != NULL && *e != NULL) {
		if (strncmp(*e, name, n) != 0 || (*e)[n] != '=') {
			e++;
			continue;
		}
		explicit_bzero(*e, strlen(*e));
		for (char **k = e; *k != NULL; k++)
			k[0] = k[1];
	}
}

int
credential_env_pipe(const char *name, struct fault *fault)
{
	const char *value = getenv(name);
	int pipefd[2];
	size_t len;
	ssize_t n;

	if (value == NULL || value[0] == '\0')
		return fault_set(fault, "%s is not set, or empty", name);
	if ((len = strlen(value)) > CREDENTIAL_MAX)
		return fault_set(fault,
		    "%s: too long for a credential (over %u bytes)", name,
		    CREDENTIAL_MAX);
	if (pipe2(pipefd, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(fault, "%s", name);
	n = write(pipefd[1], value, len);
	close(pipefd[1]);
	if (n != (ssize_t)len) {
		close(pipefd[0]);
		return fault_errno(fault, "%s", name);
	}
	credential_env_wipe(name);
	return pipefd[0];
}
