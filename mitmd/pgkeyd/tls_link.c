/* SPDX-License-Identifier: ISC */
/* Messages between pgkeyd and its other process, and their descriptors. */
#include "pgkeyd/tls_link.h"

#include <sys/socket.h>

#include <string.h>

union link_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int
tls_link_send(int link, const void *p, size_t len, int fd)
{
	union link_room room;
	struct iovec iov = {(void *)(uintptr_t)p, len};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cm;

	memset(&room, 0, sizeof(room));
	if (fd != -1) {
		mh.msg_control = room.bytes;
		mh.msg_controllen = sizeof(room.bytes);
		cm = CMSG_FIRSTHDR(&mh);
		cm->cmsg_level = SOL_SOCKET;
		cm->cmsg_type = SCM_RIGHTS;
		cm->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(cm), &fd, sizeof(fd));
	}
	return sendmsg(link, &mh, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

ssize_t
tls_link_receive(int link, void *p, size_t len, int *fd)
{
	union link_room room;
	struct iovec iov = {p, len};
	struct mmsghdr mm = {.msg_hdr = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = room.bytes,
				 /* No room for a second one. */
				 .msg_controllen = CMSG_LEN(sizeof(*fd))}};
	struct cmsghdr *cm;
	int n;

	memset(&room, 0, sizeof(room));
	*fd = -1;
	n = recvmmsg(link, &mm, 1, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, NULL);
	if (n != 1)
		return n;
	cm = CMSG_FIRSTHDR(&mm.msg_hdr);
	if (cm != NULL && cm->cmsg_level == SOL_SOCKET &&
	    cm->cmsg_type == SCM_RIGHTS &&
	    cm->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(cm), sizeof(*fd));
	return (ssize_t)mm.msg_len;
}
