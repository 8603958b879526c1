/* SPDX-License-Identifier: ISC */
/*
 * The kind of sandbox that is a container. Its client stays in the foreground
 * as long as the container, and has its exit status. ic-bridge, which is
 * mounted and static, is the entry point in every image. After the agent has
 * run, the engine is only told to end the container: it never enters it again.
 */
#include "box/containers/engine.h"

#include <sys/syscall.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/jsonfile.h"
#include "box/containers/sidecar.h"
#include "box/kind.h"
#include "box/oom.h"
#include "box/orient.h"
#include "box/sandbox.h"
#include "core/sup.h"
#include "home/caches.h"

#define ENGINE_MS 30000U

/* The engine's client says with these that no command was started. */
#define ENGINE_FAILED 125
#define ENGINE_NOT_FOUND 127

static const struct engine_kind kinds[] = {
    {.name = "docker",
	.title = "Docker",
	.bit = ON_DOCKER,
	.install = "apt-get install docker.io",
	.dead = "Start it: systemctl start docker",
	.info = "{\"os\":{{json .OSType}},\"version\":{{json .ServerVersion}},"
		"\"memory\":{{json .MemoryLimit}},\"pids\":{{json .PidsLimit}},"
		"\"options\":{{json .SecurityOptions}}}"},
    {.name = "podman",
	.title = "Podman",
	.bit = ON_PODMAN,
	.install = "apt-get install podman uidmap",
	.dead = "Its own message: podman info",
	.info = "{\"os\":{{json .Host.OS}},\"version\":{{json "
		".Version.Version}},\"cgroups\":{{json .Host.CgroupsVersion}},"
		"\"rootless\":{{json .Host.Security.Rootless}},\"remote\":{{"
		"json .Host.ServiceIsRemote}},\"runtime\":{{json "
		".Host.OCIRuntime.Path}},\"manager\":{{json "
		".Host.CgroupManager}},\"maps\":{{json "
		".Host.IDMappings.UIDMap}}}"},
};

struct engine engine = {.fd = -1};

const char *const engine_bridge_options[] = {
    "--filter", ENGINE_FILTER, "--env", "/etc/ironcurtain/agent.env", NULL};

/*
 * The agent's program is the image's own, found there by its PATH, unless it is
 * the built-in one.
 */
static int
engine_find(char **inside, struct fault *fault)
{
	char **names = sup.adapter.program;

	if (sup.opt.command != NULL)
		*inside = strdup(sup.opt.command[0]);
	else if (names != NULL && names[0] != NULL)
		*inside = strdup(names[0]);
	else
		return fault_set(
		    fault, "agent %s: no program is known", sup.adapter.name);
	if (*inside == NULL)
		return fault_errno(fault, "agent");
	return sup.opt.command != NULL ? 0
				       : engine_own(*inside, inside, fault);
}

/*
 * ic-bridge reads the environment from agent.env, a line for each variable. The
 * image's own PATH stays.
 */
static int
engine_environment(char **env, struct fault *fault)
{
	size_t n = 0;

	if (orient_environment(NULL, env, fault) == -1)
		return -1;
	for (size_t i = 0; env[i] != NULL; i++) {
		if (strncmp(env[i], "PATH=", 5) == 0) {
			free(env[i]);
			continue;
		}
		if (strchr(env[i], '\n') != NULL)
			return fault_set(fault,
			    "agent %s: %.*s has a line break, which a "
			    "container's environment cannot have",
			    sup.adapter.name, (int)strcspn(env[i], "="),
			    env[i]);
		env[n++] = env[i];
	}
	env[n] = NULL;
	return 0;
}

static int
check_image(struct fault *fault)
{
	const char *args[] = {"image", "inspect", "--format",
	    "{\"id\":{{json .ID}},\"volumes\":{{json .Config.Volumes}}}",
	    engine.image, NULL};
	static struct engine_said said;
	struct json_object *o = NULL, *v;
	int rv;

	if (engine_name(fault) == -1 ||
	    (rv = engine_ask(args, ENGINE_MS, &said, fault)) == -1)
		return -1;
	if (rv != 0)
		return engine_name_missing(fault);
	o = json_tokener_parse(said.out);
	if (o == NULL || !json_object_object_get_ex(o, "id", &v) ||
	    json_object_get_string_len(v) >= (int)sizeof(engine.digest)) {
		json_object_put(o);
		return fault_set(fault, "%s says nothing about image %s",
		    engine.kind->title, engine.image);
	}
	snprintf(engine.digest, sizeof(engine.digest), "%s",
	    json_object_get_string(v));
	snprintf(sandbox.image, sizeof(sandbox.image), "%s (%s)", engine.image,
	    engine.digest);
	rv = engine_volumes(o, fault);
	json_object_put(o);
	return rv;
}

