/* SPDX-License-Identifier: ISC */
/*
 * Starts a session, from the command line to READY. A user's mistakes are found
 * before anything is started. Blocking is allowed here and nowhere later.
 */
#include "core/sup.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/recheck.h"
#include "auto/consider.h"
#include "auto/signed.h"
#include "box/box.h"
#include "box/cgroup/group.h"
#include "box/containers/sidecar.h"
#include "box/cover.h"
#include "box/git/checkout.h"
#include "box/inside.h"
#include "box/orient.h"
#include "box/runtime.h"
#include "box/watcher.h"
#include "budget/budget.h"
#include "builtin.h"
#include "clone.h"
#include "later.h"
#include "hub/approvals.h"
#include "hub/control.h"
#include "base/here.h"
#include "base/kept.h"
#include "files/founding.h"
#include "files/parse.h"
#include "files/persona.h"
#include "conversation/conversation.h"
#include "credential/credential_env.h"
#include "credential/revoke.h"
#include "domains.h"
#include "git.h"
#include "home/caches.h"
#include "home/project.h"
#include "host/sessions.h"
#include "others.h"
#include "files/providers/destinations.h"
#include "files/reader.h"
#include "relay/link.h"
#include "relay/publish.h"
#include "relay/services.h"
#include "serve.h"
#include "box/system/scan.h"
#include "resume/resume.h"
#include "resume/state.h"
#include "box/system/system.h"
#include "undo.h"

static int
start_no_workspace(const char *path, struct fault *fault)
{
	char here[4096], whole[8200];

	if (path == NULL)
		return fault_errno(fault, "workspace %s", sup.session.dir);
	if (errno != ENOENT)
		return fault_errno(fault, "workspace %s", path);
	snprintf(whole, sizeof(whole), "%.4096s", path);
	if (sup.opt.resume)
		return fault_set(fault,
		    "the workspace %s is gone. Put it back where it was and "
		    "resume again; the session's log and its agent's home are "
		    "kept in %s",
		    path, sup.session.dir);
	if (path[0] != '/' && getcwd(here, sizeof(here)) != NULL)
		snprintf(whole, sizeof(whole), "%s/%.4096s", here,
		    strncmp(path, "./", 2) == 0 ? path + 2 : path);
	return fault_set(fault,
	    "workspace %s: no such directory%s. To make it: mkdir -p %s", path,
	    sup.opt.read_only ? " (a directory whose name ends in :ro is "
				"written with a slash behind it)"
			      : "",
	    whole);
}

