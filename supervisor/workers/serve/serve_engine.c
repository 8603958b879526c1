/* SPDX-License-Identifier: ISC */
/*
 * A service that is an image of Docker or Podman. Its container has no
 * interface, no mount of the user's, a read-only root, and memory in place of
 * the volumes that the image declares. Our ic-bridge is its process 1 and
 * starts what the image would have started; when the session is gone, nobody
 * takes its connections, it ends, and the engine removes the container.
 */
#include "workers/serve/serve.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/read_until.h"

#define ENGINE_WORDS 400U
/* As in box/containers/engine.h: the session, and the service. */
#define ENGINE_SERVICE "ironcurtain-%s-%s"
#define ENGINE_MS 30000
#define ENGINE_TEXT 65536U

extern char **environ;

/* Texts that live until the container is started. */
static struct {
	char *list[128];
	size_t n;
} kept;

/* Compose a text that is kept. Returns NULL without memory. */
static const char *__attribute__((format(printf, 1, 2)))
keep(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (kept.n == nitems(kept.list) || vasprintf(&text, fmt, ap) == -1)
		text = NULL;
	else
		kept.list[kept.n++] = text;
	va_end(ap);
	return text;
}

static void
keep_free(void)
{
	while (kept.n != 0)
		free(kept.list[--kept.n]);
}

static void
add(struct wordlist *w, const char *option, const char *value)
{
	wordlist_add(w, option);
	if (value != NULL)
		wordlist_add(w, value);
	else
		w->spoilt = true;
}

/* Begin the words of the engine's client. */
static void
client_words(struct wordlist *w)
{
	wordlist_add(w, errand.engine);
	for (size_t i = 0; i < errand.before.n; i++)
		wordlist_add(w, errand.before.list[i]);
}

static int
client_start(const struct host_program *client, const char *const *words,
    int out, int err, struct spawned *sp)
{
	struct spawn s = {.argv = (char *const *)(uintptr_t)words,
	    .envp = environ,
	    .fds = {-1, out, err},
	    .nfds = 3,
	    .session = true};

	return host_program_start(client, &errand.places, &s, sp) == -1 ||
		       spawn_check(sp) == -1
		   ? -1
		   : 0;
}

/*
 * Ask the engine for the image's settings. Returns them, or NULL with the fault
 * set.
 */
static struct json_object *
image_ask(const struct host_program *client, const struct service *s,
    struct fault *fault)
{
	static char text[ENGINE_TEXT];
	const char *list[40], *image = serve_text(s, "image");
	struct wordlist w = WORDLIST_IN(list);
	struct spawned sp = SPAWNED_INIT;
	struct json_object *o = NULL;
	int p[2], code, status;
	size_t len = 0;
	bool said;

	client_words(&w);
	wordlist_all(&w, (const char *const[]){"image", "inspect", "--format",
			     "{{json .Config}}", image, NULL});
	if (wordlist_end(&w) == NULL || pipe2(p, O_CLOEXEC) == -1) {
		fault_errno(fault, "services.%s", s->name);
		return NULL;
	}
	if (client_start(client, list, p[1], -1, &sp) == -1) {
		fault_errno(fault, "%s", errand.engine);
		close(p[0]);
		close(p[1]);
		return NULL;
	}
	close(p[1]);
	said = read_until(p[0], text, ENGINE_TEXT - 1, ENGINE_MS, &len);
	text[len] = '\0';
	if (!said)
		spawn_stop(&sp, 0);
	close(p[0]);
	if (sp.pidfd != -1 && spawn_reap(sp.pidfd, true, &code, &status) == 1 &&
	    spawn_status(code, status) == 0)
		o = json_tokener_parse(text);
	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
		fault_set_kind(fault, said ? FAULT_CONFIG : FAULT_OTHER,
		    said ? "services.%s: %s has no image %s. Nothing is pulled "
			   "when a session starts: run %s pull %s"
			 : "services.%s: %s did not say within 30 s whether it "
			   "has the image %s. Start again, or look: %s image "
			   "inspect %s",
		    s->name, errand.engine, image, errand.engine, image);
	}
	return o;
}

