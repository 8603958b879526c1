/* SPDX-License-Identifier: ISC */
/*
 * `icctl job daemon`: starts jobs at their times, where no systemd manager
 * does. It reads jobs again whenever one changes or the clock is set, and a job
 * whose time has passed while nothing ran is run once.
 */
#include "icctl/job/job.h"

#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"

#define DAEMON_ENDS_MS 10000

static struct daemon_job {
	char name[JOB_NAME];
	struct spawned sp;
	time_t seen;  /* since then the daemon knows it */
	time_t tried; /* the time for which it was started last */
} daemon_jobs[JOB_MAX];
static size_t daemon_n;

static void
daemon_path(const struct icctl *ctl, char path[JOB_PATH])
{
	snprintf(path, JOB_PATH, "%.4000s/jobs/.daemon", ctl->home);
}

static int
daemon_lock(const struct icctl *ctl)
{
	char path[JOB_PATH];

	snprintf(path, sizeof(path), "%.4000s/jobs", ctl->home);
	(void)mkdir(ctl->home, 0700);
	if (mkdir(path, 0700) == -1 && errno != EEXIST)
		return -1;
	daemon_path(ctl, path);
	return job_lock_file(path);
}

bool
job_daemon_runs(const struct icctl *ctl)
{
	char path[JOB_PATH];

	daemon_path(ctl, path);
	return job_lock_held(path);
}

/* Returns the daemon's own row of a job, or NULL if there are too many. */
static struct daemon_job *
daemon_row(const char *name)
{
	for (size_t i = 0; i < daemon_n; i++)
		if (strcmp(daemon_jobs[i].name, name) == 0)
			return &daemon_jobs[i];
	if (daemon_n == JOB_MAX)
		return NULL;
	(void)strlcpy(daemon_jobs[daemon_n].name, name, JOB_NAME);
	daemon_jobs[daemon_n].sp = (struct spawned)SPAWNED_INIT;
	daemon_jobs[daemon_n].seen = time(NULL);
	return &daemon_jobs[daemon_n++];
}

/* Start `icctl job run --scheduled`. */
static void
daemon_start(struct daemon_job *row, time_t due)
{
	char program[PATH_MAX];
	const char *argv[] = {
	    "icctl", "job", "run", "--scheduled", row->name, NULL};
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {-1, -1, STDERR_FILENO},
	    .nfds = 3,
	    .session = true,
	    .tie = SPAWN_ENDED};

	row->tried = due;
	if (icctl_program("icctl", program, sizeof(program)) == -1 ||
	    spawn_start(&s, &row->sp) == -1 || spawn_check(&row->sp) == -1) {
		warn("job %s", row->name);
		spawn_stop(&row->sp, 0);
	}
}

/* Start what is due. Returns the next time, or 0. */
static time_t
daemon_look(const struct icctl *ctl)
{
	char *names[JOB_MAX];
	size_t n = job_names(ctl->home, names);
	time_t now = time(NULL), next, first = 0, since;
	struct daemon_job *row;
	struct fault fault;
	struct job j;

	for (size_t i = 0; i < n; i++) {
		row = daemon_row(names[i]);
		if (job_load(&j, ctl->home, names[i], &fault) == -1)
			warnx("%s", fault.text);
		else if (row != NULL && j.enabled && j.scheduled &&
			 !timer_has(&j)) {
			since = record_since(&j);
			/* One that could not even write its record. */
			if (row->tried > since)
				since = row->tried;
			next =
			    cron_next(&j.cron, since != 0 ? since : row->seen);
			if (next != -1 && next <= now && row->sp.pid == -1) {
				daemon_start(row, now);
				next = cron_next(&j.cron, now);
			} else if (next != -1 && next <= now) {
				/* It runs: its next time is looked for then. */
				next = -1;
			}
			if (next > now && (first == 0 || next < first))
				first = next;
		}
		job_free(&j);
		free(names[i]);
	}
	return first;
}

/* Reap runs that have ended. */
static void
daemon_reap(void)
{
	int code, status;

	for (size_t i = 0; i < daemon_n; i++)
		if (daemon_jobs[i].sp.pid != -1 &&
		    spawn_reap(
			daemon_jobs[i].sp.pidfd, false, &code, &status) == 1) {
			close(daemon_jobs[i].sp.pidfd);
			daemon_jobs[i].sp = (struct spawned)SPAWNED_INIT;
		}
}

/* Watch the jobs, which may change at any time. */
static void
daemon_watch(const struct icctl *ctl, int notify)
{
	const uint32_t what =
	    IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_CLOSE_WRITE;
	char *names[JOB_MAX], path[JOB_PATH];
	size_t n = job_names(ctl->home, names);

	snprintf(path, sizeof(path), "%.4000s/jobs", ctl->home);
	(void)inotify_add_watch(notify, path, what);
	for (size_t i = 0; i < n; i++) {
		snprintf(
		    path, sizeof(path), "%.4000s/jobs/%s", ctl->home, names[i]);
		(void)inotify_add_watch(notify, path, IN_MOVED_TO);
		free(names[i]);
	}
}

/* Set the timer, which also ends if somebody sets the clock. */
static int
daemon_sleep(int timer, time_t next)
{
	/* Without a time, look once a day. */
	struct itimerspec its = {
	    .it_value.tv_sec = next != 0 ? next : time(NULL) + 86400};

	return timerfd_settime(
	    timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &its, NULL);
}

/* End what runs. */
static void
daemon_end(void)
{
	for (size_t i = 0; i < daemon_n; i++)
		if (daemon_jobs[i].sp.pid != -1)
			(void)kill(daemon_jobs[i].sp.pid, SIGTERM);
	for (size_t i = 0; i < daemon_n; i++)
		if (daemon_jobs[i].sp.pid != -1)
			spawn_stop(&daemon_jobs[i].sp, DAEMON_ENDS_MS);
}

static int
daemon_loop(const struct icctl *ctl, int signals, int notify, int timer)
{
	struct pollfd p[3] = {{.fd = signals, .events = POLLIN},
	    {.fd = notify, .events = POLLIN}, {.fd = timer, .events = POLLIN}};
	struct signalfd_siginfo si;
	char events[65536];

	for (;;) {
		daemon_watch(ctl, notify);
		if (daemon_sleep(timer, daemon_look(ctl)) == -1 ||
		    (poll(p, nitems(p), -1) == -1 && errno != EINTR)) {
			warn("job daemon");
			daemon_end();
			return ICCTL_FAILED;
		}
		(void)!read(notify, events, sizeof(events));
		(void)!read(timer, events, sizeof(uint64_t));
		while (read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
			if (si.ssi_signo == SIGCHLD) {
				daemon_reap();
				continue;
			}
			daemon_end();
			return ICCTL_OK;
		}
	}
}

int
job_daemon(struct icctl *ctl)
{
	int lock = daemon_lock(ctl), signals, notify, timer;
	sigset_t set;

	if (lock == -1 && errno == EWOULDBLOCK) {
		warnx("job daemon: one runs already");
		return ICCTL_BUSY;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (lock == -1 || sigprocmask(SIG_BLOCK, &set, NULL) == -1 ||
	    (signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1 ||
	    (notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) == -1 ||
	    (timer = timerfd_create(
		 CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK)) == -1) {
		warn("job daemon");
		return ICCTL_FAILED;
	}
	return daemon_loop(ctl, signals, notify, timer);
}
