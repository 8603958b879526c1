/* SPDX-License-Identifier: ISC */
/*
 * Finds a session and talks to it: one JSON object per line in each direction,
 * over the session's control.sock. The directory is opened first, because its
 * path may be longer than a socket address.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/here.h"
#include "credential/handover.h"
#include "icctl/icctl.h"

#define REPLY_MAX (64U << 20)
/* A session answers within 3 s, if only to say that it cannot. */
#define ICCTL_WAIT_S 10

int
icctl_dial(const char *dir)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = ICCTL_WAIT_S};
	int dfd, fd = -1, save;

	if ((dfd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return -1;
	snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "/proc/self/fd/%d/control.sock", dfd);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) != -1 &&
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
	save = errno;
	close(dfd);
	errno = save;
	return fd;
}

static bool
runs(const char *dir)
{
	int fd = icctl_dial(dir);

	/* A session that does not answer in time still exists. */
	if (fd == -1)
		return errno == EAGAIN;
	close(fd);
	return true;
}

/* Returns true if the link of that name belongs to another machine. */
static bool
elsewhere(const char *home, const char *name, char host[65])
{
	char run[4096], beside[300];
	bool is;
	int fd;

	snprintf(run, sizeof(run), "%.4000s/run", home);
	if ((fd = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return false;
	is = here_read(fd, here_beside(name, beside), host) == HERE_ELSEWHERE;
	close(fd);
	return is;
}

static int
by_name(struct icctl *ctl, bool must_run)
{
	char host[65];
	struct stat st;

	if (strchr(ctl->session, '/') == NULL) {
		snprintf(ctl->dir, sizeof(ctl->dir), "%.3800s/run/%.255s",
		    ctl->home, ctl->session);
		if (lstat(ctl->dir, &st) == 0 &&
		    elsewhere(ctl->home, ctl->session, host)) {
			warnx("session %s runs on %s: icctl speaks to sessions "
			      "of its own machine only",
			    ctl->session, host);
			return ICCTL_NO_SESSION;
		}
		if (stat(ctl->dir, &st) == 0)
			return 0;
		snprintf(ctl->dir, sizeof(ctl->dir), "%.3800s/sessions/%.255s",
		    ctl->home, ctl->session);
		if (stat(ctl->dir, &st) == 0)
			return 0;
	}
	snprintf(ctl->dir, sizeof(ctl->dir), "%s", ctl->session);
	if (stat(ctl->dir, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	warnx("there is no session \"%s\" in %s/run or %s/sessions, and no "
	      "directory of that name. What runs: icctl status",
	    ctl->session, ctl->home, ctl->home);
	return ICCTL_NO_SESSION;
}

const char *
icctl_span(int64_t ms, char *dst, size_t cap)
{
	int64_t s = ms / 1000;

	if (s < 120)
		snprintf(dst, cap, "%lld s", (long long)s);
	else if (s < 7200)
		snprintf(dst, cap, "%lld min", (long long)(s / 60));
	else if (s < 172800)
		snprintf(dst, cap, "%lld h", (long long)(s / 3600));
	else
		snprintf(dst, cap, "%lld days", (long long)(s / 86400));
	return dst;
}

/* Say that no session runs, and which one was the last. */
static void
none_runs(const struct icctl *ctl, const char *run)
{
	char dir[4096], log[4096 + 300], last[256] = "", age[32];
	struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.3800s/sessions", ctl->home);
	if ((d = opendir(dir)) != NULL) {
		/* Their names begin with the time of their start. */
		while ((e = readdir(d)) != NULL)
			if (e->d_name[0] != '.' && strcmp(e->d_name, last) > 0)
				(void)strlcpy(last, e->d_name, sizeof(last));
		closedir(d);
	}
	snprintf(log, sizeof(log), "%s/%s/audit.jsonl", dir, last);
	if (last[0] == '\0' || stat(log, &st) == -1) {
		warnx("no session is running (looked in %s). Start one: icctl "
		      "start",
		    run);
		return;
	}
	warnx("no session is running. The last one, %s, ended %s ago; its log "
	      "is %s",
	    last,
	    icctl_span((int64_t)(time(NULL) - st.st_mtime) * 1000, age,
		sizeof(age)),
	    log);
}

int
icctl_find(struct icctl *ctl, bool must_run)
{
	char run[4096], path[4096 + 256], first[4096] = "";
	struct dirent *e;
	unsigned n = 0, others = 0;
	char host[65], other[65] = "";
	DIR *d;

	if (ctl->session != NULL)
		return by_name(ctl, must_run);
	snprintf(run, sizeof(run), "%.4000s/run", ctl->home);
	if ((d = opendir(run)) != NULL) {
		while ((e = readdir(d)) != NULL) {
			if (e->d_name[0] == '.')
				continue;
			if (elsewhere(ctl->home, e->d_name, host)) {
				others++;
				(void)strlcpy(other, host, sizeof(other));
				continue;
			}
			snprintf(path, sizeof(path), "%s/%s", run, e->d_name);
			if (!runs(path))
				continue;
			if (++n == 1)
				snprintf(first, sizeof(first), "%.4095s", path);
			else if (n == 2)
				fprintf(stderr,
				    "icctl: several sessions run; "
				    "say which with --session:\n  %s\n",
				    strrchr(first, '/') + 1);
			if (n >= 2)
				fprintf(stderr, "  %s\n", e->d_name);
		}
		closedir(d);
	}
	if (n == 0 && others != 0)
		warnx("no session is running on this machine; %u %s on other "
		      "machines that share %s, such as %s. Start one here: "
		      "icctl start",
		    others, others == 1 ? "runs" : "run", run, other);
	else if (n == 0)
		none_runs(ctl, run);
	if (n != 1)
		return ICCTL_NO_SESSION;
	snprintf(ctl->dir, sizeof(ctl->dir), "%s", first);
	return 0;
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
		icctl_lost(ctl);
		return -1;
	}
	snprintf(log, sizeof(log), "%s/session.log", ctl->dir);
	if (access(log, F_OK) == -1 && errno == ENOENT)
		warnx("%s is not a session directory: it has no session.log",
		    ctl->dir);
	else
		warnx("session %s does not answer: %s. It is no longer "
		      "running; its log is %s/session.log",
		    ctl->dir, strerror(save), ctl->dir);
	return -1;
}

static int
send_with(int fd, json_object *request, int given)
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
icctl_send(int fd, json_object *request)
{
	return send_with(fd, request, -1);
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
icctl_lost(const struct icctl *ctl)
{
	switch (errno) {
	case EAGAIN:
		warnx("session %s does not answer within %d s: it is stopped "
		      "or very busy. Try again, or look at its icsupervisor "
		      "(ps, %s/session.json names its pid)",
		    ctl->dir, ICCTL_WAIT_S, ctl->dir);
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

json_object *
icctl_ask_with(struct icctl *ctl, json_object *request, int given)
{
	struct icctl_rest rest = {NULL, 0, 0};
	json_object *reply = NULL;
	int fd;

	if ((fd = icctl_connect(ctl)) != -1) {
		/* The session may refuse before it has read the request. */
		(void)send_with(fd, request, given);
		if ((reply = icctl_receive(fd, &rest)) == NULL)
			icctl_lost(ctl);
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

int
icctl_refused(const struct icctl *ctl, json_object *reply)
{
	if (ctl->json)
		icctl_put_json(reply);
	else {
		fputs("icctl: ", stderr);
		fprintf(stderr, "%s\n", icctl_text(reply, "error"));
	}
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
