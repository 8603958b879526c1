/* SPDX-License-Identifier: ISC */
/*
 * Finds and runs an engine's client. It gets an environment of a few variables,
 * an empty configuration directory of ours, and the address of an engine on
 * this machine: the user's own configuration could put credentials into
 * containers, run plugins, or lead to another machine.
 */
#include "box/containers/engine.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "common/log.h"
#include "common/loop.h"
#include "core/sup.h"

#define CLIENT_MS 30000U

/* Read what is there. Returns false at the end. */
static bool
client_read(int fd, char *text, size_t cap, size_t *len)
{
	char rest[4096];
	ssize_t n;

	/* The end of a long text is dropped. */
	n = *len < cap - 1 ? read(fd, text + *len, cap - 1 - *len)
			   : read(fd, rest, sizeof(rest));
	if (n == -1)
		return errno == EAGAIN || errno == EINTR;
	if (*len < cap - 1)
		*len += (size_t)n;
	text[*len] = '\0';
	return n != 0;
}

/* Returns false if it takes longer than `ms`. */
static bool
client_listen(int out, int err, unsigned ms, struct engine_said *said)
{
	struct pollfd p[2] = {
	    {.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
	uint64_t now, until = clock_mono_us() / 1000 + ms;
	size_t nout = 0, nerr = 0;

	while (p[0].fd != -1 || p[1].fd != -1) {
		now = clock_mono_us() / 1000;
		if (now >= until)
			return false;
		if (poll(p, 2, (int)(until - now)) == -1 && errno != EINTR)
			return false;
		if (p[0].fd != -1 && p[0].revents != 0 &&
		    !client_read(out, said->out, sizeof(said->out), &nout))
			p[0].fd = -1;
		if (p[1].fd != -1 && p[1].revents != 0 &&
		    !client_read(err, said->err, sizeof(said->err), &nerr))
			p[1].fd = -1;
	}
	return true;
}

/* The client's message is one line of a limited length for the user. */
static void
client_line(char *text)
{
	char vis[sizeof(((struct engine_said *)0)->err)];
	size_t len = strcspn(text, "\n");

	(void)log_vis(span_of(text, len < 300 ? len : 300), vis, sizeof(vis));
	snprintf(text, sizeof(((struct engine_said *)0)->err), "%s", vis);
}

static int
client_run(const char **argv, unsigned ms, struct engine_said *said,
    struct fault *fault)
{
	struct spawned sp = SPAWNED_INIT;
	struct spawn s = {.argv = (char *const *)(uintptr_t)argv,
	    .envp = engine.env,
	    .fds = {-1, -1, -1},
	    .nfds = 3,
	    .session = true};
	int out[2] = {-1, -1}, err[2] = {-1, -1}, code, status, rv = -1;

	if (pipe2(out, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    pipe2(err, O_CLOEXEC | O_NONBLOCK) == -1) {
		fault_errno(fault, "%s", engine.kind->name);
		goto out;
	}
	s.fds[1] = out[1];
	s.fds[2] = err[1];
	/* Its own ends block, as it expects. */
	(void)fcntl(out[1], F_SETFL, 0);
	(void)fcntl(err[1], F_SETFL, 0);
	if (host_program_start(&engine.client, &sup.host.places, &s, &sp) ==
		-1 ||
	    spawn_check(&sp) == -1) {
		fault_errno(fault, "%s", engine.kind->name);
		goto out;
	}
	close(out[1]);
	close(err[1]);
	out[1] = err[1] = -1;
	if (!client_listen(out[0], err[0], ms, said)) {
		(void)kill(sp.pid, SIGKILL);
		fault_set(fault, "`%s %s` did not end within %u s. %s",
		    engine.kind->name, argv[1], ms / 1000, engine.kind->dead);
	}
	if (spawn_reap(sp.pidfd, true, &code, &status) == 1 &&
	    code == CLD_EXITED)
		rv = status;
	else if (code != CLD_KILLED)
		fault_set(fault, "%s was killed", engine.kind->name);
	client_line(said->err);
out:
	for (unsigned i = 0; i < 2; i++) {
		if (out[i] != -1)
			close(out[i]);
		if (err[i] != -1)
			close(err[i]);
	}
	if (sp.pidfd != -1)
		close(sp.pidfd);
	return rv;
}

int
engine_ask(const char *const *args, unsigned ms, struct engine_said *said,
    struct fault *fault)
{
	const char *list[ENGINE_MAX_ARGS + 1];
	struct wordlist words = WORDLIST_IN(list);

	said->out[0] = said->err[0] = '\0';
	wordlist_add(&words, engine.kind->name);
	wordlist_all(&words, (const char *const *)engine.before);
	wordlist_all(&words, args);
	if (wordlist_end(&words) == NULL)
		return fault_set(
		    fault, "%s: too many arguments", engine.kind->name);
	return client_run(list, ms, said, fault);
}

/* Copy a variable of ours, if there is one. */
static void
client_keep(size_t *n, const char *name)
{
	const char *value = getenv(name);

	if (value != NULL && *n < ENGINE_MAX_ENV &&
	    asprintf(&engine.env[*n], "%s=%s", name, value) != -1)
		(*n)++;
}

static void
client_set(size_t *n, const char *name, const char *value)
{
	if (*n < ENGINE_MAX_ENV && value != NULL &&
	    asprintf(&engine.env[*n], "%s=%s", name, value) != -1)
		(*n)++;
}

static void
client_environment(bool users)
{
	char *config = engine_path("config");
	char *auth = engine_path("config/auth.json");
	size_t n = 0;

	for (size_t i = 0; engine.env[i] != NULL; i++)
		free(engine.env[i]);
	memset(engine.env, 0, sizeof(engine.env));
	client_set(&n, "PATH", sup.host.path);
	client_set(&n, "HOME", sup.paths.user_home);
	client_keep(&n, "XDG_RUNTIME_DIR");
	client_keep(&n, "DBUS_SESSION_BUS_ADDRESS");
	if (users && engine.kind->bit == ON_DOCKER) {
		client_keep(&n, "DOCKER_HOST");
		client_keep(&n, "DOCKER_CONTEXT");
		client_keep(&n, "DOCKER_CONFIG");
	} else if (users) {
		client_keep(&n, "CONTAINERS_CONF");
	} else if (engine.kind->bit == ON_DOCKER) {
		client_set(&n, "DOCKER_CONFIG", config);
	} else {
		client_set(&n, "CONTAINERS_CONF", "/dev/null");
		client_set(&n, "REGISTRY_AUTH_FILE", auth);
	}
	free(config);
	free(auth);
}

static int
client_connect(const char *path, struct fault *fault)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const char *place;
	int fd, rv;

	place = places_of(&sup.host.places, path, NULL);
	if (place != NULL)
		return fault_set(fault,
		    "%s is refused: the agent can write %s. Keep the engine's "
		    "socket elsewhere",
		    path, place);
	if (strlcpy(sun.sun_path, path, sizeof(sun.sun_path)) >=
	    sizeof(sun.sun_path))
		return fault_set(fault, "%s: the path is too long", path);
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1)
		return fault_errno(fault, "socket");
	rv = connect(fd, (const struct sockaddr *)&sun, sizeof(sun));
	if (rv == -1 && errno == EACCES)
		fault_set(fault,
		    "%s: you may not connect to it. Members of its group may, "
		    "and can become root with it; rootless Podman needs no "
		    "such group: --runtime podman",
		    path);
	else if (rv == -1)
		fault_set(fault, "no engine answers on %s (%s). %s", path,
		    strerror(errno), engine.kind->dead);
	close(fd);
	return rv;
}

/* Ask the user's own client where its engine is, which must be here. */
static int
client_find_docker(struct fault *fault)
{
	static const char *const args[] = {"context", "inspect", "--format",
	    "{{.Endpoints.docker.Host}}", NULL};
	static struct engine_said said;
	char *at;
	int rv;

	client_environment(true);
	if ((rv = engine_ask(args, CLIENT_MS, &said, fault)) == -1)
		return -1;
	said.out[strcspn(said.out, "\n")] = '\0';
	if (rv != 0)
		return fault_set(fault, "docker context: %s", said.err);
	if (strncmp(said.out, "unix:///", 8) != 0)
		return fault_set(fault,
		    "Docker's engine at %.200s is refused: the sockets of a "
		    "session reach only containers of this machine. Use "
		    "DOCKER_HOST=unix:///var/run/docker.sock, or --runtime "
		    "bwrap",
		    said.out);
	if (client_connect(said.out + 7, fault) == -1)
		return -1;
	at = strdup(said.out);
	if ((engine.before[0] = strdup("--host")) == NULL || at == NULL) {
		free(at);
		return fault_errno(fault, "docker");
	}
	engine.before[1] = at;
	return 0;
}

static int
client_find_podman(struct fault *fault)
{
	static const char *const refused[] = {
	    "CONTAINER_HOST", "CONTAINER_CONNECTION"};

	for (size_t i = 0; i < 2; i++)
		if (getenv(refused[i]) != NULL)
			return fault_set(fault,
			    "%s is set: an engine on another machine is "
			    "refused, because the sockets of a session reach "
			    "only containers of this one. Unset it",
			    refused[i]);
	/*
	 * newuidmap is set-user-ID, or has capabilities: both need privileges.
	 */
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return fault_set(fault,
		    "rootless Podman cannot make containers under "
		    "no_new_privs, which NoNewPrivileges= and other lines of "
		    "icsupervisor@.service set: its newuidmap needs "
		    "privileges. The drop-in that lifts them is in "
		    "icsupervisor(8), section UNIT; or use --runtime bwrap");
	engine.before[0] = strdup("--remote=false");
	engine.before[1] = strdup("--log-level=error");
	if (engine.before[0] == NULL || engine.before[1] == NULL)
		return fault_errno(fault, "podman");
	client_environment(true);
	return 0;
}

/* Keep what the user's configuration says about making containers here. */
static int
client_keep_podman(struct json_object *info, struct fault *fault)
{
	static const struct {
		const char *member, *option;
	} rows[] = {{"runtime", "runtime"}, {"manager", "cgroup-manager"}};
	struct json_object *v;
	size_t n = 2;

	for (size_t i = 0; i < 2; i++) {
		if (!json_object_object_get_ex(info, rows[i].member, &v) ||
		    !json_object_is_type(v, json_type_string) ||
		    json_object_get_string_len(v) == 0)
			continue;
		if (asprintf(&engine.before[n++], "--%s=%s", rows[i].option,
			json_object_get_string(v)) == -1)
			return fault_errno(fault, "podman");
	}
	return 0;
}

static bool
member_is(struct json_object *o, const char *key, const char *value)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) &&
	       json_object_is_type(v, json_type_string) &&
	       strcmp(json_object_get_string(v), value) == 0;
}

