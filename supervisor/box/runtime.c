/* SPDX-License-Identifier: ISC */
/*
 * The agent's start and end, in a sandbox of any kind: ic-bridge is process 1
 * there and the agent's parent, and makes the break-out test before it starts
 * the agent. The agent's exit status becomes icsupervisor's.
 */
#include "box/runtime.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auto/said.h"
#include "box/breakout.h"
#include "box/bridge.h"
#include "box/cgroup/group.h"
#include "box/containers/engine.h"
#include "box/containers/sidecar.h"
#include "box/system/hosts.h"
#include "box/kind.h"
#include "box/locate.h"
#include "box/oom.h"
#include "box/orient.h"
#include "box/sandbox.h"
#include "box/sandbox_log.h"
#include "box/timeup.h"
#include "common/wordlist.h"
#include "start/clone.h"
#include "budget/budget.h"
#include "base/jsonfile.h"
#include "conversation/conversation.h"
#include "relay/link.h"
#include "relay/publish.h"
#include "core/sup.h"

/* By then a signal that ended the agent has also arrived here. */
#define RUNTIME_SIGNAL_MS 200U
/* A sandbox ends so soon after its ic-bridge, even on a busy machine. */
#define RUNTIME_UNLINKED_MS 20000U
#define RUNTIME_WORDS 32U

static struct {
	const struct box_kind *kind;
	char **argv;  /* in the sandbox, bridge included */
	char *inside; /* the agent's program there */
	char *env[ORIENT_MAX_ENV + 1];
	bool tested; /* --runtime none: the workers are being attacked */
	struct loop_timer killed, unlinked;
	int status; /* the agent's, once it has ended */
	char how[128];
} runtime_env;

static int
runtime_argv(char *const *args, const char *inside, struct fault *fault)
{
	const char *list[RUNTIME_WORDS];
	struct wordlist before = WORDLIST_IN(list);
	const bool container = runtime_env.kind == &box_engine_kind;
	char limits[96], ports[PUBLISH_PORTS_TEXT];
	char services[HOSTS_PORTS_TEXT];
	struct limits inside_limits = sup.config.limits;
	char *filled[ADAPTER_MAX_ARGS + 1] = {NULL};
	size_t n = 0;
	int rv = 0;

	for (; sup.opt.command == NULL && args != NULL && args[n] != NULL;
	     n++) {
		filled[n] = adapter_fill(&sup.providers, sup.opt.task, args[n]);
		if (filled[n] == NULL)
			rv = fault_errno(fault, "agent");
	}
	wordlist_all(
	    &before, (const char *const[]){SANDBOX_BRIDGE, "run", NULL});
	link_bridge_options(&before);
	wordlist_add(&before, "--limits");
	/* A container of Docker shares the numbers of its users with us. */
	/* Podman counts ic-bridge too, which is none of the agent's. */
	if (sup.opt.runtime == RUNTIME_PODMAN && inside_limits.processes != 0)
		inside_limits.processes++;
	wordlist_add(&before,
	    limits_option(&inside_limits, sup.opt.runtime != RUNTIME_DOCKER,
		limits, sizeof(limits)));
	if (container)
		wordlist_all(&before, engine_bridge_options);
	if (sup.opt.npublish != 0) {
		wordlist_add(&before, "--publish");
		wordlist_add(&before, publish_ports(ports));
	}
	if (sup.services) {
		wordlist_add(&before, "--services");
		wordlist_add(&before, hosts_ports(services));
	}
	wordlist_add(&before, "--supervised");
	if (sup.opt.conversation)
		wordlist_add(&before, "--turns");
	wordlist_add(&before, "/run/ironcurtain");
	if (!sup.opt.conversation) {
		wordlist_add(&before, "--");
		wordlist_add(&before, inside);
	}
	if (rv == 0 && wordlist_end(&before) != NULL)
		runtime_env.argv = locate_argv(
		    list, sup.opt.conversation      ? filled + n
			  : sup.opt.command != NULL ? sup.opt.command + 1
						    : filled);
	for (size_t i = 0; i < n; i++)
		free(filled[i]);
	if (rv == 0 && runtime_env.argv == NULL)
		rv = fault_errno(fault, "agent");
	return rv;
}

