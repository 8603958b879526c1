/* SPDX-License-Identifier: ISC */
/* Places: a directory for a new session, and the programs beside icctl. */
#include "icctl/icctl.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int
icctl_new_session(struct icctl *ctl)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	char stamp[32], tail[5];
	time_t now = time(NULL);
	struct tm tm;

	if (gmtime_r(&now, &tm) == NULL)
		return -1;
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	for (size_t i = 0; i < 4; i++)
		tail[i] = letters[arc4random_uniform(sizeof(letters) - 1)];
	tail[4] = '\0';
	if (mkdir(ctl->home, 0700) == -1 && errno != EEXIST) {
		warn("%s", ctl->home);
		return -1;
	}
	snprintf(ctl->dir, sizeof(ctl->dir), "%.4000s/sessions", ctl->home);
	if (mkdir(ctl->dir, 0700) == -1 && errno != EEXIST) {
		warn("%s", ctl->dir);
		return -1;
	}
	snprintf(ctl->dir, sizeof(ctl->dir), "%.3900s/sessions/%s-%s",
	    ctl->home, stamp, tail);
	return 0;
}

int
icctl_session_at(struct icctl *ctl, const char *dir, bool unit)
{
	char here[PATH_MAX] = "", shown[ICCTL_PATH];
	size_t len;
	int n;

	if (unit) {
		warnx("--session-dir: the session of a unit is in %s/sessions",
		    icctl_path(ctl->home, shown));
		return ICCTL_USAGE;
	}
	if (dir[0] != '/' && getcwd(here, sizeof(here)) == NULL) {
		warn("the current directory");
		return ICCTL_FAILED;
	}
	n = snprintf(ctl->dir, sizeof(ctl->dir), "%s%s%s", here,
	    dir[0] == '/' ? "" : "/", dir);
	/* "/." at the end would read as another directory in a sentence. */
	for (len = strlen(ctl->dir);
	     len > 1 && (ctl->dir[len - 1] == '/' ||
			    (ctl->dir[len - 1] == '.' &&
				ctl->dir[len - 2] == '/'));
	     len--)
		ctl->dir[len - 1] = '\0';
	if (dir[0] == '\0' || n < 0 || (size_t)n >= sizeof(ctl->dir) - 64) {
		warnx("--session-dir: not a path of at most %zu bytes",
		    sizeof(ctl->dir) - 64);
		return ICCTL_USAGE;
	}
	if (access(ctl->dir, F_OK) == 0) {
		warnx("--session-dir %s: it is there already. Name a "
		      "directory that is not there yet; or, if it is a "
		      "session's: icctl resume %s",
		    icctl_path(ctl->dir, shown), ctl->dir);
		return ICCTL_FAILED;
	}
	return 0;
}

int
icctl_program(const char *name, char *dst, size_t cap)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return -1;
	self[n] = '\0';
	if ((slash = strrchr(self, '/')) == NULL)
		return -1;
	*slash = '\0';
	n = snprintf(dst, cap, "%s/%s", self, name);
	return n > 0 && (size_t)n < cap ? 0 : -1;
}
