/* SPDX-License-Identifier: ISC */
/*
 * The arguments with which a container is made: one table for both engines.
 * There is neither -t nor -i: the agent's terminal is made inside, so that the
 * engine sets up no console and relays nothing. Every place of the host is
 * named by --mount, which makes no directory that is missing.
 */
#include "box/containers/engine.h"

#include <sys/resource.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/git/checkout.h"
#include "box/inside.h"
#include "box/sandbox.h"
#include "base/jsonfile.h"
#include "base/here.h"
#include "home/caches.h"
#include "core/sup.h"

/* clang-format off */
static const struct row {
	unsigned engines;
	const char *option;
	const char *value; /* with {names}; NULL: none */
} rows[] = {
	{ON_BOTH,   "run", NULL},
	/* The engine removes it, also when nobody asks any more. */
	{ON_BOTH,   "--rm", NULL},
	{ON_BOTH,   "--pull", "never"},
	{ON_BOTH,   "--name", "{name}"},
	{ON_BOTH,   "--hostname", "ironcurtain"},
	{ON_BOTH,   "--cidfile", "{id}"},
	{ON_BOTH,   "--label", "ironcurtain.session={session}"},
	{ON_BOTH,   "--label", "ironcurtain.owner-host={machine}"},
	{ON_BOTH,   "--label", "ironcurtain.owner-uid={uid}"},
	{ON_BOTH,   "--label", "ironcurtain.owner-pid={pid}"},
	{ON_BOTH,   "--label", "ironcurtain.owner-start={start}"},
	{ON_BOTH,   "--label", "ironcurtain.boot-id={boot}"},
	{ON_BOTH,   "--network", "none"},
	{ON_BOTH,   "--cap-drop", "ALL"},
	{ON_BOTH,   "--security-opt", "no-new-privileges"},
	{ON_BOTH,   "--security-opt", "seccomp={seccomp}"},
	/* They show the user's keyrings and the kernel. */
	{ON_PODMAN, "--security-opt", "mask=/proc/key-users:/proc/kallsyms"},
	{ON_BOTH,   "--user", "{user}"},
	{ON_PODMAN, "--userns", "{userns}"},
	{ON_BOTH,   "--ipc", "private"},
	{ON_BOTH,   "--pids-limit", "{processes}"},
	{ON_BOTH,   "--ulimit", "nofile={files}:{files}"},
	{ON_BOTH,   "--ulimit", "{core}"},
	{ON_BOTH,   "--memory", "{memory}"},
	{ON_BOTH,   "--memory-swap", "{memory}"},
	{ON_BOTH,   "--cpus", "{cpus}"},
	{ON_BOTH,   "--shm-size", "{shm}"},
	{ON_BOTH,   "--read-only", NULL},
	/* Otherwise it makes /run and /var/tmp writable. */
	{ON_PODMAN, "--read-only-tmpfs=false", NULL},
	/* The runtime gives it the mode that the image's own /tmp has. */
	{ON_DOCKER, "--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777,uid={uid},gid={gid}{tmp}"},
	{ON_PODMAN, "--tmpfs", "/tmp:rw,exec,nosuid,nodev,mode=1777{tmp}"},
	{ON_BOTH,   "--log-driver", "none"},
	{ON_BOTH,   "--no-healthcheck", NULL},
	/* Nothing of the user's environment. */
	{ON_PODMAN, "--env-host=false", NULL},
	{ON_PODMAN, "--http-proxy=false", NULL},
	{ON_PODMAN, "--image-volume", "ignore"},
	{ON_BOTH,   "--mount", "type=bind,source={home},target=/home/agent"},
	{ON_BOTH,   "--mount", "type=bind,source={workspace},target={at}"},
	{ON_BOTH,   "--mount", "type=bind,source={workspace},target={same}"},
	{ON_BOTH,   "--mount", "type=bind,source={sockets},target=/run/ironcurtain,readonly"},
	{ON_DOCKER, "--mount", "type=volume,source={volume},target=/run/ironcurtain,readonly,volume-nocopy"},
	{ON_BOTH,   "--mount", "type=bind,source={orientation},target=/etc/ironcurtain,readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={bundle},target=/etc/ssl/certs/ca-certificates.crt,readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={bridge},target=" SANDBOX_BRIDGE ",readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={filter},target=" ENGINE_FILTER ",readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={passwd},target=/etc/passwd,readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={group},target=/etc/group,readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={hosts},target=/etc/hosts,readonly"},
	{ON_BOTH,   "--mount", "type=bind,source={resolv},target=/etc/resolv.conf,readonly"},
	{ON_BOTH,   "--workdir", "{inside}"},
	{ON_BOTH,   "--entrypoint", SANDBOX_BRIDGE},
};