/* Add a directory in memory, that every user of the container may write to. */
static void
engine_room(struct wordlist *w, const char *path)
{
	const uint64_t mib = serve_env.limits.tmp_mb;

	if (mib != 0)
		add(w, "--tmpfs",
		    keep("%s:rw,exec,nosuid,nodev,mode=1777,size=%llum", path,
			(unsigned long long)mib));
	else
		add(w, "--tmpfs",
		    keep("%s:rw,exec,nosuid,nodev,mode=1777", path));
}

/* Directories that servers write to beside their volumes. */
static void
engine_rooms(
    struct wordlist *w, const struct service *s, struct json_object *config)
{
	static const char *const usual[] = {
	    "/tmp", "/run/postgresql", "/run/mysqld"};
	struct json_object *v, *more = serve_list(s, "tmpfs");

	for (size_t i = 0; i < nitems(usual); i++)
		engine_room(w, usual[i]);
	for (size_t i = 0; more != NULL && i < json_object_array_length(more);
	     i++)
		engine_room(w,
		    json_object_get_string(json_object_array_get_idx(more, i)));
	if (!json_object_object_get_ex(config, "Volumes", &v) ||
	    !json_object_is_type(v, json_type_object))
		return;
	json_object_object_foreach(v, path, unused)
	{
		(void)unused;
		if (path[0] == '/' && strpbrk(path, ":,\"\\\n") == NULL &&
		    strlen(path) < 256)
			engine_room(w, path);
	}
}

/*
 * An image's own user stays; root becomes this user, who has no right over
 * files of the image.
 */
static void
engine_user(struct wordlist *w, struct json_object *config)
{
	struct json_object *v;
	const char *user = "";

	if (json_object_object_get_ex(config, "User", &v))
		user = json_object_get_string(v);
	if (user != NULL && user[0] != '\0' && strcmp(user, "0") != 0 &&
	    strcmp(user, "root") != 0 && strncmp(user, "0:", 2) != 0 &&
	    strncmp(user, "root:", 5) != 0)
		return;
	add(w, "--user",
	    keep("%u:%u", (unsigned)geteuid(), (unsigned)getegid()));
	if (strcmp(errand.engine, "podman") == 0 && geteuid() != 0)
		add(w, "--userns", "keep-id");
}

static void
engine_limits(struct wordlist *w)
{
	const struct limits *l = &serve_env.limits;
	const uint64_t files = limits_files(l);

	if (l->server_mb != 0) {
		add(w, "--memory",
		    keep("%llum", (unsigned long long)l->server_mb));
		add(w, "--memory-swap",
		    keep("%llum", (unsigned long long)l->server_mb));
	}
	if (l->processes != 0)
		add(w, "--pids-limit",
		    keep("%llu", (unsigned long long)l->processes + 1));
	if (limits_processors(l) != 0)
		add(w, "--cpus", keep("%u", limits_processors(l)));
	if (files != 0)
		add(w, "--ulimit",
		    keep("nofile=%llu:%llu", (unsigned long long)files,
			(unsigned long long)files));
	if (l->shm_mb != 0)
		add(w, "--shm-size",
		    keep("%llum", (unsigned long long)l->shm_mb));
}

/* Add a list of the image's settings, or of the entry's. */
static void
engine_list(struct wordlist *w, struct json_object *list)
{
	for (size_t i = 0; json_object_is_type(list, json_type_array) &&
			   i < json_object_array_length(list);
	     i++)
		wordlist_add(w,
		    json_object_get_string(json_object_array_get_idx(list, i)));
}

/*
 * Add what the image starts: its entry point, and the entry's command or the
 * image's own. Returns false if there is none.
 */
static bool
engine_command(
    struct wordlist *w, const struct service *s, struct json_object *config)
{
	struct json_object *entry = NULL, *own = serve_list(s, "command");
	const size_t before = w->n;

