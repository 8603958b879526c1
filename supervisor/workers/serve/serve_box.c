/* SPDX-License-Identifier: ISC */
/*
 * A service that is a program of this machine, in a sandbox like that of an MCP
 * server: no network but its own loopback, no file of the user, the system
 * read-only, and /data and /tmp in memory. ic-bridge is in there, as it is with
 * the agent, and the only socket that it sees leads to dialerd.
 */
#include "workers/serve/serve.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "box/box.h"

#define BOX_PATH                                                               \
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:"        \
	"/usr/games"

static void
box_room(struct box *b, const char *dest, uint64_t mib)
{
	char bytes[24];

	snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)mib << 20);
	if (mib != 0)
		box_args(b, "--size", bytes, NULL);
	box_args(b, "--tmpfs", dest, NULL);
}

static void
box_env(struct box *b, const struct service *s)
{
	struct json_object *env;
	char port[8];

	snprintf(port, sizeof(port), "%u", s->port);
	box_setenv(b, "PATH", BOX_PATH);
	box_setenv(b, "HOME", "/tmp");
	box_setenv(b, "TMPDIR", "/tmp");
	box_setenv(b, "LANG", "C.UTF-8");
	box_setenv(b, "SERVICE_PORT", port);
	if (!json_object_object_get_ex(s->o, "env", &env))
		return;
	json_object_object_foreach(env, name, val)
	    box_setenv(b, name, json_object_get_string(val));
}

/* Add the command, or how the shell sets it up. */
static void
box_command(struct wordlist *w, const struct service *s)
{
	struct json_object *words = serve_list(s, "command");
	const char *text = serve_known(s, false);

	if (text != NULL) {
		wordlist_add(w, "/bin/sh");
		wordlist_add(w, "-euc");
		wordlist_add(w, text);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(words); i++)
		wordlist_add(w, json_object_get_string(
				    json_object_array_get_idx(words, i)));
}

int
serve_box(struct service *s, int out, struct fault *fault)
{
	const char *list[SERVE_WORDS];
	struct wordlist words = WORDLIST_IN(list);
	const int stdio[3] = {-1, out, out};
	char name[40], what[64];
	struct box b;
	int fd, rv = -1;

	snprintf(what, sizeof(what), "services.%s", s->name);
	snprintf(name, sizeof(name), SERVE_SOCKET_NAME, s->number);
	fd = openat(ERRAND_SESSION, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return fault_errno(fault, "%s", name);
	box_init(&b, FILTER_SERVER, &serve_env.limits);
	/* Nothing inside can trace or end process 1. */
	box_arg(&b, "--as-pid-1");
	box_bind_path(&b, errand.tool, SERVE_BRIDGE, false);
	box_bind(&b, fd, SERVE_SOCKET, false);
	close(fd);
	box_room(&b, SERVE_DATA, serve_env.limits.tmp_mb);
	box_env(&b, s);
	box_args(&b, "--remount-ro", "/", NULL);
	box_args(&b, "--chdir", SERVE_DATA, NULL);
	b.group = s->group;
	wordlist_add(&words, SERVE_BRIDGE);
	serve_bridge(&words, s, true, serve_known(s, true));
	box_command(&words, s);
	if (wordlist_end(&words) == NULL)
		fault_errno(fault, "%s", what);
	else
		rv = box_spawn(&b, stdio, (char *const *)(uintptr_t)list,
		    &s->sp, fault);
	/* box_free() closes the group's entrance. */
	s->group = -1;
	box_free(&b);
	if (rv == 0 && spawn_check(&s->sp) == -1)
		rv = fault_errno(fault, "%s: bubblewrap%s", what, spawn_step());
	return rv;
}