int
runtime_prepare(struct fault *fault)
{
	char **args =
	    sup.opt.task != NULL ? sup.adapter.task_args : sup.adapter.args;
	char *inside = NULL;
	int rv;

	sup.agent = (struct spawned)SPAWNED_INIT;
	sup.agent_io.fd = -1;
	if (sup.opt.runtime == RUNTIME_NONE)
		return orient_environment(NULL, runtime_env.env, fault);
	runtime_env.kind = sup.opt.runtime == RUNTIME_BWRAP ? &box_bwrap_kind
							    : &box_engine_kind;
	sandbox.bridge = paths_join(sup.paths.bindir, "ic-bridge");
	if (sandbox.bridge == NULL)
		return fault_errno(fault, "ic-bridge");
	if (access(sandbox.bridge, X_OK) == -1)
		return fault_errno(fault, "%s", sandbox.bridge);
	if (sup.opt.acp)
		args = sup.adapter.acp;
	if (sup.opt.resume)
		args = sup.adapter.talk.on;
	if (sup.opt.conversation)
		args = sup.adapter.talk.turn != NULL ? sup.adapter.talk.turn
						     : sup.adapter.task_args;
	if (sup.opt.acp && sup.opt.model != NULL && !sup.adapter.acp_model)
		return fault_set(fault,
		    "--model: with --acp, the model of agent %s is chosen in "
		    "the editor",
		    sup.adapter.name);
	if (sup.opt.command == NULL && args == NULL && sup.opt.acp)
		return fault_set(fault,
		    "--acp: the file of agent %s does not say how it serves an "
		    "editor (\"acp\", see ironcurtain-config(5)). To run a "
		    "program that does: icctl start --acp -- COMMAND",
		    sup.adapter.name);
	if (sup.opt.command == NULL && args == NULL && sup.opt.task != NULL)
		return fault_set(fault,
		    "the file of agent %s does not say how it takes a task "
		    "(\"taskArgs\", see ironcurtain-config(5)). As a "
		    "conversation: icctl start --detach, then icctl send",
		    sup.adapter.name);
	if (sup.opt.command == NULL && args == NULL)
		return fault_set(fault, "--agent %s needs a %s",
		    sup.adapter.name,
		    sup.adapter.program == NULL ? "command after --"
						: "--task");
	rv = runtime_env.kind->find(&inside, fault);
	if (rv == 0)
		rv = runtime_argv(args, inside, fault);
	runtime_env.inside = inside;
	if (rv == -1)
		return -1;
	return runtime_env.kind->environment(runtime_env.env, fault);
}

int
runtime_check(struct fault *fault)
{
	return runtime_env.kind == NULL ? 0 : runtime_env.kind->check(fault);
}

int
runtime_orient(struct fault *fault)
{
	return orient_write(runtime_env.env, fault);
}

/* The sandbox could not be made: report the reason. */
static void
runtime_unmade(void)
{
	const char *remedy;
	struct fault why;

	runtime_env.kind->unmade(runtime_env.how, &why, &remedy);
	sup_warn("the sandbox could not be created: %s", why.text);
	sup_warn("%s", remedy);
	end_request(SUP_EXIT_OS, NULL,
	    "the sandbox could not be created: "
	    "%s",
	    why.text);
}

/* Returns true if the kernel killed the agent at its container's limit. */
static bool
runtime_oom(void)
{
	return runtime_env.status == 128 + SIGKILL &&
	       (oom_killed() != 0 || group_agent_killed() != 0);
}

/* Explain the status with which a program that is not there ends. */
static void
runtime_missing(void)
{
	if (sandbox.image[0] == '\0' || runtime_env.status != 127)
		return;
	if (sup.opt.command == NULL && sup.adapter.image != NULL)
		sup_warn("status 127 usually means that the image has no "
			 "program %s. `icctl image build %s` makes an image "
			 "that has it, which is used without --image",
		    runtime_env.inside, sup.adapter.name);
	else
		sup_warn("status 127 usually means that the image has no "
			 "program %s, or none that it needs, such as a shell",
		    runtime_env.inside);
}

/*
 * The agent has ended by itself. A signal that nobody sends to end a program,
 * such as that of a filter, is evidence.
 */
