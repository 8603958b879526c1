/* SPDX-License-Identifier: ISC */
/*
 * System calls that the filter of one role allows and others do not: for each,
 * the means that stop the attempt instead, or why the call is part of the
 * role's work and gains nothing.
 */
#include "attempts.h"

#include <errno.h>

/* clang-format off */
#define NAMES "its work: it resolves names on the host, never content"
#define LARGE "its work: a value too large for a datagram; code it is never"
#define ARENA "its work: bodies; it has no file that it could map"
#define RES(name, all, why)						\
	{name, (enum role)ATTEMPT_RESOLVER, all, all, why}
#define VIEW "Landlock shows it /etc and libraries"
#define NAME "its work: is resolv.conf still the same; no content"
#define LIBC "libc does it; nothing comes of it"
#define GIVEN "it has no such descriptor, and can make none"
#define CODE "its work: modules that nsswitch.conf names; none is writable"
#define ASKS "its work: it asks name servers, wherever they are"
#define DIALS "its work: it has the network, and nothing else"

const struct exception exceptions[] = {
	{"open a name only", ROLE_POLICY, WORKS, WORKS, NAMES},
	{"stat a path", ROLE_POLICY, WORKS, WORKS, NAMES},
	{"statx a path", ROLE_POLICY, WORKS, WORKS, NAMES},
	{"fstatfs", ROLE_POLICY, WORKS, WORKS, NAMES},
	{"read a link", ROLE_POLICY, WORKS, WORKS, NAMES},
	{"watch a directory's moves", ROLE_POLICY, WORKS, WORKS,
	    "its work: a name leads elsewhere; stat says so as well"},
	{"name another's descriptor", ROLE_POLICY, WORKS, EACCES,
	    "the other is not dumpable"},
	{"read another's working directory", ROLE_POLICY, WORKS, EACCES,
	    "the other is not dumpable"},
	{"memfd_create, sealable", ROLE_PROXY, WORKS, WORKS, LARGE},
	{"memfd_create, sealable", ROLE_POLICY, WORKS, WORKS, LARGE},
	{"memfd_create, sealable", ROLE_AUDIT, WORKS, WORKS, LARGE},
	{"memfd_create, sealable", ROLE_BACK, WORKS, WORKS, LARGE},
	{"memfd_create, sealable", ROLE_MITM, WORKS, WORKS,
	    "its work: bodies that are held whole; code they are never"},
	{"memfd_create, sealable", ROLE_ACP, WORKS, WORKS, LARGE},
	{"map a file like an arena", ROLE_MITM, WORKS, WORKS, ARENA},
	{"map a file like an arena", ROLE_KEY, WORKS, WORKS, ARENA},
	{"sendfile", ROLE_MITM, WORKS, WORKS,
	    "its work: answers; it has no file that it could read"},
	{"socketpair stream, non-blocking", ROLE_KEY, WORKS, WORKS,
	    "its work: body streams; both ends are its own"},
	{"socketpair stream, non-blocking", ROLE_FOLLOW, WORKS, WORKS,
	    "its work: a stream for each file; both ends are its own"},
	{"shut a channel down", ROLE_MITM, WORKS, WORKS,
	    "its work on connections; without its channel it ends"},
	{"shut a channel down", ROLE_EGRESS, WORKS, WORKS,
	    "its work on connections; without its channel it ends"},
	{"shut a channel down", ROLE_PORT, WORKS, WORKS,
	    "its work on connections; without its channel it ends"},
	{"shut a channel down", ROLE_WEB, WORKS, WORKS,
	    "its work on connections; without its channel it ends"},
	{"socket inet stream, non-blocking", ROLE_DIAL, WORKS, WORKS, DIALS},
	{"connect TCP", ROLE_DIAL, WORKS, WORKS, DIALS},
	{"connect to control.sock", ROLE_DIAL, WORKS, NOWHERE,
	    "its root is empty, and it can make no such socket"},
	{"connect to the agent's socket", ROLE_DIAL, WORKS, NOWHERE,
	    "its root is empty, and it can make no such socket"},
	{"connect to an abstract socket", ROLE_DIAL, WORKS, SCOPE,
	    "Landlock's scope, and it can make no such socket"},
	/*
	 * The resolver is libc's: it reads its configuration and modules, and
	 * talks to name servers. It holds no secret, and may read only public
	 * files.
	 */
	RES("read /etc/passwd", WORKS, "its configuration lies in /etc"),
	RES("read config.json", EACCES, VIEW),
	RES("read the audit log", EACCES, VIEW),
	RES("read its own program", OR(EACCES, WORKS),
	    "where it lies beneath /usr, libraries do as well"),
	RES("read beneath an open directory", OR(EACCES, WORKS), VIEW),
	RES("list libexecdir", OR(EACCES, WORKS), VIEW),
	RES("bind TCP", PORT, "source ports are UDP's"),
	RES("stat a path", WORKS, NAME),
	RES("statx a path", WORKS, NAME),
	RES("access a path", WORKS, NAME),
	RES("read a link", WORKS, NAME),
	RES("list an open directory", WORKS, GIVEN),
	RES("fcntl F_DUPFD", WORKS, LIBC),
	RES("fcntl F_SETFL", WORKS, LIBC),
	RES("fcntl F_SETOWN", WORKS, "signals to others are Landlock's scope"),
	RES("fcntl F_SETLK", WORKS, GIVEN),
	RES("ioctl FIONREAD", WORKS, LIBC),
	RES("lseek", WORKS, GIVEN),
	RES("pread", WORKS, GIVEN),
	RES("map a file shared", WORKS, GIVEN),
	RES("map a file like an arena", WORKS, GIVEN),
	RES("open another's environment", EACCES, VIEW),
	RES("open another's map", EACCES, VIEW),
	RES("list another's descriptors", EACCES, VIEW),
	RES("read another's working directory", EACCES, "not dumpable"),
	RES("map executable memory", WORKS, CODE),
	RES("map shared memory", WORKS, LIBC),
	RES("map at address 0", OR(EPERM, EACCES), "vm.mmap_min_addr"),
	RES("map a file as code", WORKS, CODE),
	RES("signal handler", WORKS, LIBC),
	RES("uname", WORKS, LIBC),
	RES("socket inet stream", WORKS, ASKS),
	RES("socket inet stream, non-blocking", WORKS, ASKS),
	RES("socket inet datagram", WORKS, ASKS),
	RES("socket inet raw", EPERM, NO_CAP),
	RES("socket MPTCP", OR3(WORKS, EPROTONOSUPPORT, ENOPROTOOPT), ASKS),
	RES("socket inet6 datagram", OR(WORKS, EAFNOSUPPORT), ASKS),
	RES("socket unix", EACCES, "libc tries it, and lives without"),
	RES("socket netlink", EACCES, "libc tries it, and lives without"),
	RES("connect TCP", WORKS, ASKS),
	RES("send to an address", WORKS, ASKS),
	RES("sendmmsg to an address", WORKS, ASKS),
	RES("connect to control.sock", WORKS, GIVEN),
	RES("connect to the agent's socket", WORKS, GIVEN),
	RES("connect to an abstract socket", SCOPE, GIVEN),
	RES("bind an abstract socket", WORKS, GIVEN),
	RES("option TCP_FASTOPEN_CONNECT", WORKS, ASKS),
	RES("option SO_MARK", EPERM, NO_CAP),
	RES("option SO_PASSCRED", WORKS, LIBC),
	RES("option SO_PEERCRED", WORKS, LIBC),
	RES("getsockname", WORKS, LIBC),
	RES("recvmmsg with a time-out", EAGAIN, LIBC),
	RES("ppoll with a signal mask", WORKS, LIBC),
};
/* clang-format on */

const size_t nexceptions = nitems(exceptions);
