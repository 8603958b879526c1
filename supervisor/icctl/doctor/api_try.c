/* SPDX-License-Identifier: ISC */
/*
 * Tries one provider in a session of its own, below /tmp: without an agent,
 * without MCP servers, and with no route but the one of "check". ic-asker sends
 * the request as an agent would. The answer stays there; only its status and
 * what icsupervisor says about the credential are used.
 */
#include "icctl/doctor/api.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

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
#include "common/buf.h"
#include "icctl/doctor/doctor.h"
#include "icctl/policy/policy.h"
#include "workers/asker/asker.h"

#define API_READY_MS 60000
#define API_ASK_MS 60000
#define API_STOP_MS 20000

struct trial {
	const struct provider *p;
	struct api_answer *a;
	char dir[32];
	char session[64];
	int said; /* memfd: icsupervisor's messages */
	struct spawned sup;
};

static void
api_why(struct api_answer *a, const char *why)
{
	if (a->why[0] == '\0')
		snprintf(a->why, sizeof(a->why), "%s", why);
}

/* Wait for a line, for at most `ms`. Returns false if there is none. */
static bool
api_line(int fd, int ms, char *dst, size_t cap)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t len = 0;
	ssize_t n;

	while (len < cap - 1 && memchr(dst, '\n', len) == NULL) {
		if (poll(&p, 1, ms) != 1)
			break;
		n = read(fd, dst + len, cap - 1 - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	dst[len] = '\0';
	if (strchr(dst, '\n') == NULL)
		return false;
	dst[strcspn(dst, "\n")] = '\0';
	return true;
}

/* Start icsupervisor and wait until it is ready. */
static int
api_start(struct trial *t)
{
	char program[PATH_MAX], work[64], line[16384];
	const char *const argv[] = {"icsupervisor", "--trial", t->p->name,
	    "--runtime", "none", "--session-dir", t->session, "--workspace",
	    work, "--quiet", "--print-ready", NULL};
	struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .envp = environ,
	    .nfds = 3};
	int out[2], ready;

	snprintf(work, sizeof(work), "%s/work", t->dir);
	if (mkdir(work, 0700) == -1 || spawn_init() == -1 ||
	    icctl_program("icsupervisor", program, sizeof(program)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1)
		return -1;
	s.fds[0] = -1;
	s.fds[1] = out[1];
	s.fds[2] = t->said;
	ready = spawn_start(&s, &t->sup) == 0 && spawn_check(&t->sup) == 0;
	close(out[1]);
	/* The line names every process: only its end matters. */
	ready = ready && api_line(out[0], API_READY_MS, line, sizeof(line));
	close(out[0]);
	return ready ? 0 : -1;
}

static void
api_stop(struct trial *t)
{
	spawn_stop(&t->sup, API_STOP_MS);
}

/* Copy the value of a variable of the session's environment. */
static bool
api_variable(const struct trial *t, const char *name, char *dst, size_t cap)
{
	char path[128], line[4096];
	size_t n = strlen(name);
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/orientation/agent.env", t->session);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, name, n) != 0 || line[n] != '=')
			continue;
		found = (size_t)snprintf(dst, cap, "%s", line + n + 1) < cap;
	}
	fclose(f);
	return found;
}

/* Returns the header that carries the key, and the text before the key. */
static const char *
api_header(const struct provider *p, const char **prefix)
{
	json_object *root = json_tokener_parse(p->json), *o, *list, *one;
	static char name[128], before[64];
	const char *want = "";

	name[0] = before[0] = '\0';
	if (p->login != -1 && json_object_object_get_ex(root, "logins", &o))
		want = icctl_text(
		    json_object_array_get_idx(o, (size_t)p->login), "header");
	if (json_object_object_get_ex(root, "credential", &o) &&
	    json_object_object_get_ex(o, "headers", &list)) {
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			one = json_object_array_get_idx(list, i);
			if (name[0] != '\0' ||
			    (want[0] != '\0' &&
				strcmp(icctl_text(one, "name"), want) != 0))
				continue;
			snprintf(
			    name, sizeof(name), "%s", icctl_text(one, "name"));
			snprintf(before, sizeof(before), "%s",
			    icctl_text(one, "prefix"));
		}
	}
	json_object_put(root);
	*prefix = before;
	return name;
}