	if (json_object_object_get_ex(config, "Entrypoint", &entry))
		engine_list(w, entry);
	if (own == NULL)
		(void)json_object_object_get_ex(config, "Cmd", &own);
	engine_list(w, own);
	return w->n != before;
}

static bool
engine_args(
    struct wordlist *w, const struct service *s, struct json_object *config)
{
	static const char *const fixed[] = {"run", "--rm", "--pull", "never",
	    "--network", "none", "--cap-drop", "ALL", "--security-opt",
	    "no-new-privileges", "--ipc", "private", "--ulimit", "core=0:0",
	    "--read-only", "--log-driver", "none", "--no-healthcheck",
	    "--entrypoint", SERVE_BRIDGE, NULL};
	/* Podman's rm --force waits for that long until it kills. */
	static const char *const podman[] = {"--stop-timeout", "0",
	    "--read-only-tmpfs=false", "--env-host=false", "--http-proxy=false",
	    "--image-volume", "ignore", "--attach", "stdout", "--attach",
	    "stderr", NULL};
	struct json_object *env;

	client_words(w);
	wordlist_all(w, fixed);
	if (strcmp(errand.engine, "podman") == 0)
		wordlist_all(w, podman);
	for (size_t i = 0; i < errand.labels.n; i++)
		add(w, "--label", errand.labels.list[i]);
	/* By this name, icsupervisor removes it at the end. */
	add(w, "--name",
	    keep(ENGINE_SERVICE, strchr(errand.labels.list[0], '=') + 1,
		s->name));
	add(w, "--hostname", s->name);
	engine_user(w, config);
	engine_limits(w);
	engine_rooms(w, s, config);
	add(w, "--mount",
	    keep("type=bind,source=%s/" SERVE_SOCKET_NAME
		 ",target=" SERVE_SOCKET ",readonly",
		errand.session_path, s->number));
	add(w, "--mount",
	    keep("type=bind,source=%s,target=" SERVE_BRIDGE ",readonly",
		errand.tool));
	if (json_object_object_get_ex(s->o, "env", &env)) {
		json_object_object_foreach(env, name, val) add(w, "--env",
		    keep("%s=%s", name, json_object_get_string(val)));
	}
	add(w, "--env", keep("SERVICE_PORT=%u", s->port));
	wordlist_add(w, serve_text(s, "image"));
	serve_bridge(w, s, false, NULL);
	return engine_command(w, s, config);
}

int
serve_engine(struct service *s, int out, struct fault *fault)
{
	const char *list[ENGINE_WORDS];
	struct wordlist w = WORDLIST_IN(list);
	struct host_program client = {.nfiles = 0};
	struct json_object *config;
	int rv = -1;

	if (errand.engine == NULL)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "services.%s: an image needs --runtime docker or podman. "
		    "With bwrap it can be a program of this machine: "
		    "\"command\": [\"postgres\"]",
		    s->name);
	if (errand.far)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "services.%s: an image is not reached over --transport "
		    "tcp, whose engine may be on another machine. Give it a "
		    "\"command\" instead, or use --transport unix",
		    s->name);
	if (strpbrk(errand.session_path, ",\"\n") != NULL)
		return fault_set_kind(fault, FAULT_CONFIG,
		    "services.%s: %s cannot mount a path with a comma: %s",
		    s->name, errand.engine, errand.session_path);
	if (host_program_find(&client, &serve_env.how, errand.engine,
		errand.engine, fault) == -1 ||
	    (config = image_ask(&client, s, fault)) == NULL) {
		host_program_free(&client);
		return -1;
	}
	if (!engine_args(&w, s, config))
		fault_set_kind(fault, FAULT_CONFIG,
		    "services.%s: the image starts nothing by itself: add "
		    "\"command\"",
		    s->name);
	else if (wordlist_end(&w) == NULL)
		fault_errno(fault, "services.%s: its options", s->name);
	else if (client_start(&client, list, out, out, &s->sp) == -1)
		fault_errno(fault, "%s", errand.engine);
	else
		rv = 0;
	json_object_put(config);
	keep_free();
	host_program_free(&client);
	return rv;
}
