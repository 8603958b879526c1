/* SPDX-License-Identifier: ISC */
/* The objects of the attempts: files, sockets, and a victim of the same uid. */
#include "unit/confine/attempts.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <netinet/in.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/span.h"

#define E attempt_env
#define NOBODY 65534
#define PAGE 4096

static int abstract;

static void
on_pipe(int sig)
{
}

/*
 * Restore the same files before each attempt, whatever the last one did to
 * them.
 */
void
fixture_reset(bool as_user)
{
	(void)unlinkat(E.dir, "new", 0);
	(void)unlinkat(E.dir, "link", 0);
	(void)unlinkat(E.dir, "made", AT_REMOVEDIR);
	E.file = openat(
	    E.dir, "file", O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	attempt_must(E.file != -1 && ftruncate(E.file, 0) == 0 &&
			 ftruncate(E.file, PAGE) == 0 &&
			 fchmod(E.file, 0600) == 0,
	    "file");
	if (as_user)
		attempt_must(fchown(E.file, NOBODY, NOBODY) == 0, "chown");
}

static int
listener_new(uint16_t *port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET};
	socklen_t len = sizeof(sin);
	int fd;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	attempt_must(fd != -1 &&
			 bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == 0 &&
			 listen(fd, 64) == 0 &&
			 getsockname(fd, (struct sockaddr *)&sin, &len) == 0,
	    "listener");
	*port = sin.sin_port;
	return fd;
}

void
fixture_open(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = E.port};
	uint16_t unused;
	int p[2];

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	E.victim_pidfd = (int)syscall(SYS_pidfd_open, E.victim, 0);
	E.memfd = memfd_create("t", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	attempt_must(ftruncate(E.memfd, PAGE) == 0 &&
			 fcntl(E.memfd, F_ADD_SEALS,
			     F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW |
				 F_SEAL_SEAL) == 0,
	    "memfd");
	attempt_must(
	    socketpair(AF_UNIX, SOCK_STREAM, 0, E.pair) == 0, "socketpair");
	E.tcp = socket(AF_INET, SOCK_STREAM, 0);
	E.dialed = socket(AF_INET, SOCK_STREAM, 0);
	attempt_must(
	    connect(E.dialed, (struct sockaddr *)&sin, sizeof(sin)) == 0,
	    "connect");
	E.listener = listener_new(&unused);
	E.abstract = socket(AF_UNIX, SOCK_DGRAM, 0);
	E.epoll = epoll_create1(0);
	attempt_must(pipe(p) == 0, "pipe");
	close(p[0]);
	E.broken = p[1];
	attempt_must(E.victim_pidfd != -1 && E.tcp != -1 && E.abstract != -1 &&
			 E.epoll != -1,
	    "descriptors");
	attempt_must(signal(SIGPIPE, on_pipe) != SIG_ERR, "signal");
}

static void
victim_start(void)
{
	static long word = 42;
	int p[2];
	char c;

	attempt_must(pipe(p) == 0 && (E.victim = fork()) != -1, "victim");
	if (E.victim == 0) {
		attempt_must(
		    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "pdeath");
		attempt_become();
		/* Needed if Yama restricts attaching. */
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		attempt_must(write(p[1], "r", 1) == 1, "ready");
		for (;;)
			pause();
	}
	E.victim_word = &word;
	attempt_must(read(p[0], &c, 1) == 1, "victim ready");
	close(p[0]);
	close(p[1]);
}

static void
victim_stop(void)
{
	attempt_must(kill(E.victim, SIGKILL) == 0, "kill");
	attempt_must(waitpid(E.victim, NULL, 0) == E.victim, "reap");
}

static int
abstract_listen(void)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t len;
	int fd;

	(void)snprintf(E.abstract_name, sizeof(E.abstract_name),
	    "ic-confine-%d", getpid());
	len = strlen(E.abstract_name);
	memcpy(sun.sun_path + 1, E.abstract_name, len);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	attempt_must(
	    fd != -1 && bind(fd, (struct sockaddr *)&sun,
			    (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
					1 + len)) == 0,
	    "abstract socket");
	return fd;
}

static void
names_start(bool as_user)
{
	static const char *const names[] = {"user", "net", "ipc", "uts"};
	char path[40];

	(void)snprintf(
	    E.dir_path, sizeof(E.dir_path), "%s", "/tmp/ic-confine-XXXXXX");
	attempt_must(mkdtemp(E.dir_path) != NULL, "mkdtemp");
	if (as_user)
		attempt_must(chown(E.dir_path, NOBODY, NOBODY) == 0, "chown");
	(void)snprintf(E.file_path, sizeof(E.file_path), "%s/file", E.dir_path);
	E.dir = open(E.dir_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	attempt_must(E.dir != -1, "directory");
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(
		    path, sizeof(path), "/proc/self/ns/%s", names[i]);
		attempt_must(
		    readlink(path, E.ns[i], sizeof(E.ns[i]) - 1) > 0, path);
	}
}

static void
names_stop(void)
{
	static const char *const names[] = {"file", "new", "link"};

	for (size_t i = 0; i < nitems(names); i++)
		(void)unlinkat(E.dir, names[i], 0);
	(void)unlinkat(E.dir, "made", AT_REMOVEDIR);
	(void)rmdir(E.dir_path);
	close(E.dir);
}

void
fixture_start(bool as_user)
{
	names_start(as_user);
	victim_start();
	abstract = abstract_listen();
	E.listener = listener_new(&E.port);
}

void
fixture_stop(void)
{
	victim_stop();
	close(E.listener);
	close(abstract);
	names_stop();
}
