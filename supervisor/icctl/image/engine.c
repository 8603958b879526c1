/* SPDX-License-Identifier: ISC */
/*
 * Has icsupervisor do what a plan says, in an empty home and without the user's
 * credentials, and shows what it prints meanwhile.
 */
#include "icctl/image/image.h"

#include <sys/prctl.h>
#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/spawn.h"
#include "base/tree.h"
#include "files/config.h"
#include "icctl/doctor/doctor.h"

#define ENGINE_OUT (2U << 20)

/* Variables by which an engine is found. */
static const char *const engine_env[] = {"PATH", "HOME", "LANG",
    "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST",
    "DOCKER_CONTEXT", "DOCKER_CONFIG", "CONTAINER_HOST", "CONTAINER_CONNECTION",
    "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"};

static const char *
engine_configured(const struct icctl *ctl)
{
	static char name[16];
	const char *home = getenv("HOME");
	struct config cfg;
	struct fault fault;

	if (config_load(&cfg, NULL, ctl->home, home != NULL ? home : ctl->home,
		NULL, &fault) == -1)
		return NULL;
	snprintf(name, sizeof(name), "%s", cfg.runtime);
	config_free(&cfg);
	return strcmp(name, "bwrap") == 0 ? NULL : name;
}

const char *
image_runtime(const struct icctl *ctl, const char *given)
{
	const char *name = given;

	if (name != NULL && strcmp(name, "docker") != 0 &&
	    strcmp(name, "podman") != 0) {
		warnx("--runtime must be docker or podman: no other one has "
		      "images");
		return NULL;
	}
	if (name == NULL)
		name = engine_configured(ctl);
	if (name == NULL && doctor_has("docker"))
		name = "docker";
	if (name == NULL && doctor_has("podman"))
		name = "podman";
	if (name == NULL)
		warnx("there is neither Docker nor Podman here: apt-get "
		      "install docker.io, or podman uidmap. Sandboxes of "
		      "bubblewrap need no images");
	return name;
}

int
image_dir(char dir[IMAGE_DIR])
{
	static const char *const subs[] = {"home", "work"};
	char path[IMAGE_DIR + 16];

	snprintf(dir, IMAGE_DIR, "/tmp/ic-image-XXXXXX");
	if (mkdtemp(dir) == NULL) {
		warn("%s", dir);
		return -1;
	}
	for (size_t i = 0; i < nitems(subs); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, subs[i]);
		if (mkdir(path, 0700) == -1) {
			warn("%s", path);
			(void)tree_remove(dir);
			return -1;
		}
	}
	return 0;
}

/* Returns 0, or -1 with errno set. */
static int
engine_start(const char *program, const char *runtime, const char *dir,
    const char *plan, int out, int messages, struct spawned *sp)
{
	char session[IMAGE_DIR + 16], work[IMAGE_DIR + 16];
	char *envp[nitems(engine_env) + 2], home[IMAGE_DIR + 32];
	const char *argv[] = {"icsupervisor", "--session-dir", session,
	    "--workspace", work, "--runtime", runtime, "--images", plan, NULL};
	const struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .envp = envp,
	    .fds = {STDIN_FILENO, out, messages},
	    .nfds = 3,
	    .tie = SPAWN_ENDED};
	const char *value;
	size_t n = 0;
	int rv;

	snprintf(session, sizeof(session), "%s/session", dir);
	snprintf(work, sizeof(work), "%s/work", dir);
	snprintf(home, sizeof(home), "IRONCURTAIN_HOME=%s/home", dir);
	envp[n++] = home;
	for (size_t i = 0; i < nitems(engine_env); i++)
		if ((value = getenv(engine_env[i])) != NULL &&
		    asprintf(&envp[n], "%s=%s", engine_env[i], value) != -1)
			n++;
	envp[n] = NULL;
	rv = spawn_start(&s, sp) == 0 && spawn_check(sp) == 0 ? 0 : -1;
	while (n > 1)
		free(envp[--n]);
	return rv;
}

/* Show progress, and keep icsupervisor's last message. */
static void
engine_read(int fd, char last[2304])
{
	static const char own[] = "icsupervisor: ";
	FILE *f = fdopen(fd, "r");
	char line[2304];

	last[0] = '\0';
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, own, sizeof(own) - 1) != 0) {
			fputs(line, stderr);
			continue;
		}
		if (doctor_is_log_end(line))
			continue;
		line[strcspn(line, "\n")] = '\0';
		(void)strlcpy(last, line + sizeof(own) - 1, 2304);
	}
	if (f != NULL)
		fclose(f);
}

static json_object *
engine_result(int fd)
{
	char *text = malloc(ENGINE_OUT + 1);
	json_object *o = NULL;
	ssize_t n = text == NULL ? -1 : pread(fd, text, ENGINE_OUT, 0);

	if (n > 0) {
		text[n] = '\0';
		o = json_tokener_parse(text);
	}
	free(text);
	return o;
}

static json_object *
engine_run(const char *program, const char *runtime, const char *dir,
    const char *plan, int out)
{
	struct spawned sp = SPAWNED_INIT;
	int messages[2], rv;
	char last[2304];
	json_object *o;

	if (pipe2(messages, O_CLOEXEC) == -1) {
		warn("icsupervisor");
		return NULL;
	}
	rv = engine_start(program, runtime, dir, plan, out, messages[1], &sp);
	close(messages[1]);
	if (rv == -1) {
		warn("%s", program);
		spawn_stop(&sp, 0);
		close(messages[0]);
		return NULL;
	}
	/* Ctrl-C ends icsupervisor, which tidies up. */
	(void)signal(SIGINT, SIG_IGN);
	engine_read(messages[0], last);
	rv = spawn_wait(&sp);
	(void)signal(SIGINT, SIG_DFL);
	if (rv == 0 && (o = engine_result(out)) != NULL)
		return o;
	warnx("%s", last[0] != '\0' ? last : "icsupervisor did not start");
	return NULL;
}

json_object *
image_engine(const char *runtime, const char *dir, json_object *plan)
{
	char program[PATH_MAX], path[IMAGE_DIR + 16];
	json_object *found = NULL;
	int out = -1;

	snprintf(path, sizeof(path), "%s/plan.json", dir);
	if (jsonfile_replace(path, span_str(json_object_to_json_string_ext(
				       plan, JSON_C_TO_STRING_PLAIN))) == -1)
		warn("%s", path);
	else if (icctl_program("icsupervisor", program, sizeof(program)) == 0 &&
		 (out = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) ==
		     -1)
		warn("/tmp");
	if (out != -1) {
		found = engine_run(program, runtime, dir, path, out);
		close(out);
	}
	json_object_put(plan);
	return found;
}

static bool
has_tag(json_object *image, const char *tag)
{
	json_object *tags, *v;
	const char *s;
	size_t n = strlen(tag);

	if (!json_object_object_get_ex(image, "tags", &tags) ||
	    !json_object_is_type(tags, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(tags); i++) {
		v = json_object_array_get_idx(tags, i);
		s = json_object_get_string(v);
		if (s != NULL && strncmp(s, tag, n) == 0 &&
		    (s[n] == '\0' || strcmp(s + n, ":latest") == 0))
			return true;
	}
	return false;
}

json_object *
image_find(json_object *found, const char *tag)
{
	json_object *list, *o;

	if (!json_object_object_get_ex(found, "images", &list))
		return NULL;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (has_tag(o, tag))
			return o;
	}
	return NULL;
}

const char *
image_label(json_object *image, const char *label)
{
	json_object *labels = NULL;

	(void)json_object_object_get_ex(image, "labels", &labels);
	return get_str(labels, label, "");
}
