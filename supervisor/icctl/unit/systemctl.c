/* SPDX-License-Identifier: ISC */
/* Runs systemctl(1) for the user's own manager. */
#include "icctl/unit/unit.h"

#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define SYSTEMCTL_ARGS 16U
#define SYSTEMCTL_MS 10000

/* All that it needs to find the manager; keys of a shell stay behind. */
static const char *const systemctl_env[] = {"DBUS_SESSION_BUS_ADDRESS", "HOME",
    "LOGNAME", "PATH", "USER", "XDG_RUNTIME_DIR"};

static void __attribute__((noreturn))
systemctl_child(const char *const *args, int out)
{
	const char *argv[SYSTEMCTL_ARGS + 4] = {
	    "systemctl", "--user", "--no-pager"};
	char *env[nitems(systemctl_env) + 3], *text;
	const char *value;
	size_t n = 0;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < nitems(systemctl_env); i++)
		if ((value = getenv(systemctl_env[i])) != NULL &&
		    asprintf(&text, "%s=%s", systemctl_env[i], value) != -1)
			env[n++] = text;
	env[n++] = strdup("LC_ALL=C.UTF-8");
	env[n++] = strdup("SYSTEMD_COLORS=0");
	env[n] = NULL;
	for (size_t i = 0; args[i] != NULL && i < SYSTEMCTL_ARGS; i++)
		argv[i + 3] = args[i];
	if (null == -1 || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(out, STDOUT_FILENO) == -1 || dup2(out, STDERR_FILENO) == -1)
		_exit(71);
	execvpe(argv[0], (char *const *)(uintptr_t)argv, env);
	(void)dprintf(STDERR_FILENO, "systemctl: %s\n", strerror(errno));
	_exit(127);
}

int
systemctl_begin(struct systemctl *s, const char *const *args)
{
	int out[2];

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	if (pipe2(out, O_CLOEXEC) == -1)
		return -1;
	if ((s->pid = fork()) == -1) {
		close(out[0]);
		close(out[1]);
		return -1;
	}
	if (s->pid == 0)
		systemctl_child(args, out[1]);
	close(out[1]);
	s->fd = out[0];
	return 0;
}

bool
systemctl_read(struct systemctl *s)
{
	char more[1024];
	ssize_t n = read(s->fd, more, sizeof(more));
	size_t room = sizeof(s->said) - 1 - s->len;

	if (n <= 0)
		return n == -1 && errno == EINTR;
	if ((size_t)n < room)
		room = (size_t)n;
	memcpy(s->said + s->len, more, room);
	s->len += room;
	return true;
}

int
systemctl_end(struct systemctl *s)
{
	int status;

	close(s->fd);
	s->fd = -1;
	while (waitpid(s->pid, &status, 0) == -1 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int
systemctl_run(struct systemctl *s, const char *const *args)
{
	struct pollfd p = {.events = POLLIN};

	if (systemctl_begin(s, args) == -1)
		return -1;
	for (p.fd = s->fd;;) {
		if (poll(&p, 1, SYSTEMCTL_MS) == 0) {
			(void)kill(s->pid, SIGKILL);
			break;
		}
		if (!systemctl_read(s))
			break;
	}
	return systemctl_end(s);
}

bool
systemctl_value(
    const struct systemctl *s, const char *name, char *dst, size_t cap)
{
	struct span line, rest = span_of(s->said, s->len);
	const size_t n = strlen(name);

	while (rest.len != 0) {
		const uint8_t *nl = memchr(rest.p, '\n', rest.len);

		line = span_of(
		    rest.p, nl == NULL ? rest.len : (size_t)(nl - rest.p));
		rest = nl == NULL ? span_of(rest.p, 0)
				  : span_of(nl + 1, rest.len - line.len - 1);
		if (line.len <= n || memcmp(line.p, name, n) != 0 ||
		    line.p[n] != '=')
			continue;
		snprintf(dst, cap, "%.*s", (int)(line.len - n - 1),
		    (const char *)line.p + n + 1);
		return true;
	}
	return false;
}

const char *
systemctl_line(const struct systemctl *s, char *dst, size_t cap)
{
	struct span text = span_of(s->said, s->len);

	while (text.len != 0 && text.p[text.len - 1] == '\n')
		text.len--;
	log_vis(text, dst, cap);
	/* Several lines become one. */
	for (char *p; (p = strstr(dst, "\\x0a")) != NULL;) {
		*p = ' ';
		memmove(p + 1, p + 4, strlen(p + 4) + 1);
	}
	return dst;
}
