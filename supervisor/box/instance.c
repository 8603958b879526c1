/* SPDX-License-Identifier: ISC */
/*
 * Instances of servers, for one call each: a sandbox that sees the objects of
 * that call, and an mcp-backd of its own. They are started when auditd has
 * logged that policyd wants them, and ended when policyd says so. Nothing is
 * decided here; the objects to bind are compared with those that were approved.
 * If an mcp-backd ends unasked, the session ends, as with any worker.
 */
#include "core/sup.h"

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/small_file.h"
#include "common/log.h"

/* Time for a server to exit after its input was closed. */
#define INSTANCE_LEAVE_MS 500U
#define INSTANCE_KILL_MS 300U

void
instances_init(void)
{
	struct instance *i;

	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++) {
		i = &sup.instances[k];
		memset(i, 0, sizeof(*i));
		i->index = PROTO_FIRST_INSTANCE + k;
		i->sp = (struct spawned)SPAWNED_INIT;
		i->exit_io.fd = -1;
		i->ours[0] = i->ours[1] = i->ours[2] = -1;
	}
}

static struct instance *
instance_find(uint64_t call)
{
	for (unsigned k = 0; call != 0 && k < PROTO_MAX_INSTANCES; k++)
		if (sup.instances[k].call == call)
			return &sup.instances[k];
	return NULL;
}

static struct instance *
instance_of(const struct child *c)
{
	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++)
		if (sup.instances[k].back == c)
			return &sup.instances[k];
	return NULL;
}

bool
instance_has_pid(pid_t pid)
{
	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++)
		if (sup.instances[k].sp.pid == pid)
			return true;
	return false;
}

static void
instance_close(struct instance *i)
{
	for (size_t k = 0; k < 3; k++) {
		if (i->ours[k] != -1)
			close(i->ours[k]);
		i->ours[k] = -1;
	}
	for (unsigned k = 0; k < i->nobjects; k++)
		object_close(&i->objects[k]);
	i->nobjects = 0;
}

static void
instance_fail(struct instance *i, bool changed, const char *text)
{
	struct msg_INSTANCE_FAIL m = {
	    .call = i->call, .changed = changed, .text = span_str(text)};

	if (m.text.len > 512)
		m.text.len = 512;
	i->failed = true;
	sup_note("call %llu outside of the view of %s: %s",
	    (unsigned long long)i->call, sup.servers[i->of].def->name, text);
	child_send(ROLE_AUDIT, 0, MSG_INSTANCE_FAIL, &m, -1);
}

/* Everything of the instance has ended: free its slot. */
static void
instance_over(struct instance *i)
{
	struct msg_INSTANCE_ENDED over = {.call = i->call};
	unsigned index = i->index;

	if (!i->dropped || i->sp.pidfd != -1 || i->back != NULL ||
	    (i->up && !i->free))
		return;
	loop_timer_clear(&sup.loop, &i->kill_timer);
	instance_close(i);
	memset(i, 0, sizeof(*i));
	i->index = index;
	i->sp = (struct spawned)SPAWNED_INIT;
	i->exit_io.fd = -1;
	i->ours[0] = i->ours[1] = i->ours[2] = -1;
	child_send(ROLE_AUDIT, 0, MSG_INSTANCE_ENDED, &over, -1);
}

/* The sandbox has ended: stop its mcp-backd. */
static void
instance_leave(struct instance *i)
{
	static const struct msg_STOP stop;
	struct child *c = i->back;

	if (!i->dropped || i->sp.pidfd != -1)
		return;
	if (c != NULL && !c->leaving) {
		c->leaving = true;
		if (c->hello && c->chan != NULL)
			(void)chan_send(c->chan, MSG_STOP, &stop, -1);
		else if ((c->killed = true))
			(void)syscall(SYS_pidfd_send_signal, c->sp.pidfd,
			    SIGKILL, NULL, 0);
	}
	instance_over(i);
}

