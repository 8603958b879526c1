/* SPDX-License-Identifier: ISC */
/*
 * Starts MCP servers with three pipes each: auditd gets the end for stdin, its
 * mcp-backd the other two. A server that cannot be started fails its own calls,
 * never the session. A remote server has one pipe, from auditd to its keyd.
 */
#include "core/sup.h"

#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "box/git/gitbox.h"
#include "box/locate.h"
#include "box/mounts.h"
#include "box/server_led.h"
#include "box/server_plain.h"
#include "hub/control.h"

/*
 * Warnings, shown once the policy is in force: a bad policy has its own error.
 */
static struct buf server_unseen;

static void
server_no_mount(const char *server, const struct mount *m, const char *why)
{
	if (server_unseen.max == 0)
		buf_init(&server_unseen, 65536);
	buf_printf(&server_unseen,
	    "rule %s: server %s does not see %s: %s. Calls that the rule "
	    "allows there run one at a time%c",
	    m->rule, server, m->within, why, '\0');
}

void
servers_unseen(void)
{
	const char *s = (const char *)buf_span(&server_unseen).p;
	size_t left = server_unseen.len;

	for (; left != 0; left -= strlen(s) + 1, s += strlen(s) + 1)
		sup_warn("%s", s);
	buf_free(&server_unseen);
}

/* Add the directories that rules allow to those of the server's entry. */
static int
server_mounts(const struct view_how *how, struct fault *fault)
{
	const struct rules_file *r = &sup.rules[PROTO_RULES_POLICY];
	struct view_how each = *how;
	static struct mounts ms;
	struct server *s;
	int rv = 0;

	if (mounts_read(&ms, span_of(r->text, r->len), sup.paths.user_home) ==
	    -1)
		return fault_errno(fault, "%s", r->path);
	for (unsigned i = 0; rv == 0 && i < sup.nservers; i++) {
		s = &sup.servers[i];
		if (!s->usable || !s->def->sandboxed || s->def->remote != NULL)
			continue;
		/* icfs serves directories; a file gets an instance per call. */
		each.directories = s->program.ours;
		mounts_apply(&ms, &s->view, &each, s->def, server_no_mount);
		if (s->program.ours &&
		    (rv = view_roots(&s->view, &s->program)) == -1)
			fault_errno(fault, "server %s", s->def->name);
	}
	mounts_free(&ms);
	return rv;
}

/* Leave a server out whose code an agent could choose, and say so. */
static bool
server_left_out(struct server *s)
{
	if (!server_led(s, s->text, sizeof(s->text)))
		return false;
	s->usable = false;
	sup_warn("server %s is %s", s->def->name, s->text);
	return true;
}

/* Find all programs. Those of the servers are relative to `base`. */
static int
servers_locate(const char *base, struct fault *fault)
{
	const struct locate l = {
	    .paths = &sup.paths, .path_env = sup.host.path, .base = base};
	static struct locate_ask asks[nitems(sup.defs.defs)];
	size_t n = 0;

	for (unsigned i = 0; i < sup.defs.n; i++)
		if (sup.defs.defs[i].remote == NULL)
			asks[n++] = (struct locate_ask){
			    .command = sup.defs.defs[i].command,
			    .args = sup.defs.defs[i].args,
			    .program = &sup.servers[i].program};
	if (locate_programs(&l, asks, n, fault) == -1)
		return -1;
	n = 0;
	for (unsigned i = 0; i < sup.defs.n; i++)
		if (sup.defs.defs[i].remote == NULL)
			(void)strlcpy(sup.servers[i].text, asks[n++].why,
			    sizeof(sup.servers[i].text));
	return 0;
}

