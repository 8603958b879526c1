/* SPDX-License-Identifier: ISC */
/* Runs programs to their end, for programs that may wait. */
#include "base/spawn.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include <errno.h>
#include <unistd.h>

#include "common/span.h"

int
spawn_wait(struct spawned *sp)
{
	int code = CLD_EXITED, status = 0;

	if (spawn_reap(sp->pidfd, true, &code, &status) == -1)
		status = 127;
	close(sp->pidfd);
	if (sp->status != -1)
		close(sp->status);
	*sp = (struct spawned)SPAWNED_INIT;
	return spawn_status(code, status);
}

int
spawn_run(const struct spawn *s)
{
	struct spawned sp = SPAWNED_INIT;
	int save;

	if (spawn_start(s, &sp) == -1)
		return -1;
	if (spawn_check(&sp) == -1) {
		save = errno;
		(void)spawn_wait(&sp);
		errno = save;
		return -1;
	}
	return spawn_wait(&sp);
}

static void
spawn_keep(int fd, struct spawn_said said)
{
	ssize_t n = pread(fd, said.text, said.cap - 1, 0);

	said.text[n > 0 ? n : 0] = '\0';
}

int
spawn_read(struct spawn *s, struct spawn_said out, struct spawn_said err)
{
	const int said[] = {memfd_create("out", MFD_CLOEXEC),
	    err.text != NULL ? memfd_create("err", MFD_CLOEXEC)
			     : dup(STDERR_FILENO)};
	int rv = -1;

	s->nfds = 3;
	s->fds[STDIN_FILENO] = -1;
	s->fds[STDOUT_FILENO] = said[0];
	s->fds[STDERR_FILENO] = said[1];
	if (said[0] != -1 && said[1] != -1 && (rv = spawn_run(s)) != -1) {
		spawn_keep(said[0], out);
		if (err.text != NULL)
			spawn_keep(said[1], err);
	}
	for (size_t i = 0; i < nitems(said); i++)
		if (said[i] != -1)
			close(said[i]);
	return rv;
}