static void
runtime_ended(void)
{
	const int sig = runtime_env.status - 128;

	if (sup.ending)
		return;
	if (sig == SIGSYS || sig == SIGSEGV || sig == SIGBUS || sig == SIGILL ||
	    sig == SIGABRT || sig == SIGTRAP || sig == SIGKILL)
		snprintf(sup.end_evidence, sizeof(sup.end_evidence),
		    "its agent was killed by SIG%s%s", sigabbrev_np(sig),
		    sig == SIGSYS ? " (a system call that its filter forbids)"
				  : "");
	runtime_missing();
	end_request(runtime_env.status, NULL, "the agent %s", runtime_env.how);
}

/* The agent has ended, and all its output has been passed on. */
static void
runtime_over(void)
{
	const unsigned long long mib = sup.config.limits.memory_mb;

	sandbox_log_read();
	if (timeup_why() != NULL)
		end_request(SUP_EXIT_TIME, NULL, "%s", timeup_why());
	else if (runtime_oom())
		end_request(SUP_EXIT_LIMIT, NULL,
		    "the agent used %llu MiB of memory; its limit is %llu "
		    "(dockerResources.memoryMb in config.json)",
		    mib, mib);
	else
		runtime_ended();
}

/* Pass on the rest of the agent's output. */
static void
runtime_drain(struct loop_timer *t)
{
	sup.terminal.left = runtime_over;
	terminal_stop();
	if (terminal_left())
		runtime_over();
}

static void
runtime_exited(struct loop_io *io, uint32_t events)
{
	int code, status;

	if (spawn_reap(sup.agent.pidfd, false, &code, &status) != 1)
		return;
	loop_del(&sup.loop, io);
	close(sup.agent.pidfd);
	sup.agent.pidfd = -1;
	breakout_free();
	bridge_close();
	loop_timer_clear(&sup.loop, &runtime_env.unlinked);
	spawn_describe(code, status, runtime_env.how, sizeof(runtime_env.how));
	runtime_env.status = spawn_status(code, status);
	if (!runtime_env.kind->made(code, status)) {
		sandbox_log_read();
		runtime_unmade();
		return;
	}
	if (!breakout_result()->passed && !sup.ending) {
		breakout_refuse("ic-bridge ended before it was over");
		return;
	}
	sup.agent_ended = true;
	/* A signal to every process of the session is meant for the session. */
	if (runtime_env.status == 128 + SIGTERM ||
	    runtime_env.status == 128 + SIGINT ||
	    runtime_env.status == 128 + SIGHUP)
		loop_timer_set(&sup.loop, &runtime_env.killed,
		    RUNTIME_SIGNAL_MS, runtime_drain, NULL);
	else
		runtime_drain(NULL);
}

/* The break-out test has passed: ic-bridge starts the agent. */
static void
runtime_passed(void)
{
	const struct breakout *test = breakout_result();

	if (sup.ending)
		return;
	sup_note("break-out test passed: %u attempts from inside the sandbox, "
		 "%u from outside, %u us",
	    test->attempts, test->outside, test->micros);
	if (sup.opt.attack_only) {
		end_request(0, NULL, "the break-out test has been made");
		return;
	}
	if (sup.opt.runtime == RUNTIME_NONE)
		return;
	if (bridge_send(BRIDGE_GO, NULL, 0) == -1) {
		breakout_refuse("ic-bridge does not wait for its end");
		return;
	}
	event_breakout(test);
	if (ready_session_json("running") == -1)
		sup_warn("session.json: %s", strerror(errno));
	if (sup.opt.conversation) {
		sup_note("the sandbox of %s waits for messages (pid %d)",
		    sup.adapter.name, (int)sup.agent.pid);
		conversation_ready(runtime_env.inside);
		return;
	}
	/* An agent without a task has turns that nobody counts yet. */
	if (sup.opt.task != NULL || sup.opt.command != NULL)
		budget_turn();
	sup_note(
	    "agent %s started (pid %d)", sup.adapter.name, (int)sup.agent.pid);
}

static int
runtime_frame(enum bridge_kind kind, const uint8_t *data, size_t len)
{
	if (kind == BRIDGE_ENDED)
		return conversation_ended(data, len);
	if (kind != BRIDGE_PROBED)
		return -1;
	if (sup.opt.transport == TRANSPORT_TCP)
		bridge_peer_set(sidecar_agent());
	sandbox.first = bridge_peer();
	breakout_report(data, len,
	    sandbox.first == 0 || runtime_env.kind->is_first(sandbox.first));
	return 0;
}