/* The sidecar of the TCP transport (sidecar.c). */
static const struct row sidecar_rows[] = {
	{ON_DOCKER, "run", NULL},
	{ON_DOCKER, "--detach", NULL},
	{ON_DOCKER, "--rm", NULL},
	{ON_DOCKER, "--pull", "never"},
	{ON_DOCKER, "--name", "{volume}-gate"},
	{ON_DOCKER, "--hostname", "ironcurtain-gate"},
	{ON_DOCKER, "--label", "ironcurtain.session={session}"},
	{ON_DOCKER, "--label", "ironcurtain.owner-host={machine}"},
	{ON_DOCKER, "--label", "ironcurtain.owner-uid={uid}"},
	{ON_DOCKER, "--label", "ironcurtain.owner-pid={pid}"},
	{ON_DOCKER, "--label", "ironcurtain.owner-start={start}"},
	{ON_DOCKER, "--label", "ironcurtain.boot-id={boot}"},
	{ON_DOCKER, "--network", "{volume}"},
	{ON_DOCKER, "--add-host", "{added}"},
	{ON_DOCKER, "--cap-drop", "ALL"},
	{ON_DOCKER, "--security-opt", "no-new-privileges"},
	{ON_DOCKER, "--security-opt", "seccomp={seccomp}"},
	{ON_DOCKER, "--user", "{user}"},
	{ON_DOCKER, "--ipc", "private"},
	{ON_DOCKER, "--pids-limit", "4"},
	{ON_DOCKER, "--ulimit", "{core}"},
	/* Two buffers for each connection that it may have. */
	{ON_DOCKER, "--memory", "256m"},
	{ON_DOCKER, "--memory-swap", "256m"},
	{ON_DOCKER, "--shm-size", "1m"},
	{ON_DOCKER, "--read-only", NULL},
	{ON_DOCKER, "--log-driver", "none"},
	{ON_DOCKER, "--no-healthcheck", NULL},
	{ON_DOCKER, "--mount", "type=volume,source={volume},target=/run/ironcurtain,volume-nocopy"},
	{ON_DOCKER, "--mount", "type=bind,source={token},target=" ENGINE_TOKEN ",readonly"},
	{ON_DOCKER, "--mount", "type=bind,source={bridge},target=" SANDBOX_BRIDGE ",readonly"},
	{ON_DOCKER, "--workdir", "/"},
	{ON_DOCKER, "--entrypoint", SANDBOX_BRIDGE},
};
/* clang-format on */

#define ARGS_VARIABLES 40U

/* The values of names in braces. */
struct values {
	struct {
		const char *name;
		char *text; /* allocated; "": rows with it are left out */
	} list[ARGS_VARIABLES];
	unsigned n;
	bool failed;
};

static void __attribute__((format(printf, 3, 4)))
set(struct values *v, const char *name, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (v->n == ARGS_VARIABLES || vasprintf(&text, fmt, ap) == -1) {
		v->failed = true;
	} else {
		v->list[v->n].name = name;
		v->list[v->n++].text = text;
	}
	va_end(ap);
}

static const char *
get(const struct values *v, const char *name, size_t len)
{
	for (unsigned i = 0; i < v->n; i++)
		if (strlen(v->list[i].name) == len &&
		    memcmp(v->list[i].name, name, len) == 0)
			return v->list[i].text;
	return "";
}

