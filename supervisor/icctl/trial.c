/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` that runs a session with an empty home and
 * workspace, whose agent is true(1). It tests exactly the sandbox that sessions
 * have, and shows what icsupervisor says about a failure.
 */
#include "icctl/doctor.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIAL_MS 60000
#define TRIAL_SAYS 4096U

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void
doctor_remove(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* In the child: run icsupervisor without any of the user's credentials. */
static void __attribute__((noreturn))
trial_exec(const char *program, const char *dir, int words)
{
	char home[PATH_MAX], user[PATH_MAX], session[PATH_MAX], work[PATH_MAX];
	const char *path = getenv("PATH");
	char search[PATH_MAX];
	char *const envp[] = {home, user, search, NULL};
	const char *const argv[] = {"icsupervisor", "--session-dir", session,
	    "--workspace", work, "--", "true", NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	snprintf(home, sizeof(home), "IRONCURTAIN_HOME=%s/home", dir);
	snprintf(user, sizeof(user), "HOME=%s/user", dir);
	snprintf(search, sizeof(search), "PATH=%s",
	    path != NULL ? path : "/usr/bin:/bin");
	snprintf(session, sizeof(session), "%s/session", dir);
	snprintf(work, sizeof(work), "%s/work", dir);
	if (mkdir(user + sizeof("HOME=") - 1, 0700) == -1 ||
	    mkdir(home + sizeof("IRONCURTAIN_HOME=") - 1, 0700) == -1 ||
	    mkdir(work, 0700) == -1 || null == -1 ||
	    dup2(null, STDIN_FILENO) == -1 || dup2(null, STDOUT_FILENO) == -1 ||
	    dup2(words, STDERR_FILENO) == -1)
		_exit(126);
	execve(program, (char *const *)(uintptr_t)argv, envp);
	_exit(127);
}

/* Read its messages until it ends, for at most TRIAL_MS. */
static void
trial_read(int fd, char *text, size_t cap)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n;

	while (len < cap - 1 && poll(&p, 1, TRIAL_MS) == 1) {
		n = read(fd, text + len, cap - 1 - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
}

/* Returns the message in a line of icsupervisor's, or NULL if it is another. */
static const char *
trial_message(const char *line)
{
	static const char name[] = "icsupervisor: ";
	static const char log[] = "the audit log ends with ";

	if (strncmp(line, name, sizeof(name) - 1) != 0)
		return NULL;
	line += sizeof(name) - 1;
	/* The last line of every session is about its log. */
	return strncmp(line, log, sizeof(log) - 1) == 0 ? NULL : line;
}

/* Find the last two messages in the text. */
static void
trial_lines(char *text, const char **found, const char **remedy)
{
	const char *message;
	char *line, *rest = text;

	*found = *remedy = NULL;
	while ((line = strsep(&rest, "\n")) != NULL) {
		if ((message = trial_message(line)) == NULL)
			continue;
		*found = *remedy;
		*remedy = message;
	}
}

const char *
doctor_last_said(char *text)
{
	const char *before, *last;

	trial_lines(text, &before, &last);
	return last != NULL ? last : "icsupervisor did not start";
}

void
doctor_trial(doctor_check *check)
{
	char dir[] = "/tmp/ic-doctor-XXXXXX";
	char program[PATH_MAX], text[TRIAL_SAYS] = "";
	const char *found, *remedy;
	int words[2], status = -1;
	pid_t pid;

	if (icctl_program("icsupervisor", program, sizeof(program)) == -1 ||
	    mkdtemp(dir) == NULL) {
		check(BAD, "sandbox", strerror(errno),
		    "icctl needs a directory below /tmp to try a session in");
		return;
	}
	if (pipe2(words, O_CLOEXEC) == 0) {
		if ((pid = fork()) == 0)
			trial_exec(program, dir, words[1]);
		close(words[1]);
		if (pid != -1) {
			trial_read(words[0], text, sizeof(text));
			(void)kill(pid, SIGTERM);
			(void)waitpid(pid, &status, 0);
		}
		close(words[0]);
	}
	trial_lines(text, &found, &remedy);
	if (found == NULL) {
		found = remedy != NULL ? remedy : "no session can run";
		remedy = "icctl start -- true shows all of it";
	}
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		check(
		    GOOD, "sandbox", "a session ran in an empty workspace", "");
	else
		check(BAD, "sandbox", found, remedy);
	doctor_remove(dir);
}