static void
runtime_alarm(const char *text)
{
	struct msg_ALARM m = {
	    .kind = SPAN("ic-bridge"), .text = span_str(text)};

	child_send(ROLE_AUDIT, 0, MSG_ALARM, &m, -1);
}

/* The sandbox has ended when ic-bridge has; something else holds it open. */
static void
runtime_unlinked(struct loop_timer *t)
{
	(void)t;
	runtime_alarm("ic-bridge closed its connection and did not end; the "
		      "session is ended");
	end_request(SUP_EXIT_OS, NULL, "ic-bridge closed its connection");
}

/*
 * ic-bridge ends with its connection, and its status is the agent's. A broken
 * protocol is an attack out of the sandbox.
 */
static void
runtime_gone(const char *why)
{
	char text[256];

	if (sup.ending || sup.agent_ended)
		return;
	if (why == NULL) {
		(void)oom_killed();
		loop_timer_set(&sup.loop, &runtime_env.unlinked,
		    RUNTIME_UNLINKED_MS, runtime_unlinked, NULL);
		return;
	}
	if (!breakout_result()->passed) {
		snprintf(text, sizeof(text), "ic-bridge broke the protocol: %s",
		    why);
		breakout_refuse(text);
		return;
	}
	snprintf(text, sizeof(text),
	    "ic-bridge broke the protocol, and the session is ended: %s", why);
	runtime_alarm(text);
	end_request(SUP_EXIT_OS, NULL, "ic-bridge broke the protocol: %s", why);
}

static const struct bridge_calls runtime_calls = {runtime_frame, runtime_gone};

static void
runtime_start(void)
{
	struct fault fault;
	int log = -1, rv;

	sup.agent_started = true;
	if (sup.opt.task != NULL && !conversation_on())
		said_take(span_str(sup.opt.task), true);
	loop_timer_clear(&sup.loop, &sup.agent_timer);
	rv = orient_write_tools(&fault);
	if (rv == 0)
		rv = sandbox_log_open(&log, &fault);
	if (rv == 0)
		rv = bridge_open(sup.opt.transport == TRANSPORT_TCP
				     ? -1
				     : sup.session.sockets,
		    &runtime_calls, &fault);
	if (rv == 0)
		rv = runtime_env.kind->start(
		    runtime_env.argv, runtime_env.env, log, &fault);
	if (log != -1)
		close(log);
	if (rv == 0 && loop_add(&sup.loop, &sup.agent_io, sup.agent.pidfd,
			   EPOLLIN, runtime_exited, NULL) == -1)
		rv = fault_errno(&fault, "epoll");
	if (rv == 0)
		rv = breakout_begin(runtime_passed, &fault);
	if (rv == -1) {
		sup_warn("the agent cannot be started: %s", fault.text);
		end_request(SUP_EXIT_OS, NULL,
		    "the agent cannot be started: "
		    "%s",
		    fault.text);
		return;
	}
}

static void
runtime_late(struct loop_timer *t)
{
	sup_warn("not every MCP server has answered within %u s; the agent "
		 "is started without them",
	    SUP_SERVERS_MS / 1000);
	runtime_start();
}

/* Without a sandbox there are still the workers to be attacked. */
static void
runtime_none(void)
{
	struct fault fault;

	if (runtime_env.tested)
		return;
	runtime_env.tested = true;
	if (breakout_begin_outside(runtime_passed, &fault) == -1) {
		sup_warn("the break-out test cannot be made: %s", fault.text);
		end_request(SUP_EXIT_OS, NULL,
		    "the break-out test cannot be made: %s", fault.text);
	}
}

void
runtime_poll(void)
{
	if (!sup.ready || sup.agent_started || sup.ending ||
	    !clone_fetched(runtime_poll) || !sidecar_ready(runtime_poll))
		return;
	if (sup.opt.runtime == RUNTIME_NONE)
		runtime_none();
	else if (servers_settled() && sup.tools_told)
		runtime_start();
	else if (sup.agent_timer.at == 0)
		loop_timer_set(&sup.loop, &sup.agent_timer, SUP_SERVERS_MS,
		    runtime_late, NULL);
}

void
runtime_kill(void)
{
	breakout_free();
	bridge_close();
	loop_timer_clear(&sup.loop, &runtime_env.unlinked);
	if (runtime_env.kind != NULL)
		runtime_env.kind->stop();
}

void
runtime_remove(void)
{
	if (runtime_env.kind != NULL)
		runtime_env.kind->remove();
}
