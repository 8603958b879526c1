/* SPDX-License-Identifier: ISC */
/*
 * The hostile part of a hostile build: reads its order, gets the resources of
 * the attempt, makes it, and logs the result.
 */
#include "probe.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"
#include "order.h"

#define BORN (SOCK_CLOEXEC | SOCK_NONBLOCK)
#define E attempt_env

const volatile struct order probe_order = {
    .magic = ORDER_MAGIC, .attempt = ORDER_QUIET};
static char session[256], home[256], libexec[256], abstract_name[36];

static const struct attempt *
probe_mine(void)
{
	return probe_order.attempt < 0
		   ? NULL
		   : attempt_row((size_t)probe_order.attempt);
}

static void
probe_text(char *dst, const volatile char *src, size_t cap)
{
	size_t i;

	for (i = 0; i < cap - 1 && src[i] != '\0'; i++)
		dst[i] = src[i];
	dst[i] = '\0';
}

/* A static program, which needs no other file to run. */
static int
probe_code(void)
{
	static char bytes[1 << 16];
	ssize_t n;
	int from, to;

	from = open(attempt_path(libexec, "code"), O_RDONLY | O_CLOEXEC);
	to = memfd_create("code", 0);
	while (from != -1 && to != -1 &&
	       (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			break;
	close(from);
	return to;
}

static int
probe_tty(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master == -1 || grantpt(master) == -1 || unlockpt(master) == -1)
		return -1;
	/* A session leader without a terminal, like a worker, gets this one. */
	(void)setsid();
	return open(ptsname(master), O_RDWR);
}

static int
probe_listener(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | BORN, 0);

	return fd != -1 && listen(fd, 1) == 0 ? fd : -1;
}

static void
probe_sockets(unsigned given)
{
	if (given & G_TCP)
		E.tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (given & G_UDP)
		E.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (given & G_UNIX)
		E.un = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (given & G_ABSTRACT)
		E.abstract = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (given & G_LISTENER)
		E.listener = probe_listener();
}

void
probe_give(void)
{
	const struct attempt *a = probe_mine();
	unsigned given = a == NULL ? 0 : a->given;

	/* Yama may restrict who may attach. */
	if (a == NULL)
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	E.nice = getpriority(PRIO_PROCESS, 0);
	probe_sockets(given);
	if (given & G_DIR)
		E.dir = open(libexec, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (given & G_FILE)
		E.file = open(attempt_path(home, "victim"), O_RDWR | O_CLOEXEC);
	if (given & G_CODE)
		E.code = probe_code();
	if (given & G_PIDFD)
		E.pidfd = (int)syscall(
		    SYS_pidfd_open, E.victim != 0 ? E.victim : getppid(), 0);
	if (given & G_NETNS)
		E.netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (given & G_TTY)
		E.tty = probe_tty();
	if (given & G_PIDS)
		E.pids = open(attempt_path(home, "pids"), O_RDONLY | O_CLOEXEC);
	if (given & G_PIPE && pipe2(E.pipe, O_CLOEXEC) == -1)
		E.pipe[0] = E.pipe[1] = -1;
}

void
probe_attempt(const char *who)
{
	const struct attempt *a = probe_mine();
	struct stat st;
	int result;

	for (int fd = 4; E.role == ROLE_AUDIT && fd < 64; fd++)
		if (pledge_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    fd != E.file && fd != E.code)
			E.log = fd;
	if (a == NULL) {
		probe_say("PROBE %d quiet pid %d at %p\n", ORDER_QUIET,
		    getpid(), (void *)&E);
		return;
	}
	probe_say("PROBE %d %s: %s; pid %d, %u channels\n", probe_order.attempt,
	    who, a->name, getpid(), E.nchannels);
	result = a->fn();
	probe_say("RESULT %d %d\n", probe_order.attempt, result);
	/* The receiver of a frame decides the result: keep running. */
	if (result != SENT)
		_exit(PROBE_EXIT);
}

void
probe_say(const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) == -1)
		_exit(PROBE_EXIT + 1);
}

void
probe_load(enum role role)
{
	probe_text(session, probe_order.session, sizeof(session));
	probe_text(home, probe_order.home, sizeof(home));
	probe_text(libexec, probe_order.libexec, sizeof(libexec));
	probe_text(
	    abstract_name, probe_order.abstract_name, sizeof(abstract_name));
	E.role = role;
	E.session = session;
	E.home = home;
	E.libexec = libexec;
	E.abstract_name = abstract_name;
	E.victim = probe_order.victim;
	E.address = (uintptr_t)probe_order.address;
	E.port = (uint16_t)probe_order.port;
	E.arg = probe_order.arg;
}
