/* SPDX-License-Identifier: ISC */
/*
 * Runs the configured notify command, with one line of text as its last
 * argument, or else the desktop's own, with a text in words of ours alone. It
 * is the user's own program and gets the user's environment, without
 * credentials and without places that the agent can write. At most one runs at
 * a time: many calls become one message, not many processes.
 */
#include "control/notify.h"

#include <sys/syscall.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/locate_priv.h"
#include "common/log.h"
#include "sup.h"

#define NOTIFY_MS 10000U

static struct {
	struct spawned sp;
	struct loop_io io;
	struct loop_timer timer;
	bool runs;
} notify_env = {.sp = SPAWNED_INIT, .io = LOOP_IO_INIT};

static void
notify_exited(struct loop_io *io, uint32_t events)
{
	int code, status;

	if (spawn_reap(notify_env.sp.pidfd, false, &code, &status) != 1)
		return;
	loop_del(&sup.loop, io);
	loop_timer_clear(&sup.loop, &notify_env.timer);
	close(notify_env.sp.pidfd);
	notify_env.sp = (struct spawned)SPAWNED_INIT;
	notify_env.runs = false;
}

static void
notify_late(struct loop_timer *t)
{
	sup_note("the notify command took too long and was ended");
	notify_kill();
}

static int
notify_spawn(char *const *argv)
{
	struct spawn s = {
	    .argv = argv, .fds = {-1, -1, -1}, .nfds = 3, .session = true};

	if (host_program_start(
		&sup.host.notify, &sup.host.places, &s, &notify_env.sp) == -1)
		return -1;
	notify_env.runs = true;
	(void)spawn_check(&notify_env.sp);
	if (loop_add(&sup.loop, &notify_env.io, notify_env.sp.pidfd, EPOLLIN,
		notify_exited, NULL) == -1)
		return -1;
	loop_timer_set(
	    &sup.loop, &notify_env.timer, NOTIFY_MS, notify_late, NULL);
	return 0;
}

void
notify_hold(const struct hold *h)
{
	char text[768], label[512];

	/* notify-send(1) takes markup, and names are not ours. */
	if (sup.host.desktop) {
		snprintf(text, sizeof(text),
		    "A call needs your approval: icctl approve %s or icctl "
		    "deny %s",
		    h->sid, h->sid);
		notify_text(text);
		return;
	}
	snprintf(text, sizeof(text),
	    "%s needs your approval: icctl approve %s or icctl deny %s",
	    hold_label(h, label, sizeof(label)), h->sid, h->sid);
	notify_text(text);
}

void
notify_text(const char *text)
{
	static const char *const desktop[] = {
	    "notify-send", "--app-name=IronCurtain", "IronCurtain", NULL};
	char *line, **argv = NULL;

	/* The command was not found; the session said so at its start. */
	if (sup.host.notify.nfiles == 0 || notify_env.runs)
		return;
	if ((line = strdup(text)) != NULL)
		argv = locate_argv(
		    sup.host.desktop
			? desktop
			: (const char *const *)(uintptr_t)sup.config.notify,
		    (char *const[]){line, NULL});
	if (argv == NULL || notify_spawn(argv) == -1)
		sup_note("notify command %s cannot be run",
		    sup.host.desktop ? desktop[0] : sup.config.notify[0]);
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