/* Find programs, open and check views, before anything starts. */
int
servers_prepare(struct fault *fault)
{
	struct view_how how = {.guards = &sup.guards,
	    .workspace = sup.workspace,
	    .workspace_path = sup.workspace_path,
	    .read_only = sup.read_only};
	char *base;
	struct server *s;

	base = strdup(sup.defs.file != NULL ? sup.defs.file : "/");
	if (base == NULL)
		return fault_errno(fault, "servers");
	if (strrchr(base, '/') != NULL)
		strrchr(base, '/')[0] = '\0';
	if (servers_locate(base, fault) == -1) {
		free(base);
		return -1;
	}
	free(base);
	for (unsigned i = 0; i < sup.defs.n; i++) {
		s = &sup.servers[i];
		s->def = &sup.defs.defs[i];
		s->sp = (struct spawned)SPAWNED_INIT;
		s->exit_io.fd = -1;
		s->theirs[0] = s->theirs[1] = s->theirs[2] = -1;
		s->door = -1;
		if (s->def->remote != NULL) {
			s->usable = true;
		} else if (s->program.path == NULL) {
			/* Reported when the server is used; the others work. */
		} else if (server_left_out(s)) {
			/* Its view is not even opened. */
		} else if (how.bare = !server_bears(s->def),
		    view_open(&s->view, &how, s->def, &s->program, fault) ==
			-1) {
			/* The user must correct a view that is not allowed. */
			return -1;
		} else {
			s->usable = true;
		}
		sup.nservers++;
	}
	if (server_mounts(&how, fault) == -1)
		return -1;
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].def->remote == NULL &&
		    view_withhold(&sup.servers[i].view, &how) == -1)
			return fault_errno(fault,
			    "server %s: the workspace cannot be made read-only "
			    "in its view", sup.servers[i].def->name);
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].usable && sup.servers[i].def->sandboxed &&
		    sup.servers[i].def->remote == NULL &&
		    host_add_view(&sup.servers[i].view, fault) == -1)
			return -1;
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].usable &&
		    sup.servers[i].def->remote == NULL &&
		    server_left_out(&sup.servers[i]))
			view_close(&sup.servers[i].view);
	if (host_refuse_sockets(fault) == -1 || host_resolve(fault) == -1 ||
	    host_command_notify(fault) == -1 ||
	    server_plain_prepare(fault) == -1)
		return -1;
	return gitbox_prepare(fault);
}

static void
server_fail(unsigned i, const char *text)
{
	struct server *s = &sup.servers[i];
	struct msg_SERVER_FAIL m = {
	    .server = (uint16_t)i, .text = span_str(text)};

	if (m.text.len > 512)
		m.text.len = 512;
	/* Tell the user now; policyd tells the agent. */
	sup_note("MCP server %s: %s", s->def->name, text);
	child_send(ROLE_POLICY, 0, MSG_SERVER_FAIL, &m, -1);
}

static void server_begin(struct server *);

static void
server_exited(struct loop_io *io, uint32_t events)
{
	struct server *s = io->arg;
	int code, status;

	if (spawn_reap(s->sp.pidfd, false, &code, &status) != 1)
		return;
	loop_del(&sup.loop, io);
	close(s->sp.pidfd);
	s->sp = (struct spawned)SPAWNED_INIT;
	/* The server's mcp-backd sees the pipes close and tells policyd. */
	sup_note("MCP server %s %s", s->def->name,
	    spawn_describe(code, status, s->ended, sizeof(s->ended)));
	if (s->state == PROTO_STATE_GONE)
		control_server((unsigned)(s - sup.servers));
	if (s->again && !sup.ending)
		server_begin(s);
}

/* Make a pipe. The server's end is blocking, as programs expect. */
int
server_pipe(int *ours, int *theirs, bool we_write)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) == -1)
		return -1;
	*ours = p[we_write ? 1 : 0];
	*theirs = p[we_write ? 0 : 1];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static void
server_close_theirs(struct server *s)
{
	for (size_t i = 0; i < 3; i++) {
		if (s->theirs[i] != -1)
			close(s->theirs[i]);
		s->theirs[i] = -1;
	}
}

/* Connect auditd with the keyd of a remote server. */
static int
server_post(unsigned i, struct fault *fault)
{
	static const struct msg_SERVER_IN to;
	const struct topology_size size = sup_size();
	struct msg_SERVER_STDIN in = {.server = (uint16_t)i};
	struct msg_SERVER_AFAR afar = {.mask = sup.config.redact,
	    .name = span_str(sup.servers[i].def->name)};
	int p[2];

	if (pipe2(p, O_CLOEXEC | O_NONBLOCK) == -1)
		return fault_errno(
		    fault, "server %s: pipe", sup.servers[i].def->name);
	child_send(ROLE_BACK, i, MSG_SERVER_AFAR, &afar, -1);
	child_send(ROLE_KEY, size.afar[i] - 1U, MSG_SERVER_IN, &to, p[0]);
	child_send(ROLE_AUDIT, 0, MSG_SERVER_STDIN, &in, p[1]);
	return 0;
}