static void
instance_exited(struct loop_io *io, uint32_t events)
{
	struct instance *i = io->arg;
	int code, status;
	char how[128];

	if (spawn_reap(i->sp.pidfd, false, &code, &status) != 1)
		return;
	loop_del(&sup.loop, io);
	loop_timer_clear(&sup.loop, &i->kill_timer);
	close(i->sp.pidfd);
	i->sp = (struct spawned)SPAWNED_INIT;
	spawn_describe(code, status, how, sizeof(how));
	/* The instance's mcp-backd sees the pipes close and tells policyd. */
	if (!i->dropped)
		sup_note("MCP server %s, for call %llu alone, %s",
		    sup.servers[i->of].def->name, (unsigned long long)i->call,
		    how);
	instance_leave(i);
}

/* Returns the only child of bubblewrap's outer process, or 0. */
static pid_t
instance_inner(const struct instance *i)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
	    (int)i->sp.pid, (int)i->sp.pid);
	(void)small_file_read(AT_FDCWD, path, text, sizeof(text));
	return (pid_t)strtol(text, NULL, 10);
}

/*
 * Kill the process in the sandbox; bubblewrap then exits and leaves no orphan.
 */
static bool
instance_kill_inner(const struct instance *i)
{
	pid_t pid = instance_inner(i);
	bool same;
	int fd;

	if (pid <= 1 || (fd = (int)syscall(SYS_pidfd_open, pid, 0)) == -1)
		return false;
	/* Check that the process is still the child: its pid was not reused. */
	if ((same = instance_inner(i) == pid))
		(void)syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	close(fd);
	return same;
}

static void
instance_kill_outer(const struct instance *i)
{
	(void)syscall(SYS_pidfd_send_signal, i->sp.pidfd, SIGKILL, NULL, 0);
}

static void
instance_late(struct loop_timer *t)
{
	struct instance *i = t->arg;

	if (i->sp.pidfd != -1)
		instance_kill_outer(i);
}

static void
instance_overdue(struct loop_timer *t)
{
	struct instance *i = t->arg;

	if (i->sp.pidfd == -1)
		return;
	if (!instance_kill_inner(i))
		instance_kill_outer(i);
	loop_timer_set(&sup.loop, t, INSTANCE_KILL_MS, instance_late, i);
}

/* Start the sandbox with its pipes. Returns -1 if nothing runs. */
static int
instance_spawn(struct instance *i, struct fault *fault)
{
	const struct server *s = &sup.servers[i->of];
	struct server_def d = *s->def;
	int theirs[3] = {-1, -1, -1}, rv = -1;
	char **argv = NULL;
	struct view v;

	d.workspace = false;
	if (instance_view(i, &v, &argv, fault) == -1)
		return -1;
	for (size_t k = 0; k < 3; k++)
		if (server_pipe(&i->ours[k], &theirs[k], k == 0) == -1) {
			fault_errno(fault, "pipe");
			goto out;
		}
	if (server_spawn_box(s, &d, &v, argv, theirs, &i->sp, fault) == -1)
		goto out;
	/* A failed exec is reported by the exit status instead. */
	close(i->sp.status);
	i->sp.status = -1;
	if (loop_add(&sup.loop, &i->exit_io, i->sp.pidfd, EPOLLIN,
		instance_exited, i) == -1)
		fault_errno(fault, "epoll");
	else
		rv = 0;
out:
	for (size_t k = 0; k < 3; k++)
		if (theirs[k] != -1)
			close(theirs[k]);
	jsonfile_strings_free(argv);
	view_close(&v);
	/* Whether bound or not, only the objects' names are still needed. */
	for (unsigned k = 0; k < i->nobjects; k++) {
		close(i->objects[k].fd);
		i->objects[k].fd = -1;
	}
	return rv;
}

static bool
instance_back_left(struct child *c)
{
	struct instance *i = instance_of(c);

	if (!child_left(c))
		return false;
	if (i != NULL) {
		child_forget(i->back);
		i->back = NULL;
		instance_over(i);
	}
	return true;
}

static void
instance_start(struct instance *i)
{
	struct fault fault;

	if (instance_spawn(i, &fault) == -1 ||
	    (i->back = child_start(ROLE_BACK, i->index,
		 sup.servers[i->of].def->name, &fault)) == NULL) {
		instance_fail(i, false, fault.text);
		return;
	}
	i->back->exited = instance_back_left;
	sup_note("MCP server %s/%u (pid %d) runs for call %llu alone",
	    sup.servers[i->of].def->name, i->index, (int)i->sp.pid,
	    (unsigned long long)i->call);
}

