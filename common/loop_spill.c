/* SPDX-License-Identifier: ISC */
#include "common/loop_spill.h"

#include <sys/syscall.h>

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"

/* The rest of a batch is left to the epoll set. */
#define SPILL_BATCH (LOOP_BATCH / 2)

_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT &&
		   EPOLLERR == POLLERR && EPOLLHUP == POLLHUP,
    "events of poll(2) are passed on");

bool
loop_spill_back(struct loop *l)
{
	struct epoll_event ev;
	struct loop_io *io;

	while ((io = TAILQ_FIRST(&l->spilled)) != NULL) {
		ev = (struct epoll_event){.events = io->events, .data.ptr = io};
		if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, io->fd, &ev) == -1)
			return false;
		loop_spill_del(l, io);
	}
	return true;
}

void
loop_spill_free(struct loop *l)
{
	free(l->spill);
	l->spill = NULL;
	l->nspilled = l->capspilled = 0;
}

int
loop_spill_add(struct loop *l, struct loop_io *io)
{
	size_t cap = l->capspilled == 0 ? 64 : 2 * l->capspilled;
	static bool told;
	struct pollfd *v;

	/* One more, for the epoll set. */
	if (l->nspilled + 1 >= l->capspilled) {
		if ((v = reallocarray(l->spill, cap, sizeof(*v))) == NULL)
			return -1;
		l->spill = v;
		l->capspilled = cap;
	}
	if (!told)
		log_warnx("programs of this user hold all descriptors that "
			  "epoll sets may have (fs.epoll.max_user_watches); "
			  "going on with poll, which is slower");
	told = true;
	TAILQ_INSERT_TAIL(&l->spilled, io, entry);
	io->spilled = true;
	l->nspilled++;
	return 0;
}

void
loop_spill_del(struct loop *l, struct loop_io *io)
{
	TAILQ_REMOVE(&l->spilled, io, entry);
	io->spilled = false;
	l->nspilled--;
}

/* Wait with the kernel's own call: a worker's filter allows no signal mask. */
static int
loop_spill_poll(struct loop *l, int ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};
	struct loop_io *io;
	size_t n = 0;

	l->spill[n++] = (struct pollfd){.fd = l->epfd, .events = POLLIN};
	TAILQ_FOREACH (io, &l->spilled, entry)
		l->spill[n++] = (struct pollfd){.fd = io->fd,
		    .events = (short)(io->events & (EPOLLIN | EPOLLOUT))};
	return (int)syscall(
	    SYS_ppoll, l->spill, n, ms < 0 ? NULL : &ts, NULL, 8UL);
}

int
loop_spill_wait(struct loop *l, int ms)
{
	const size_t nspilled = l->nspilled;
	struct loop_io *io, *next;
	uint64_t count;
	int n = 0, more;

	if (loop_spill_poll(l, ms) == -1)
		return -1;
	io = TAILQ_FIRST(&l->spilled);
	for (size_t i = 1; i <= nspilled && n < SPILL_BATCH; i++, io = next) {
		next = TAILQ_NEXT(io, entry);
		if (l->spill[i].revents == 0)
			continue;
		l->ready[n++] = (struct epoll_event){
		    .events = (uint32_t)(uint16_t)l->spill[i].revents,
		    .data.ptr = io};
		/* Nobody reads an eventfd that is edge-triggered. */
		if ((io->events & (uint32_t)EPOLLET) != 0 &&
		    read(io->fd, &count, sizeof(count)) == -1 &&
		    errno != EAGAIN)
			return -1;
		/* Others come first in the next turn. */
		TAILQ_REMOVE(&l->spilled, io, entry);
		TAILQ_INSERT_TAIL(&l->spilled, io, entry);
	}
	more = epoll_wait(l->epfd, l->ready + n, LOOP_BATCH - n, 0);
	if (more == -1)
		return n == 0 ? -1 : n;
	return n + more;
}
