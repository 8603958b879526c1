/* SPDX-License-Identifier: ISC */
/*
 * Probes a server in an ordinary session with a temporary IRONCURTAIN_HOME, so
 * that the server is started, confined and read exactly as in any other
 * session. The tools are requested over proxy.sock; mcp-proxyd composes the
 * answer.
 */
#include "icctl/mcp/probe.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "config/jsonfile.h"
#include "host/tree.h"
#include "icctl/icctl.h"
#include "icctl/mcp/store.h"
#include "json_put.h"

#define PROBE_MS 40000
#define PROBE_STOP_MS 20000
#define PROBE_LINE (8U << 20)

struct probe {
	char dir[64]; /* the temporary IRONCURTAIN_HOME, or "" */
	pid_t pid;    /* icsupervisor, or 0 */
	int out, log; /* its standard output and error */
	int sock;     /* the agent's side of mcp-proxyd */
	struct timespec began;
	uint8_t in[16384]; /* read and not taken yet, of one descriptor */
	size_t have, taken;
};

static int
probe_left(const struct probe *p)
{
	struct timespec now;
	int64_t ms;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ms = (now.tv_sec - p->began.tv_sec) * 1000 +
	     (now.tv_nsec - p->began.tv_nsec) / 1000000;
	return ms < PROBE_MS ? (int)(PROBE_MS - ms) : 0;
}

/* A bare server may read the files that the entry names, and nothing else. */
static void
probe_sandbox(struct json_object *entry)
{
	struct json_object *box = NULL, *files = NULL, *paths, *rows, *v;

	if (!json_object_object_get_ex(entry, "sandbox", &box) ||
	    !json_object_object_get_ex(box, "filesystem", &files)) {
		json_object_object_del(entry, "sandbox");
		return;
	}
	paths = json_object_new_array();
	json_object_object_foreach(files, key, list)
	{
		if (strncmp(key, "allow", 5) != 0)
			continue;
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			v = json_object_array_get_idx(list, i);
			if (access(json_object_get_string(v), F_OK) == 0)
				json_object_array_add(
				    paths, json_object_get(v));
		}
	}
	rows = json_object_new_object();
	json_object_object_add(rows, "allowRead", paths);
	box = json_object_new_object();
	json_object_object_add(box, "filesystem", rows);
	json_object_object_add(entry, "sandbox", box);
}

/*
 * Returns the entry to start with; if `bare`, without everything that the
 * person has not agreed to yet.
 */
static struct json_object *
probe_entry(struct json_object *entry, bool bare)
{
	struct json_object *copy = NULL, *args, *clean;
	const char *s;

	if (json_object_deep_copy(entry, &copy, NULL) == -1)
		return NULL;
	if (!bare)
		return copy;
	json_object_object_del(copy, "env");
	probe_sandbox(copy);
	put_bool(copy, "workspace", false);
	if (!json_object_object_get_ex(copy, "args", &args))
		return copy;
	clean = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(args); i++) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		json_object_array_add(
		    clean, json_object_new_string(
			       strstr(s, "${") != NULL ? "placeholder" : s));
	}
	json_object_object_add(copy, "args", clean);
	return copy;
}

static int
probe_files(struct probe *p, const char *name, struct json_object *entry,
    struct fault *fault)
{
	struct json_object *root = json_object_new_object(),
			   *config = json_object_new_object(),
			   *policy = json_object_new_object();
	int rv = -1;

	/* No policy knows its tools, and nobody is asked: list them still. */
	put_str(policy, "unknownTools", "deny");
	json_object_object_add(config, "policy", policy);

	snprintf(p->dir, sizeof(p->dir), "/tmp/ic-probe-XXXXXX");
	if (mkdtemp(p->dir) == NULL) {
		p->dir[0] = '\0';
		fault_errno(fault, "/tmp");
		goto out;
	}
	json_object_object_add(root, name, json_object_get(entry));
	if (strcmp(name, "filesystem") != 0)
		put_bool(root, "filesystem", false);
	if (store_write(p->dir, "mcp-servers.json", root, fault) == -1 ||
	    store_write(p->dir, "config.json", config, fault) == -1)
		goto out;
	rv = 0;
out:
	json_object_put(root);
	json_object_put(config);
	return rv;
}

static void
probe_exec(const struct probe *p, const char *program, int out, int log)
{
	char session[96], home[96], path[4096], lang[] = "LANG=C.UTF-8";
	const char *user_path = getenv("PATH"), *user = getenv("HOME");
	char user_home[4096];
	char *const envp[] = {home, user_home, path, lang, NULL};
	int null = open("/dev/null", O_RDWR);

	snprintf(session, sizeof(session), "%s/session", p->dir);
	snprintf(home, sizeof(home), "IRONCURTAIN_HOME=%s", p->dir);
	snprintf(user_home, sizeof(user_home), "HOME=%.4000s",
	    user != NULL ? user : "/");
	snprintf(path, sizeof(path), "PATH=%.4000s",
	    user_path != NULL ? user_path : "/usr/bin:/bin");
	if (null == -1 || dup2(null, 0) == -1 || dup2(out, 1) == -1 ||
	    dup2(log, 2) == -1)
		_exit(126);
	execle(program, "icsupervisor", "--session-dir", session, "--runtime",
	    "none", "--escalations", "deny", "--print-ready", (char *)NULL,
	    envp);
	_exit(126);
}

