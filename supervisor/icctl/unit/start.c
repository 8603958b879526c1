/* SPDX-License-Identifier: ISC */
/*
 * Starts icsupervisor@ID.service and hands over what the session is started
 * with. icsupervisor fetches it on a socket in the session's directory, because
 * a manager would show what it is given to everybody who asks.
 */
#include "icctl/unit/unit.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/session.h"
#include "common/log.h"
#include "credential/handover.h"
#include "icctl/talk/talk.h"
#include "unit/offer.h"

extern char **environ;

struct unit {
	char name[NAME_MAX + 1]; /* icsupervisor@ID.service */
	struct systemctl start;
	int dir;
	int offer;    /* the listening socket */
	bool fetched; /* the unit has its start */
	pid_t pid;
	char why[1100];
	long long status;
};

static void
unit_name(const struct icctl *ctl, char dst[NAME_MAX + 1])
{
	snprintf(dst, NAME_MAX + 1, "icsupervisor@%.64s.service",
	    strrchr(ctl->dir, '/') + 1);
}

static int
unit_refuse(const struct icctl *ctl, const char *why)
{
	warnx("%s", why);
	return talk_failed(ctl, ICCTL_FAILED, "SESSION_INIT_FAILED", why);
}

/* Nobody answers. */
static int
unit_no_manager(const struct icctl *ctl, int status, const struct systemctl *s)
{
	char why[1400], said[1000], how[96] = "start --detach";

	/* A new session has no directory yet. */
	if (access(ctl->dir, F_OK) == 0)
		snprintf(how, sizeof(how), "resume --detach %.64s",
		    strrchr(ctl->dir, '/') + 1);
	if (status == 127)
		snprintf(why, sizeof(why),
		    "--systemd: this machine has no systemctl. In the "
		    "background without systemd: icctl %s",
		    how);
	else
		snprintf(why, sizeof(why),
		    "--systemd: no systemd manager answers for this user (%s). "
		    "It runs while you are logged in, by ssh or at the "
		    "console, and with: sudo loginctl enable-linger $USER. In "
		    "the background without it: icctl %s",
		    systemctl_line(s, said, sizeof(said)), how);
	return unit_refuse(ctl, why);
}

/* The unit looks for its session there. */
static int
unit_check_home(const struct icctl *ctl, const struct systemctl *s)
{
	char home[PATH_MAX], user[PATH_MAX - 16], why[2 * PATH_MAX], a[1200],
	    b[1200];
	struct stat there, here;

	if (!systemctl_value(s, "IRONCURTAIN_HOME", home, sizeof(home))) {
		if (!systemctl_value(s, "HOME", user, sizeof(user)))
			return ICCTL_OK;
		snprintf(home, sizeof(home), "%s/.ironcurtain", user);
	}
	if (strcmp(home, ctl->home) == 0 ||
	    (stat(home, &there) == 0 && stat(ctl->home, &here) == 0 &&
		there.st_dev == here.st_dev && there.st_ino == here.st_ino))
		return ICCTL_OK;
	log_vis(span_str(ctl->home), a, sizeof(a));
	log_vis(span_str(home), b, sizeof(b));
	snprintf(why, sizeof(why),
	    "--systemd: IRONCURTAIN_HOME is %s here, and %s for units of "
	    "systemd. Make them the same: systemctl --user set-environment "
	    "IRONCURTAIN_HOME=%s",
	    a, b, a);
	return unit_refuse(ctl, why);
}

/* The unit knows a session by its name only. */
static int
unit_check_place(const struct icctl *ctl)
{
	char place[PATH_MAX], why[PATH_MAX + 200], shown[1200];
	struct stat there, is;

	snprintf(place, sizeof(place), "%.3900s/sessions/%.64s", ctl->home,
	    strrchr(ctl->dir, '/') + 1);
	/* A new session has no directory yet. */
	if (stat(ctl->dir, &is) == -1 ||
	    (stat(place, &there) == 0 && there.st_dev == is.st_dev &&
		there.st_ino == is.st_ino))
		return ICCTL_OK;
	snprintf(why, sizeof(why),
	    "--systemd: the session %s is not in the sessions/ of "
	    "IRONCURTAIN_HOME, where the unit looks for it by its name. To "
	    "resume it in the background: icctl resume --detach",
	    log_vis(span_str(ctl->dir), shown, sizeof(shown)));
	return unit_refuse(ctl, why);
}

