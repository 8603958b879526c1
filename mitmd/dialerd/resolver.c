/* SPDX-License-Identifier: ISC */
/*
 * The resolver: asks libc for the names that were declared, nothing else.
 * It parses the answers of name servers with libc, so it must be expected to be
 * taken over one day: it holds no secret, sees only resolver configuration and
 * libraries, and can send nothing but addresses.
 */
#include "dialerd/resolver.h"

#include <linux/netlink.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seccomp.h>

#include "common/confine/confine.h"
#include "common/confine/unveil.h"
#include "common/log.h"

#define RESOLVER_NOFILE 64
#define RESOLVER_TCP_S 8 /* at most for one name, if others wait */

/* clang-format off */
#define ANY(name, why) {.nr = SCMP_SYS(name), .reason = (why)}
#define ONE(name, i, m, v, why)						\
	{.nr = SCMP_SYS(name), .nargs = 1, .arg = {{(i), (m), (v)}},	\
	    .reason = (why)}
#define NO(name, i, m, v, e, why)					\
	{.nr = SCMP_SYS(name), .nargs = 1, .arg = {{(i), (m), (v)}},	\
	    .reason = (why), .error = (e)}
#define INT 0xffffffffULL
/* On arm64 the loader asks for branch protection of modules built with it. */
#if defined(__aarch64__) && !defined(PROT_BTI)
#define PROT_BTI 0x10
#elif !defined(PROT_BTI)
#define PROT_BTI 0
#endif
#define CODE ((uint64_t)(PROT_READ | PROT_EXEC | PROT_BTI))
/* O_RDONLY, with flags that do not write. */
#define READS (INT & ~(uint64_t)(O_CLOEXEC | O_NONBLOCK | O_DIRECTORY |	\
	O_LARGEFILE | O_NOFOLLOW | O_NOCTTY))
#define KINDS (~(uint64_t)(SOCK_CLOEXEC | SOCK_NONBLOCK) & INT)

static const struct pledge_rule resolver_rules[] = {
	/* files: /etc, and the modules that nsswitch.conf names */
	ONE(openat, 2, READS, 0, "resolver configuration, modules"),
	ONE(open, 1, READS, 0, "the same, as older libraries say it"),
	ANY(newfstatat, "is resolv.conf still the same"),
	ANY(stat, "the same"),
	ANY(lstat, "the same"),
	ANY(statx, "the same"),
	ANY(access, "the same"),
	ANY(faccessat, "the same"),
	ANY(faccessat2, "the same"),
	ANY(readlink, "the same"),
	ANY(readlinkat, "the same"),
	ANY(pread64, "headers of modules"),
	ANY(lseek, "stdio"),
	ANY(getdents64, "drop-in directories"),
	ONE(mmap, 2, INT & ~CODE, 0, "modules"),
	ONE(mmap, 2, INT & ~(uint64_t)(PROT_READ | PROT_WRITE), 0, "modules"),
	/* name servers */
	ONE(socket, 0, INT, AF_INET, "UDP, and TCP for long answers"),
	ONE(socket, 0, INT, AF_INET6, "the same"),
	NO(socket, 0, INT, AF_UNIX, EACCES, "nscd, resolved: done without"),
	NO(socket, 0, INT, AF_NETLINK, EACCES, "own addresses: done without"),
	ANY(connect, "name servers"),
	ANY(bind, "source ports"),
	ONE(sendto, 3, INT & ~(uint64_t)MSG_NOSIGNAL, 0, "queries"),
	ONE(sendmmsg, 3, INT & ~(uint64_t)MSG_NOSIGNAL, 0, "A and AAAA"),
	ANY(recvfrom, "answers"),
	ANY(recvmsg, "answers"),
	ANY(recvmmsg, "answers"),
	ONE(setitimer, 0, INT, ITIMER_REAL, "answers that never end"),
	ONE(shutdown, 1, INT, SHUT_RDWR, "the same"),
	ANY(poll, "waiting for them"),
	ANY(ppoll, "the same"),
	ANY(setsockopt, "IP_RECVERR"),
	ANY(getsockopt, "errors"),
	ANY(getsockname, "order of addresses (RFC 6724)"),
	ANY(getpeername, "the same"),
	ONE(ioctl, 1, INT, FIONREAD, "size of an answer"),
	/* its own process */
	ANY(uname, "the name of this machine"),
	ANY(sysinfo, "qsort"),
	ANY(getuid, "modules"),
	ANY(geteuid, "modules"),
	ANY(getgid, "modules"),
	ANY(getegid, "modules"),
	ANY(gettid, "locks"),
	ANY(fcntl, "modules"),
	ANY(clock_nanosleep, "back-off"),
	ANY(sched_yield, "locks"),
	/*
	 * only its own limits: another process's RLIMIT_CPU could kill that
	 * process
	 */
	{.nr = SCMP_SYS(prlimit64), .nargs = 2,
	    .arg = {{0, INT, 0}, {2, UINT64_MAX, 0}},
	    .reason = "modules; reading its own"},
	ANY(rt_sigaction, "modules"),
};
/* clang-format on */

