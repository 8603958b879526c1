/* SPDX-License-Identifier: ISC */
/*
 * The worker of one request: a process of its own that starts a session, sends
 * its message, asks for a repair if the answer does not fit the schema, and
 * ends the session. It dies with `icctl driver`, and its session with it.
 */
#include "icctl/driver/priv.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_get.h"
#include "common/wordlist.h"
#include "icctl/start_serve.h"
#include "icctl/talk/message.h"
#include "icctl/talk/send.h"
#include "icctl/talk/talk.h"

#define WORK_ENDS_MS 3000 /* after it was cancelled */
#define WORK_CLOSES_MS 30000
#define WORK_FLOW "workflow-" /* and the name: its session */
#define START_WORDS 1024U
#define WORK_KILL_MS 4500U

static struct {
	const struct ask *ask;
	bool resume; /* go on with the conversation */
	bool lines;  /* its answer is checked where its lines are read */
	volatile sig_atomic_t pid; /* icsupervisor, while it runs */
	volatile sig_atomic_t stopped;
} work_env;

/*
 * End the session, so that whoever waits for it goes on; the second time it is
 * killed.
 */
static void
work_signaled(int sig)
{
	(void)sig;
	if (work_env.pid > 0)
		(void)kill(
		    (pid_t)work_env.pid, work_env.stopped ? SIGKILL : SIGTERM);
	work_env.stopped = 1;
	/* The session may be stopped, or very busy. */
	(void)alarm(WORK_ENDS_MS / 1000);
}

/* Print the budget before the first turn, of which the rest is this one's. */
static void
work_base(const struct icctl *ctl)
{
	json_object *reply = icctl_ask_dir(ctl->dir, "budget"),
		    *o = json_object_new_object();

	json_object_object_add(
	    o, "base", json_object_get(get_member(reply, "budget")));
	icctl_put_json(o);
	json_object_put(o);
	json_object_put(reply);
}

/*
 * Returns the arguments, with --resume if the conversation of the workflow goes
 * on.
 */
static const char **
work_resumed(const char **args, const char **list, size_t max)
{
	size_t n = 0;

	if (!work_env.resume)
		return args;
	for (size_t i = 0; args[i] != NULL && n + 2 < max; i++) {
		/* The first three are those that talk_begin() knows. */
		if (i == 3)
			list[n++] = "--resume";
		list[n++] = args[i];
	}
	list[n] = NULL;
	return list;
}

/* Run the turns of the request. Returns the exit status. */
static int
work_serve(struct icctl *ctl, const char *program, const char **args)
{
	struct sigaction sa = {.sa_handler = work_signaled};
	struct spawned sp = SPAWNED_INIT;
	const char *list[START_WORDS];
	int status, message;

	if ((message = message_text(work_env.ask->message)) == -1)
		return ICCTL_FAILED;
	args = work_resumed(args, list, nitems(list));
	if ((status = talk_begin(ctl, program, args, SPAWN_ENDED, &sp)) !=
	    ICCTL_OK)
		return status;
	work_env.pid = sp.pid;
	if (sigaction(SIGTERM, &sa, NULL) == -1 ||
	    sigaction(SIGALRM, &sa, NULL) == -1) {
		warn("signals");
		status = ICCTL_FAILED;
	} else {
		if (talk_signaled())
			(void)raise(SIGTERM);
		if (work_env.resume)
			work_base(ctl);
		status = send_one(
		    ctl, message, work_env.lines ? NULL : work_env.ask->wanted);
	}
	close(message);
	work_env.pid = 0;
	fflush(stdout);
	/* A busy machine is no reason to leave a log without its end. */
	spawn_stop(&sp, work_env.stopped ? WORK_ENDS_MS : WORK_CLOSES_MS);
	return status;
}

/* Compose the command line of `icctl start`. Returns NULL if it is too long. */
static char *const *
work_args(
    const struct driver *d, const struct request *r, struct wordlist *args)
{
	const char *name;

	wordlist_add(args, "start");
	for (size_t i = 0; i < d->noptions; i++) {
		name = d->options[i];
		/* The request says more than the driver's own options. */
		if ((strcmp(name, "--model") == 0 && r->ask.model != NULL) ||
		    (strcmp(name, "--workspace") == 0 && r->ask.cwd != NULL) ||
		    (r->policy[0] != '\0' &&
			(strcmp(name, "--policy") == 0 ||
			    strcmp(name, "--config") == 0))) {
			i++;
			continue;
		}
		wordlist_add(args, name);
	}
	wordlist_add(args, "--session-dir");
	wordlist_add(args, r->dir);
	if (r->ask.model != NULL) {
		wordlist_add(args, "--model");
		wordlist_add(args, r->ask.model);
	}
	if (r->ask.cwd != NULL) {
		wordlist_add(args, "--workspace");
		wordlist_add(args, r->ask.cwd);
	}
	if (r->policy[0] != '\0') {
		wordlist_add(args, "--policy");
		wordlist_add(args, r->policy);
		wordlist_add(args, "--config");
		wordlist_add(args, r->config);
	}
	if (d->command != NULL) {
		wordlist_add(args, "--");
		wordlist_all(args, (const char *const *)d->command);
	}
	return wordlist_end(args);
}