static int
engine_mounts_ok(struct fault *fault)
{
	const struct cache_shared *c;

	for (size_t i = 0; (c = caches_nth(i)) != NULL; i++)
		if (engine_path_ok(c->path, fault) == -1)
			return -1;
	for (size_t i = 0; engine_own_nth(i) != NULL; i++)
		if (engine_path_ok(engine_own_nth(i), fault) == -1)
			return -1;
	return 0;
}

static int
engine_check(struct fault *fault)
{
	struct limits *l = &sup.config.limits;

	engine.kind = &kinds[sup.opt.runtime == RUNTIME_PODMAN];
	if (engine_files(fault) == -1 ||
	    engine_path_ok(sup.session.dir, fault) == -1 ||
	    engine_path_ok(sup.workspace_path, fault) == -1 ||
	    engine_path_ok(sup.paths.home, fault) == -1 ||
	    engine_path_ok(sandbox.bridge, fault) == -1 ||
	    engine_mounts_ok(fault) == -1 ||
	    engine_client(fault) == -1 || check_image(fault) == -1)
		return -1;
	if (sup.opt.transport == TRANSPORT_TCP && sidecar_check(fault) == -1)
		return -1;
	l->memory_forced = l->processes_forced = l->cpus_forced = engine.limits;
	return engine_sweep(true, NULL, fault);
}

int
engine_begin(struct fault *fault)
{
	engine.kind = &kinds[sup.opt.runtime == RUNTIME_PODMAN];
	return engine_files(fault) == -1 ? -1 : engine_client(fault);
}

int
sandbox_sweep(bool remove, struct json_object *ids, struct fault *fault)
{
	return engine_begin(fault) == -1 ? -1
					 : engine_sweep(remove, ids, fault);
}

static int
engine_start(char *const *argv, char *const *env, int log, struct fault *fault)
{
	struct spawn s = {.envp = engine.env,
	    .fds = {-1, log, log},
	    .nfds = 3,
	    .session = true};
	char **args, **all;
	size_t n = 0;
	int rv = 0;

	if ((args = engine_args(argv, false, fault)) == NULL)
		return -1;
	for (size_t i = 0; args[i] != NULL; i++)
		n++;
	if ((all = calloc(n + 12, sizeof(*all))) == NULL) {
		jsonfile_strings_free(args);
		return fault_errno(fault, "%s", engine.kind->title);
	}
	n = 0;
	all[n++] = (char *)(uintptr_t)engine.kind->name;
	for (char **b = engine.before; *b != NULL; b++)
		all[n++] = *b;
	for (char **a = args; *a != NULL; a++)
		all[n++] = *a;
	s.argv = all;
	if (host_program_start(
		&engine.client, &sup.host.places, &s, &sup.agent) == -1 ||
	    spawn_check(&sup.agent) == -1)
		rv =
		    fault_errno(fault, "%s%s", engine.kind->name, spawn_step());
	free(all);
	jsonfile_strings_free(args);
	return rv;
}

/* Process 1 of its own process namespace. */
static bool
engine_is_first(pid_t pid)
{
	char path[64], line[256], *last;
	bool yes = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		last = strrchr(line, '\t');
		yes = last != NULL && strcmp(last, "\t1") == 0 &&
		      strchr(line, '\t') != last;
	}
	fclose(f);
	if (yes)
		oom_open(pid);
	return yes;
}

static bool
engine_made(int code, int status)
{
	return code != CLD_EXITED || status < ENGINE_FAILED ||
	       status > ENGINE_NOT_FOUND || breakout_result()->attempts != 0;
}

static void
engine_unmade(const char *how, struct fault *why, const char **remedy)
{
	fault_set(why, "%s %s", engine.kind->name, how);
	*remedy = "Its own message is above, or in session.log";
}

static void
engine_remove_all(void)
{
	engine_remove();
	/* The agent's container uses the sidecar's volume. */
	sidecar_remove();
}

const struct box_kind box_engine_kind = {
    .find = engine_find,
    .environment = engine_environment,
    .check = engine_check,
    .start = engine_start,
    .is_first = engine_is_first,
    .made = engine_made,
    .unmade = engine_unmade,
    .stop = engine_stop,
    .remove = engine_remove_all,
};
