/* SPDX-License-Identifier: ISC */
/*
 * Opens the clone of a session for `icctl diff` and `icctl pull`. An interrupt
 * ends git, and what is in the user's repository stays as it is.
 */
#include "icctl/repo/repo.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "common/loop.h"
#include "icctl/newest.h"
#include "resume/record.h"

#define ENTER_EVERY_US 3000000U

static struct {
	struct paths paths;
	struct repo_env env;
	struct record session;
	uint64_t told;
	int fd;
} entered = {.fd = -1};

static volatile sig_atomic_t entered_stop;

static void
enter_signal(int sig)
{
	entered_stop = sig;
}

static bool
enter_stopped(void)
{
	return entered_stop != 0;
}

static void
enter_progress(uint64_t bytes)
{
	uint64_t now = clock_mono_us();

	if (entered.told == 0)
		entered.told = now + ENTER_EVERY_US;
	if (now < entered.told)
		return;
	entered.told = now + ENTER_EVERY_US;
	warnx("%llu MiB so far", (unsigned long long)bytes >> 20);
}

static void
enter_say(const char *line)
{
	warnx("%s", line);
}

const char *
repo_id(const struct icctl *ctl)
{
	return strrchr(ctl->dir, '/') + 1;
}

int
repo_failed(const struct fault *fault)
{
	warnx("%s", fault->text);
	return ICCTL_FAILED;
}

/* Say that the session has no clone, and where its work is. */
static int
enter_none(const struct icctl *ctl)
{
	char shown[ICCTL_PATH];
	struct fault fault;

	if (record_read(&entered.session, entered.fd, ctl->dir, &fault) == -1)
		warnx("session %s has no clone (icctl start --clone)",
		    repo_id(ctl));
	else
		warnx("session %s has no clone: its agent works on %s itself. "
		      "See what has changed there: git diff",
		    repo_id(ctl), icctl_path(entered.session.workspace, shown));
	return ICCTL_FAILED;
}

static void
enter_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = enter_signal};

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < nitems(ends); i++)
		(void)sigaction(ends[i], &sa, NULL);
	/* A git that is gone is noticed by its exit. */
	sa.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &sa, NULL);
}

/* Returns true if any session may run. */
static bool
enter_runs(const struct icctl *ctl)
{
	char dir[PATH_MAX];
	struct dirent *e;
	bool runs = false;
	DIR *d;

	snprintf(dir, sizeof(dir), "%.4000s/run", ctl->home);
	if ((d = opendir(dir)) == NULL)
		return false;
	while ((e = readdir(d)) != NULL)
		runs = runs || e->d_name[0] != '.';
	closedir(d);
	return runs;
}

/*
 * If none is named, choose the newest session that has a clone of the
 * repository in which one stands, or, if none runs, the newest one that has a
 * clone.
 */
static void
enter_newest(struct icctl *ctl)
{
	static char newest[PATH_MAX];
	char id[NEWEST_ID];

	if (!newest_find(ctl, NEWEST_CLONE_HERE, id) &&
	    (enter_runs(ctl) || !newest_find(ctl, NEWEST_CLONE, id)))
		return;
	snprintf(newest, sizeof(newest), "%.3800s/sessions/%s", ctl->home, id);
	ctl->session = newest;
	warnx("session %s", id);
}

int
repo_enter(struct icctl *ctl, const char *word, struct repo_work *w)
{
	char dir[PATH_MAX];
	struct fault fault;
	int status;

	w->scratch = w->out = w->objects = w->sandbox = w->lock = -1;
	if (word != NULL)
		ctl->session = word;
	if (ctl->session == NULL)
		enter_newest(ctl);
	if ((status = icctl_find(ctl)) != 0)
		return status;
	/* The way by run/ ends with the session. */
	if (realpath(ctl->dir, dir) == NULL ||
	    (entered.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
		-1) {
		warn("%s", ctl->dir);
		return ICCTL_NO_SESSION;
	}
	snprintf(ctl->dir, sizeof(ctl->dir), "%s", dir);
	if (paths_init(&entered.paths, NULL, &fault) == -1)
		return repo_failed(&fault);
	if (spawn_init() == -1) {
		icctl_warn_errno("git");
		return ICCTL_FAILED;
	}
	enter_signals();
	entered.env = (struct repo_env){.libexecdir = entered.paths.libexecdir,
	    .until =
		clock_mono_us() + (uint64_t)REPO_MAX_SECONDS * 1000000,
	    .stopped = enter_stopped,
	    .progress = enter_progress};
	if (repo_work_open(w, &entered.env, entered.fd, ctl->dir, &fault) ==
	    -1)
		return errno == ENOENT ? enter_none(ctl) : repo_failed(&fault);
	w->say = enter_say;
	if (repo_work_look(w, &fault) == -1)
		return repo_failed(&fault);
	return 0;
}

void
repo_leave(struct repo_work *w)
{
	repo_work_close(w);
	paths_free(&entered.paths);
	if (entered.fd != -1)
		close(entered.fd);
	entered.fd = -1;
}