int
unit_check(const struct icctl *ctl, const char *program)
{
	static struct systemctl s;
	char name[NAME_MAX + 1], state[64], why[2 * PATH_MAX];
	const char *slash;
	int status;

	if ((status = unit_check_place(ctl)) != ICCTL_OK)
		return status;
	status =
	    systemctl_run(&s, (const char *const[]){"show-environment", NULL});
	if (status != 0)
		return unit_no_manager(ctl, status, &s);
	if ((status = unit_check_home(ctl, &s)) != ICCTL_OK)
		return status;
	unit_name(ctl, name);
	status = systemctl_run(&s,
	    (const char *const[]){"show", "-p", "LoadState", "--", name, NULL});
	if (status != 0 ||
	    !systemctl_value(&s, "LoadState", state, sizeof(state)))
		return unit_no_manager(ctl, status, &s);
	if (strcmp(state, "loaded") == 0)
		return ICCTL_OK;
	slash = strrchr(program, '/');
	snprintf(why, sizeof(why),
	    "--systemd: systemd has no usable unit icsupervisor@.service (%s). "
	    "To make it known: systemctl --user link "
	    "%.*s/../lib/systemd/user/icsupervisor@.service",
	    log_vis(span_str(state), name, sizeof(name)),
	    slash == NULL ? 0 : (int)(slash - program), program);
	return unit_refuse(ctl, why);
}

/* Give the one who connected the pipe, if it is this user, and fill it. */
static int
unit_hand(const struct unit *u, int sock, const char *const *args)
{
	const char byte = OFFER_BYTE;
	struct ucred peer;
	socklen_t len = sizeof(peer);
	char here[PATH_MAX];
	int pipefd[2], rv;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) == -1)
		return -1;
	if (peer.uid != geteuid()) {
		warnx("a process of the user with number %u asked for this "
		      "start, and got nothing",
		    (unsigned)peer.uid);
		return -1;
	}
	if (getcwd(here, sizeof(here)) == NULL ||
	    pipe2(pipefd, O_CLOEXEC) == -1)
		return -1;
	rv = handover_send(sock, &byte, 1, pipefd[0]) == 1 ? 0 : -1;
	close(pipefd[0]);
	if (rv == 0 && (rv = offer_write(pipefd[1], here, args, environ)) == -1)
		warn("%s: its start cannot be handed over", u->name);
	close(pipefd[1]);
	return rv;
}

static void
unit_accept(struct unit *u, const char *const *args)
{
	int sock = accept4(u->offer, NULL, NULL, SOCK_CLOEXEC);

	if (sock == -1)
		return;
	if (unit_hand(u, sock, args) == 0)
		u->fetched = true;
	close(sock);
}

/* Wait for systemctl, which waits for READY. Returns its exit status. */
static int
unit_wait(struct unit *u, const char *const *args)
{
	struct pollfd p[2] = {{.fd = u->start.fd, .events = POLLIN},
	    {.fd = u->offer, .events = POLLIN}};
	struct systemctl stop;

	for (;;) {
		if (poll(p, 2, -1) == -1) {
			/* systemctl has got the same signal, or has not. */
			if (talk_signaled()) {
				(void)kill(u->start.run.pid, SIGTERM);
				(void)systemctl_run(
				    &stop, (const char *const[]){
					       "stop", "--", u->name, NULL});
				return systemctl_end(&u->start) | 1;
			}
			continue;
		}
		if (p[1].revents != 0)
			unit_accept(u, args);
		if (u->fetched)
			p[1].fd = -1;
		if (p[0].revents != 0 && !systemctl_read(&u->start))
			return systemctl_end(&u->start);
	}
}

