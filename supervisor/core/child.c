/* SPDX-License-Identifier: ISC */
/*
 * The workers: starts them as the topology table says, waits for their HELLO,
 * and notices when they exit. Trusts a worker only with its own channel.
 */
#include "sup.h"

#include <sys/socket.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "topology.h"

struct topology_size
sup_size(void)
{
	struct topology_size size = {.servers = sup.nservers,
	    .providers = sup.providers.n,
	    .open = sup.config.proxy_tools || sup.config.asks_hosts,
	    .proxy = sup.proxy.set,
	    .agent = sup.opt.runtime != RUNTIME_NONE,
	    .services = sup.services,
	    .ports = sup.opt.npublish != 0,
	    .editor = sup.opt.acp,
	    .gate = sup.opt.transport == TRANSPORT_TCP,
	    .approver = sup.approver};

	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].def->egress != NULL)
			size.doors |= 1U << i;
	for (unsigned i = 0; i < sup.providers.n; i++) {
		const struct provider *p = &sup.providers.list[i];

		if (p->server != 0)
			size.afar[p->server - 1] = (uint8_t)(i + 1);
		if (provider_is(p, "forge"))
			size.forge = true;
		if (provider_is(p, PROVIDER_POSTGRES))
			size.logins |= 1ULL << i;
	}
	return size;
}

struct child *
child_find(enum role role, unsigned index)
{
	for (unsigned i = 0; i < sup.nchildren; i++)
		if (sup.children[i].role == role &&
		    sup.children[i].index == index)
			return &sup.children[i];
	return NULL;
}

void
child_send(
    enum role role, unsigned index, enum msg_type type, const void *msg, int fd)
{
	struct child *c = child_find(role, index);

	if (c == NULL || c->chan == NULL || c->dead) {
		if (fd != -1)
			close(fd);
		return;
	}
	if (chan_send(c->chan, type, msg, fd) == -1 && !sup.ending)
		sup_note("%s takes no more messages", c->name);
}

bool
child_left(const struct child *c)
{
	/* A worker that crashes after it was told to end is still reported. */
	return c->leaving &&
	       (c->killed || spawn_status(c->code, c->status) == 0);
}

bool
child_crashed(const struct child *c)
{
	return c->dead && c->code != CLD_EXITED &&
	       !(c->killed && c->status == SIGKILL);
}

void
child_late(struct child *c)
{
	char how[128], said[300], text[512];

	if (!child_crashed(c))
		return;
	spawn_describe(c->code, c->status, how, sizeof(how));
	snprintf(text, sizeof(text), "%s (pid %d) %s while the session ended%s",
	    c->name, (int)c->sp.pid, how, child_said(c, said, sizeof(said)));
	sup_warn("%s", text);
	/* Nothing depends on termd. */
	if (sup.end_evidence[0] == '\0' && c->role != ROLE_TERM)
		snprintf(
		    sup.end_evidence, sizeof(sup.end_evidence), "%.255s", text);
}

static void
child_exited(struct loop_io *io, uint32_t events)
{
	struct child *c = io->arg;
	char how[128], said[300];

	if (spawn_reap(c->sp.pidfd, false, &c->code, &c->status) != 1)
		return;
	loop_del(&sup.loop, io);
	c->dead = true;
	child_drain(c);
	if (sup.ending && c != sup.end_child)
		child_late(c);
	if (c->exited != NULL && c->exited(c))
		return;
	spawn_describe(c->code, c->status, how, sizeof(how));
	end_request(sup.ready ? SUP_EXIT_FAILED : SUP_EXIT_OS, c,
	    "%s (pid %d) %s%s", c->name, (int)c->sp.pid, how,
	    child_said(c, said, sizeof(said)));
}

static void
child_name(struct child *c, const char *program)
{
	const char *of = "";

	if (c->role == ROLE_EGRESS && c->index == PROTO_SERVICES)
		of = "services";
	else if (c->role == ROLE_BACK || c->role == ROLE_EGRESS)
		of = sup.servers[c->index].def->name;
	else if (c->role == ROLE_KEY)
		of = sup.providers.list[c->index].name;
	snprintf(c->name, sizeof(c->name), "%s%s%s", program,
	    of[0] != '\0' ? " " : "", of);
}

/*
 * Start a worker: stdin is /dev/null, stdout and stderr are the log pipe, and
 * descriptor 3 is its channel.
 */
static int
child_spawn(struct child *c, const char *program, struct fault *fault)
{
	char *const argv[] = {(char *)(uintptr_t)program, NULL};
	char *const envp[] = {NULL};
	struct spawn s = {.argv = argv,
	    .envp = envp,
	    .nfds = 4,
	    .session = true,
	    .worker = true};
	int logpipe[2] = {-1, -1}, pair[2] = {-1, -1}, rv = -1;
	char *path;

	if ((path = paths_join(sup.paths.libexecdir, program)) == NULL ||
	    /* Non-blocking at both ends: a log must never block a worker. */
	    pipe2(logpipe, O_CLOEXEC | O_NONBLOCK) == -1 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		0, pair) == -1) {
		fault_errno(fault, "%s", c->name);
		goto out;
	}
	s.path = path;
	s.fds[0] = -1;
	s.fds[1] = s.fds[2] = logpipe[1];
	s.fds[3] = pair[1];
	if (spawn_start(&s, &c->sp) == -1) {
		fault_errno(fault, "%s", c->name);
		goto out;
	}
	c->log = logpipe[0];
	logpipe[0] = -1;
	c->chan = chan_new(
	    &sup.loop, pair[0], ROLE_SUP, c->role, c->index, &sup_chan_ops, c);
	if (c->chan == NULL) {
		fault_errno(fault, "%s", c->name);
		goto out;
	}
	pair[0] = -1;
	if (loop_add(&sup.loop, &c->exit_io, c->sp.pidfd, EPOLLIN, child_exited,
		c) == -1 ||
	    loop_add(&sup.loop, &c->log_io, c->log, EPOLLIN, child_log_read,
		c) == -1) {
		fault_errno(fault, "%s", c->name);
		goto out;
	}
	rv = 0;
