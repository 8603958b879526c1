/* SPDX-License-Identifier: ISC */
/*
 * Reads the value of an environment variable, once. Used by icsupervisor at
 * start, and by icctl to give a session another credential.
 */
#include "credential/credential_env.h"

#include <sys/uio.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREDENTIAL_MAX 65536U /* as much as an empty pipe takes at once */

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

/* Find a value that needs no escaping in JSON. The value is not copied. */
static int
env_part(const char *name, bool needed, const char **value, struct fault *fault)
{
	const char *p;

	if ((*value = getenv(name)) == NULL || (*value)[0] == '\0') {
		*value = "";
		return needed
			   ? fault_set(fault, "%s is not set, or empty", name)
			   : 0;
	}
	for (p = *value; *p > 0x20 && *p < 0x7f && *p != '"' && *p != '\\'; p++)
		;
	if (*p != '\0' || p - *value > 8192)
		return fault_set(fault,
		    "%s: contains a character that cannot be in a credential, "
		    "or is over 8192 bytes",
		    name);
	return 0;
}

int
credential_env_parts(char *const names[3], struct fault *fault)
{
	static const char *const texts[] = {"{\"Version\":1,\"AccessKeyId\":\"",
	    "\",\"SecretAccessKey\":\"", "\",\"SessionToken\":\"", "\"}"};
	const char *values[3];
	struct iovec iov[7];
	int pipefd[2];
	ssize_t n, want = 0;

	for (size_t i = 0; i < 3; i++)
		if (env_part(names[i], i != 2, &values[i], fault) == -1)
			return -1;
	for (size_t i = 0; i < 7; i++) {
		const char *s = i % 2 == 0 ? texts[i / 2] : values[i / 2];

		iov[i].iov_base = (void *)(uintptr_t)s;
		iov[i].iov_len = strlen(s);
		want += (ssize_t)iov[i].iov_len;
	}
	if (pipe2(pipefd, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(fault, "%s", names[0]);
	n = writev(pipefd[1], iov, 7);
	close(pipefd[1]);
	if (n != want) {
		close(pipefd[0]);
		return fault_errno(fault, "%s", names[0]);
	}
	for (size_t i = 0; i < 3; i++)
		credential_env_wipe(names[i]);
	return pipefd[0];
}