static struct instance *
instance_new(const struct msg_INSTANCE_WANT *m)
{
	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++) {
		struct instance *i = &sup.instances[k];

		if (i->call != 0)
			continue;
		i->call = m->call;
		i->of = m->server;
		return i;
	}
	return NULL;
}

int
instance_want(const struct msg_INSTANCE_WANT *m)
{
	struct instance *i = instance_find(m->call);
	struct fault fault;
	bool changed;

	if (m->call == 0 || m->server >= sup.nservers || sup.ending ||
	    sup.servers[m->server].def->remote != NULL)
		return sup.ending ? 0 : -1;
	if (i == NULL && (i = instance_new(m)) == NULL)
		return -1;
	if (i->of != m->server || i->nobjects == PROTO_MAX_OBJECTS ||
	    i->back != NULL)
		return -1;
	if (!i->failed &&
	    object_open(&i->objects[i->nobjects], m, &changed, &fault) == -1) {
		object_close(&i->objects[i->nobjects]);
		instance_fail(i, changed, fault.text);
	} else if (!i->failed) {
		i->nobjects++;
	}
	if (m->left == 0 && !i->failed)
		instance_start(i);
	return 0;
}

void
instance_hello(const struct child *c)
{
	static const struct msg_START start;
	struct instance *i = instance_of(c);
	struct msg_INSTANCE_BACK back = {.call = 0};
	struct msg_INSTANCE_UP up = {.call = 0};
	struct msg_SERVER_OUT out = {.sandboxed = 1,
	    .mask = sup.config.redact};
	struct fault fault;

	if (i == NULL || i->dropped)
		return;
	back.call = up.call = i->call;
	back.server = up.server = (uint16_t)i->index;
	if (setup_peers_of(ROLE_BACK, i->index, &fault) == -1) {
		instance_fail(i, false, fault.text);
		return;
	}
	i->up = true;
	child_send(ROLE_PROXY, 0, MSG_INSTANCE_BACK, &back, -1);
	known_send(ROLE_BACK, i->index);
	child_send(ROLE_BACK, i->index, MSG_SERVER_OUT, &out, i->ours[1]);
	out.which = 1;
	child_send(ROLE_BACK, i->index, MSG_SERVER_OUT, &out, i->ours[2]);
	child_send(ROLE_BACK, i->index, MSG_START, &start, -1);
	chan_phase(c->chan, PHASE_RUN);
	child_send(ROLE_AUDIT, 0, MSG_INSTANCE_UP, &up, i->ours[0]);
	i->ours[0] = i->ours[1] = i->ours[2] = -1;
}

int
instance_kill(uint64_t call)
{
	const struct msg_INSTANCE_ENDED over = {.call = call};
	struct instance *i = instance_find(call);

	/*
	 * The instance was never requested here: the log refused the request.
	 */
	if (i == NULL) {
		child_send(ROLE_AUDIT, 0, MSG_INSTANCE_ENDED, &over, -1);
		return 0;
	}
	if (i->dropped)
		return -1;
	i->dropped = true;
	/*
	 * Close the ends that auditd does not have yet, so that its input ends.
	 */
	instance_close(i);
	if (i->sp.pidfd != -1)
		loop_timer_set(&sup.loop, &i->kill_timer,
		    i->up ? INSTANCE_LEAVE_MS : 0, instance_overdue, i);
	instance_leave(i);
	return 0;
}

int
instance_free_index(unsigned server)
{
	struct instance *i;

	if (server < PROTO_FIRST_INSTANCE || server >= PROTO_MAX_SERVERS)
		return -1;
	i = &sup.instances[server - PROTO_FIRST_INSTANCE];
	if (!i->up)
		return -1;
	i->free = true;
	instance_over(i);
	return 0;
}

void
instances_kill(void)
{
	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++)
		if (sup.instances[k].sp.pidfd != -1)
			instance_kill_outer(&sup.instances[k]);
}

void
instances_reap(int ms)
{
	struct pollfd p = {.events = POLLIN};
	int code, status;

	for (unsigned k = 0; k < PROTO_MAX_INSTANCES; k++) {
		p.fd = sup.instances[k].sp.pidfd;
		if (p.fd != -1 && poll(&p, 1, ms) == 1)
			(void)spawn_reap(p.fd, false, &code, &status);
	}
}
