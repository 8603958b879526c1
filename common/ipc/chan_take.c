/* SPDX-License-Identifier: ISC */
/*
 * The worker's half of shared memory: takes the first message on its end of a
 * channel, and maps the memory that icsupervisor has made.
 */
#include "common/ipc/chan_priv.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Map it, if it is one of this size. Returns MAP_FAILED with errno set. */
static void *
chan_shared_map(int fd, size_t size, int prot)
{
	struct stat st;
	int seals;

	if ((seals = fcntl(fd, F_GET_SEALS)) == -1 ||
	    syscall(SYS_fstat, fd, &st) == -1)
		return MAP_FAILED;
	if ((seals & CHAN_SHARED_SEALS) != CHAN_SHARED_SEALS ||
	    st.st_size != (off_t)size) {
		errno = EBADMSG;
		return MAP_FAILED;
	}
	return mmap(NULL, size, prot, MAP_SHARED, fd, 0);
}

/* Receive exactly as many descriptors. Returns 0, or -1 with errno set. */
static int
chan_first_receive(int fd, uint8_t *side, int *fds, size_t n)
{
	union chan_first_control control;
	struct iovec iov = {side, 1};
	struct mmsghdr mm = {.msg_hdr = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)}};
	struct cmsghdr *cm;

	if (recvmmsg(fd, &mm, 1, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL) != 1)
		return -1;
	if ((cm = CMSG_FIRSTHDR(&mm.msg_hdr)) == NULL ||
	    cm->cmsg_type != SCM_RIGHTS ||
	    cm->cmsg_len != CMSG_LEN(n * sizeof(int)) || mm.msg_len != 1 ||
	    *side > 1) {
		errno = EBADMSG;
		return -1;
	}
	memcpy(fds, CMSG_DATA(cm), n * sizeof(int));
	return 0;
}

static int
chan_ring_take(struct chan *c)
{
	struct chan_ring *r;
	struct ring_shared *map;
	int fds[RING_FDS];
	uint8_t side;

	if (chan_first_receive(c->fd, &side, fds, RING_FDS) == -1)
		return -1;
	if ((r = calloc(1, sizeof(*r))) == NULL ||
	    (map = chan_shared_map(fds[RING_FD_MAP], RING_MAP,
		 PROT_READ | PROT_WRITE)) == MAP_FAILED) {
		free(r);
		chan_first_close(fds, RING_FDS);
		return -1;
	}
	close(fds[RING_FD_MAP]);
	r->map = map;
	r->in.s = &map[side];
	r->out.s = &map[1 - side];
	r->event = fds[RING_FD_EVENT];
	r->wake = fds[RING_FD_WAKE];
	r->io.fd = -1;
	c->ring = r;
	return 0;
}

static int
chan_arena_take(struct chan *c)
{
	void *mine = MAP_FAILED, *theirs = MAP_FAILED;
	int fds[ARENA_FDS], rv = -1;
	struct arena *a = NULL;
	uint8_t side;

	if (chan_first_receive(c->fd, &side, fds, ARENA_FDS) == -1)
		return -1;
	if ((a = malloc(sizeof(*a))) != NULL &&
	    (mine = chan_shared_map(fds[ARENA_FD_MINE], ARENA_MAP,
		 PROT_READ | PROT_WRITE)) != MAP_FAILED &&
	    (theirs = chan_shared_map(
		 fds[ARENA_FD_THEIRS], ARENA_MAP, PROT_READ)) != MAP_FAILED) {
		arena_init(a, c->loop, mine, theirs);
		c->arena = a;
		rv = 0;
	} else {
		if (mine != MAP_FAILED)
			munmap(mine, ARENA_MAP);
		free(a);
	}
	chan_first_close(fds, ARENA_FDS);
	return rv;
}

int
chan_memory_take(struct chan *c, enum proto_memory memory)
{
	switch (memory) {
	case PROTO_MEMORY_NONE:
		break;
	case PROTO_MEMORY_RINGS:
		return chan_ring_take(c);
	case PROTO_MEMORY_ARENA:
		return chan_arena_take(c);
	}
	return 0;
}
