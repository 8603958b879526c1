/* SPDX-License-Identifier: ISC */
#include "host/netdump.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <linux/netlink.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/close_keep.h"

#define NETDUMP_SECONDS 5

int
netdump_open(void)
{
	const struct timeval patience = {.tv_sec = NETDUMP_SECONDS};
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	if (fd == -1 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			    sizeof(patience)) == 0)
		return fd;
	return close_keep(fd);
}

/* Take one datagram. Returns 1 at the end, 0, or -1 with errno set. */
static int
netdump_part(const uint8_t *p, size_t left, netdump_take *take, void *arg)
{
	struct nlmsghdr h;
	size_t size;
	int error;

	while (left >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > left) {
			errno = EBADMSG;
			return -1;
		}
		if (h.nlmsg_type == NLMSG_DONE)
			return 1;
		/* The list is not complete. */
		if ((h.nlmsg_flags & NLM_F_DUMP_INTR) != 0) {
			errno = EAGAIN;
			return -1;
		}
		if (h.nlmsg_type == NLMSG_ERROR) {
			error = 0;
			if (h.nlmsg_len >= sizeof(h) + sizeof(error))
				memcpy(&error, p + sizeof(h), sizeof(error));
			errno = error < 0 ? -error : EBADMSG;
			return -1;
		}
		if (take(arg, p + sizeof(h), h.nlmsg_len - sizeof(h)) == -1)
			return -1;
		size = NLMSG_ALIGN((size_t)h.nlmsg_len);
		if (size >= left)
			break;
		left -= size;
		p += size;
	}
	return 0;
}

int
netdump_list(
    int fd, const void *request, size_t len, netdump_take *take, void *arg)
{
	static uint8_t bytes[65536];
	struct sockaddr_nl to = {.nl_family = AF_NETLINK};
	ssize_t n;
	int rv;

	if (sendto(fd, request, len, 0, (struct sockaddr *)&to, sizeof(to)) ==
	    -1)
		return -1;
	do {
		n = recv(fd, bytes, sizeof(bytes), MSG_TRUNC);
		if (n > (ssize_t)sizeof(bytes)) {
			errno = EMSGSIZE;
			n = -1;
		}
		rv = n <= 0 ? -1 : netdump_part(bytes, (size_t)n, take, arg);
	} while (rv == 0 || (rv == -1 && n == -1 && errno == EINTR));
	return rv == 1 ? 0 : -1;
}
