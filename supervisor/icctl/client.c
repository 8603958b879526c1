/* SPDX-License-Identifier: ISC */
/*
 * Talks to a session: one JSON object per line in each direction,
 * over the session's control.sock. The directory is opened first, because its
 * path may be longer than a socket address.
 */
#include "icctl/icctl.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/signed.h"
#include "credential/handover.h"

#define REPLY_MAX (64U << 20)
/* A session answers within 3 s, if only to say that it cannot. */
#define ICCTL_WAIT_S 10

int
icctl_dial_at(int dfd, int flags)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = ICCTL_WAIT_S};
	int fd, save;

	snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "/proc/self/fd/%d/control.sock", dfd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	if (fd != -1 &&
	    (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ==
		    -1 ||
		/* This is also the time limit of connect(2). */
		setsockopt(
		    fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == -1 ||
		connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)) {
		save = errno;
		close(fd);
		errno = save;
		fd = -1;
	}
	return fd;
}

int
icctl_dial(const char *dir)
{
	int dfd, fd, save;

	if ((dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return -1;
	fd = icctl_dial_at(dfd, 0);
	save = errno;
	close(dfd);
	errno = save;
	return fd;
}

/* Say that the session has ended, and how to go on with it. */
static void
dial_ended(const struct icctl *ctl, const char *log)
{
	const char *id = strrchr(ctl->dir, '/');
	char path[ICCTL_PATH], start[sizeof(ctl->dir) + 16];

	snprintf(start, sizeof(start), "%s/start.json", ctl->dir);
	/* A session elsewhere is found by its directory only. */
	if (id == NULL || strncmp(ctl->dir, ctl->home, strlen(ctl->home)) != 0)
		id = ctl->dir;
	else
		id++;
	warnx("session %s is no longer running%s%s. Its log is %s", id,
	    access(start, F_OK) == 0 ? ". To go on with it: icctl resume "
				     : "",
	    access(start, F_OK) == 0 ? id : "", icctl_path(log, path));
}

int
icctl_connect(struct icctl *ctl)
{
	int fd = icctl_dial(ctl->dir), save = errno;
	char log[sizeof(ctl->dir) + 16];

	if (fd != -1)
		return fd;
	if (save == EAGAIN) {
		errno = save;
		icctl_lost(ctl, -1);
		return -1;
	}
	snprintf(log, sizeof(log), "%s/session.log", ctl->dir);
	if (save != ENOENT && save != ECONNREFUSED)
		warnx("session %s cannot be asked: %s. Only its own user may",
		    ctl->dir, strerror(save));
	else if (access(log, F_OK) == -1 && errno == ENOENT)
		warnx("%s is not a session directory: it has no session.log",
		    ctl->dir);
	else
		dial_ended(ctl, log);
	return -1;
}

int
icctl_tell_with(int fd, json_object *request, int given)
{
	const char *text = json_object_to_json_string_ext(request, ICCTL_JSON);
	char *line;
	int n, r = -1;

	if ((n = asprintf(&line, "%s\n", text)) == -1)
		return -1;
	if ((given == -1 ? send(fd, line, (size_t)n, MSG_NOSIGNAL)
			 : handover_send(fd, line, (size_t)n, given)) == n)
		r = 0;
	free(line);
	return r;
}

int
icctl_tell(int fd, json_object *request)
{
	return icctl_tell_with(fd, request, -1);
}

json_object *
icctl_receive(int fd, struct icctl_rest *rest)
{
	json_object *o;
	char *nl, *bigger;
	ssize_t n;

	for (;;) {
		nl = rest->len == 0 ? NULL : memchr(rest->p, '\n', rest->len);
		if (nl != NULL)
			break;
		if (rest->cap - rest->len < 4096) {
			if (rest->cap >= REPLY_MAX ||
			    (bigger = realloc(
				 rest->p, rest->cap * 2 + 65536)) == NULL)
				return NULL;
			rest->p = bigger;
			rest->cap = rest->cap * 2 + 65536;
		}
		n = recv(fd, rest->p + rest->len, rest->cap - rest->len, 0);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ECONNRESET;
		if (n <= 0)
			return NULL;
		rest->len += (size_t)n;
	}
	*nl = '\0';
	o = json_tokener_parse(rest->p);
	rest->len -= (size_t)(nl + 1 - rest->p);
	memmove(rest->p, nl + 1, rest->len);
	if (icctl_reply_ok(o))
		return o;
	json_object_put(o);
	errno = EBADMSG;
	return NULL;
}

void
icctl_lost(const struct icctl *ctl, int fd)
{
	struct timeval limit = {.tv_sec = ICCTL_WAIT_S};
	socklen_t len = sizeof(limit);
	const int why = errno;

	if (fd != -1)
		(void)getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &len);
	switch (why) {
	case EAGAIN:
		warnx("session %s does not answer within %lld s: it is stopped "
		      "or very busy. Try again, or look at its icsupervisor "
		      "(ps, %s/session.json names its pid)",
		    ctl->dir, (long long)limit.tv_sec, ctl->dir);
		break;
	case EBADMSG:
		warnx("session %s gave a malformed answer; it may be of "
		      "another version",
		    ctl->dir);
		break;
	default:
		warnx("session %s closed the connection without an answer",
		    ctl->dir);
		break;
	}
}

/* Signatures are checked for longer than all else takes. */
static void
client_patient(int fd, json_object *request)
{
	const struct timeval limit = {.tv_sec = SIGNED_REPLY_S};

	if (json_object_object_get_ex(request, "signed", NULL))
		(void)setsockopt(
		    fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

json_object *
icctl_ask_with(struct icctl *ctl, json_object *request, int given)
{
	struct icctl_rest rest = {NULL, 0, 0};
	json_object *reply = NULL;
	int fd;

	if ((fd = icctl_connect(ctl)) != -1) {
		client_patient(fd, request);
		/* The session may refuse before it has read the request. */
		(void)icctl_tell_with(fd, request, given);
		if ((reply = icctl_receive(fd, &rest)) == NULL)
			icctl_lost(ctl, fd);
	}
	if (given != -1)
		close(given);
	if (fd != -1)
		close(fd);
	free(rest.p);
	return reply;
}

json_object *
icctl_ask(struct icctl *ctl, json_object *request)
{
	return icctl_ask_with(ctl, request, -1);
}

json_object *
icctl_ask_dir(const char *dir, const char *op)
{
	json_object *req = json_object_new_object(), *reply = NULL;
	struct icctl_rest rest = {0};
	int fd;

	put_str(req, "op", op);
	if ((fd = icctl_dial(dir)) != -1 && icctl_tell(fd, req) == 0)
		reply = icctl_receive(fd, &rest);
	if (fd != -1)
		close(fd);
	free(rest.p);
	json_object_put(req);
	return reply;
}

int
icctl_refused(const struct icctl *ctl, json_object *reply)
{
	if (ctl->json)
		icctl_put_json(reply);
	else
		warnx("%s", icctl_text(reply, "error"));
	return strcmp(icctl_text(reply, "code"), "starting") == 0
		   ? ICCTL_NO_SESSION
		   : ICCTL_FAILED;
}

const char *
icctl_text(json_object *o, const char *key)
{
	json_object *v;

	if (o == NULL || !json_object_object_get_ex(o, key, &v) || v == NULL)
		return "";
	return json_object_get_string(v);
}

int64_t
icctl_number(json_object *o, const char *key)
{
	json_object *v;

	if (o == NULL || !json_object_object_get_ex(o, key, &v))
		return 0;
	return json_object_get_int64(v);
}