static int
probe_start(struct probe *p, struct fault *fault)
{
	int out[2] = {-1, -1}, log[2] = {-1, -1};
	char program[4096];

	if (icctl_program("icsupervisor", program, sizeof(program)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1 || pipe2(log, O_CLOEXEC) == -1)
		return fault_errno(fault, "icsupervisor");
	if ((p->pid = fork()) == -1) {
		p->pid = 0;
		return fault_errno(fault, "icsupervisor");
	}
	if (p->pid == 0)
		probe_exec(p, program, out[1], log[1]);
	close(out[1]);
	close(log[1]);
	p->out = out[0];
	p->log = log[0];
	(void)fcntl(p->log, F_SETFL, O_NONBLOCK);
	return 0;
}

/* Set the fault to the last line that icsupervisor wrote for a person. */
static int
probe_why(struct probe *p, const char *name, struct fault *fault)
{
	char text[4096], *line = text, *end;
	ssize_t n = read(p->log, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	while ((end = strchr(line, '\n')) != NULL && end[1] != '\0')
		line = end + 1;
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "icsupervisor: ", 14) == 0)
		line += 14;
	return fault_set(fault, "%s", *line != '\0' ? line : name);
}

/* Read one line from a descriptor into `b`, which is emptied first. */
static int
probe_line(struct probe *p, int fd, struct buf *b)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	const uint8_t *end;
	size_t len;
	ssize_t n;

	buf_reset(b, PROBE_LINE);
	for (;;) {
		len = p->have - p->taken;
		end = memchr(p->in + p->taken, '\n', len);
		if (end != NULL)
			len = (size_t)(end - (p->in + p->taken));
		if (len != 0)
			buf_add(b, p->in + p->taken, len);
		if (b->failed)
			return -1;
		p->taken += len + (end != NULL);
		if (end != NULL)
			return 0;
		if (poll(&pfd, 1, probe_left(p)) != 1 ||
		    (n = read(fd, p->in, sizeof(p->in))) <= 0)
			return -1;
		p->have = (size_t)n;
		p->taken = 0;
	}
}

static int
probe_connect(struct probe *p, struct fault *fault)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	snprintf(sun.sun_path, sizeof(sun.sun_path),
	    "%s/session/sockets/proxy.sock", p->dir);
	p->have = p->taken = 0;
	p->sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->sock == -1 ||
	    connect(p->sock, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		return fault_errno(fault, "%s", sun.sun_path);
	return 0;
}

/* Speak MCP as an agent does, and return the list of tools. */
static struct json_object *
probe_tools(struct probe *p, const char *name, struct fault *fault)
{
	static const char hello[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
	    "\"params\":{\"protocolVersion\":\"2025-06-18\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"icctl\","
	    "\"version\":\"1\"}}}\n{\"jsonrpc\":\"2.0\",\"method\":"
	    "\"notifications/initialized\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,"
	    "\"method\":\"tools/list\"}\n";
	struct json_object *reply = NULL, *id, *result, *tools = NULL;
	struct buf b;

	buf_init(&b, PROBE_LINE);
	if (send(p->sock, hello, sizeof(hello) - 1, MSG_NOSIGNAL) == -1)
		goto out;
	while (tools == NULL && probe_line(p, p->sock, &b) == 0) {
		json_object_put(reply);
		reply = jsonfile_parse("tools/list", buf_span(&b), fault);
		if (reply == NULL)
			goto out;
		if (json_object_object_get_ex(reply, "id", &id) &&
		    json_object_get_int(id) == 2 &&
		    json_object_object_get_ex(reply, "result", &result) &&
		    json_object_object_get_ex(result, "tools", &tools))
			json_object_get(tools);
	}
out:
	if (tools == NULL)
		fault_set(fault, "%s did not list its tools in %d s", name,
		    PROBE_MS / 1000);
	json_object_put(reply);
	buf_free(&b);
	return tools;
}

/* End the session, which has its own limit for that; it is killed after ours.
 */
static void
probe_stop(pid_t pid)
{
	struct pollfd pfd = {.events = POLLIN};

	kill(pid, SIGTERM);
	pfd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pfd.fd == -1 || poll(&pfd, 1, PROBE_STOP_MS) != 1)
		kill(pid, SIGKILL);
	if (pfd.fd != -1)
		close(pfd.fd);
	while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
		continue;
}

static void
probe_end(struct probe *p)
{
	if (p->sock != -1)
		close(p->sock);
	if (p->pid != 0)
		probe_stop(p->pid);
	if (p->out != -1)
		close(p->out);
	if (p->log != -1)
		close(p->log);
	if (p->dir[0] != '\0')
		(void)tree_remove(p->dir);
}

struct json_object *
mcp_probe(
    const char *name, struct json_object *entry, bool bare, struct fault *fault)
{
	struct probe p = {.out = -1, .log = -1, .sock = -1};
	struct json_object *copy = probe_entry(entry, bare), *tools = NULL;
	struct buf ready;

	clock_gettime(CLOCK_MONOTONIC, &p.began);
	buf_init(&ready, 65536);
	if (copy == NULL) {
		fault_set(fault, "%s: out of memory", name);
	} else if (probe_files(&p, name, copy, fault) == 0 &&
		   probe_start(&p, fault) == 0) {
		if (probe_line(&p, p.out, &ready) == -1)
			probe_why(&p, name, fault);
		else if (probe_connect(&p, fault) == 0)
			tools = probe_tools(&p, name, fault);
		if (tools != NULL && json_object_array_length(tools) == 0) {
			json_object_put(tools);
			tools = NULL;
			probe_why(&p, name, fault);
		}
	}
	probe_end(&p);
	buf_free(&ready);
	json_object_put(copy);
	return tools;
}