out:
	for (size_t i = 0; i < 2; i++) {
		if (logpipe[i] != -1)
			close(logpipe[i]);
		if (pair[i] != -1)
			close(pair[i]);
	}
	free(path);
	return rv;
}

/* Fork all workers before waiting for any, so that they load in parallel. */
int
children_spawn(struct fault *fault)
{
	const struct topology_size size = sup_size();
	const struct topology_worker *w;
	const char *program;
	struct child *c;
	unsigned count;

	for (size_t i = 0; i < topology_nworkers; i++) {
		w = &topology_workers[i];
		count = topology_instances(w->role, &size);
		for (unsigned k = 0; k < count; k++) {
			if (!topology_runs(w->role, k, &size))
				continue;
			c = &sup.children[sup.nchildren];
			c->role = w->role;
			c->index = k;
			c->log = -1;
			c->sp = (struct spawned)SPAWNED_INIT;
			c->exit_io.fd = c->log_io.fd = -1;
			program = w->program;
			if (w->role == ROLE_KEY && topology_logs_in(k, &size))
				program = "pgkeyd";
			child_name(c, program);
			sup.nchildren++;
			if (child_spawn(c, program, fault) == -1)
				return -1;
		}
	}
	for (unsigned i = 0; i < sup.nchildren; i++) {
		c = &sup.children[i];
		if (spawn_check(&c->sp) == -1)
			return fault_errno(fault, "%s/%s%s",
			    sup.paths.libexecdir,
			    topology_find(c->role)->program, spawn_step());
		if (chan_open(c->chan) == -1)
			return fault_errno(fault, "%s", c->name);
	}
	return 0;
}

struct child *
child_start(enum role role, unsigned index, const char *of, struct fault *fault)
{
	const struct topology_worker *w = topology_find(role);
	struct child *c = NULL;

	/* Reuse the place of a worker that has left. */
	for (unsigned i = 0; i < sup.nchildren && c == NULL; i++)
		if (sup.children[i].name[0] == '\0')
			c = &sup.children[i];
	if (c == NULL && sup.nchildren == SUP_MAX_CHILDREN) {
		fault_set(fault, "too many workers");
		return NULL;
	}
	if (c == NULL)
		c = &sup.children[sup.nchildren++];
	memset(c, 0, sizeof(*c));
	c->role = role;
	c->index = index;
	c->log = -1;
	c->sp = (struct spawned)SPAWNED_INIT;
	c->exit_io.fd = c->log_io.fd = -1;
	snprintf(
	    c->name, sizeof(c->name), "%s %.64s/%u", w->program, of, index);
	if (child_spawn(c, w->program, fault) == -1)
		goto bad;
	/* If the program could not be executed, its exit shows that. */
	close(c->sp.status);
	c->sp.status = -1;
	if (chan_open(c->chan) == 0)
		return c;
	fault_errno(fault, "%s", c->name);
bad:
	child_forget(c);
	return NULL;
}

void
child_forget(struct child *c)
{
	chan_free(c->chan);
	loop_del(&sup.loop, &c->exit_io);
	loop_del(&sup.loop, &c->log_io);
	if (c->log != -1)
		close(c->log);
	if (c->sp.pidfd != -1)
		close(c->sp.pidfd);
	memset(c, 0, sizeof(*c));
	c->role = ROLE_COUNT;
	c->log = -1;
	c->sp = (struct spawned)SPAWNED_INIT;
	c->exit_io.fd = c->log_io.fd = -1;
	c->dead = true;
}

int
children_hello(struct fault *fault)
{
	uint64_t now, until = clock_mono_us() / 1000 + SUP_HELLO_MS;
	char said[300];

	while (sup.nhello < sup.nchildren) {
		now = clock_mono_us() / 1000;
		if (sup.ending)
			return fault_set(fault, "%s", sup.end_why);
		if (now >= until)
			break;
		if (loop_once(&sup.loop, (int)(until - now)) == -1)
			return fault_errno(fault, "epoll_wait");
	}
	for (unsigned i = 0; i < sup.nchildren; i++)
		if (!sup.children[i].hello)
			end_request(SUP_EXIT_OS, &sup.children[i],
			    "%s did not say HELLO within %u s%s",
			    sup.children[i].name, SUP_HELLO_MS / 1000,
			    child_said(&sup.children[i], said, sizeof(said)));
	return sup.ending ? fault_set(fault, "%s", sup.end_why) : 0;
}
