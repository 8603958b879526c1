/* SPDX-License-Identifier: ISC */
/*
 * Tells when a crash in a sandbox would reach the host. A handler in
 * core_pattern runs as root, outside of every sandbox, and reads the memory of
 * the crashed program: a limit of 1 on core dumps keeps the kernel from
 * starting it, which a limit of 0 does not.
 */
#include "icctl/doctor/doctor.h"

#include <sys/resource.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
doctor_cores(doctor_check *check)
{
	char pattern[160], text[256];
	struct rlimit rl;
	ssize_t n;
	int fd;

	fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return;
	n = read(fd, pattern, sizeof(pattern) - 1);
	close(fd);
	if (n <= 0 || (pattern[0] != '|' && pattern[0] != '@'))
		return;
	pattern[n] = '\0';
	pattern[strcspn(pattern, "\n")] = '\0';
	if (pattern[0] == '@') {
		snprintf(text, sizeof(text), "handed to %s", pattern + 1);
		check(NOTE, "crashes", text,
		    "no limit keeps this kernel from giving the memory of a "
		    "program that crashes in a sandbox to the server at that "
		    "socket. Set kernel.core_pattern to a program or a file");
	} else if (getrlimit(RLIMIT_CORE, &rl) == 0 && rl.rlim_max == 0) {
		snprintf(text, sizeof(text), "handled by %s",
		    pattern + 1 + strspn(pattern + 1, " "));
		check(NOTE, "crashes", text,
		    "it runs as root on the memory of a program that crashes "
		    "in a sandbox, because your hard limit on core dumps is 0 "
		    "and sandboxes need 1. Raise it: ulimit -Hc, or core in "
		    "/etc/security/limits.conf");
	}
}
