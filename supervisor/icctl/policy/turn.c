/* SPDX-License-Identifier: ISC */
/* Sends messages to the policyd that icctl has started, and runs its loop. */
#include "icctl/policy/priv.h"

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <unistd.h>

void
policyd_send(struct policyd *p, enum msg_type type, const void *msg, int fd)
{
	if (p->chan != NULL)
		(void)chan_send(p->chan, type, msg, fd);
	else if (fd != -1)
		close(fd);
}

/* Print policyd's last lines, which say why it ended. */
void
policyd_tell_log(struct policyd *p)
{
	char text[4096];
	ssize_t n = read(p->log, text, sizeof(text));

	if (n > 0)
		policy_print("", span_of(text, (size_t)n), "\n");
}

/* Run one turn of the loop; wait for it, or for `fd`. */
int
policyd_turn(struct policyd *p, int fd, bool *readable)
{
	struct pollfd fds[2] = {
	    {.fd = p->loop.epfd, .events = POLLIN},
	    {.fd = fd, .events = POLLIN},
	};

	if (p->gone)
		return -1;
	/* Send questions before waiting for the answer. */
	loop_turns(&p->loop);
	if (poll(fds, 2, -1) == -1 && errno != EINTR) {
		warn("poll");
		return -1;
	}
	if (readable != NULL)
		*readable = fds[1].revents != 0;
	if (fds[0].revents != 0 && loop_once(&p->loop, 0) == -1) {
		warn("epoll_wait");
		return -1;
	}
	if (!p->gone)
		return 0;
	warnx("policyd is gone");
	policyd_tell_log(p);
	return -1;
}
