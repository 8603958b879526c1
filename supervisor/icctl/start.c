/* SPDX-License-Identifier: ISC */
/*
 * `icctl start`: names a new session directory, starts icsupervisor in a
 * session of its own, and becomes the viewer of what its agent shows.
 */
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "icctl/icctl.h"
#include "icctl/screen/launch.h"

#define START_ARGS 256

static const char *const with_value[] = {"--agent", "--workspace", "--config",
    "--policy", "--profile", "--runtime", "--escalations",
    "--allow-unsandboxed", "--require", "--libexecdir"};

static const char *const without_value[] = {"--allow-sockets"};

static void
usage(void)
{
	puts(
	    "usage: icctl start [--agent NAME] [--workspace DIR] [--config "
	    "FILE]\n"
	    "                   [--policy NAME|DIR] [--profile NAME] "
	    "[--escalations ask|deny]\n"
	    "                   "
	    "[--allow-unsandboxed SERVER]… [--allow-sockets]\n"
	    "                   [--require all|NAME,…]\n"
	    "                   [TASK | -- COMMAND…]\n\n"
	    "Runs an agent in a new session, in the foreground, and ends "
	    "with its exit\nstatus. Agents are claude-code (if none is named), "
	    "codex, gemini-cli, opencode\nand your own. Policies are default, "
	    "read-only, coding and your own\n(ironcurtain-policy(5)). TASK is "
	    "what the agent shall do; COMMAND runs instead\nof an agent. "
	    "Answer what the policy holds "
	    "from another terminal: icctl watch.");
}

/* IRONCURTAIN_HOME/sessions/<time>-<random>: made by icsupervisor. */
static int
new_session(struct icctl *ctl)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	char stamp[32], tail[5];
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm) == NULL)
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

static bool
listed(const char *arg, const char *const list[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(arg, list[i]) == 0)
			return true;
	return false;
}

static bool
takes_value(const char *arg)
{
	return listed(
	    arg, with_value, sizeof(with_value) / sizeof(with_value[0]));
}

int
icctl_start(struct icctl *ctl, int argc, char **argv)
{
	char program[PATH_MAX];
	const char *args[START_ARGS + 8];
	struct viewer_how how;
	bool no_input = false;
	size_t n = 0;
	int i = 1;

	args[n++] = "icsupervisor";
	n += 2; /* launch_session's */
	args[n++] = "--session-dir";
	args[n++] = ctl->dir;
	for (; i < argc && n < START_ARGS; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			usage();
			return ICCTL_OK;
		}
		if (argv[i][0] != '-' || strcmp(argv[i], "--") == 0)
			break;
		if (listed(argv[i], without_value,
			sizeof(without_value) / sizeof(without_value[0]))) {
			args[n++] = argv[i];
			continue;
		}
		if (!takes_value(argv[i]) || i + 1 == argc) {
			warnx("%s: %s (icctl start --help)", argv[i],
			    takes_value(argv[i]) ? "needs a value"
						 : "no such option");
			return ICCTL_USAGE;
		}
		if (strcmp(argv[i], "--runtime") == 0 &&
		    strcmp(argv[i + 1], "none") == 0)
			no_input = true;
		args[n++] = argv[i++];
		args[n++] = argv[i];
	}
	if (i < argc && strcmp(argv[i], "--") != 0) {
		if (i + 1 != argc) {
			warnx("one TASK only; put it in quotes");
			return ICCTL_USAGE;
		}
		no_input = true;
		args[n++] = "--task";
		args[n++] = argv[i++];
	}
	for (; i < argc && n < START_ARGS; i++)
		args[n++] = argv[i];
	if (i < argc) {
		warnx("more than %d arguments", START_ARGS);
		return ICCTL_USAGE;
	}
	args[n] = NULL;
	if (new_session(ctl) == -1 ||
	    icctl_program("icsupervisor", program, sizeof(program)) == -1)
		return ICCTL_FAILED;
	viewer_how_find(&how, no_input);
	(void)launch_session(program, args, &how, strrchr(ctl->dir, '/') + 1);
	warn("viewer");
	return ICCTL_FAILED;
}
