/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` that runs a session with an empty home and
 * workspace, whose agent is true(1). It tests exactly the sandbox that sessions
 * have, and shows what icsupervisor says about a failure.
 */
#include "icctl/doctor/doctor.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "base/tree.h"
#include "common/wordlist.h"

#define TRIAL_MS 60000
#define TRIAL_WORDS 32U

/* Variables by which a container engine is found. */
static const char *const trial_engine_env[] = {"DOCKER_HOST", "CONTAINER_HOST",
    "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "XDG_RUNTIME_DIR"};

/* A session with a key has workers that others do not have. */
static int
trial_key(const char *home)
{
	static const char *const files[][2] = {
	    {"key", "sk-ant-this-is-no-key-of-anyone"},
	    {"config.json", "{\"credentials\":{\"anthropic\":{\"file\":"
			    "\"key\"}}}\n"},
	    {"agents/trial.json",
		"{\"name\":\"trial\",\"program\":[\"true\"],\"taskArgs\":[],"
		"\"providers\":[\"anthropic\"]}\n"}};
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/agents", home);
	if (mkdir(path, 0700) == -1)
		return -1;
	for (size_t i = 0; i < nitems(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, files[i][0]);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd == -1 || write(fd, files[i][1], strlen(files[i][1])) !=
				    (ssize_t)strlen(files[i][1]))
			return -1;
		close(fd);
	}
	return 0;
}

/* The words and variables of one session, and its directories. */
struct trial_line {
	char home[PATH_MAX], user[PATH_MAX], session[PATH_MAX], work[PATH_MAX];
	char search[PATH_MAX], more[nitems(trial_engine_env)][PATH_MAX];
	char *env[4 + nitems(trial_engine_env)];
	const char *list[TRIAL_WORDS];
};

/* Make the directories. Returns -1 with errno set. */
static int
trial_dirs(struct trial_line *l, const struct box_trial *t, const char *dir)
{
	const char *home = l->home + sizeof("IRONCURTAIN_HOME=") - 1;

	snprintf(l->home, sizeof(l->home), "IRONCURTAIN_HOME=%s/home", dir);
	snprintf(l->user, sizeof(l->user), "HOME=%s/user", dir);
	snprintf(l->session, sizeof(l->session), "%s/session", dir);
	snprintf(l->work, sizeof(l->work), "%s/work", dir);
	if (mkdir(l->user + sizeof("HOME=") - 1, 0700) == -1 ||
	    mkdir(home, 0700) == -1 || mkdir(l->work, 0700) == -1)
		return -1;
	return t->keyed ? trial_key(home) : 0;
}

/* Set the variables: none of the user's credentials. */
static void
trial_variables(struct trial_line *l, const struct box_trial *t)
{
	const char *path = getenv("PATH"), *own = getenv("HOME"), *v;
	size_t n = 0;

	/* An engine keeps a user's images in their home. */
	if (t->engine && own != NULL)
		snprintf(l->user, sizeof(l->user), "HOME=%s", own);
	snprintf(l->search, sizeof(l->search), "PATH=%s",
	    path != NULL ? path : "/usr/bin:/bin");
	l->env[n++] = l->home;
	l->env[n++] = l->user;
	l->env[n++] = l->search;
	for (size_t i = 0; t->engine && i < nitems(trial_engine_env); i++) {
		if ((v = getenv(trial_engine_env[i])) == NULL)
			continue;
		snprintf(l->more[i], sizeof(l->more[i]), "%s=%s",
		    trial_engine_env[i], v);
		l->env[n++] = l->more[i];
	}
	l->env[n] = NULL;
}

/* Start icsupervisor. Returns -1 with errno set. */
static int
trial_start(const struct box_trial *t, const char *program, const char *dir,
    int words, struct spawned *sp)
{
	static struct trial_line l;
	const char *const first[] = {"icsupervisor", "--session-dir", l.session,
	    "--workspace", l.work, NULL};
	struct wordlist argv = WORDLIST_IN(l.list);
	struct spawn s = {.path = program,
	    .envp = l.env,
	    .fds = {-1, t->prints ? words : -1, words},
	    .nfds = 3};

	if (trial_dirs(&l, t, dir) == -1)
		return -1;
	trial_variables(&l, t);
	wordlist_all(&argv, first);
	wordlist_all(&argv, t->words);
	if ((s.argv = wordlist_end(&argv)) == NULL)
		return -1;
	return spawn_start(&s, sp) == 0 ? spawn_check(sp) : -1;
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

static const char trial_name[] = "icsupervisor: ";

bool
doctor_is_log_end(const char *line)
{
	static const char log[] = "icsupervisor: the audit log ends with ";

	return strncmp(line, log, sizeof(log) - 1) == 0;
}

/* Returns the message in a line of icsupervisor's, or NULL if it is another. */
static const char *
trial_message(const char *line)
{
	if (strncmp(line, trial_name, sizeof(trial_name) - 1) != 0 ||
	    doctor_is_log_end(line))
		return NULL;
	return line + sizeof(trial_name) - 1;
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

int
trial_run(struct box_trial *t, doctor_check *check)
{
	char dir[] = "/tmp/ic-doctor-XXXXXX";
	char program[PATH_MAX];
	struct spawned sp = SPAWNED_INIT;
	int words[2], rv;

	t->status = -1;
	t->text[0] = '\0';
	if (icctl_program("icsupervisor", program, sizeof(program)) == -1 ||
	    mkdtemp(dir) == NULL) {
		check(BAD, "sandbox", strerror(errno),
		    "icctl needs a directory below /tmp to try a session in");
		return -1;
	}
	if (pipe2(words, O_CLOEXEC) == 0) {
		rv = trial_start(t, program, dir, words[1], &sp);
		close(words[1]);
		if (rv == 0) {
			trial_read(words[0], t->text, sizeof(t->text));
			(void)kill(sp.pid, SIGTERM);
			t->status = spawn_wait(&sp);
		} else {
			spawn_stop(&sp, 0);
		}
		close(words[0]);
	}
	if (t->look != NULL)
		t->look(t, dir);
	(void)tree_remove(dir);
	return 0;
}

bool
trial_good(const struct box_trial *t)
{
	return t->status == 0;
}

void
trial_why(struct box_trial *t, const char **found, const char **remedy)
{
	trial_lines(t->text, found, remedy);
	if (*found != NULL)
		return;
	*found = *remedy != NULL ? *remedy : "no session can run";
	*remedy = t->shown_by != NULL ? t->shown_by
				      : "icctl start -- true shows all of it";
}

/* The source of the session's limit of memory, as it says itself. */
static char trial_memory[100], trial_group[300];

static void
trial_limits(struct box_trial *t, const char *dir)
{
	json_object *o, *limits;
	char path[PATH_MAX];

	trial_memory[0] = trial_group[0] = '\0';
	snprintf(path, sizeof(path), "%s/session/session.json", dir);
	if ((o = json_object_from_file(path)) == NULL)
		return;
	if (json_object_object_get_ex(o, "limits", &limits)) {
		strlcpy(trial_memory, icctl_text(limits, "memory"),
		    sizeof(trial_memory));
		strlcpy(trial_group, icctl_text(limits, "controlGroup"),
		    sizeof(trial_group));
	}
	json_object_put(o);
}

/* Say what is not counted where icsupervisor itself watches the memory. */
static void
trial_counts(doctor_check *check)
{
	if (trial_memory[0] == '\0')
		return;
	if (strstr(trial_group, "memory") != NULL &&
	    strncmp(trial_group, "none", 4) != 0) {
		check(GOOD, "memory limit", trial_group, "");
		return;
	}
	check(NOTE, "memory limit", "watched, without a control group",
	    "segments of System V that no process has attached, buffers of "
	    "sockets and pipes, and memfds in flight are not counted. A "
	    "systemd of the user gives sessions a group; root can make one "
	    "for you: icsupervisor(8), \"Control groups\"");
}

void
doctor_trial(doctor_check *check)
{
	struct box_trial t = {
	    .words = (const char *const[]){"--", "true", NULL},
	    .look = trial_limits};
	const char *found, *remedy;

	if (trial_run(&t, check) == -1)
		return;
	trial_why(&t, &found, &remedy);
	if (trial_good(&t))
		check(
		    GOOD, "sandbox", "a session ran in an empty workspace", "");
	else
		check(BAD, "sandbox", found, remedy);
	if (trial_good(&t))
		trial_counts(check);
}