static int
start_workspace(struct fault *fault)
{
	const char *path = sup.opt.workspace;
	struct stat st;
	size_t n;

	if (guards_allow(&sup.guards, sup.session.sandbox) == -1 ||
	    guards_add(&sup.guards, GUARD_TREE, "this session's directory",
		sup.session.dir) == -1)
		return fault_errno(fault, "%s/sandbox", sup.session.dir);
	if (path == NULL)
		sup.workspace = openat(sup.session.fd, "sandbox",
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	else
		sup.workspace = open(path, O_PATH | O_CLOEXEC);
	if (sup.workspace == -1 || fstat(sup.workspace, &st) == -1)
		return start_no_workspace(path, fault);
	if (!S_ISDIR(st.st_mode))
		return fault_set(fault, "workspace %s: not a directory", path);
	if ((sup.workspace_path = paths_of_fd(sup.workspace)) == NULL)
		return fault_errno(fault, "workspace %s", path);
	if (guards_check(&sup.guards, sup.workspace, "workspace",
		sup.workspace_path, fault) == 0)
		return inside_choose(fault) == -1 || home_open(fault) == -1 ||
			       host_begin(fault) == -1 ||
			       checkout_find(fault) == -1 ||
			       cover_find(fault) == -1 ||
			       caches_open(fault) == -1
			   ? -1
			   : system_begin(fault);
	if (sup.opt.viewer == NULL)
		return -1;
	/* `icctl start` uses the current directory by default. */
	n = strlen(fault->text);
	snprintf(fault->text + n, sizeof(fault->text) - n,
	    ". Start in the directory of a project, or name one with "
	    "--workspace DIR; --workspace none is an empty one");
	return -1;
}

/* Returns true if this session starts the user's MCP servers. */
static bool
start_has_servers(void)
{
	return sup.opt.trial == NULL &&
	       (!sup.opt.policy_work || sup.opt.policy_servers);
}

static int
start_servers(struct fault *fault)
{
	struct servers_how how = {.unsandboxed = sup.opt.unsandboxed,
	    .nunsandboxed = sup.opt.nunsandboxed};
	const struct server_remote *remote;

	if (servers_find(&sup.defs, &how, servers_ask, &sup.config, &sup.paths,
		fault) == -1 ||
	    servers_prepare(fault) == -1)
		return -1;
	for (unsigned i = 0; i < sup.nservers; i++) {
		remote = sup.servers[i].def->remote;
		if (remote != NULL &&
		    destinations_remote(&sup.providers, i, remote,
			sup.paths.home, sup.servers[i].def->command,
			fault) == -1)
			return -1;
	}
	/* The virtual server needs the last place. */
	if (domains_on() && sup.nservers > PROTO_VIRTUAL)
		return fault_set(fault,
		    "proxyTools: %u servers are one too many beside them: "
		    "remove one, or set proxyTools to false",
		    sup.nservers);
	return 0;
}

static int
start_providers(char *const *names, struct fault *fault)
{
	char *one[] = {(char *)(uintptr_t)sup.opt.trial, NULL};

	/* Without a person who answers, the list is closed from the start. */
	sup.config.asks_hosts =
	    sup.opt.ask && sup.opt.trial == NULL &&
	    (sup.opt.open_hosts != -1
		    ? sup.opt.open_hosts != 0
		    : sup.opt.person && !sup.config.hosts_off);
	config_headers(&sup.config, revoke_session(),
	    sup.opt.persona == NULL ? "" : sup.opt.persona);
	if (providers_load(&sup.providers, &sup.paths, &sup.config,
		sup.opt.trial != NULL ? one : names, fault) == -1)
		return -1;
	/* `icctl doctor --check-api`: one provider, and one request. */
	if (sup.opt.trial != NULL) {
		if (provider_trial_only(&sup.providers.list[0], fault) == -1)
			return -1;
	} else if (destinations_load(&sup.providers, &sup.config, fault) ==
		   -1) {
		return -1;
	}
	if (providers_usable(&sup.providers, fault) == -1)
		return -1;
	return consider_prepare(fault);
}

static int
start_adapter(struct fault *fault)
{
	const char *name = sup.opt.agent;
	const char *model = "";
	char **providers = NULL;

	if (name == NULL && sup.opt.runtime != RUNTIME_NONE)
		name = sup.opt.command != NULL ? "command" : BUILTIN_USUAL;
	if (name != NULL) {
		if (adapter_load(&sup.adapter, &sup.paths, name, fault) == -1)
			return -1;
		if (sup.adapter.internal && !sup.opt.policy_work)
			return fault_set(fault,
			    "--agent %s: icctl starts this agent itself. Run: "
			    "icctl policy compile",
			    sup.adapter.name);
		if (adapter_choose(
			&sup.adapter, &sup.paths, &sup.config, fault) == -1 ||
		    adapter_take_any(
			&sup.adapter, &sup.paths, &sup.config, fault) == -1 ||
		    adapter_model(&sup.adapter, &sup.config, sup.opt.model,
			&model, fault) == -1)
			return -1;
		providers = sup.adapter.providers;
	}
	if (start_providers(providers, fault) == -1)
		return -1;
	snprintf(sup.providers.model, sizeof(sup.providers.model), "%s", model);
	sup.providers.workspace = sup.inside;
	if (orient_compose(fault) == -1 || link_prepare(fault) == -1 ||
	    runtime_prepare(fault) == -1)
		return -1;
	builtin_say();
	caches_say();
	return 0;
}

static int
start_login(unsigned i, struct fault *fault)
{
	struct provider *p = &sup.providers.list[i];

	/* The server says whether it wants one. */
	if (p->server != 0)
		;
	else if (p->waits)
		sup_note("provider %s: nobody is logged in. Log in from inside "
			 "the session, with the agent's own login (%s)",
		    p->name, p->logins[p->login].name);
	else
		sup_note("provider %s: the login of %s (%s)", p->name,
		    p->logins[p->login].name, provider_login_file(p));
	if (p->kept)
		return renew_init_kept(
		    &sup.keys[i].renewal, i, p->logins[p->login].kept, fault);
	return renew_init(&sup.keys[i].renewal, i, sup.keys[i].cred.fd,
	    &p->logins[p->login], fault);
}

/* Find the command of each credential that comes from one. */
static int
start_commands(struct fault *fault)
{
	const struct provider *p;
	char what[96];

	for (unsigned i = 0; i < sup.providers.n; i++) {
		p = &sup.providers.list[i];
		snprintf(
		    what, sizeof(what), "credentials.%.64s.command", p->name);
		if (credential_asks(p) &&
		    host_command_find(&sup.keys[i].command, what,
			&p->config->command, fault) == -1)
			return -1;
	}
	if (sup.proxy.auth && !sup.proxy.escaped &&
	    credential_asks_config(&sup.config.proxy.auth) &&
	    host_command_find(&sup.proxy.command, "proxy.credential.command",
		&sup.config.proxy.auth.command, fault) == -1)
		return -1;
	return revoke_begin(fault);
}

/* Open the credentials that come from a command, or all others. */
static int
start_keys(bool commands, struct fault *fault)
{
	struct credential_how how = {.workspace = sup.workspace};

	for (unsigned i = 0; i < sup.providers.n; i++) {
		if (credential_asks(&sup.providers.list[i]) != commands)
			continue;
		how.command = &sup.keys[i].command;
		if (credential_open(&sup.keys[i].cred, &sup.providers.list[i],
			&how, fault) == -1)
			return -1;
		if (sup.providers.list[i].login != -1 &&
		    start_login(i, fault) == -1)
			return -1;
	}
	how.command = &sup.proxy.command;
	return proxy_credential(&sup.proxy, &sup.config, commands, &how, fault);
}

/* Returns true if a command prints a credential. */
static bool
start_asks(void)
{
	for (unsigned i = 0; i < sup.providers.n; i++)
		if (credential_asks(&sup.providers.list[i]))
			return true;
	return sup.proxy.auth && !sup.proxy.escaped &&
	       credential_asks_config(&sup.config.proxy.auth);
}

/* Overwrite the variables that have a credential. */
static void
start_wipe(void)
{
	const struct provider *p;

	credential_wipe(&sup.paths, &sup.config);
	for (unsigned i = 0; i < sup.providers.n; i++) {
		p = &sup.providers.list[i];
		if (p->server != 0 && p->config->kind == CREDENTIAL_ENV)
			credential_env_wipe(p->config->value);
	}
}

/*
 * Open the credentials. After the first round no key is in our memory, so that
 * no command inherits another provider's key. Nothing was started before. If
 * there is no command, start_workers() wipes the keys: looking for the names of
 * all variables that may contain one takes milliseconds, and workers, which
 * inherit no environment, start meanwhile.
 */
static int
start_credentials(struct fault *fault)
{
	for (unsigned i = 0; i < sup.providers.n; i++)
		sup.keys[i].cred = (struct credential)CREDENTIAL_INIT;
	if (start_commands(fault) == -1 || start_keys(false, fault) == -1)
		return -1;
	if (start_asks())
		start_wipe();
	return start_keys(true, fault);
}

/* The command line decides, then config.json. */
static void
start_runtime(void)
{
	if (sup.opt.runtime == RUNTIME_COUNT)
		sup.opt.runtime = options_runtime_find(sup.config.runtime);
	/* Only Docker's containers can be where our sockets are not. */
	if (sup.opt.transport == TRANSPORT_COUNT)
		sup.opt.transport =
		    sup.config.tcp && sup.opt.runtime == RUNTIME_DOCKER
			? TRANSPORT_TCP
			: TRANSPORT_UNIX;
}

/* Refuse an image that nothing would run. */
static int
start_image(struct fault *fault)
{
	if (sup.opt.image == NULL || sup.opt.runtime == RUNTIME_DOCKER ||
	    sup.opt.runtime == RUNTIME_PODMAN)
		return 0;
	return fault_set(fault,
	    "--image %s: the runtime is %s, which has no images. Write "
	    "--runtime docker or podman, too",
	    sup.opt.image, options_runtime_name(sup.opt.runtime));
}

/* Take what the persona says of the session; icctl has taken the rest. */
static int
start_persona(struct fault *fault)
{
	struct persona p;
	int rv;

	if (sup.opt.policy_work)
		sup.config.budget = sup.config.policy_budget;
	if (sup.opt.persona == NULL)
		return 0;
	rv = persona_load(&p, sup.paths.home, sup.opt.persona, fault);
	if (rv == 0) {
		persona_budget(&p, &sup.config.budget);
		(void)strlcpy(
		    sup.constitution, p.constitution, sizeof(sup.constitution));
	}
	persona_free(&p);
	return rv;
}

/* Decide whether anything in a sandbox may write the workspace. */
static int
start_rules(struct fault *fault)
{
	if (policy_rules_load(fault) == -1)
		return -1;
	sup.read_only = sup.opt.read_only || rules_read_only(sup.rules);
	return 0;
}

/* Do everything that only reads and checks. */
static int
start_check(struct fault *fault)
{
	if (sup.opt.config != NULL && access(sup.opt.config, F_OK) == -1)
		return fault_errno(fault, "--config %s", sup.opt.config);
	if (config_file(&sup.config, config_ask, sup.opt.config, sup.paths.home,
		sup.paths.user_home, sup.opt.profile, fault) == -1 ||
	    start_persona(fault) == -1 ||
	    proxy_load(&sup.proxy, &sup.config, fault) == -1 ||
	    budget_open(&sup.config.budget, &sup.paths, fault) == -1 ||
	    guards_init(&sup.guards, &sup.paths, fault) == -1)
		return -1;
	start_runtime();
	if (start_image(fault) == -1)
		return -1;
	sup.services = sup.config.nservices != 0 &&
		       sup.opt.runtime != RUNTIME_NONE &&
		       sup.opt.trial == NULL && !sup.opt.policy_work;
	sup.require.flags = sup.config.require.flags | sup.opt.require.flags;
	sup.require.landlock =
	    sup.config.require.landlock > sup.opt.require.landlock
		? sup.config.require.landlock
		: sup.opt.require.landlock;
	return 0;
}

static int
start_listen(struct fault *fault)
{
	int control;

	sup.listen_mcp =
	    session_listen(sup.session.sockets, "proxy.sock", 0666);
	sup.listen_mitm =
	    session_listen(sup.session.sockets, "mitm-proxy.sock", 0666);
	if (sup.listen_mcp == -1 || sup.listen_mitm == -1)
		return fault_errno(fault, "%s/sockets", sup.session.dir);
	if (terminal_open(fault) == -1 || publish_listen(fault) == -1 ||
	    services_listen(fault) == -1 || serve_begin(fault) == -1 ||
	    (sup.opt.transport == TRANSPORT_TCP && sidecar_begin(fault) == -1))
		return -1;
	for (unsigned i = 0; i < sup.nservers; i++)
		if (server_door_open(i, fault) == -1)
			return -1;
	control = session_listen(sup.session.fd, "control.sock", 0600);
	if (control == -1 || control_open(control, control_op) == -1)
		return fault_errno(fault, "%s/control.sock", sup.session.dir);
	control = session_listen(sup.session.fd, "metrics.sock", 0600);
	if (control == -1 || metrics_open(control) == -1)
		return fault_errno(fault, "%s/metrics.sock", sup.session.dir);
	return 0;
}

static void
start_reserve(struct loop_timer *t)
{
	if (auditfile_reserve(&sup.session) == -1 &&
	    sup.audit_failed[0] == '\0')
		sup_note("no disk space can be reserved for the audit log: %s",
		    strerror(errno));
	loop_timer_set(&sup.loop, t, 5000, start_reserve, NULL);
}

static int
start_workers(struct fault *fault)
{
	if (sup.opt.trial == NULL)
		group_begin();
	if (children_spawn(fault) == -1)
		return -1;
	start_wipe();
	if (start_listen(fault) == -1 || children_hello(fault) == -1 ||
	    setup_peers(fault) == -1)
		return -1;
	ready_missing();
	setup_config();
	event_start();
	resume_grants();
	state_all();
	resume_tell();
	if (servers_connect(fault) == -1 || setup_wait(fault) == -1 ||
	    clone_finish(fault) == -1 || system_end(fault) == -1 ||
	    runtime_orient(fault) == -1)
		return -1;
	return serve_wait(fault);
}

static int
start_ready(struct fault *fault)
{
	servers_unseen();
	entries_start();
	budget_start();
	setup_start();
	resume_locks();
	sup.ready = true;
	if (ready_session_json("running") == -1)
		sup_warn("session.json: %s", strerror(errno));
	/* A program that reads READY finds everything that was said before. */
	publish_say();
	services_say();
	if (box_proc_masked())
		sup_note("/proc is masked here: IronCurtain's own servers run "
			 "in sandboxes without it, and no other server does");
	if (sup.opt.print_ready)
		ready_print();
	summary_start();
	recheck_begin();
	if (link_start(fault) == -1)
		return -1;
	ready_notify("READY=1\nSTATUS=session is running");
	watchdog_start();
	loop_timer_set(
	    &sup.loop, &sup.reserve_timer, 5000, start_reserve, NULL);
	/* READY does not wait for servers and root certificates. */
	servers_start();
	watcher_start();
	setup_roots();
	undo_open();
	runtime_poll();
	reader_end();
	return 0;
}

/* Say which variables of the TypeScript IronCurtain have no effect here. */
static void
start_founding(void)
{
	const char *name, *instead;

	for (size_t i = 0; (name = founding_variable(i, &instead)) != NULL; i++)
		if (getenv(name) != NULL)
			sup_warn("%s has no effect here: %s", name, instead);
}

/*
 * Start what the session is made of, while the clone is made: it can take long,
 * and a key that is missing is told at once.
 */
static int
start_begun(int *status, struct fault *fault)
{
	if (start_credentials(fault) == -1 || signed_prepare(fault) == -1)
		return -1;
	later_begin();
	*status = SUP_EXIT_OS;
	/* Before the link by which other sessions find this one. */
	if (sessions_record(sup.session.fd, &sup.host.places) == -1)
		return fault_errno(fault, "%s", sup.session.dir);
	/* Nobody but the one who started a trial has to find it. */
	if (sup.opt.trial == NULL &&
	    session_link(&sup.session, &sup.paths, fault) == -1)
		return -1;
	if (sup.opt.trial == NULL && others_check(fault) == -1) {
		*status = SUP_EXIT_BUSY;
		return -1;
	}
	approvals_init(budget_waiting);
	sup.terminal.rules = conversation_rules;
	sup.terminal.lost = conversation_unprinted;
	if (services_check(fault) == -1 || publish_open(fault) == -1 ||
	    conversation_open(watcher_turn, fault) == -1 ||
	    start_workers(fault) == -1) {
		/* Mistakes in rules and credentials are found late. */
		if (sup.rules_refused || fault->kind == FAULT_CONFIG)
			*status = SUP_EXIT_CONFIG;
		return -1;
	}
	return start_ready(fault);
}

int
start_session(int *status, struct fault *fault)
{
	*status = SUP_EXIT_CONFIG;
	sup.began = clock_wall_us();
	if (sup.opt.counted)
		(void)strlcpy(here()->by, "icctl", sizeof(here()->by));
	if (paths_init(&sup.paths, sup.opt.libexecdir, fault) == -1)
		return -1;
	kept_begin(sup.paths.libexecdir);
	reader_use(sup.paths.libexecdir);
	if (clone_check(fault) == -1 || start_check(fault) == -1)
		return -1;
	if (session_open(
		&sup.session, &sup.paths, sup.opt.session_dir, fault) == -1) {
		if (fault->kind == FAULT_BUSY)
			*status = SUP_EXIT_BUSY;
		return -1;
	}
	/* The log of a trial is not kept. */
	if (resume_load(fault) == -1 ||
	    anchor_open(&sup.anchor, &sup.session,
		sup.opt.trial != NULL ? NULL : sup.config.anchor, fault) == -1)
		return -1;
	if (sup.config.ignored[0] != '\0')
		sup_warn("%s: without effect here: %s", sup.config.file,
		    sup.config.ignored);
	start_founding();
	builtin_default();
	/* An agent chooses the providers; `icctl doctor` checks each. */
	if (start_workspace(fault) == -1 || resume_workspace(fault) == -1 ||
	    start_rules(fault) == -1 || pins_load(fault) == -1 ||
	    (!sup.opt.check &&
		(start_adapter(fault) == -1 || resume_agent(fault) == -1)) ||
	    (start_has_servers() && start_servers(fault) == -1) ||
	    (!sup.opt.check && sup.opt.trial == NULL &&
		runtime_check(fault) == -1))
		return -1;
	if ((sup.opt.sweep != NULL && check_sweep(fault) == -1) ||
	    (sup.opt.images != NULL && check_images(fault) == -1))
		return -1;
	if (sup.opt.check) {
		if (sup.opt.sweep == NULL && sup.opt.images == NULL)
			check_print();
		end_request(SUP_EXIT_OK, NULL, "checked");
		return 0;
	}
	if (clone_begin(!git_wanted(), fault) == -1)
		return -1;
	git_begin(clone_lacks());
	scan_say();
	if (start_begun(status, fault) == 0)
		return 0;
	clone_abandon();
	return -1;
}
