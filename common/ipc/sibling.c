/* SPDX-License-Identifier: ISC */
#include "common/ipc/sibling.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <sched.h>
#include <signal.h>
#include <unistd.h>

pid_t
sibling_fork(int *fd)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == -1)
		return -1;
	pid = (pid_t)syscall(
	    SYS_clone, (long)(CLONE_PARENT | SIGCHLD), 0L, 0L, 0L, 0L);
	*fd = pair[pid == 0];
	close(pair[pid != 0]);
	if (pid == -1)
		close(*fd);
	return pid;
}
