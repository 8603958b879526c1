/* SPDX-License-Identifier: ISC */
/*
 * A job's timer of the user's systemd: two small unit files, and nothing else.
 * The service runs `icctl job run`; systemd stops it with the signal that ends
 * its session.
 */
#include "icctl/job/job.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/buf.h"
#include "icctl/unit/unit.h"

#define TIMER_FILE 16384U

bool
timer_manager(void)
{
	static struct systemctl s;
	static int known = -1;

	if (known == -1)
		known = systemctl_run(&s, (const char *const[]){
					      "show-environment", NULL}) == 0;
	return known == 1;
}

/* Write the path of a unit file of the job. Returns 0, or -1. */
static int
timer_path(const struct job *j, const char *kind, char dst[PATH_MAX])
{
	const char *dir = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (dir != NULL && dir[0] == '/')
		n = snprintf(dst, PATH_MAX, "%s/systemd/user/%s%s.%s", dir,
		    "ironcurtain-job-", j->name, kind);
	else if (home != NULL && home[0] == '/')
		n = snprintf(dst, PATH_MAX, "%s/.config/systemd/user/%s%s.%s",
		    home, "ironcurtain-job-", j->name, kind);
	else
		n = -1;
	if (n > 0 && n < PATH_MAX)
		return 0;
	errno = ENOENT;
	return -1;
}

bool
timer_has(const struct job *j)
{
	char path[PATH_MAX];

	return timer_path(j, "timer", path) == 0 && access(path, F_OK) == 0;
}

/* Add a word of ExecStart or Environment, quoted as systemd.syntax(7) says. */
static void
timer_quoted(struct buf *b, const char *s)
{
	buf_addc(b, '"');
	for (; *s != '\0'; s++) {
		if (strchr("\"\\", *s) != NULL)
			buf_addc(b, '\\');
		/* Neither a specifier nor a variable. */
		if (strchr("%$", *s) != NULL)
			buf_addc(b, (uint8_t)*s);
		buf_addc(b, (uint8_t)*s);
	}
	buf_addc(b, '"');
}

static int
timer_service(const struct icctl *ctl, const struct job *j, struct buf *b)
{
	char program[PATH_MAX], set[PATH_MAX + 32];

	if (icctl_program("icctl", program, sizeof(program)) == -1)
		return -1;
	/* A line of a unit cannot have these at all. */
	if (strpbrk(program, "\n\r$") != NULL ||
	    strpbrk(ctl->home, "\n\r$") != NULL) {
		errno = EINVAL;
		return -1;
	}
	buf_printf(b,
	    "# Made by icctl job; icctl job rm %s removes it.\n[Unit]\n"
	    "Description=IronCurtain job %s\n\n[Service]\nType=exec\n"
	    "KillMode=mixed\nTimeoutStopSec=30\nSuccessExitStatus=75\n"
	    "Environment=",
	    j->name, j->name);
	snprintf(set, sizeof(set), "IRONCURTAIN_HOME=%s", ctl->home);
	timer_quoted(b, set);
	buf_adds(b, "\nExecStart=");
	timer_quoted(b, program);
	buf_printf(b, " job run --scheduled %s\n", j->name);
	return buf_check(b);
}

static int
timer_timer(const struct job *j, struct buf *b)
{
	char lines[CRON_LINES][CRON_LINE], out[CRON_AHEAD][CRON_LINE];
	unsigned n = cron_calendar(&j->cron, lines);
	unsigned nout = cron_left_out(&j->cron, time(NULL), out);

	buf_printf(b,
	    "# Made by icctl job; icctl job rm %s removes it.\n[Unit]\n"
	    "Description=Times of the IronCurtain job %s\n\n[Timer]\n",
	    j->name, j->name);
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "OnCalendar=%s\n", lines[i]);
	for (unsigned i = 0; i < nout; i++)
		buf_printf(b, "OnCalendar=%s\n", out[i]);
	buf_adds(b, "Persistent=true\nAccuracySec=1s\n\n[Install]\n"
		    "WantedBy=timers.target\n");
	return buf_check(b);
}

/* Make the directories above a file. */
static void
timer_dirs(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		if (access(path, F_OK) == -1)
			(void)mkdir(path, 0700);
		*p = '/';
	}
}

static int
timer_write(const struct icctl *ctl, const struct job *j, bool service)
{
	char path[PATH_MAX];
	struct buf b;
	int rv = -1;

	buf_init(&b, TIMER_FILE);
	if (timer_path(j, service ? "service" : "timer", path) == 0 &&
	    (service ? timer_service(ctl, j, &b) : timer_timer(j, &b)) == 0) {
		timer_dirs(path);
		rv = jsonfile_replace(path, buf_span(&b));
	}
	if (rv == -1)
		warn("the timer of job %s", j->name);
	buf_free(&b);
	return rv;
}

/* Run systemctl, and say what it said if it failed. */
static int
timer_ask(const char *const *args)
{
	static struct systemctl s;
	char said[1000];

	if (systemctl_run(&s, args) == 0)
		return 0;
	warnx("systemctl --user %s: %s", args[0],
	    systemctl_line(&s, said, sizeof(said)));
	return -1;
}

int
timer_remove(const struct job *j)
{
	char name[128], path[PATH_MAX];

	if (!timer_has(j))
		return 0;
	snprintf(name, sizeof(name), "ironcurtain-job-%s.timer", j->name);
	if (timer_manager())
		(void)timer_ask(
		    (const char *const[]){"disable", "--now", name, NULL});
	if (timer_path(j, "service", path) == 0)
		(void)unlink(path);
	if (timer_path(j, "timer", path) == -1 || unlink(path) == -1) {
		warn("the timer of job %s", j->name);
		return -1;
	}
	return timer_manager()
		   ? timer_ask((const char *const[]){"daemon-reload", NULL})
		   : 0;
}

int
timer_set(const struct icctl *ctl, const struct job *j)
{
	char name[128];

	if (!j->enabled || !j->scheduled)
		return timer_remove(j);
	if (!timer_manager()) {
		warnx("no systemd manager answers for this user, so that the "
		      "job runs while this one does: icctl job daemon");
		return timer_remove(j);
	}
	snprintf(name, sizeof(name), "ironcurtain-job-%s.timer", j->name);
	if (timer_write(ctl, j, true) == -1 || timer_write(ctl, j, false) == -1)
		return -1;
	/* An old one may have another calendar. */
	return timer_ask((const char *const[]){"daemon-reload", NULL}) == -1 ||
		       timer_ask((const char *const[]){"enable", name, NULL}) ==
			   -1 ||
		       timer_ask(
			   (const char *const[]){"restart", name, NULL}) == -1
		   ? -1
		   : 0;
}
