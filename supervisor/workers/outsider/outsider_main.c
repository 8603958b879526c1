/* SPDX-License-Identifier: ISC */
/*
 * ic-outsider: tries to access the workers of a session as any program of the
 * same user could. icsupervisor starts it; it reads the workers' process ids
 * from standard input, and writes the results of its attempts to standard
 * output. It holds no secret and is not trusted: icsupervisor judges. An
 * attempt changes nothing, and one that succeeds ends the session.
 */
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "box/outside.h"
#include "docker/bridge/tries.h"

static int
taken(pid_t pid)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), fd, error;

	if (process == -1)
		return errno;
	fd = (int)syscall(SYS_pidfd_getfd, process, 0, 0);
	error = fd == -1 ? errno : 0;
	if (fd != -1)
		close(fd);
	close(process);
	return error;
}

/* Root owns the memory of a process that must not be inspected. */
static int
owned(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	if (stat(path, &st) == -1)
		return errno;
	return st.st_uid == geteuid() ? 0 : EBUSY;
}

/* Returns false at the end of the input, or if it is incomplete. */
static bool
take(int fd, void *to, size_t len)
{
	return read(fd, to, len) == (ssize_t)len;
}

int
main(void)
{
	struct outside_report r;
	uint32_t n, pid;

	if (!take(STDIN_FILENO, &n, sizeof(n)) || n > OUTSIDE_MAX)
		return 1;
	while (n-- > 0) {
		if (!take(STDIN_FILENO, &pid, sizeof(pid)))
			return 1;
		r.found[OUTSIDE_memory] =
		    tried_process((pid_t)pid, "mem", O_RDWR);
		r.found[OUTSIDE_read] =
		    tried_memory(SYS_process_vm_readv, (pid_t)pid, &n);
		r.found[OUTSIDE_write] =
		    tried_memory(SYS_process_vm_writev, (pid_t)pid, &n);
		r.found[OUTSIDE_maps] =
		    tried_process((pid_t)pid, "maps", O_RDONLY);
		r.found[OUTSIDE_environ] =
		    tried_process((pid_t)pid, "environ", O_RDONLY);
		r.found[OUTSIDE_files] =
		    tried_process((pid_t)pid, "fd", O_RDONLY);
		r.found[OUTSIDE_root] =
		    tried_process((pid_t)pid, "root", O_RDONLY);
		r.found[OUTSIDE_cwd] =
		    tried_process((pid_t)pid, "cwd", O_RDONLY);
		r.found[OUTSIDE_net] =
		    tried_process((pid_t)pid, "ns/net", O_RDONLY);
		r.found[OUTSIDE_getfd] = taken((pid_t)pid);
		r.found[OUTSIDE_owner] = owned((pid_t)pid);
		r.found[OUTSIDE_trace] = tried_trace((pid_t)pid);
		if (write(STDOUT_FILENO, &r, sizeof(r)) != (ssize_t)sizeof(r))
			return 1;
	}
	return 0;
}
