/* SPDX-License-Identifier: ISC */
/*
 * Attempts that the break-out test makes from inside the sandbox (ic-bridge)
 * and from outside (ic-outsider).  Each returns 0 if it succeeded, or the errno
 * of its refusal.
 */
#ifndef TRIES_H
#define TRIES_H

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* The errno of a call that failed, or 0. */
#define TRY(call) ((call) == -1 ? errno : 0)

static inline int
tried_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

/* Open a file of the process in /proc. */
static inline int
tried_process(pid_t pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return tried_open(path, flags);
}

/*
 * Copy one byte with SYS_process_vm_readv or SYS_process_vm_writev.  The kernel
 * reports a bad address only to those who may copy at all.
 */
static inline int
tried_memory(long call, pid_t pid, void *address)
{
	char byte = 0;
	const struct iovec here = {&byte, 1}, there = {address, 1};

	return TRY(syscall(call, pid, &here, 1, &there, 1, 0));
}

static inline int
tried_trace(pid_t pid)
{
	return TRY(ptrace(PTRACE_SEIZE, pid, 0, 0));
}

#endif
