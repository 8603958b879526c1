/* SPDX-License-Identifier: ISC */
#include "unit/unit.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "common/log.h"
#include "common/wordlist.h"
#include "credential/handover.h"
#include "hub/peer.h"
#include "resume/start_file.h"
#include "unit/offer.h"

#define UNIT_NAME 64U

/* Options point into these as long as the session runs. */
static struct offer unit_offer;
static struct start_file unit_file;
static char *unit_dir;
static const char *unit_args[2 * START_FILE_OPTIONS + 8];
static char unit_names[START_FILE_OPTIONS][72];

/*
 * An instance name is taken as it is (%i), and never decoded: ids of sessions
 * need no escaping, and a path would lead out of sessions/.
 */
static int
unit_check_name(const char *name, struct fault *fault)
{
	static const char usual[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	char shown[256];
	size_t n = strlen(name);

	if (n != 0 && n <= UNIT_NAME && strchr(usual, name[0]) != NULL &&
	    strspn(name, "._-"
			 "abcdefghijklmnopqrstuvwxyz"
			 "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == n)
		return 0;
	return fault_set(fault,
	    "\"%s\" cannot be a session's name: icsupervisor@NAME takes a name "
	    "below sessions/ of 1 to %u letters, digits and . _ -, beginning "
	    "with a letter or digit; no path, and nothing that systemd-escape "
	    "made of one. icctl ls lists names",
	    log_vis(span_str(name), shown, sizeof(shown)), UNIT_NAME);
}

/* Set unit_dir, and make the directory above it. */
static int
unit_find(const char *name, struct fault *fault)
{
	struct paths paths;
	char *sessions = NULL;
	int rv = -1;

	if (unit_check_name(name, fault) == -1 ||
	    paths_init(&paths, NULL, fault) == -1)
		return -1;
	if ((sessions = paths_join(paths.home, "sessions")) == NULL ||
	    (mkdir(sessions, 0700) == -1 && errno != EEXIST) ||
	    (unit_dir = paths_join(sessions, name)) == NULL)
		fault_errno(fault, "%s/sessions", paths.home);
	else
		rv = 0;
	free(sessions);
	paths_free(&paths);
	return rv;
}

/*
 * Connect to the socket on which icctl offers the start. Returns the socket;
 * -1 with errno set; the fault is set if it is the socket of another user.
 */
static int
unit_connect(int dirfd, struct fault *fault)
{
	const struct timeval limit = {.tv_sec = OFFER_WAIT_MS / 1000};
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int fd;

	snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "/proc/self/fd/%d/" OFFER_SOCKET, dirfd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ==
		-1 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ==
		-1 ||
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1) {
		int save = errno;

		if (fd != -1)
			close(fd);
		errno = save;
		return -1;
	}
	if (peer.uid == geteuid())
		return fd;
	close(fd);
	errno = EPERM;
	return fault_set(fault,
	    "%s/" OFFER_SOCKET " belongs to the user with number %u: only "
	    "your own icctl may hand over a start",
	    unit_dir, (unsigned)peer.uid);
}

/* Receive the pipe of the offer. Returns it, or -1 with the fault set. */
static int
unit_receive(int sock, struct fault *fault)
{
	char byte = '\0';
	int fd = -1;
	ssize_t n;

	while (
	    (n = handover_receive(sock, &byte, 1, &fd)) == -1 && errno == EINTR)
		;
	if (n == 1 && byte == OFFER_BYTE && fd != -1)
		return fd;
	if (fd != -1)
		close(fd);
	if (n == -1 && errno == EAGAIN)
		return fault_set(fault,
		    "icctl did not hand over this start within %d seconds. "
		    "Start it again: icctl start --systemd",
		    OFFER_WAIT_MS / 1000);
	if (n == -1)
		return fault_errno(fault, "%s/" OFFER_SOCKET, unit_dir);
	return fault_set(fault,
	    "icctl ended before it had handed over this start. Start it "
	    "again: icctl start --systemd");
}

/* Run what icctl offers. Returns 0, or an exit status with the fault set. */
static int
unit_take_offer(struct options *o, int sock, struct fault *fault)
{
	int fd = unit_receive(sock, fault), rv;

	if (fd == -1)
		return SUP_EXIT_OS;
	rv = offer_read(&unit_offer, fd, fault);
	close(fd);
	if (rv == -1)
		return SUP_EXIT_OS;
	if (offer_take_environment(&unit_offer) == -1 ||
	    chdir(unit_offer.dir) == -1) {
		fault_errno(fault, "%s", unit_offer.dir);
		return SUP_EXIT_CONFIG;
	}
	return options_parse(o, (int)unit_offer.nargs, unit_offer.args,
		   fault) == OPTIONS_RUN
		   ? 0
		   : SUP_EXIT_USAGE;
}

/*
 * Run what start.json says. What a person must say again is not in it: a
 * command, a permission, and that an unusual death is no attack.
 */
static int
unit_take_file(
    struct options *o, int dirfd, const char *name, struct fault *fault)
{
	const struct start_file *f = &unit_file;
	struct wordlist words = WORDLIST_IN(unit_args);
	char *const *args;

	if (f->command) {
		fault_set(fault,
		    "session %s ran a command of yours, which is not kept. "
		    "Say it again: icctl resume %s -- COMMAND...",
		    name, name);
		return SUP_EXIT_CONFIG;
	}
	wordlist_all(&words, (const char *const[]){"icsupervisor",
				 "--session-dir", unit_dir, NULL});
	if (faccessat(dirfd, "session.json", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		wordlist_all(&words,
		    (const char *const[]){"--resume", "--keep-grants", NULL});
	for (size_t i = 0; i < f->n; i++) {
		snprintf(unit_names[i], sizeof(unit_names[i]), "--%.64s",
		    f->options[i].name);
		wordlist_add(&words, unit_names[i]);
		if (f->options[i].value != NULL)
			wordlist_add(&words, f->options[i].value);
	}
	if ((args = wordlist_end(&words)) == NULL) {
		fault_errno(fault, "%s/start.json", unit_dir);
		return SUP_EXIT_CONFIG;
	}
	if (options_parse(o, (int)words.n, (char **)(uintptr_t)args, fault) !=
	    OPTIONS_RUN)
		return SUP_EXIT_USAGE;
	/* Nobody has its terminal, so that it takes messages. */
	o->conversation = o->runtime != RUNTIME_NONE;
	return 0;
}

/* The directory and start.json in it are there. */
static int
unit_take(struct options *o, int dirfd, const char *name, struct fault *fault)
{
	struct stat st;
	int sock, rv;

	if (fstat(dirfd, &st) == -1) {
		fault_errno(fault, "%s", unit_dir);
		return SUP_EXIT_CONFIG;
	}
	if (paths_private(&st, "session directory", unit_dir, fault) == -1)
		return SUP_EXIT_CONFIG;
	sock = unit_connect(dirfd, fault);
	if (sock == -1 && errno == EPERM)
		return SUP_EXIT_CONFIG;
	/* An icctl that was killed leaves its socket. */
	if (sock == -1 && errno != ENOENT && errno != ECONNREFUSED) {
		fault_errno(fault, "%s/" OFFER_SOCKET, unit_dir);
		return SUP_EXIT_OS;
	}
	if (unlinkat(dirfd, OFFER_SOCKET, 0) == -1 && errno != ENOENT) {
		fault_errno(fault, "%s/" OFFER_SOCKET, unit_dir);
		rv = SUP_EXIT_OS;
	} else if (sock != -1) {
		rv = unit_take_offer(o, sock, fault);
	} else {
		rv = unit_take_file(o, dirfd, name, fault);
	}
	if (sock != -1)
		close(sock);
	return rv;
}

int
unit_begin(struct options *o, struct fault *fault)
{
	const char *name = o->unit;
	int fd, rv;

	peer_set_unit();
	if (unit_find(name, fault) == -1)
		return SUP_EXIT_CONFIG;
	o->session_dir = unit_dir;
	fd = open(unit_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 && errno != ENOENT) {
		fault_errno(fault, "%s", unit_dir);
		return SUP_EXIT_CONFIG;
	}
	if (fd != -1 && start_file_read(&unit_file, fd, unit_dir, fault) == 0) {
		rv = unit_take(o, fd, name, fault);
		/* The arguments name the same directory, perhaps by a link. */
		o->session_dir = unit_dir;
		o->unit = name;
	} else if (fd == -1 || errno == ENOENT) {
		o->runtime = RUNTIME_NONE;
		rv = 0;
	} else {
		rv = SUP_EXIT_CONFIG;
	}
	if (fd != -1)
		close(fd);
	return rv;
}