static void
set_limit(
    struct values *v, const char *name, bool on, uint64_t n, const char *unit)
{
	if (on && n != 0)
		set(v, name, "%llu%s", (unsigned long long)n, unit);
	else
		set(v, name, "%s", "");
}

static void
set_limits(struct values *v)
{
	const struct limits *l = &sup.config.limits;
	struct rlimit core;

	/* An engine of the user's cannot raise the user's own limit. */
	if (engine.rootless && getrlimit(RLIMIT_CORE, &core) == 0 &&
	    core.rlim_max == 0)
		set(v, "core", "%s", "");
	else
		set(v, "core", "%s", "core=1:1");
	/* ic-bridge is one more. */
	set_limit(v, "processes", engine.limits && l->processes != 0,
	    l->processes + 1, "");
	set_limit(v, "files", true, limits_files(l), "");
	set_limit(v, "memory", engine.limits, l->memory_mb, "m");
	set_limit(v, "cpus", engine.limits, limits_processors(l), "");
	set_limit(v, "shm", true, l->shm_mb, "m");
	if (l->tmp_mb != 0)
		set(v, "tmp", ",size=%llum", (unsigned long long)l->tmp_mb);
	else
		set(v, "tmp", ",size=100%%");
}

static void
set_paths(struct values *v)
{
	static const char *const ours[][2] = {{"orientation", "orientation"},
	    {"bundle", "orientation/ca-bundle.pem"}, {"id", "engine/id"},
	    {"token", "engine/token"},
	    {"seccomp", "engine/seccomp.json"}, {"filter", "engine/filter"},
	    {"passwd", "engine/passwd"}, {"group", "engine/group"},
	    {"hosts", "engine/hosts"}, {"resolv", "engine/resolv.conf"}};
	const bool tcp = sup.opt.transport == TRANSPORT_TCP;
	const char *read_only =
	    sup.read_only ? ",readonly,bind-nonrecursive" : "";
	char *home;

	set(v, "sockets", "%s%s", tcp ? "" : sup.session.dir,
	    tcp ? "" : "/sockets");
	set(v, "volume", "%s", engine.beside);
	set(v, "added", "%s", engine.host);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		set(v, ours[i][0], "%s/%s", sup.session.dir, ours[i][1]);
	home = paths_of_fd(sup.session.home);
	set(v, "home", "%s", home != NULL ? home : "");
	free(home);
	set(v, "workspace", "%s", sup.workspace_path);
	set(v, "inside", "%s", sup.inside);
	/* A mount below it would be writable, so that there is none. */
	set(v, "at", INSIDE_WORKSPACE "%s", read_only);
	set(v, "same", "%s%s", sup.opt.same_path ? sup.inside : "",
	    sup.opt.same_path ? read_only : "");
	set(v, "bridge", "%s", sandbox.bridge);
}

static void
set_all(struct values *v)
{
	char pid[24], start[32], boot[64];

	engine_owner(pid, start, boot);
	set(v, "name", "ironcurtain-%s", sup.session.id);
	set(v, "session", "%s", sup.session.id);
	set(v, "machine", "%s", here()->host);
	set(v, "uid", "%u", (unsigned)geteuid());
	set(v, "gid", "%u", (unsigned)getegid());
	set(v, "pid", "%s", pid);
	set(v, "start", "%s", start);
	set(v, "boot", "%s", boot);
	set(v, "user", "%u:%u", (unsigned)geteuid(), (unsigned)getegid());
	set(v, "userns", "%s", engine.rootless ? "keep-id" : "");
	set_limits(v);
	set_paths(v);
}

/* Fill in a row's value. Returns NULL without memory, "" for an empty one. */
static char *
fill(const struct values *v, const char *text)
{
	const char *end, *value;
	struct buf b;
	char *out;

	buf_init(&b, 65536);
	for (; *text != '\0'; text++) {
		if (*text != '{' || (end = strchr(text, '}')) == NULL) {
			buf_addc(&b, (uint8_t)*text);
			continue;
		}
		value = get(v, text + 1, (size_t)(end - text - 1));
		if (value[0] == '\0') {
			buf_free(&b);
			return strdup("");
		}
		buf_adds(&b, value);
		text = end;
	}
	out = b.failed ? NULL : span_dup(buf_span(&b));
	buf_free(&b);
	return out;
}

