/* SPDX-License-Identifier: ISC */
/* Runs systemctl(1) for the user's own manager. */
#include "icctl/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/wordlist.h"

#define SYSTEMCTL_WORDS 32U
#define SYSTEMCTL_MS 10000

/* All that it needs to find the manager; keys of a shell stay behind. */
static const char *const systemctl_env[] = {"DBUS_SESSION_BUS_ADDRESS", "HOME",
    "LOGNAME", "PATH", "USER", "XDG_RUNTIME_DIR"};

/* Add the variables to `env`, which has room. Returns their number. */
static size_t
systemctl_variables(char **env)
{
	const char *value;
	char *text;
	size_t n = 0;

	for (size_t i = 0; i < nitems(systemctl_env); i++)
		if ((value = getenv(systemctl_env[i])) != NULL &&
		    asprintf(&text, "%s=%s", systemctl_env[i], value) != -1)
			env[n++] = text;
	return n;
}

int
systemctl_begin(struct systemctl *s, const char *const *args)
{
	const char *list[SYSTEMCTL_WORDS];
	struct wordlist words = WORDLIST_IN(list);
	char plain[] = "SYSTEMD_COLORS=0", english[] = "LC_ALL=C.UTF-8";
	char *env[nitems(systemctl_env) + 3];
	const size_t n = systemctl_variables(env);
	struct spawn run = {.path = "systemctl", .envp = env, .nfds = 3};
	int out[2], rv = -1;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->run = (struct spawned)SPAWNED_INIT;
	env[n] = english;
	env[n + 1] = plain;
	env[n + 2] = NULL;
	wordlist_all(&words,
	    (const char *const[]){"systemctl", "--user", "--no-pager", NULL});
	wordlist_all(&words, args);
	if ((run.argv = wordlist_end(&words)) != NULL &&
	    pipe2(out, O_CLOEXEC) == 0) {
		run.fds[STDIN_FILENO] = -1;
		run.fds[STDOUT_FILENO] = run.fds[STDERR_FILENO] = out[1];
		rv = spawn_start(&run, &s->run);
		close(out[1]);
		if (rv == 0)
			s->fd = out[0];
		else
			close(out[0]);
	}
	for (size_t i = 0; i < n; i++)
		free(env[i]);
	return rv;
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
	close(s->fd);
	s->fd = -1;
	return spawn_wait(&s->run);
}

int
systemctl_run(struct systemctl *s, const char *const *args)
{
	struct pollfd p = {.events = POLLIN};

	if (systemctl_begin(s, args) == -1)
		return -1;
	for (p.fd = s->fd;;) {
		if (poll(&p, 1, SYSTEMCTL_MS) == 0) {
			(void)kill(s->run.pid, SIGKILL);
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
