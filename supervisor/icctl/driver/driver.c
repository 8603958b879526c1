/* SPDX-License-Identifier: ISC */
/*
 * `icctl driver`: an orchestrator writes requests, one JSON object a line, and
 * reads events. Each request that runs has a session of its own, so that
 * nothing of one reaches another.
 */
#include "icctl/driver/priv.h"

#include <sys/signalfd.h>
#include <sys/wait.h>

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/loop.h"
#include "icctl/driver/queue.h"
#include "icctl/start_serve.h"

#define DRIVER_FIRST 3U /* places of poll(2) before those of workers */
/* A pipe that can be written takes so much at once. */
#define DRIVER_CHUNK 4096U

/* Take the value of an option, "--name V" or "--name=V". */
static const char *
driver_value(const char *name, int argc, char **argv, int *i)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) != 0)
		return NULL;
	if (argv[*i][n] == '=')
		return argv[*i] + n + 1;
	if (argv[*i][n] != '\0' || *i + 1 >= argc)
		return NULL;
	return argv[++*i];
}

/* Refuse options of `icctl start` that contradict a driver. */
static int
driver_forbidden(const char *arg)
{
	static const char *const list[] = {"--detach", "--systemd", "--acp",
	    "--task", "--session-dir", "--policy-for-task"};

	for (size_t i = 0; i < nitems(list); i++)
		if (strcmp(arg, list[i]) == 0) {
			warnx("%s: has no place here: requests say what is to "
			      "be done, each in a session of its own",
			    arg);
			return -1;
		}
	return 0;
}

static int
driver_workers(struct driver *d, const char *value)
{
	uint64_t n;

	if (span_u64(span_str(value), DRIVER_WORKERS, &n) == -1 || n == 0) {
		warnx("--workers %s: must be a number from 1 to %u", value,
		    DRIVER_WORKERS);
		return -1;
	}
	d->workers = (unsigned)n;
	return 0;
}

/* Keep an option of `icctl start`, with its value, or an agent's name. */
static int
driver_start_option(struct driver *d, int argc, char **argv, int *i)
{
	int n =
	    argv[*i][0] == '-' ? start_option_words(argc - *i, argv + *i) : 1;

	if (n == 0)
		return -1;
	if (d->noptions + (unsigned)n > DRIVER_OPTIONS) {
		warnx("more than %u words", DRIVER_OPTIONS);
		return -1;
	}
	for (; n > 1; n--)
		d->options[d->noptions++] = argv[(*i)++];
	d->options[d->noptions++] = argv[*i];
	return 0;
}

/* Read the command line. Returns 0, or -1 after it said why not. */
static int
driver_words(struct driver *d, int argc, char **argv)
{
	const char *value;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			d->command = argv + i + 1;
			if (*d->command != NULL)
				break;
			warnx("-- : names no COMMAND");
			return -1;
		}
		if ((value = driver_value("--workers", argc, argv, &i)) !=
		    NULL) {
			if (driver_workers(d, value) == -1)
				return -1;
		} else if ((value = driver_value(
				"--messages", argc, argv, &i)) != NULL) {
			d->amelia = strcmp(value, "amelia") == 0;
			if (!d->amelia && strcmp(value, "ironcurtain") != 0) {
				warnx("--messages %s: must be ironcurtain or "
				      "amelia",
				    value);
				return -1;
			}
		} else if (strcmp(argv[i], "--once") == 0) {
			d->once = true;
		} else if (strcmp(argv[i], "--json") == 0) {
			continue;
		} else if (driver_forbidden(argv[i]) == -1) {
			return -1;
		} else if (driver_start_option(d, argc, argv, &i) == -1) {
			return -1;
		}
	}
	return 0;
}

/* Read what a worker has printed. Returns false at its end. */
static bool
driver_hear(struct driver *d, struct request *r)
{
	char text[65536];
	struct span all;
	const uint8_t *nl;
	ssize_t n;

	n = read(r->out, text, sizeof(text));
	if (n == -1)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	buf_add(&r->line, text, (size_t)n);
	for (all = buf_span(&r->line);
	     all.len != 0 && (nl = memchr(all.p, '\n', all.len)) != NULL;
	     all = buf_span(&r->line)) {
		heard_line(d, r, span_of(all.p, (size_t)(nl - all.p)));
		buf_drain(&r->line, (size_t)(nl - all.p) + 1);
	}
	return true;
}

/* Pass on what it says to people, and remember the last line. */
static bool
driver_said(struct request *r)
{
	char text[2048];
	ssize_t n = read(r->err, text, sizeof(text));
	size_t at;

	if (n == -1)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	(void)!write(STDERR_FILENO, text, (size_t)n);
	for (at = 0; at < (size_t)n; at++) {
		if (r->nsaid != 0 && r->said[r->nsaid - 1] == '\n')
			r->nsaid = 0;
		if (r->nsaid < sizeof(r->said) - 1)
			r->said[r->nsaid++] = text[at];
	}
	return true;
}

