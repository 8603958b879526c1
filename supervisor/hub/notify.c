/* SPDX-License-Identifier: ISC */
/*
 * Runs the configured notify command, with one line of text as its last
 * argument, or else the desktop's own, with a text in words of ours alone. It
 * is the user's own program and gets the user's environment, without
 * credentials and without places that the agent can write. At most one runs at
 * a time, and the latest notice of a call that came meanwhile follows: many
 * calls become two messages, not many processes.
 */
#include "hub/notify.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "box/locate.h"
#include "common/log.h"
#include "core/sup.h"
#include "workers/icwebd/meet.h"

#define NOTIFY_MS 10000U

static struct {
	struct spawned sp;
	struct loop_io io;
	struct loop_timer timer;
	bool runs;
	char waits[1200]; /* the latest notice that came meanwhile, or "" */
} notify_env = {.sp = SPAWNED_INIT, .io = LOOP_IO_INIT};

static void
notify_exited(struct loop_io *io, uint32_t events)
{
	char how[128], lost[600], next[sizeof(notify_env.waits)];
	int code, status;

	if (spawn_reap(notify_env.sp.pidfd, false, &code, &status) != 1)
		return;
	loop_del(&sup.loop, io);
	loop_timer_clear(&sup.loop, &notify_env.timer);
	close(notify_env.sp.pidfd);
	notify_env.sp = (struct spawned)SPAWNED_INIT;
	notify_env.runs = false;
	if (notify_env.waits[0] != '\0' && !sup.ending) {
		(void)strlcpy(next, notify_env.waits, sizeof(next));
		notify_env.waits[0] = '\0';
		notify_text(next);
	}
	if (spawn_status(code, status) == 0 || sup.host.notify.failed)
		return;
	host_command_lost(&sup.host.notify, "notify", lost, sizeof(lost));
	if (sup.host.desktop)
		sup_note("notify-send %s",
		    spawn_describe(code, status, how, sizeof(how)));
	else
		sup_warn("the notify command %s%s",
		    spawn_describe(code, status, how, sizeof(how)), lost);
}

static void
notify_late(struct loop_timer *t)
{
	sup_note("the notify command took too long and was ended");
	notify_kill();
}

static int
notify_spawn(char *const *argv, struct fault *fault)
{
	struct spawn s = {
	    .argv = argv, .fds = {-1, -1, -1}, .nfds = 3, .session = true};

	if (host_command_start(
		&sup.host.notify, "notify", &s, &notify_env.sp, fault) == -1)
		return -1;
	notify_env.runs = true;
	(void)spawn_check(&notify_env.sp);
	if (loop_add(&sup.loop, &notify_env.io, notify_env.sp.pidfd, EPOLLIN,
		notify_exited, NULL) == -1)
		return fault_errno(fault, "notify");
	loop_timer_set(
	    &sup.loop, &notify_env.timer, NOTIFY_MS, notify_late, NULL);
	return 0;
}

/*
 * If `icctl web` runs, append a link to the call on its page, which logs nobody
 * in.
 */
static void
notify_link(const struct hold *h, char *text, size_t cap)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char path[4200], url[300] = "";
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", sup.paths.home, WEB_ADDRESS);
	if ((size_t)snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s",
		sup.paths.home, WEB_MEET) >= sizeof(un.sun_path) ||
	    (f = fopen(path, "re")) == NULL)
		return;
	if (fgets(url, sizeof(url), f) != NULL)
		url[strcspn(url, "\n")] = '\0';
	fclose(f);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The file alone may be left of a page that died. */
	if (fd != -1 && url[0] != '\0' &&
	    connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0) {
		(void)strlcat(text, " or ", cap);
		(void)strlcat(text, url, cap);
		snprintf(path, sizeof(path), "#call=%.64s/%.16s",
		    sup.session.id, h->sid);
		(void)strlcat(text, path, cap);
	}
	if (fd != -1)
		close(fd);
}

/* Returns true if the person wants to hear of this, at this time of the day. */
static bool
notify_wanted(uint32_t what)
{
	const struct config *c = &sup.config;
	const uint32_t day = 24 * 60, from = day - c->quiet_from;
	const time_t now = time(NULL);
	struct tm tm = {.tm_hour = 0};

	(void)localtime_r(&now, &tm);
	return (c->notify_on & what) != 0 &&
	       ((uint32_t)(tm.tm_hour * 60 + tm.tm_min) + from) % day >=
		   (c->quiet_to + from) % day;
}

void
notify_event(uint32_t what, const char *text)
{
	/* A call that waits must not be told of in its place. */
	if (notify_wanted(what) && !notify_env.runs)
		notify_text(text);
}

void
notify_hold(const struct hold *h)
{
	char text[1200], label[512];

	if (!notify_wanted(CONFIG_NOTIFY_WAITING))
		return;
	/* notify-send(1) takes markup, and names are not ours. */
	if (sup.host.desktop) {
		snprintf(text, sizeof(text),
		    "A call needs your approval: icctl approve %s or icctl "
		    "deny %s",
		    h->sid, h->sid);
		notify_link(h, text, sizeof(text));
		notify_text(text);
		return;
	}
	snprintf(text, sizeof(text),
	    "%s needs your approval: icctl approve %s or icctl deny %s",
	    hold_label(h, label, sizeof(label)), h->sid, h->sid);
	notify_link(h, text, sizeof(text));
	notify_text(text);
}

void
notify_text(const char *text)
{
	static const char *const desktop[] = {
	    "notify-send", "--app-name=IronCurtain", "IronCurtain", NULL};
	struct fault fault = {"notify: out of memory"};
	char *line, **argv = NULL;

	/* The command was not found; the session said so at its start. */
	if (sup.host.notify.program.nfiles == 0)
		return;
	if (notify_env.runs) {
		(void)strlcpy(notify_env.waits, text, sizeof(notify_env.waits));
		return;
	}
	if ((line = strdup(text)) != NULL)
		argv = locate_argv(sup.host.desktop
				       ? desktop
				       : (const char *const *)(uintptr_t)
					     sup.config.notify.argv,
		    (char *const[]){line, NULL});
	if (argv == NULL || notify_spawn(argv, &fault) == -1)
		sup_note("the notify command cannot be run: %s", fault.text);
	for (size_t i = 0; argv != NULL && argv[i] != NULL; i++)
		free(argv[i]);
	free(argv);
	free(line);
}

pid_t
notify_pid(void)
{
	return notify_env.sp.pid;
}

void
notify_kill(void)
{
	if (notify_env.runs && notify_env.sp.pidfd != -1)
		(void)syscall(SYS_pidfd_send_signal, notify_env.sp.pidfd,
		    SIGKILL, NULL, 0);
}