static const enum pledge_promise resolver_promises[] = {PLEDGE_STDIO};

static const struct {
	const char *path;
	uint64_t access;
} resolver_view[] = {
    {"/etc", UNVEIL_READ},
    {"/run/systemd/resolve", UNVEIL_READ},
    {"/run/resolvconf", UNVEIL_READ},
    {"/run/NetworkManager", UNVEIL_READ},
    {"/run/connman", UNVEIL_READ},
    {"/usr", UNVEIL_READ | UNVEIL_EXEC},
    {"/lib", UNVEIL_READ | UNVEIL_EXEC},
    {"/lib64", UNVEIL_READ | UNVEIL_EXEC},
};

static void
resolver_lock(void)
{
	struct unveil_path view[nitems(resolver_view)];
	struct confine confine = {
	    .keep = CONFINE_KEEP_NET | CONFINE_KEEP_ROOT,
	    .limits = {.nofile = RESOLVER_NOFILE,
		.fsize = 0,
		.data = 64U << 20},
	    .pledge = {resolver_promises, nitems(resolver_promises),
		resolver_rules, nitems(resolver_rules)},
	    .unveil = view,
	};
	struct confine_state state;
	int fd;

	for (size_t i = 0; i < nitems(resolver_view); i++) {
		fd = open(resolver_view[i].path, O_PATH | O_CLOEXEC);
		if (fd == -1)
			continue;
		view[confine.nunveil++] =
		    (struct unveil_path){fd, resolver_view[i].access};
	}
	if (confine_apply(&confine, &state) == -1)
		fatalx("resolver: not confined");
	for (size_t i = 0; i < confine.nunveil; i++)
		close(view[i].fd);
}

/* Close everything inherited except our end of the pair and the log. */
static void
resolver_close(int fd)
{
	if (fd != STDERR_FILENO + 1) {
		if (dup3(fd, STDERR_FILENO + 1, O_CLOEXEC) == -1)
			fatal("resolver");
	}
	if (close_range(STDERR_FILENO + 2, ~0U, 0) == -1)
		fatal("resolver");
}

/*
 * End all TCP connections to name servers. libc waits without a limit for the
 * rest of an answer that comes by TCP; its UDP has time limits.
 */
static void
resolver_cut(int sig)
{
	int save = errno, type;
	socklen_t len;

	for (int fd = STDERR_FILENO + 2; fd < RESOLVER_NOFILE; fd++) {
		len = sizeof(type);
		if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
		    type == SOCK_STREAM)
			(void)shutdown(fd, SHUT_RDWR);
	}
	errno = save;
}