static bool
member_true(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) &&
	       json_object_get_boolean(v);
}

/* Docker lists how it maps users: as "name=rootless" or "name=userns". */
static const char *
docker_maps(struct json_object *info)
{
	struct json_object *v;
	const char *s;

	if (!json_object_object_get_ex(info, "options", &v) ||
	    !json_object_is_type(v, json_type_array))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		s = json_object_get_string(json_object_array_get_idx(v, i));
		if (s != NULL && (strstr(s, "name=rootless") != NULL ||
				     strstr(s, "name=userns") != NULL))
			return s;
	}
	return NULL;
}

static const char *
client_user(void)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw == NULL ? "YOU" : pw->pw_name;
}

/* Returns the number of user ids that a container of rootless Podman has. */
static int64_t
podman_ids(struct json_object *info)
{
	struct json_object *v, *size;
	int64_t n = 0;

	if (!json_object_object_get_ex(info, "maps", &v) ||
	    !json_object_is_type(v, json_type_array))
		return INT64_MAX;
	for (size_t i = 0; i < json_object_array_length(v); i++)
		if (json_object_object_get_ex(
			json_object_array_get_idx(v, i), "size", &size))
			n += json_object_get_int(size);
	return n;
}

static int
client_judge(struct json_object *info, struct fault *fault)
{
	struct json_object *v;
	const char *maps;

	if (!member_is(info, "os", "linux"))
		return fault_set(fault,
		    "%s runs containers of another system than Linux",
		    engine.kind->title);
	if (json_object_object_get_ex(info, "version", &v))
		snprintf(engine.version, sizeof(engine.version), "%s",
		    json_object_get_string(v));
	if (engine.kind->bit == ON_DOCKER) {
		if ((maps = docker_maps(info)) != NULL)
			return fault_set(fault,
			    "this Docker engine maps users (%s): the agent "
			    "would be somebody else than you, and could not "
			    "read your workspace. Use --runtime podman, or "
			    "--runtime bwrap",
			    maps + 5);
		engine.limits =
		    member_true(info, "memory") && member_true(info, "pids");
		return 0;
	}
	engine.rootless = member_true(info, "rootless");
	engine.limits = !engine.rootless || member_is(info, "cgroups", "v2");
	if (member_true(info, "remote"))
		return fault_set(fault,
		    "Podman here talks to another machine, which is refused");
	if (engine.rootless && podman_ids(info) < 2)
		return fault_set(fault,
		    "Podman cannot make containers for you: your user has no "
		    "further user ids. Give it a range that nobody else has in "
		    "/etc/subuid: usermod --add-subuids FIRST-LAST "
		    "--add-subgids FIRST-LAST %s (65536 of them), then run: "
		    "podman system migrate. Or use --runtime bwrap",
		    client_user());
	return client_keep_podman(info, fault);
}

static int
client_info(struct fault *fault)
{
	const char *args[] = {"info", "--format", engine.kind->info, NULL};
	static struct engine_said said;
	struct json_object *info;
	int rv;

	if ((rv = engine_ask(args, CLIENT_MS, &said, fault)) == -1)
		return -1;
	info = rv == 0 ? json_tokener_parse(said.out) : NULL;
	if (info == NULL)
		return fault_set(fault, "`%s info` failed: %s. %s",
		    engine.kind->name, said.err, engine.kind->dead);
	rv = client_judge(info, fault);
	json_object_put(info);
	return rv;
}

int
engine_client(struct fault *fault)
{
	if (host_find(&engine.client, engine.kind->title, engine.kind->name,
		fault) == -1) {
		if (engine.client.refused)
			return -1;
		return fault_set(fault, "%s is not installed: %s",
		    engine.kind->title, engine.kind->install);
	}
	if ((engine.kind->bit == ON_DOCKER ? client_find_docker(fault)
					   : client_find_podman(fault)) == -1)
		return -1;
	if (engine.kind->bit == ON_DOCKER)
		client_environment(false);
	if (client_info(fault) == -1)
		return -1;
	client_environment(false);
	return 0;
}
