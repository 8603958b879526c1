/* SPDX-License-Identifier: ISC */
/*
 * Links to the page, each with a secret in its fragment, which browsers do not
 * send: the page's own script does, once. Another `icctl web` of the same user
 * asks for them at a socket in IRONCURTAIN_HOME, as does --logout. Who asks is
 * checked as at a session's control socket.
 */
#include "icctl/web/priv.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hub/peer.h"
#include "icctl/browse.h"
#include "workers/icwebd/meet.h"

#define LINK_WAIT_S 5

static int
link_address(const struct icctl *ctl, struct sockaddr_un *un)
{
	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	if ((size_t)snprintf(un->sun_path, sizeof(un->sun_path), "%s/%s",
		ctl->home, WEB_MEET) >= sizeof(un->sun_path)) {
		warnx("%s: the path is too long for a socket in it", ctl->home);
		return -1;
	}
	return 0;
}

int
link_ask(const struct icctl *ctl, const char *ask)
{
	const struct timeval wait = {.tv_sec = LINK_WAIT_S};
	struct sockaddr_un un;
	char reply[512];
	ssize_t n = -1;
	int fd;

	if (link_address(ctl, &un) == -1)
		return ICCTL_FAILED;
	if ((fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(fd, (struct sockaddr *)&un, sizeof(un)) == -1) {
		if (fd != -1)
			close(fd);
		return -1;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == 0 &&
	    send(fd, ask, strlen(ask), MSG_NOSIGNAL) > 0)
		n = recv(fd, reply, sizeof(reply) - 1, 0);
	close(fd);
	if (n <= 1) {
		warnx("the page that runs does not answer");
		return ICCTL_FAILED;
	}
	reply[n] = '\0';
	if (reply[0] == '!') {
		warnx("%s", reply + 1);
		return ICCTL_FAILED;
	}
	puts(reply + 1);
	return 0;
}

void
link_make(struct web *w, char *dst, size_t cap)
{
	struct web_link *l = &w->links[0];
	char hex[65];

	for (size_t i = 1; i < WEB_LINKS; i++)
		if (w->links[i].until < l->until)
			l = &w->links[i];
	arc4random_buf(l->secret, sizeof(l->secret));
	l->until = loop_now(&w->loop) + WEB_LINK_MS;
	for (size_t i = 0; i < sizeof(l->secret); i++)
		snprintf(hex + 2 * i, 3, "%02x", l->secret[i]);
	snprintf(dst, cap, "%s#login=%s", w->url, hex);
	explicit_bzero(hex, sizeof(hex));
}

/* A file that leads to the link: a command line is for everyone to read. */
static int
link_file(struct web *w)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char link[400];
	FILE *f;
	int fd;

	snprintf(w->redirect, sizeof(w->redirect),
	    "%.4000s/ironcurtain-web-XXXXXX.html",
	    dir != NULL && dir[0] == '/' ? dir : w->ctl->home);
	if ((fd = mkostemps(w->redirect, 5, O_CLOEXEC)) == -1)
		return -1;
	if ((f = fdopen(fd, "w")) == NULL) {
		close(fd);
		return -1;
	}
	link_make(w, link, sizeof(link));
	fprintf(f,
	    "<!doctype html><meta charset=\"utf-8\">"
	    "<meta name=\"referrer\" content=\"no-referrer\">"
	    "<meta http-equiv=\"refresh\" content=\"0;url=%s\">"
	    "<title>IronCurtain</title><a href=\"%s\">Open the page</a>\n",
	    link, link);
	explicit_bzero(link, sizeof(link));
	return fclose(f);
}

void
link_browse(struct web *w)
{
	if (link_file(w) == -1)
		warn("--open: %s", w->redirect);
	else if (browse(w->redirect) == -1)
		warn("--open: " BROWSE_PROGRAM);
}

static void
link_reply(struct web *w, const char *ask, char *dst, size_t cap)
{
	dst[0] = ' ';
	if (strcmp(ask, "link") == 0) {
		link_make(w, dst + 1, cap - 1);
	} else if (strcmp(ask, "logout") == 0) {
		login_end_all(w);
		snprintf(dst, cap, " Everyone is logged out.");
	} else if (strcmp(ask, "stop") == 0) {
		w->quit = true;
		snprintf(dst, cap, " The page has ended; sessions go on.");
	} else {
		snprintf(dst, cap, "!the page that runs does not know that");
	}
}

/* One request, which is there already or is refused. */
static void
link_ready(struct loop_io *io, uint32_t events)
{
	const struct timeval wait = {.tv_sec = 1};
	struct web *w = io->arg;
	char ask[16], reply[512];
	struct peer peer;
	ssize_t n;
	int fd;

	(void)events;
	if ((fd = accept4(io->fd, NULL, NULL, SOCK_CLOEXEC)) == -1)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	/* An unread request would take the reply with it at the close. */
	n = recv(fd, ask, sizeof(ask) - 1, 0);
	if (n < 0 || peer_check(fd, &peer) == -1) {
		close(fd);
		return;
	}
	ask[n] = '\0';
	if (peer.may)
		link_reply(w, ask, reply, sizeof(reply));
	else
		snprintf(reply, sizeof(reply), "!refused: %s", peer.why);
	(void)send(fd, reply, strlen(reply), MSG_NOSIGNAL | MSG_DONTWAIT);
	explicit_bzero(reply, sizeof(reply));
	close(fd);
}

/* Tell sessions where the page is, for links to a call. */
static void
link_write(const struct web *w)
{
	char path[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", w->ctl->home, WEB_ADDRESS);
	if ((f = fopen(path, "we")) != NULL) {
		fprintf(f, "%s\n", w->url);
		(void)fclose(f);
	}
}

int
link_open(struct web *w)
{
	struct sockaddr_un un;
	char dir[4200];
	mode_t mask;
	int fd, r;

	snprintf(dir, sizeof(dir), "%s/%s", w->ctl->home, WEB_DIR);
	if (link_address(w->ctl, &un) == -1)
		return -1;
	if (mkdir(w->ctl->home, 0700) == -1 && errno != EEXIST) {
		warn("%s", w->ctl->home);
		return -1;
	}
	if (mkdir(dir, 0700) == -1 && errno != EEXIST) {
		warn("%s", dir);
		return -1;
	}
	/* Nobody answered there: it is left of a page that died. */
	(void)unlink(un.sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	mask = umask(0177);
	r = fd == -1 ? -1 : bind(fd, (struct sockaddr *)&un, sizeof(un));
	(void)umask(mask);
	if (r == -1 || listen(fd, 8) == -1 ||
	    loop_add(&w->loop, &w->meet, fd, EPOLLIN, link_ready, w) == -1) {
		warn("%s", un.sun_path);
		if (fd != -1)
			close(fd);
		return -1;
	}
	link_write(w);
	return 0;
}

void
link_close(struct web *w)
{
	struct sockaddr_un un;
	char path[4200];
	int fd = w->meet.fd;

	if (fd == -1)
		return;
	loop_del(&w->loop, &w->meet);
	close(fd);
	if (link_address(w->ctl, &un) == 0)
		(void)unlink(un.sun_path);
	snprintf(path, sizeof(path), "%s/%s", w->ctl->home, WEB_ADDRESS);
	(void)unlink(path);
	if (w->redirect[0] != '\0')
		(void)unlink(w->redirect);
}
