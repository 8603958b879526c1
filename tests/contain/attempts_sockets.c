/* SPDX-License-Identifier: ISC */
/* Sockets: new ones of every family, and operations on given ones. */
#include "attempts.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define E attempt_env
#define BORN (SOCK_CLOEXEC | SOCK_NONBLOCK)

ONE(inet_stream, socket(AF_INET, SOCK_STREAM, 0))
ONE(inet_dgram, socket(AF_INET, SOCK_DGRAM, 0))
ONE(inet_born, socket(AF_INET, SOCK_STREAM | BORN, 0))
ONE(inet_raw, socket(AF_INET, SOCK_RAW | BORN, IPPROTO_ICMP))
ONE(inet_mptcp, socket(AF_INET, SOCK_STREAM | BORN, 262))
ONE(inet6_dgram, socket(AF_INET6, SOCK_DGRAM, 0))
ONE(unix_stream, socket(AF_UNIX, SOCK_STREAM, 0))
ONE(netlink, socket(AF_NETLINK, SOCK_RAW, 0))
ONE(packet, socket(AF_PACKET, SOCK_RAW, 0))
ONE(vsock, socket(AF_VSOCK, SOCK_STREAM, 0))
ONE(alg, socket(AF_ALG, SOCK_SEQPACKET, 0))
ONE(xdp, socket(44 /* AF_XDP */, SOCK_RAW, 0))
ONE(can, socket(AF_CAN, SOCK_RAW, 1))
ONE(pair_born, socketpair(AF_UNIX, SOCK_STREAM | BORN, 0, (int[2]){0}))
ONE(pair_plain, socketpair(AF_UNIX, SOCK_DGRAM, 0, (int[2]){0}))

static struct sockaddr_in
loopback(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = E.port};

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sin;
}

static int
connect_tcp(void)
{
	struct sockaddr_in sin = loopback();

	return attempt_result(connect(E.tcp, &sin, sizeof(sin)));
}

static int
bind_tcp(void)
{
	struct sockaddr_in sin = loopback();

	sin.sin_port = 0;
	return attempt_result(bind(E.tcp, &sin, sizeof(sin)));
}

static int
fastopen(void)
{
	struct sockaddr_in sin = loopback();

	return attempt_result(
	    sendto(E.tcp, "x", 1, MSG_FASTOPEN, &sin, sizeof(sin)));
}

static int
send_to(void)
{
	struct sockaddr_in sin = loopback();

	return attempt_result(sendto(E.udp, "x", 1, 0, &sin, sizeof(sin)));
}

static int
send_many(void)
{
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct mmsghdr mm = {.msg_hdr = {.msg_iov = &iov, .msg_iovlen = 1}};

	return attempt_result(
	    syscall(SYS_sendmmsg, E.channels[0], &mm, 1, MSG_OOB));
}

static int
send_flags(int flags)
{
	struct iovec iov = {(void *)(uintptr_t) "x", 1};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	return attempt_result(sendmsg(E.channels[0], &mh, flags));
}

static int
send_oob(void)
{
	return send_flags(MSG_OOB);
}

static int
connect_path(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	strlcpy(sun.sun_path, path, sizeof(sun.sun_path));
	return attempt_result(connect(E.un, &sun, sizeof(sun)));
}

static int
connect_control(void)
{
	return connect_path(attempt_path(E.session, "control.sock"));
}

static int
connect_agent(void)
{
	return connect_path(attempt_path(E.session, "sockets/mitm-proxy.sock"));
}

static int
connect_abstract(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len = strlen(E.abstract_name);

	memcpy(sun.sun_path + 1, E.abstract_name, len);
	return attempt_result(connect(E.abstract, &sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)));
}

/* The kernel chooses a free name: another attempt runs at the same time. */
static int
bind_abstract(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	return attempt_result(
	    bind(E.abstract, &sun, offsetof(struct sockaddr_un, sun_path)));
}

static int
set_option(int level, int option)
{
	int on = 1;

	return attempt_result(
	    setsockopt(E.tcp, level, option, &on, sizeof(on)));
}

static int
option_fastopen(void)
{
	return set_option(IPPROTO_TCP, TCP_FASTOPEN_CONNECT);
}

static int
option_mark(void)
{
	return set_option(SOL_SOCKET, SO_MARK);
}

static int
option_passcred(void)
{
	int on = 1;

	return attempt_result(
	    setsockopt(3, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
}

static int
peer_cred(void)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	return attempt_result(
	    getsockopt(3, SOL_SOCKET, SO_PEERCRED, &cred, &len));
}

static int
own_name(void)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);

	return attempt_result(getsockname(3, &sun, &len));
}