/* Ask the manager for the unit's process, and how it ended. */
static void
unit_look(struct unit *u)
{
	static struct systemctl s;
	char text[32], result[64], why[1000];
	bool exited;

	u->pid = 0;
	u->status = 0;
	u->why[0] = '\0';
	if (systemctl_run(&s, (const char *const[]){"show", "-p", "MainPID",
				  "-p", "Result", "-p", "ExecMainStatus", "-p",
				  "StatusText", "--", u->name, NULL}) != 0)
		return;
	if (systemctl_value(&s, "MainPID", text, sizeof(text)))
		u->pid = (pid_t)strtol(text, NULL, 10);
	if (systemctl_value(&s, "ExecMainStatus", text, sizeof(text)))
		u->status = strtoll(text, NULL, 10);
	if (!systemctl_value(&s, "Result", result, sizeof(result)))
		return;
	exited = strcmp(result, "exit-code") == 0;
	if (systemctl_value(&s, "StatusText", why, sizeof(why)) &&
	    why[0] != '\0')
		/* Its own reason says more than that it has exited. */
		snprintf(u->why, sizeof(u->why), "%s%s%s%s", why,
		    exited ? "" : " (", exited ? "" : result,
		    exited ? "" : ")");
	else
		snprintf(u->why, sizeof(u->why),
		    "the unit ended without a word (%s)", result);
}

/* Report why it did not start, and leave nothing behind. */
static int
unit_failed(struct icctl *ctl, struct unit *u)
{
	struct systemctl s;
	char said[1000], text[1200];

	unit_look(u);
	if (u->why[0] == '\0')
		(void)strlcpy(u->why,
		    systemctl_line(&u->start, said, sizeof(said)),
		    sizeof(u->why));
	log_vis_again(span_str(u->why), text, sizeof(text));
	warnx("%s", text);
	warnx("all that it said: journalctl --user -u %s", u->name);
	/* A unit that never was a session is not listed as failed. */
	(void)systemctl_run(
	    &s, (const char *const[]){"reset-failed", "--", u->name, NULL});
	session_abandon(ctl->dir);
	return talk_failed(ctl,
	    u->status > 0 && u->status < 256 ? (int)u->status : ICCTL_FAILED,
	    "SESSION_INIT_FAILED", text);
}

static int
unit_told(struct icctl *ctl, const struct unit *u)
{
	const char *id = strrchr(ctl->dir, '/') + 1;

	(void)talk_told(ctl, u->pid);
	if (!ctl->json)
		fprintf(stderr,
		    "\n  icctl send --session %s MESSAGE\n"
		    "  icctl watch\n"
		    "  icctl attach %s\n"
		    "  icctl stop %s\n"
		    "  journalctl --user -u %s\n",
		    id, id, id, u->name);
	return ICCTL_OK;
}

/* The start is over: `status` is systemctl's. Returns our exit status. */
static int
unit_started(struct icctl *ctl, struct unit *u, int status)
{
	struct systemctl s;
	char why[700];

	if (status == 0 && !u->fetched) {
		(void)systemctl_run(
		    &s, (const char *const[]){"stop", "--", u->name, NULL});
		snprintf(why, sizeof(why),
		    "%s started without asking for what icctl hands over: the "
		    "unit is of another version. See: systemctl --user cat %s",
		    u->name, u->name);
		session_abandon(ctl->dir);
		return unit_refuse(ctl, why);
	}
	if (status != 0)
		return unit_failed(ctl, u);
	unit_look(u);
	if (u->pid == 0 || talk_wait(ctl, u->pid) == -1)
		return unit_failed(ctl, u);
	return unit_told(ctl, u);
}

int
unit_start(struct icctl *ctl, const char **args)
{
	static struct unit u;
	int status = ICCTL_FAILED;

	args[1] = "--conversation";
	args[2] = "--quiet";
	unit_name(ctl, u.name);
	u.offer = -1;
	u.dir = open(ctl->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u.dir == -1 ||
	    (u.offer = session_listen(u.dir, OFFER_SOCKET, 0600)) == -1 ||
	    talk_catch_signals() == -1 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
	    systemctl_begin(&u.start,
		(const char *const[]){"start", "--", u.name, NULL}) == -1) {
		warn("%s/" OFFER_SOCKET, ctl->dir);
		if (u.dir != -1)
			(void)unlinkat(u.dir, OFFER_SOCKET, 0);
		session_abandon(ctl->dir);
	} else {
		status = unit_wait(&u, args);
		(void)unlinkat(u.dir, OFFER_SOCKET, 0);
		close(u.offer);
		u.offer = -1;
		status = unit_started(ctl, &u, status);
	}
	if (u.offer != -1)
		close(u.offer);
	if (u.dir != -1)
		close(u.dir);
	return status;
}