/* Write the target of the request: path and query, and which page it is. */
static void
api_target(struct buf *b, json_object *check, unsigned page)
{
	const char *mark = "?";
	json_object *query;

	buf_adds(b, icctl_text(check, "path"));
	if (!json_object_object_get_ex(check, "query", &query))
		return;
	json_object_object_foreach(query, key, val)
	{
		buf_printf(b, "%s%s=", mark, key);
		if (page != 0 && strcmp(key, "page") == 0)
			buf_printf(b, "%u", page);
		else
			buf_adds(b, json_object_get_string(val));
		mark = "&";
	}
}

/* Write one request, with this key. */
static void
api_request(struct buf *b, const struct provider *p, const char *host,
    const char *key, unsigned page)
{
	const char *name, *prefix, *body = icctl_text(p->trial, "body");
	json_object *o;

	name = api_header(p, &prefix);
	buf_printf(b, "%s ", icctl_text(p->trial, "method"));
	api_target(b, p->trial, page);
	buf_printf(b,
	    " HTTP/1.1\r\nHost: %s\r\nUser-Agent: ironcurtain/" IC_VERSION
	    "\r\nAccept: application/json\r\n%s: %s%s\r\n",
	    host, name, prefix, key);
	if (json_object_object_get_ex(p->trial, "headers", &o)) {
		json_object_object_foreach(o, header, val)
		{
			buf_printf(b, "%s: %s\r\n", header,
			    json_object_get_string(val));
		}
	}
	if (body[0] != '\0')
		buf_printf(b,
		    "Content-Type: application/json\r\nContent-Length: %zu\r\n",
		    strlen(body));
	buf_printf(b, "\r\n%s", body);
}

/* Write ic-asker's input. Returns a memfd, or -1. */
static int
api_input(const struct trial *t)
{
	const struct provider *p = t->p;
	const char *host = icctl_text(p->trial, "host");
	char key[4096];
	struct buf b;
	int fd = -1;

	if (!api_variable(
		t, p->in_parts ? p->parts[0] : p->env, key, sizeof(key)))
		return -1;
	if (host[0] == '\0')
		host = p->hosts[0];
	buf_init(&b, ASKER_MAX_INPUT);
	if (t->a->pages == 0) {
		buf_printf(&b, "%s\n", host);
		api_request(&b, p, host, key, 0);
	} else {
		buf_printf(&b, "%s list %u\n", host, t->a->limit);
		for (unsigned i = 1; i <= t->a->pages; i++)
			api_request(&b, p, host, key, i);
	}
	if (!b.failed && (fd = memfd_create("request", MFD_CLOEXEC)) != -1 &&
	    (pwrite(fd, buf_span(&b).p, b.len, 0) != (ssize_t)b.len)) {
		close(fd);
		fd = -1;
	}
	buf_free(&b);
	return fd;
}

static int
api_proxy(const struct trial *t)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "%s/sockets/mitm-proxy.sock", t->session);
	if (fd != -1 &&
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/*
 * Read all lines, until ic-asker ends, and copy the last one, which is its
 * result. Returns false if there is none.
 */
static bool
api_more(int fd, struct buf *all, char *dst, size_t cap)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct span rest, line = SPAN("");
	uint8_t piece[4096];
	ssize_t n = 1;

	while (n > 0 && poll(&p, 1, API_ASK_MS) == 1)
		if ((n = read(fd, piece, sizeof(piece))) > 0)
			buf_addspan(all, span_of(piece, (size_t)n));
	rest = buf_span(all);
	while (span_line(&rest, &line))
		;
	return n == 0 && buf_check(all) == 0 && line.len != 0 &&
	       span_copy(line, dst, cap) == 0;
}

