/* SPDX-License-Identifier: ISC */
/*
 * `icctl start --detach`: starts icsupervisor without a viewer, passes its
 * messages on until the session takes messages, and leaves it alone.
 */
#include "icctl/talk/talk.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "icctl/strays.h"
#include "icctl/wrap.h"

#define START_SAID 400U
#define START_LINE 4096U
#define START_MARK ">>> ironcurtain: "

static volatile sig_atomic_t start_signal;
/* The last line that icsupervisor wrote, and where the next byte goes. */
static char start_said[START_SAID];
static size_t start_at;

static void
start_signaled(int sig)
{
	start_signal = sig;
}

int
talk_spawn(const char *program, const char **args, int out, int said,
    enum spawn_tie tie, struct spawned *sp)
{
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)args,
	    .fds = {-1, out, said},
	    .nfds = 3,
	    .session = true,
	    .tie = tie};

	if (spawn_start(&s, sp) == 0 && spawn_check(sp) == 0)
		return 0;
	warn("%s%s", program, spawn_step());
	spawn_stop(sp, 0);
	return -1;
}

/* Remember the last line that is not empty. */
static void
start_remember(const char *text, size_t len)
{
	static bool ended;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			ended = true;
			continue;
		}
		if (ended)
			start_at = 0;
		ended = false;
		if (start_at < sizeof(start_said) - 1)
			start_said[start_at++] = text[i];
		start_said[start_at] = '\0';
	}
}

/* Print a line as the viewer does, in whose place this is. */
static void
start_line(const char *text)
{
	static const char was[] = "icsupervisor: ";
	const size_t n = sizeof(was) - 1;

	fputs(START_MARK, stderr);
	if (strncmp(text, was, n) == 0)
		text += n;
	wrap_hang(stderr, text, sizeof(START_MARK) - 1, ">>>   ",
	    wrap_columns(STDERR_FILENO));
	fputc('\n', stderr);
}

/* Print whole lines for a person; NULL: also one that is not whole. */
static void
start_lines(const char *text, size_t len)
{
	static char line[START_LINE];
	static size_t at;

	for (size_t i = 0; i < len; i++) {
		if (text[i] != '\n' && at < sizeof(line) - 1) {
			line[at++] = text[i];
			continue;
		}
		line[at] = '\0';
		start_line(line);
		at = 0;
		if (text[i] != '\n')
			line[at++] = text[i];
	}
	if (text != NULL || at == 0)
		return;
	line[at] = '\0';
	start_line(line);
	at = 0;
}

bool
talk_pass(int said)
{
	const bool person = isatty(STDERR_FILENO) == 1;
	char text[4096];
	ssize_t n;

	n = read(said, text, sizeof(text));
	if (n > 0) {
		if (person)
			start_lines(text, (size_t)n);
		else
			(void)!write(STDERR_FILENO, text, (size_t)n);
		start_remember(text, (size_t)n);
	} else if (n == 0 && person) {
		start_lines(NULL, 0);
	}
	return n > 0 || (n == -1 && errno == EINTR);
}

/*
 * Wait for READY, the line on `out`. Returns false if icsupervisor ended
 * before.
 */
static bool
start_wait(pid_t pid, int out, int said)
{
	struct pollfd p[2] = {{.fd = out, .events = POLLIN},
	    {.fd = said, .events = POLLIN}};
	char text[4096];
	ssize_t n;

	for (;;) {
		if (start_signal != 0)
			(void)kill(pid, SIGTERM);
		start_signal = 0;
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			return false;
		if (p[1].revents != 0 && !talk_pass(said))
			p[1].fd = -1;
		p[1].revents = 0;
		if (p[0].revents == 0)
			continue;
		p[0].revents = 0;
		n = read(out, text, sizeof(text));
		if (n == 0)
			return false;
		if (n > 0 && memchr(text, '\n', (size_t)n) != NULL)
			return true;
	}
}

int
talk_wait(struct icctl *ctl, pid_t pid)
{
	json_object *req = icctl_request("events", NULL), *o;
	struct icctl_rest rest = {NULL, 0, 0};
	const char *state = "";
	int fd = icctl_connect(ctl), rv = -1;

	if (fd != -1)
		(void)icctl_tell(fd, req);
	json_object_put(req);
	while (fd != -1 && rv == -1) {
		o = icctl_receive(fd, &rest);
		if (o == NULL && errno == EAGAIN) {
			if (start_signal != 0)
				(void)kill(pid, SIGTERM);
			continue;
		}
		if (o == NULL)
			break;
		state = icctl_text(o, "state");
		if (state[0] == '\0')
			state = icctl_text(o, "status");
		if (strcmp(state, "ready") == 0 ||
		    strcmp(state, "processing") == 0 ||
		    strcmp(state, "quota") == 0 ||
		    strcmp(state, "waiting") == 0)
			rv = 0;
		json_object_put(o);
	}
	if (fd != -1)
		close(fd);
	free(rest.p);
	return rv;
}

int
talk_catch_signals(void)
{
	struct sigaction sa = {.sa_handler = start_signaled};

	return sigaction(SIGINT, &sa, NULL) == -1 ||
		       sigaction(SIGTERM, &sa, NULL) == -1
		   ? -1
		   : 0;
}

bool
talk_signaled(void)
{
	return start_signal != 0;
}

int
talk_told(const struct icctl *ctl, pid_t pid)
{
	const char *id = strrchr(ctl->dir, '/') + 1;
	json_object *o;

	if (!ctl->json) {
		printf("%s\n", id);
		return ICCTL_OK;
	}
	o = json_object_new_object();
	json_object_object_add(o, "session", json_object_new_string(id));
	json_object_object_add(o, "dir", json_object_new_string(ctl->dir));
	json_object_object_add(o, "pid", json_object_new_int(pid));
	icctl_put_json(o);
	json_object_put(o);
	return ICCTL_OK;
}

int
talk_unready(const struct icctl *ctl, int status)
{
	return talk_failed(ctl, status, "SESSION_INIT_FAILED",
	    start_said[0] != '\0' ? start_said
				  : "the session ended before it was ready");
}

int
talk_begin(struct icctl *ctl, const char *program, const char **args,
    enum spawn_tie tie, struct spawned *sp)
{
	int out[2], said[2], status;

	args[1] = "--conversation";
	args[2] = "--print-ready";
	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(said, O_CLOEXEC) == -1 ||
	    talk_catch_signals() == -1) {
		warn("start");
		return ICCTL_FAILED;
	}
	strays_adopt();
	if (talk_spawn(program, args, out[1], said[1], tie, sp) == -1)
		return ICCTL_FAILED;
	close(out[1]);
	close(said[1]);
	if (start_wait(sp->pid, out[0], said[0]) &&
	    talk_wait(ctl, sp->pid) == 0) {
		close(out[0]);
		close(said[0]);
		return ICCTL_OK;
	}
	while (talk_pass(said[0]))
		;
	close(out[0]);
	close(said[0]);
	status = spawn_wait(sp);
	if (status > 128)
		strays_end();
	return talk_unready(
	    ctl, status > 0 && status < 128 ? status : ICCTL_FAILED);
}

int
talk_start(struct icctl *ctl, const char *program, const char **args)
{
	struct spawned sp = SPAWNED_INIT;
	int status = talk_begin(ctl, program, args, SPAWN_APART, &sp);

	return status == ICCTL_OK ? talk_told(ctl, sp.pid) : status;
}