/* Cut what takes longer than that, and then all that libc tries instead. */
static void
resolver_clock(time_t seconds)
{
	struct itimerval t = {
	    .it_value = {.tv_sec = seconds},
	    .it_interval = {.tv_sec = seconds == 0 ? 0 : 1},
	};

	if (setitimer(ITIMER_REAL, &t, NULL) == -1)
		_exit(1);
}

static void
resolver_look_up(const char *name, struct resolver_answer *a)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *ai;
	const struct sockaddr_in *in;
	const struct sockaddr_in6 *in6;

	int error;

	resolver_clock(RESOLVER_TCP_S);
	error = getaddrinfo(name, NULL, &hints, &list);
	resolver_clock(0);
	if (error != 0)
		return;
	for (ai = list; ai != NULL && a->n < DIALERD_MAX_ADDRS;
	     ai = ai->ai_next) {
		if (ai->ai_family == AF_INET) {
			in = (const struct sockaddr_in *)(const void *)
				 ai->ai_addr;
			memcpy(a->addr[a->n], &in->sin_addr, 4);
		} else if (ai->ai_family == AF_INET6) {
			in6 = (const struct sockaddr_in6 *)(const void *)
				  ai->ai_addr;
			memcpy(a->addr[a->n], &in6->sin6_addr, 16);
		} else {
			continue;
		}
		a->family[a->n++] = (uint16_t)ai->ai_family;
	}
	freeaddrinfo(list);
}

struct resolver_patterns {
	char (*list)[254];
	size_t n;
	bool asked; /* a question came: no pattern may be added */
};

static void
resolver_pattern(struct resolver_patterns *p, const char *name)
{
	char(*more)[254];

	if (p->asked || p->n == RESOLVER_MAX_PATTERNS ||
	    (more = reallocarray(p->list, p->n + 1, sizeof(*more))) == NULL)
		_exit(1);
	p->list = more;
	memcpy(p->list[p->n], name, strlen(name) + 1);
	p->n++;
}

/*
 * Returns true if a pattern allows the name. After the first question no
 * pattern can be added, so a dialerd that is taken over later gains none.
 */
static bool
resolver_knows(struct resolver_patterns *p, const char *name)
{
	p->asked = true;
	for (size_t i = 0; i < p->n; i++)
		if (egress_matches(p->list[i], name))
			return true;
	return false;
}

void
resolver_run(int fd)
{
	static char names[DIALERD_GUEST][254];
	struct resolver_patterns patterns = {.n = 0};
	struct resolver_answer answer;
	/* Not restarted: connect(2) to a silent name server ends as well. */
	const struct sigaction cut = {.sa_handler = resolver_cut};
	const char *name;
	struct resolver_ask ask;
	ssize_t n;

	resolver_close(fd);
	fd = STDERR_FILENO + 1;
	/* Tells it from dialerd, whose program it runs. */
	(void)prctl(PR_SET_NAME, RESOLVER_NAME, 0, 0, 0);
	if (sigaction(SIGALRM, &cut, NULL) == -1)
		fatal("resolver");
	resolver_lock();
	for (;;) {
		n = recv(fd, &ask, sizeof(ask), 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(ask) ||
		    memchr(ask.name, '\0', sizeof(ask.name)) == NULL)
			_exit(0);
		if (ask.index == RESOLVER_PATTERN) {
			resolver_pattern(&patterns, ask.name);
			continue;
		}
		if (ask.index < DIALERD_GUEST && ask.name[0] != '\0') {
			/*
			 * Each name once: a dialerd that is taken over later
			 * cannot change it.
			 */
			if (names[ask.index][0] != '\0')
				_exit(1);
			memcpy(names[ask.index], ask.name, sizeof(ask.name));
			continue;
		}
		answer = (struct resolver_answer){
		    .index = ask.index, .serial = ask.serial};
		name = ask.name;
		if (ask.index < DIALERD_GUEST)
			name = names[ask.index];
		else if (!resolver_knows(&patterns, name))
			_exit(1);
		if (name[0] != '\0')
			resolver_look_up(name, &answer);
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) == -1)
			_exit(0);
	}
}
