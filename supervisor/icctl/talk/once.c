/* SPDX-License-Identifier: ISC */
/*
 * `icctl start --json TASK`: one task as a conversation of one turn. Its events
 * are read from the session's own record, so that the session does not wait for
 * a slow reader, and the last one is there once icsupervisor has ended.
 */
#include "icctl/talk/talk.h"

#include <sys/inotify.h>

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

#include "common/span.h"

#define ONCE_LOOK_MS 200 /* if the kernel refuses to watch */
#define ONCE_SIGNALS 2 /* that are passed on; the next ends this process */

struct once {
	char path[PATH_MAX + 16]; /* the record */
	FILE *record;		  /* NULL: not there yet */
	char *line;
	size_t cap;
	int notify; /* -1: the kernel refuses to watch */
	int said, pidfd;
	bool began, ended; /* a turn; the session, by its last event */
};

static volatile sig_atomic_t once_pid, once_signals;

/*
 * End icsupervisor, or in the end this process, without which it ends as well.
 */
static void
once_signaled(int sig)
{
	if (once_pid == 0 || ++once_signals > ONCE_SIGNALS)
		_exit(128 + sig);
	(void)kill((pid_t)once_pid, sig);
}

/* Signals that our parent ignores stay ignored. */
static int
once_catch(void)
{
	static const int list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction sa = {.sa_handler = once_signaled,
	    .sa_flags = SA_RESTART}, old;

	for (size_t i = 0; i < nitems(list); i++)
		if (sigaction(list[i], NULL, &old) == -1 ||
		    (old.sa_handler != SIG_IGN &&
			sigaction(list[i], &sa, NULL) == -1))
			return -1;
	return 0;
}

static void
once_event(struct once *o, const char *line)
{
	json_object *event = json_tokener_parse(line);
	const char *name;

	if (event == NULL)
		return;
	name = icctl_text(event, "event");
	o->began = o->began || strcmp(name, "turn_start") == 0;
	o->ended = o->ended || strcmp(name, "end") == 0;
	icctl_put_json(event);
	json_object_put(event);
}

/* Watch a file; without inotify, its changes are looked for. */
static void
once_watch(struct once *o, const char *path, uint32_t events)
{
	if (o->notify == -1 ||
	    inotify_add_watch(o->notify, path, events) != -1)
		return;
	close(o->notify);
	o->notify = -1;
}

/* Print the whole lines that the record has gained. */
static void
once_read(struct once *o)
{
	ssize_t n;
	int fd;

	if (o->record == NULL) {
		fd = open(o->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd == -1 || (o->record = fdopen(fd, "re")) == NULL)
			return;
		once_watch(o, o->path, IN_MODIFY);
	}
	clearerr(o->record);
	while ((n = getline(&o->line, &o->cap, o->record)) > 0) {
		if (o->line[n - 1] != '\n') {
			(void)fseeko(o->record, (off_t)-n, SEEK_CUR);
			break;
		}
		once_event(o, o->line);
	}
	fflush(stdout);
}

/* Print events and messages until icsupervisor has ended. */
static void
once_follow(struct once *o)
{
	struct pollfd p[3] = {{.fd = o->notify, .events = POLLIN},
	    {.fd = o->said, .events = POLLIN},
	    {.fd = o->pidfd, .events = POLLIN}};
	char events[4096];

	do {
		p[0].fd = o->notify;
		p[0].revents = p[1].revents = p[2].revents = 0;
		if (poll(p, nitems(p), o->notify == -1 ? ONCE_LOOK_MS : -1) ==
			-1 &&
		    errno != EINTR)
			break;
		if (p[1].revents != 0 && !talk_pass(o->said))
			p[1].fd = -1;
		if (o->notify == -1 ||
		    (p[0].revents != 0 &&
			read(o->notify, events, sizeof(events)) > 0))
			once_read(o);
	} while (p[2].revents == 0);
	once_read(o);
	(void)fcntl(o->said, F_SETFL, O_NONBLOCK);
	while (p[1].fd != -1 && talk_pass(o->said))
		;
}

/* Returns the exit status. */
static int
once_over(const struct icctl *ctl, const struct once *o, struct spawned *sp)
{
	int how = CLD_EXITED, status = 0, code;
	char text[128];

	(void)spawn_reap(sp->pidfd, true, &how, &status);
	close(sp->pidfd);
	code = spawn_status(how, status);
	if (how != CLD_EXITED)
		warnx("icsupervisor %s: the log of session %s has the reason "
		      "if there is one",
		    spawn_describe(how, status, text, sizeof(text)),
		    strrchr(ctl->dir, '/') + 1);
	if (!o->ended && o->began)
		return talk_failed(ctl, code, "SESSION_CLOSED",
		    "the session ended without its last event");
	return !o->began && code != ICCTL_OK ? talk_unready(ctl, code) : code;
}

int
talk_once(struct icctl *ctl, const char *program, const char **args)
{
	struct once o = {.notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
	struct spawned sp = SPAWNED_INIT;
	int said[2];

	args[1] = "--one-turn";
	args[2] = "--quiet";
	snprintf(o.path, sizeof(o.path), "%s/events.jsonl", ctl->dir);
	once_watch(&o, ctl->dir, IN_CREATE);
	if (pipe2(said, O_CLOEXEC) == -1 || once_catch() == -1) {
		warn("start");
		return ICCTL_FAILED;
	}
	if (talk_spawn(program, args, -1, said[1], SPAWN_ENDED, &sp) == -1)
		return ICCTL_FAILED;
	once_pid = sp.pid;
	close(said[1]);
	o.said = said[0];
	o.pidfd = sp.pidfd;
	once_follow(&o);
	once_pid = 0;
	if (o.record != NULL)
		fclose(o.record);
	free(o.line);
	if (o.notify != -1)
		close(o.notify);
	return once_over(ctl, &o, &sp);
}