ONE(listen_more, listen(E.listener, 128))
ONE(accept_plain, accept4(E.listener, NULL, NULL, SOCK_NONBLOCK))
ONE(shut_down, shutdown(E.channels[0], SHUT_RD))
ONE(receive_many, syscall(SYS_recvmmsg, 3, (struct mmsghdr[1]){{{0}, 0}}, 1,
		      MSG_DONTWAIT, (struct timespec[1]){{0}}))
ONE(poll_fd, syscall(SYS_ppoll, &(struct pollfd){3, POLLIN, 0}, 1L,
		 (long[2]){0}, (long[1]){0}, 8L))

/* clang-format off */
static const struct attempt rows[] = {
	SAME("socket inet stream", "socket", inet_stream, 0, WORKS),
	SAME("socket inet stream, non-blocking", "socket", inet_born, 0, WORKS),
	SAME("socket inet datagram", "socket", inet_dgram, 0, WORKS),
	NEVER("socket inet raw", "socket", inet_raw, 0, EPERM, NO_CAP),
	SAME("socket MPTCP", "socket", inet_mptcp, 0, OR3(WORKS,
	    EPROTONOSUPPORT, ENOPROTOOPT)),
	SAME("socket inet6 datagram", "socket", inet6_dgram, 0,
	    OR(WORKS, EAFNOSUPPORT)),
	SAME("socket unix", "socket", unix_stream, 0, WORKS),
	SAME("socket netlink", "socket", netlink, 0, WORKS),
	NEVER("socket packet", "socket", packet, 0, OR(EPERM, EAFNOSUPPORT),
	    NO_CAP),
	SAME("socket vsock", "socket", vsock, 0, OR(WORKS, EAFNOSUPPORT)),
	SAME("socket alg", "socket", alg, 0, OR(WORKS, EAFNOSUPPORT)),
	NEVER("socket xdp", "socket", xdp, 0, OR(EPERM, EAFNOSUPPORT), NO_CAP),
	SAME("socket can", "socket", can, 0, OR3(WORKS, EAFNOSUPPORT,
	    EPROTONOSUPPORT)),
	SAME("socketpair", "socketpair", pair_plain, 0, WORKS),
	SAME("socketpair stream, non-blocking", "socketpair", pair_born, 0,
	    WORKS),
	/* with a socket that the worker does not have by itself */
	ROW("connect TCP", "connect", connect_tcp, G_TCP, WORKS, PORT, WORKS),
	ROW("bind TCP", "bind", bind_tcp, G_TCP, WORKS, PORT, WORKS),
	SAME("connect by MSG_FASTOPEN", "sendto", fastopen, G_TCP,
	    OR(WORKS, EOPNOTSUPP)),
	SAME("send to an address", "sendto", send_to, G_UDP, WORKS),
	SAME("MSG_OOB, many", "sendmmsg", send_many, 0, EOPNOTSUPP),
	ROW("connect to control.sock", "connect", connect_control, G_UNIX,
	    WORKS, OR(WORKS, EACCES), NOWHERE),
	ROW("connect to the agent's socket", "connect", connect_agent, G_UNIX,
	    WORKS, OR(WORKS, EACCES), NOWHERE),
	ROW("connect to an abstract socket", "connect", connect_abstract,
	    G_ABSTRACT, WORKS, SCOPE, WORKS),
	SAME("bind an abstract socket", "bind", bind_abstract, G_ABSTRACT,
	    WORKS),
	SAME("option TCP_FASTOPEN_CONNECT", "setsockopt", option_fastopen,
	    G_TCP, WORKS),
	NEVER("option SO_MARK", "setsockopt", option_mark, G_TCP, EPERM,
	    NO_CAP),
	SAME("option SO_PASSCRED", "setsockopt", option_passcred, 0, WORKS),
	SAME("option SO_PEERCRED", "getsockopt", peer_cred, 0, WORKS),
	SAME("getsockname", "getsockname", own_name, 0, WORKS),
	SAME("listen", "listen", listen_more, G_LISTENER, WORKS),
	SAME("accept, inherited", "accept4", accept_plain, G_LISTENER, EAGAIN),
	SAME("shut a channel down", "shutdown", shut_down, 0, WORKS),
	SAME("MSG_OOB", "sendmsg", send_oob, 0, EOPNOTSUPP),
	SAME("recvmmsg with a time-out", "recvmmsg", receive_many, 0, EAGAIN),
	SAME("ppoll with a signal mask", "ppoll", poll_fd, 0, WORKS),
};
/* clang-format on */

const struct attempt_table attempts_sockets = TABLE(rows);