int
engine_path_ok(const char *path, struct fault *fault)
{
	/* The engines read the value of --mount as comma-separated. */
	if (strpbrk(path, ",\"\n\r") == NULL)
		return 0;
	return fault_set(fault,
	    "%s: %s cannot mount a path with a comma, a quotation mark or a "
	    "line break. Rename it, or use --runtime bwrap",
	    path, engine.kind->title);
}

static int
add_rows(struct wordlist *args, const struct row *r, size_t nrows,
    const struct values *v)
{
	char *value;

	for (size_t i = 0; i < nrows; i++) {
		if ((r[i].engines & engine.kind->bit) == 0)
			continue;
		value = NULL;
		if (r[i].value != NULL) {
			if ((value = fill(v, r[i].value)) == NULL)
				return -1;
			if (value[0] == '\0') {
				free(value);
				continue;
			}
		}
		if (engine_add(args, strdup(r[i].option)) == -1) {
			free(value);
			return -1;
		}
		if (value != NULL && engine_add(args, value) == -1)
			return -1;
	}
	return 0;
}

/* A mount below one of them would be writable, so that there is none. */
static int
add_caches(struct wordlist *args)
{
	const struct cache_shared *c;

	for (size_t i = 0; (c = caches_nth(i)) != NULL; i++)
		if (engine_add_mount(args,
			"type=bind,source=%s,target=%s,readonly,"
			"bind-nonrecursive",
			c->path, c->inside) == -1)
			return -1;
	return 0;
}

/* An empty file stands for each worktree that the repository has elsewhere. */
static int
add_trees(struct wordlist *args)
{
	const char *path;

	for (unsigned i = 0; (path = checkout_tree(i)) != NULL; i++)
		if (strpbrk(path, ",\"") == NULL &&
		    engine_add_mount(args,
			"type=bind,source=%s/engine/resolv.conf,target=%s,"
			"readonly",
			sup.session.dir, path) == -1)
			return -1;
	return 0;
}

/* Add everything in front of the image's name, and that name. */
static int
add_options(struct wordlist *args, bool side, const struct values *v)
{
	if (v->failed)
		return -1;
	if (side) {
		if (add_rows(args, sidecar_rows, nitems(sidecar_rows), v) == -1)
			return -1;
	} else if (add_rows(args, rows, nitems(rows), v) == -1 ||
		   add_caches(args) == -1 || add_trees(args) == -1 ||
		   engine_own_add(args) == -1) {
		return -1;
	}
	return engine_volumes_add(args) == -1
		   ? -1
		   : engine_add(args, strdup(engine.digest));
}

char **
engine_args(char *const *argv, bool side, struct fault *fault)
{
	struct values v = {.n = 0};
	struct wordlist args = {.max = ENGINE_MAX_ARGS};
	char *const *words = NULL;
	int rv;

	/* A command of the user's may be of any length. */
	for (size_t i = 0; argv[i] != NULL; i++)
		args.max++;
	if ((args.v = calloc(args.max, sizeof(*args.v))) == NULL) {
		fault_errno(fault, "%s", engine.kind->title);
		return NULL;
	}
	set_all(&v);
	rv = add_options(&args, side, &v);
	/* argv[0] is the entry point. */
	for (size_t i = 1; rv == 0 && argv[i] != NULL; i++)
		rv = engine_add(&args, strdup(argv[i]));
	for (unsigned i = 0; i < v.n; i++)
		free(v.list[i].text);
	if (rv == 0 && (words = wordlist_end(&args)) != NULL)
		return (char **)(uintptr_t)words;
	fault_errno(fault, "%s: the container's options", engine.kind->title);
	jsonfile_strings_free((char **)(uintptr_t)args.v);
	return NULL;
}
