/* SPDX-License-Identifier: ISC */
/*
 * Asks the kernel for one socket by its four-tuple.  The kernel answers before
 * send() returns.  An answer about another socket is no answer: where the exact
 * one is gone, the kernel looks for a listener with the same port.
 */
#include "common/net/peer_uid.h"

#include <sys/socket.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

#include <errno.h>
#include <string.h>

/* Answers to earlier questions, which nobody waited for, are skipped. */
#define PEER_UID_READS 4U

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 ask;
};

int
peer_uid_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    NETLINK_SOCK_DIAG);
}

/* Returns 0 with the user, 1 if this is no answer to the question, or -1. */
static int
answer_read(const uint8_t *p, size_t len, const struct question *q,
    uint32_t *uid)
{
	const struct inet_diag_sockid *want = &q->ask.id;
	struct inet_diag_msg m;
	struct nlmsgerr e;
	struct nlmsghdr h;
	size_t size;

	if (len < sizeof(h))
		return 1;
	memcpy(&h, p, sizeof(h));
	if (h.nlmsg_seq != q->head.nlmsg_seq || h.nlmsg_len > len)
		return 1;
	if (h.nlmsg_type == NLMSG_ERROR) {
		errno = EPROTO;
		if (h.nlmsg_len >= NLMSG_HDRLEN + sizeof(e.error)) {
			memcpy(&e.error, p + NLMSG_HDRLEN, sizeof(e.error));
			errno = e.error == -ENOENT ? ENOTCONN : -e.error;
		}
		return -1;
	}
	errno = ENOTCONN;
	if (h.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    h.nlmsg_len < NLMSG_HDRLEN + sizeof(m))
		return -1;
	memcpy(&m, p + NLMSG_HDRLEN, sizeof(m));
	/* A socket that no process has open belongs to nobody. */
	size = m.idiag_family == AF_INET ? sizeof(struct in_addr)
					 : sizeof(struct in6_addr);
	if (m.idiag_family != q->ask.sdiag_family || m.idiag_inode == 0 ||
	    m.id.idiag_sport != want->idiag_sport ||
	    m.id.idiag_dport != want->idiag_dport ||
	    memcmp(m.id.idiag_src, want->idiag_src, size) != 0 ||
	    memcmp(m.id.idiag_dst, want->idiag_dst, size) != 0)
		return -1;
	*uid = m.idiag_uid;
	return 0;
}

/* Ask about the socket that `q` names. Returns as peer_uid(). */
static int
question_ask(int diag, struct question *q, uint32_t *uid)
{
	static uint32_t seq;
	uint8_t bytes[4096];
	ssize_t n;
	int r;

	q->head = (struct nlmsghdr){.nlmsg_len = sizeof(*q),
	    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
	    .nlmsg_flags = NLM_F_REQUEST,
	    .nlmsg_seq = ++seq};
	q->ask.sdiag_protocol = IPPROTO_TCP;
	q->ask.idiag_states = UINT32_MAX;
	q->ask.id.idiag_cookie[0] = q->ask.id.idiag_cookie[1] =
	    INET_DIAG_NOCOOKIE;
	if (send(diag, q, sizeof(*q), MSG_DONTWAIT) != (ssize_t)sizeof(*q))
		return -1;
	for (unsigned i = 0; i < PEER_UID_READS; i++) {
		n = recv(diag, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if ((r = answer_read(bytes, (size_t)n, q, uid)) != 1)
			return r;
	}
	errno = EPROTO;
	return -1;
}

int
peer_uid(int diag, const struct sockaddr_in *peer,
    const struct sockaddr_in *local, uint32_t *uid)
{
	struct question q = {.ask = {.sdiag_family = AF_INET,
	    .id = {.idiag_sport = peer->sin_port,
		.idiag_dport = local->sin_port,
		.idiag_src = {peer->sin_addr.s_addr},
		.idiag_dst = {local->sin_addr.s_addr}}}};

	return question_ask(diag, &q, uid);
}

int
peer_uid6(int diag, const struct sockaddr_in6 *peer,
    const struct sockaddr_in6 *local, uint32_t *uid)
{
	struct question q = {.ask = {.sdiag_family = AF_INET6,
	    .id = {.idiag_sport = peer->sin6_port,
		.idiag_dport = local->sin6_port}}};

	memcpy(q.ask.id.idiag_src, &peer->sin6_addr, sizeof(peer->sin6_addr));
	memcpy(q.ask.id.idiag_dst, &local->sin6_addr, sizeof(local->sin6_addr));
	return question_ask(diag, &q, uid);
}