/* Send icsupervisor's ends to auditd and the mcp-backd; keep the server's. */
static int
server_pipes(unsigned i, struct fault *fault)
{
	struct server *s = &sup.servers[i];
	struct msg_SERVER_STDIN in = {.server = (uint16_t)i};
	struct msg_SERVER_OUT out = {.sandboxed = s->def->sandboxed,
	    .mask = sup.config.redact};
	int ours[3] = {-1, -1, -1};

	if (s->def->remote != NULL)
		return server_post(i, fault);
	for (size_t k = 0; k < 3; k++) {
		if (server_pipe(&ours[k], &s->theirs[k], k == 0) == 0)
			continue;
		fault_errno(fault, "server %s: pipe", s->def->name);
		for (size_t n = 0; n < 3; n++)
			if (ours[n] != -1)
				close(ours[n]);
		return -1;
	}
	child_send(ROLE_BACK, i, MSG_SERVER_OUT, &out, ours[1]);
	out.which = 1;
	child_send(ROLE_BACK, i, MSG_SERVER_OUT, &out, ours[2]);
	child_send(ROLE_AUDIT, 0, MSG_SERVER_STDIN, &in, ours[0]);
	return 0;
}

int
servers_connect(struct fault *fault)
{
	for (unsigned i = 0; i < sup.nservers; i++) {
		if (sup.servers[i].usable) {
			if (server_pipes(i, fault) == -1)
				return -1;
		} else {
			server_fail(i, sup.servers[i].text);
		}
	}
	return 0;
}

static int
server_spawn(struct server *s, struct fault *fault)
{
	int rv;

	if (s->def->remote != NULL)
		return 0;
	if (s->def->sandboxed)
		rv = server_spawn_box(s, s->def, &s->view, s->program.argv,
		    s->theirs, &s->sp, fault);
	else
		rv = server_plain_spawn(s, s->theirs, fault);
	if (rv == 0 && spawn_check(&s->sp) == -1)
		rv = fault_errno(fault, "%s%s",
		    s->def->sandboxed ? "bwrap" : s->program.path,
		    spawn_step());
	if (rv == 0 && loop_add(&sup.loop, &s->exit_io, s->sp.pidfd, EPOLLIN,
			   server_exited, s) == -1)
		rv = fault_errno(fault, "epoll");
	return rv;
}

/*
 * Start a server that died again, in the view that was opened at first. auditd
 * and its mcp-backd keep running and get the ends of the new pipes.
 */
static void
server_begin(struct server *s)
{
	unsigned i = (unsigned)(s - sup.servers);
	struct fault fault;

	s->again = false;
	s->restarts++;
	/* An agent of a session that began later may write there by now. */
	if ((s->def->remote == NULL &&
		server_led(s, fault.text, sizeof(fault.text))) ||
	    server_pipes(i, &fault) == -1 || server_spawn(s, &fault) == -1)
		server_fail(i, fault.text);
	server_close_theirs(s);
}

void
server_again(struct server *s)
{
	s->again = !sup.ending;
	if (!s->again)
		return;
	if (s->sp.pidfd == -1)
		server_begin(s);
	else
		/*
		 * The server closed its output but still runs: end it before
		 * starting another.
		 */
		(void)syscall(
		    SYS_pidfd_send_signal, s->sp.pidfd, SIGKILL, NULL, 0);
}

/*
 * Start all servers. For one that fails, close the pipes and tell policyd why.
 */
void
servers_start(void)
{
	struct fault fault;
	struct server *s;

	for (unsigned i = 0; i < sup.nservers; i++) {
		s = &sup.servers[i];
		if (!s->usable)
			continue;
		if (server_spawn(s, &fault) == -1)
			server_fail(i, fault.text);
		server_close_theirs(s);
		/*
		 * A third-party program may be started again and needs its
		 * view, and so does a test of such a sandbox.
		 */
		if (s->program.ours && !sup.opt.attack_only)
			view_close(&s->view);
	}
}

bool
servers_settled(void)
{
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].restarts == 0 &&
		    sup.servers[i].def->remote == NULL &&
		    sup.servers[i].state != PROTO_STATE_READY &&
		    sup.servers[i].state != PROTO_STATE_GONE)
			return false;
	return true;
}

void
servers_kill(void)
{
	for (unsigned i = 0; i < sup.nservers; i++)
		if (sup.servers[i].sp.pidfd != -1)
			(void)syscall(SYS_pidfd_send_signal,
			    sup.servers[i].sp.pidfd, SIGKILL, NULL, 0);
}