/* The text of the last line, without the program's name. */
static void
driver_last(struct request *r)
{
	static const char name[] = "icctl: ";

	while (r->nsaid != 0 && r->said[r->nsaid - 1] == '\n')
		r->nsaid--;
	r->said[r->nsaid] = '\0';
	if (strncmp(r->said, name, sizeof(name) - 1) == 0)
		memmove(r->said, r->said + sizeof(name) - 1,
		    strlen(r->said) - (sizeof(name) - 1) + 1);
}

/* The worker has ended. */
static void
driver_reap(struct driver *d, struct request *r)
{
	int status = 0;

	do
		errno = 0;
	while (driver_said(r) && errno != EAGAIN);
	while (waitpid(r->pid, &status, 0) == -1 && errno == EINTR)
		;
	close(r->out);
	close(r->err);
	r->runs = false;
	d->nrunning--;
	driver_last(r);
	heard_end(d, r,
	    WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	queue_remove(d, r);
}

/* Write what waits, as far as that does not block. Returns false if nobody
 * reads. */
static bool
driver_write(struct driver *d)
{
	struct span s = buf_span(&d->out);
	ssize_t n;

	n = write(
	    STDOUT_FILENO, s.p, s.len < DRIVER_CHUNK ? s.len : DRIVER_CHUNK);
	if (n == -1)
		return errno == EINTR || errno == EAGAIN;
	buf_drain(&d->out, (size_t)n);
	return true;
}

/* Take what came from workers, in the order of `p`. */
static void
driver_workers_said(struct driver *d, const struct pollfd *p)
{
	struct request *r, *next;
	size_t i = 0;

	TAILQ_FOREACH_SAFE (r, &d->open, entry, next) {
		if (!r->runs || p[i].fd != r->out)
			continue;
		if (p[i + 1].revents != 0)
			(void)driver_said(r);
		if (p[i].revents != 0 && !driver_hear(d, r))
			driver_reap(d, r);
		i += 2;
	}
}

/* Kill workers that did not end in time. Returns ms until the next one, or -1.
 */
static int
driver_late(const struct driver *d)
{
	uint64_t now = driver_now(), left = UINT64_MAX;
	struct request *r;

	TAILQ_FOREACH (r, &d->open, entry) {
		if (!r->runs || r->kill_at == 0)
			continue;
		if (r->kill_at <= now)
			(void)kill(r->pid, SIGKILL);
		else if (r->kill_at - now < left)
			left = r->kill_at - now;
	}
	return left == UINT64_MAX ? -1 : (int)left;
}

/* Compose the list for poll(2). Returns its length. */
static nfds_t
driver_list(const struct driver *d, struct pollfd *p, int signals)
{
	bool full = d->out.len > DRIVER_OUT;
	struct request *r;
	nfds_t n = DRIVER_FIRST;

	p[0] = (struct pollfd){.fd = signals, .events = POLLIN};
	p[1] = (struct pollfd){
	    .fd = d->ended ? -1 : STDIN_FILENO, .events = POLLIN};
	p[2] = (struct pollfd){
	    .fd = d->out.len == 0 ? -1 : STDOUT_FILENO, .events = POLLOUT};
	TAILQ_FOREACH (r, &d->open, entry) {
		if (!r->runs)
			continue;
		/* A worker waits while its lines are not read by others. */
		p[n++] =
		    (struct pollfd){.fd = r->out, .events = full ? 0 : POLLIN};
		p[n++] = (struct pollfd){.fd = r->err, .events = POLLIN};
	}
	return n;
}

/* Serve until nothing is left. Returns the exit status. */
static int
driver_run(struct driver *d, int signals)
{
	struct pollfd *p =
	    calloc(DRIVER_FIRST + 2 * DRIVER_WORKERS, sizeof(*p));
	struct signalfd_siginfo si;
	int status = -1;

	if (p == NULL) {
		warn("driver");
		return ICCTL_FAILED;
	}
	while (!d->ended || d->nopen != 0 || d->out.len != 0) {
		queue_start(d);
		if (poll(p, driver_list(d, p, signals), driver_late(d)) == -1) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (p[0].revents != 0 &&
		    read(signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
			status = 128 + (int)si.ssi_signo;
			queue_end(d, true);
		}
		driver_workers_said(d, p + DRIVER_FIRST);
		if (p[1].revents != 0)
			queue_read(d);
		if (p[2].revents != 0 && !driver_write(d)) {
			/* Nobody will read how the requests end. */
			buf_reset(&d->out, 0);
			queue_end(d, true);
		}
	}
	free(p);
	return status != -1 ? status : d->status;
}

int
icctl_driver(struct icctl *ctl, int argc, char **argv)
{
	static struct driver d;
	sigset_t set;
	int signals;

	d.ctl = ctl;
	d.workers = 5;
	TAILQ_INIT(&d.open);
	buf_init(&d.in, DRIVER_LINE + 1);
	buf_init(&d.out, SIZE_MAX / 4);
	if (driver_words(&d, argc, argv) == -1)
		return ICCTL_USAGE;
	if (isatty(STDIN_FILENO)) {
		warnx("driver: requests are read from standard input, which is "
		      "a terminal (see icctl-driver(1))");
		return ICCTL_USAGE;
	}
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	(void)signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1 ||
	    (signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) == -1) {
		warn("driver");
		return ICCTL_FAILED;
	}
	return driver_run(&d, signals);
}
