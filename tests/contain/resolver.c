/* SPDX-License-Identifier: ISC */
/*
 * dialerd's resolver, hostile; dialerd itself is as shipped. The resolver gets
 * its resources when its lock-down begins, and takes over after its first
 * question, when the session runs.
 */
#include <sys/socket.h>

#include <unistd.h>

#include "attempts.h"
#include "probe.h"

#define E attempt_env

static pid_t dialerd;

ssize_t __real_recv(int, void *, size_t, int);
ssize_t __wrap_recv(int, void *, size_t, int);

void
__wrap_worker_init(struct worker *w, enum role role, const struct confine *c,
    void (*warm)(void), size_t timers)
{
	dialerd = getpid();
	__real_worker_init(w, role, c, warm, timers);
}

int
__wrap_confine_apply(const struct confine *c, struct confine_state *st)
{
	if (getpid() != dialerd) {
		probe_load((enum role)ATTEMPT_RESOLVER);
		E.channels[0] = STDERR_FILENO + 1;
		probe_give();
	}
	return __real_confine_apply(c, st);
}

ssize_t
__wrap_recv(int fd, void *buf, size_t len, int flags)
{
	static int asked;

	if (getpid() != dialerd && asked++ != 0)
		probe_attempt("resolver");
	return __real_recv(fd, buf, len, flags);
}