/* Name the directory of the session. Returns 0, or -1 with errno set. */
static int
work_place(const struct driver *d, struct request *r)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	char stamp[32], tail[9];
	time_t now = time(NULL);
	struct tm tm;

	snprintf(r->dir, sizeof(r->dir), "%.4000s/sessions", d->ctl->home);
	if ((mkdir(d->ctl->home, 0700) == -1 && errno != EEXIST) ||
	    (mkdir(r->dir, 0700) == -1 && errno != EEXIST) ||
	    gmtime_r(&now, &tm) == NULL)
		return -1;
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	/* Many begin in the same second. */
	for (size_t i = 0; i < 8; i++)
		tail[i] = letters[arc4random_uniform(sizeof(letters) - 1)];
	tail[8] = '\0';
	if (r->ask.workflow != NULL)
		snprintf(r->session, sizeof(r->session), WORK_FLOW "%s",
		    r->ask.workflow);
	else
		snprintf(r->session, sizeof(r->session), "%s-%s", stamp, tail);
	snprintf(r->dir, sizeof(r->dir), "%.4000s/sessions/%s", d->ctl->home,
	    r->session);
	return 0;
}

/* Be the worker. Never returns. */
static void __attribute__((noreturn)) work_main(const struct driver *d,
    const struct request *r, int out, int said, pid_t parent)
{
	const char *list[DRIVER_OPTIONS + 32];
	struct wordlist args = WORDLIST_IN(list);
	struct icctl *ctl = d->ctl;
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* The session must not meet what the driver or another worker has. */
	if (null == -1 || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(out, STDOUT_FILENO) == -1 || dup2(said, STDERR_FILENO) == -1 ||
	    setsid() == -1 || prctl(PR_SET_PDEATHSIG, SIGTERM) == -1)
		_exit(ICCTL_FAILED);
	closefrom(STDERR_FILENO + 1);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) == -1 || getppid() != parent)
		_exit(ICCTL_FAILED);
	ctl->json = true;
	ctl->session = NULL;
	work_env.ask = &r->ask;
	work_env.lines = worker_lines_are(d);
	work_env.resume = r->ask.again && access(r->dir, F_OK) == 0;
	if (work_args(d, r, &args) == NULL) {
		warnx("too many options");
		exit(ICCTL_USAGE);
	}
	exit(icctl_start_serve(
	    ctl, (int)args.n, (char **)(uintptr_t)list, work_serve));
}

int
work_start(struct driver *d, struct request *r)
{
	int out[2] = {-1, -1}, said[2] = {-1, -1};
	pid_t parent = getpid();

	if (work_place(d, r) == -1 || pipe2(out, O_CLOEXEC) == -1 ||
	    pipe2(said, O_CLOEXEC) == -1)
		goto bad;
	fflush(stdout);
	if ((r->pid = fork()) == -1)
		goto bad;
	if (r->pid == 0)
		work_main(d, r, out[1], said[1], parent);
	close(out[1]);
	close(said[1]);
	r->out = out[0];
	r->err = said[0];
	r->runs = true;
	if (fcntl(r->out, F_SETFL, O_NONBLOCK) == -1 ||
	    fcntl(r->err, F_SETFL, O_NONBLOCK) == -1)
		work_cancel(r);
	return 0;
bad:
	snprintf(r->why, sizeof(r->why), "the session: %s", strerror(errno));
	for (size_t i = 0; i < 2; i++) {
		if (out[i] != -1)
			close(out[i]);
		if (said[i] != -1)
			close(said[i]);
	}
	return -1;
}

void
work_cancel(struct request *r)
{
	if (!r->runs || r->kill_at != 0)
		return;
	(void)kill(r->pid, SIGTERM);
	r->kill_at = driver_now() + WORK_KILL_MS;
}

int
work_teardown(const struct driver *d, const char *workflow, char kept[128],
    char why[DRIVER_WHY])
{
	char dir[4300], to[4300], stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int fd;

	kept[0] = '\0';
	snprintf(dir, sizeof(dir), "%.4000s/sessions/" WORK_FLOW "%.40s",
	    d->ctl->home, workflow);
	if ((fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		if (errno == ENOENT)
			return 0;
		snprintf(why, DRIVER_WHY, "%.900s: %s", dir, strerror(errno));
		return -1;
	}
	if (talk_runs(fd)) {
		snprintf(
		    why, DRIVER_WHY, "the workflow %s still runs", workflow);
		close(fd);
		return -1;
	}
	close(fd);
	(void)gmtime_r(&now, &tm);
	(void)strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	snprintf(kept, 128, "%s-%.40s", stamp, workflow);
	snprintf(to, sizeof(to), "%.4000s/sessions/%.100s", d->ctl->home, kept);
	/* Not into a directory that has this name. */
	if (access(to, F_OK) == -1 && rename(dir, to) == 0)
		return 0;
	snprintf(why, DRIVER_WHY, "%.900s: %s", to, strerror(errno));
	return -1;
}
