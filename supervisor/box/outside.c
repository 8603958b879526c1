/* SPDX-License-Identifier: ISC */
/*
 * Starts ic-outsider, the half of the break-out test that is made from outside,
 * and judges its report.
 */
#include "box/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "box/breakout.h"
#include "core/sup.h"

/* How long the exit of a process may take, once it has begun. */
#define OUTSIDE_GONE_MS 500

static const struct {
	const char *what;
	int want[2];
} rows[OUTSIDE_COUNT] = {
#define A(name, what, ...) [OUTSIDE_##name] = {what, {__VA_ARGS__}},
    OUTSIDE_ATTEMPTS(A)
#undef A
};

_Static_assert(SUP_MAX_CHILDREN <= OUTSIDE_MAX, "a row for each worker");

static struct {
	struct loop_io io;
	struct spawned sp;
	unsigned of[OUTSIDE_MAX]; /* indices of sup.children */
	unsigned n;
	size_t len;
	struct outside_report report[OUTSIDE_MAX + 1];
	outside_fn *over;
} outside_env = {.io = LOOP_IO_INIT, .sp = SPAWNED_INIT};

void
outside_free(void)
{
	int fd = outside_env.io.fd;

	if (fd != -1) {
		loop_del(&sup.loop, &outside_env.io);
		close(fd);
	}
	spawn_stop(&outside_env.sp, 0);
}

/*
 * Returns true if the worker has ended, or is about to: what was found in the
 * remains of a process says nothing, and its end is the session's.
 */
static bool
outside_gone(const struct child *c)
{
	struct pollfd p = {.fd = c->sp.pidfd, .events = POLLIN};

	return c->dead || c->sp.pidfd == -1 ||
	       poll(&p, 1, OUTSIDE_GONE_MS) == 1;
}

/* An older kernel does not know each call. */
static bool
outside_holds(unsigned k, int found)
{
	return found == ENOSYS ||
	       (found != 0 && (found == rows[k].want[0] ||
				  found == rows[k].want[1]));
}

/* Names the first attempt that did not fail as it must. */
static void
outside_judge(char *why, size_t cap)
{
	for (unsigned i = 0; i < outside_env.n; i++)
		for (unsigned k = 0; k < OUTSIDE_COUNT; k++) {
			int found = outside_env.report[i].found[k];

			if (outside_holds(k, found) ||
			    outside_gone(&sup.children[outside_env.of[i]]))
				continue;
			snprintf(why, cap,
			    "a program of yours can reach into %s (%s: %s)",
			    sup.children[outside_env.of[i]].name, rows[k].what,
			    found == 0 ? "succeeded" : strerror(found));
			return;
		}
}

static void
outside_read(struct loop_io *io, uint32_t events)
{
	size_t want = outside_env.n * sizeof(outside_env.report[0]);
	char why[256] = "";
	ssize_t n;

	n = read(io->fd, (uint8_t *)outside_env.report + outside_env.len,
	    sizeof(outside_env.report) - outside_env.len);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		outside_env.len += (size_t)n;
		return;
	}
	outside_free();
	if (outside_env.len != want)
		snprintf(why, sizeof(why),
		    "ic-outsider's report has %zu bytes instead of %zu",
		    outside_env.len, want);
	else
		outside_judge(why, sizeof(why));
	outside_env.over(outside_env.n * OUTSIDE_COUNT, why);
}

static int
outside_start(int in, int out, struct fault *fault)
{
	char *path = paths_join(sup.paths.libexecdir, "ic-outsider");
	char *const argv[] = {(char *)(uintptr_t) "ic-outsider", NULL};
	char *const envp[] = {NULL};
	struct spawn s = {.path = path,
	    .argv = argv,
	    .envp = envp,
	    .fds = {in, out, -1},
	    .nfds = 3,
	    .session = true,
	    .worker = true};
	int rv = 0;

	if (path == NULL)
		return fault_errno(fault, "ic-outsider");
	if (spawn_start(&s, &outside_env.sp) == -1)
		rv = fault_errno(fault, "%s", path);
	else if (spawn_check(&outside_env.sp) == -1)
		rv = fault_errno(fault, "%s%s", path, spawn_step());
	free(path);
	return rv;
}

int
outside_begin(outside_fn *over, struct fault *fault)
{
	uint32_t pids[OUTSIDE_MAX + 1];
	int in[2], out[2], rv;
	size_t len;

	outside_env.over = over;
	for (unsigned i = 0; i < sup.nchildren; i++) {
		const struct child *c = &sup.children[i];

		if (c->name[0] == '\0' || c->dead)
			continue;
		outside_env.of[outside_env.n] = i;
		pids[++outside_env.n] = (uint32_t)c->sp.pid;
	}
	pids[0] = outside_env.n;
	len = (outside_env.n + 1) * sizeof(pids[0]);
	if (pipe2(in, O_CLOEXEC) == -1)
		return fault_errno(fault, "ic-outsider");
	if (pipe2(out, O_CLOEXEC) == -1) {
		close(in[0]);
		close(in[1]);
		return fault_errno(fault, "ic-outsider");
	}
	rv = outside_start(in[0], out[1], fault);
	close(in[0]);
	close(out[1]);
	/* A pipe accepts this much in one write. */
	if (rv == 0 && (write(in[1], pids, len) != (ssize_t)len ||
			   fcntl(out[0], F_SETFL, O_NONBLOCK) == -1 ||
			   loop_add(&sup.loop, &outside_env.io, out[0], EPOLLIN,
			       outside_read, NULL) == -1))
		rv = fault_errno(fault, "ic-outsider");
	close(in[1]);
	if (rv == -1) {
		if (outside_env.io.fd == -1)
			close(out[0]);
		outside_free();
	}
	return rv;
}

struct json_object *
outside_json(void)
{
	struct json_object *list = json_object_new_array(), *o;
	const char *name;
	int found;

	for (unsigned i = 0; i < outside_env.n; i++)
		for (unsigned k = 0; k < OUTSIDE_COUNT; k++) {
			found = outside_env.report[i].found[k];
			name = strerrorname_np(found);
			o = json_object_new_object();
			put_str(o, "worker",
			    sup.children[outside_env.of[i]].name);
			put_str(o, "what", rows[k].what);
			put_str(o, "found",
			    found == 0	   ? "succeeded"
			    : name != NULL ? name
					   : "?");
			put_bool(o, "held", outside_holds(k, found));
			json_object_array_add(list, o);
		}
	return list;
}