/* Run ic-asker, and read its line. */
static void
api_run(struct trial *t, struct spawn *s)
{
	struct spawned sp = SPAWNED_INIT;
	char line[512] = "";
	int out[2], code, status;

	if (pipe2(out, O_CLOEXEC) == -1)
		return;
	s->fds[1] = out[1];
	if (spawn_start(s, &sp) == -1 || spawn_check(&sp) == -1) {
		api_why(t->a, "ic-asker cannot be started");
		close(out[1]);
	} else {
		close(out[1]);
		if (!(t->a->pages != 0
			    ? api_more(out[0], &t->a->more, line, sizeof(line))
			    : api_line(
				  out[0], API_ASK_MS, line, sizeof(line))))
			api_why(t->a, "there was no answer");
		else if (sscanf(line, "status %3u", &t->a->status) != 1)
			api_why(t->a,
			    strncmp(line, "failed ", 7) == 0 ? line + 7 : line);
		(void)kill(sp.pid, SIGKILL);
	}
	close(out[0]);
	if (sp.pidfd != -1) {
		(void)spawn_reap(sp.pidfd, true, &code, &status);
		close(sp.pidfd);
	}
}

static void
api_ask(struct trial *t)
{
	char program[PATH_MAX], ca[128];
	const char *const argv[] = {"ic-asker", NULL};
	char *const envp[] = {NULL};
	struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .envp = envp,
	    .fds = {-1, -1, STDERR_FILENO, -1, -1},
	    .nfds = 5};

	snprintf(ca, sizeof(ca), "%s/orientation/ca-cert.pem", t->session);
	s.fds[0] = api_input(t);
	s.fds[ASKER_FD_PROXY] = api_proxy(t);
	s.fds[ASKER_FD_CA] = open(ca, O_RDONLY | O_CLOEXEC);
	if (s.fds[0] == -1 || s.fds[ASKER_FD_PROXY] == -1 ||
	    s.fds[ASKER_FD_CA] == -1 ||
	    policy_own_path(
		"libexec/ironcurtain/ic-asker", program, sizeof(program)) == -1)
		api_why(t->a, "the session does not offer it");
	else
		api_run(t, &s);
	if (s.fds[0] != -1)
		close(s.fds[0]);
	if (s.fds[ASKER_FD_PROXY] != -1)
		close(s.fds[ASKER_FD_PROXY]);
	if (s.fds[ASKER_FD_CA] != -1)
		close(s.fds[ASKER_FD_CA]);
}

/* Learn from the session what became of its credential. */
static void
api_credential(struct trial *t)
{
	json_object *reply, *list, *k, *failure;
	struct api_answer *a = t->a;
	const char *state, *login;
	char path[ICCTL_PATH];

	reply = icctl_ask_dir(t->session, "keys");
	if (reply != NULL && json_object_object_get_ex(reply, "keys", &list) &&
	    (k = json_object_array_get_idx(list, 0)) != NULL) {
		state = icctl_text(k, "state");
		a->sent = icctl_number(k, "requests") != 0;
		login = icctl_text(k, "login");
		if (login[0] != '\0')
			snprintf(a->source, sizeof(a->source),
			    "the login of %.200s", login);
		else
			snprintf(a->source, sizeof(a->source), "%.250s",
			    icctl_path(icctl_text(k, "source"), path));
		if (json_object_object_get_ex(k, "failure", &failure)) {
			a->why[0] = '\0';
			api_why(a, icctl_text(failure, "text"));
		} else if (!a->sent && strcmp(state, "loaded") != 0) {
			a->why[0] = '\0';
			api_why(a, state);
		} else if (!a->sent && a->status != 0) {
			snprintf(a->why, sizeof(a->why),
			    "the session itself refused the request (status "
			    "%u)",
			    a->status);
		}
	}
	json_object_put(reply);
}

void
doctor_api_try(const struct provider *p, struct api_answer *a)
{
	struct trial t = {
	    .p = p, .a = a, .dir = "/tmp/ic-doctor-XXXXXX", .said = -1};
	char text[16384];
	ssize_t n;

	t.sup = (struct spawned)SPAWNED_INIT;
	if (mkdtemp(t.dir) == NULL) {
		api_why(a, "icctl needs a directory below /tmp");
		return;
	}
	snprintf(t.session, sizeof(t.session), "%s/session", t.dir);
	t.said = memfd_create("said", MFD_CLOEXEC);
	if (t.said != -1 && api_start(&t) == 0) {
		a->started = true;
		api_ask(&t);
		api_credential(&t);
	} else if (t.said != -1) {
		n = pread(t.said, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		api_why(a, doctor_last_said(text));
	}
	api_stop(&t);
	if (t.said != -1)
		close(t.said);
	(void)tree_remove(t.dir);
}
