/* SPDX-License-Identifier: ISC */
/* Parses the command line, and prints the help. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/near.h"
#include "files/config.h"
#include "files/founding.h"
#include "files/workspace_option.h"

static const char options_help[] =
    "usage: icsupervisor --session-dir DIR [OPTION]... [--task TEXT | -- "
    "COMMAND...]\n\nRuns one session: the workers that stand between an agent "
    "and the world, the\nMCP servers, and the agent in its sandbox.  People "
    "use `icctl start`, which\nstarts this program; so do tests and other "
    "orchestrators.\n\n  --session-dir DIR     created if it does not exist "
    "(mode 0700); contains\n                        audit.jsonl, session.log, "
    "control.sock and the sockets\n                        of the sandbox\n  "
    "--config FILE         instead of IRONCURTAIN_HOME/config.json\n  "
    "--persona NAME        whose budget applies (see icctl persona)\n  "
    "--profile NAME        which \"profiles\" of it chooses providers\n  "
    "--workspace DIR[:ro]  what the agent works on; default: DIR/sandbox;\n"
    "                        :ro: no one in a sandbox can write it\n  "
    "--clone DIR|URL[#REF] a clone of this repository, in DIR/sandbox, is the\n"
    "                        workspace\n"
    "  --with-changes        clone what is in no commit, too\n"
    "  --with FILE           clone this file, too\n  "
    "--agent NAME          claude-code (default, if it is installed), "
    "builtin,\n                        codex, gemini-cli, goose, opencode, or "
    "command "
    "(default\n                        when a COMMAND is given); each is a "
    "file\n"
    "                        agents/NAME.json\n  "
    "--model NAME          which model it uses\n  --task TEXT           what "
    "the agent is asked to do; without it, or a\n   "
    "                     COMMAND, it runs as if a person had started it\n  "
    "--policy NAME|DIR     default, read-only, coding, record or your own in\n "
    " "
    "                      IRONCURTAIN_HOME/policies; with a slash: a "
    "directory\n  --runtime bwrap|docker|podman|none\n                        "
    "where the agent runs; none: no agent is started,\n"
    "                        only the two sockets of a sandbox are offered,\n"
    "                        in DIR/sockets\n  --home project        keep the "
    "agent's home for its next session on this\n"
    "                        workspace\n  --workspace-path same the agent sees "
    "the workspace at the path that you\n"
    "                        know, and not only at /workspace\n"
    "  --image NAME          of which "
    "Docker or Podman makes the sandbox\n"
    "  --transport unix|tcp  tcp: for a Docker whose containers cannot use "
    "Unix\n"
    "                        sockets of this machine\n  --escalations "
    "ask|deny\n            "
    "            deny: no "
    "one is available to answer, so calls that\n                        would "
    "wait are denied\n  --open-hosts ask|off  ask: a request to a host on no "
    "list waits for you to\n"
    "                        open it; else only icctl start on a terminal "
    "asks\n"
    "  --allow-unsandboxed SERVER\n                        "
    "confirms \"sandbox\": false of mcp-servers.json\n  --publish "
    "[HOSTPORT:]PORT\n                        let the user's browser reach "
    "this port of the sandbox\n  --allow-sockets       "
    "work where a program of the host listens on a socket\n                    "
    "    that the agent could connect to\n  --require all|NAME,...\n           "
    "             refuse to start without these layers of confinement, by\n    "
    "                    the names of --print-ready\n  --quiet               "
    "print nothing about the session at its start and end\n  --transcript      "
    "    keep the agent's output as text, in transcript.txt\n  --conversation  "
    "      wait for messages, each of which is a turn of the agent\n  "
    "--print-ready     "
    "    one JSON line on stdout when the session is up\n"
    "  --unit NAME           the session NAME, as its start.json says; for "
    "the\n"
    "                        unit icsupervisor@.service\n  --libexecdir DIR    "
    "  take the workers from there (containment tests)\n  --help, --version\n\n"
    "Try it:\n  icsupervisor --session-dir /tmp/s1 --runtime none "
    "--print-ready\n  icctl --session /tmp/s1 status\n  icctl --session "
    "/tmp/s1 stop\n\nExit status: 0 asked to stop, 64 command line, 70 a "
    "process of the session\nended, 71 the system refused, 75 the directory is "
    "in use, 78 configuration;\nwhen an agent ran, its own.\n";

/* clang-format off */
/* Those that icctl gives, and people do not type. */
#define OWN(VALUE, FLAG) \
	VALUE("viewer", VIEWER) VALUE("sweep", SWEEP) VALUE("images", IMAGES) \
	VALUE("trial", TRIAL) VALUE("policy-work", POLICY_WORK) \
	VALUE("approved-entry", APPROVED) VALUE("keep-grant", KEEP_GRANT) \
	FLAG("check", CHECK) FLAG("counted", COUNTED) FLAG("person", PERSON) \
	FLAG("resume", RESUME) FLAG("after-crash", AFTER_CRASH) \
	FLAG("keep-grants", KEEP_GRANTS) FLAG("one-turn", ONE_TURN)
#define OWN_ID(name, id) OPT_##id,
#define OWN_VALUE(name, id) {name, required_argument, NULL, OPT_##id},
#define OWN_FLAG(name, id) {name, no_argument, NULL, OPT_##id},

enum {
	OPT_NONE = 255,
	OWN(OWN_ID, OWN_ID)
#define OPTION(name, id, value, help) OPT_##id,
#define START_OPTION OPTION
#define FLAG(name, id, help) OPT_##id,
#define START_FLAG FLAG
#include "option_rows.h"
};

static const struct option options_long[] = {
    OWN(OWN_VALUE, OWN_FLAG)
#define OPTION(name, id, value, help) {name, required_argument, NULL, OPT_##id},
#define START_OPTION OPTION
#define FLAG(name, id, help) {name, no_argument, NULL, OPT_##id},
#define START_FLAG FLAG
#include "option_rows.h"
    {NULL, 0, NULL, 0},
};
/* clang-format on */

static const char *const options_runtimes[RUNTIME_COUNT] = {
    [RUNTIME_BWRAP] = "bwrap",
    [RUNTIME_DOCKER] = "docker",
    [RUNTIME_PODMAN] = "podman",
    [RUNTIME_NONE] = "none",
};

const char *
options_runtime_name(enum options_runtime r)
{
	return r < RUNTIME_COUNT ? options_runtimes[r] : "";
}

const char *
options_transport_name(enum options_transport t)
{
	return t == TRANSPORT_TCP ? "tcp" : "unix";
}

enum options_runtime
options_runtime_find(const char *name)
{
	unsigned r = 0;

	while (r < RUNTIME_COUNT && strcmp(name, options_runtimes[r]) != 0)
		r++;
	return (enum options_runtime)r;
}

static int
options_choice(const char *name, const char *value, const char *first,
    const char *second, bool *is_first, struct fault *fault)
{
	*is_first = strcmp(value, first) == 0;
	if (*is_first || strcmp(value, second) == 0)
		return 0;
	return fault_set(fault, "--%s must be %s or %s, not \"%s\"", name,
	    first, second, value);
}

static int
options_path(
    const char *name, const char *value, const char **out, struct fault *fault)
{
	if (value[0] == '\0')
		return fault_set(fault, "--%s must not be empty", name);
	*out = value;
	return 0;
}

/*
 * Take the configuration's path. One that is relative becomes absolute, without
 * "..": other processes are told of it, and a step through the workspace would
 * count as a place that the agent can write.
 */
static int
options_config(struct options *o, const char *value, struct fault *fault)
{
	const char *slash = strrchr(value, '/');
	const char *name = slash != NULL ? slash + 1 : value;
	char dir[PATH_MAX], real[PATH_MAX];

	if (value[0] != '\0' && value[0] != '/') {
		snprintf(
		    dir, sizeof(dir), "./%.*s", (int)(name - value), value);
		if (realpath(dir, real) == NULL)
			return fault_errno(fault, "--config %s", value);
		if (snprintf(o->config_name, sizeof(o->config_name), "%s/%s",
			real, name) >= (int)sizeof(o->config_name)) {
			errno = ENAMETOOLONG;
			return fault_errno(fault, "--config %s", value);
		}
		value = o->config_name;
	}
	return options_path("config", value, &o->config, fault);
}

/* Take DIR, or DIR:ro. A directory of such a name has a slash behind it. */
static int
options_workspace(struct options *o, const char *value, struct fault *fault)
{
	const size_t n = workspace_option_len(value);

	if (n >= sizeof(o->workspace_name)) {
		errno = ENAMETOOLONG;
		return fault_errno(fault, "--workspace %s", value);
	}
	o->read_only = value[n] != '\0';
	if (o->read_only) {
		(void)memcpy(o->workspace_name, value, n);
		o->workspace_name[n] = '\0';
		value = o->workspace_name;
	}
	return options_path("workspace", value, &o->workspace, fault);
}

/* Set one option. */
static int
options_one(struct options *o, int opt, const char *value, struct fault *fault)
{
	switch (opt) {
	case OPT_SESSION:
		return options_path(
		    "session-dir", value, &o->session_dir, fault);
	case OPT_UNIT:
		return options_path("unit", value, &o->unit, fault);
	case OPT_CONFIG:
		return options_config(o, value, fault);
	case OPT_AGENT:
		return options_path("agent", value, &o->agent, fault);
	case OPT_MODEL:
		if (!config_is_model(value))
			return fault_set(fault,
			    "--model: \"%s\" cannot be a model's name: "
			    "letters, digits and ._:/@+-, at most 100",
			    value);
		o->model = value;
		return 0;
	case OPT_WORKSPACE:
		return options_workspace(o, value, fault);
	case OPT_CLONE:
		return options_path("clone", value, &o->clone, fault);
	case OPT_CHANGES:
		o->changes = true;
		return 0;
	case OPT_WITH:
		if (o->nwith == OPTIONS_MAX_WITH)
			return fault_set(fault, "--with: at most %u times",
			    OPTIONS_MAX_WITH);
		return options_path("with", value, &o->with[o->nwith++], fault);
	case OPT_COVER:
		if (o->ncover == OPTIONS_MAX_COVERS)
			return fault_set(fault, "--cover: at most %u times",
			    OPTIONS_MAX_COVERS);
		return options_path(
		    "cover", value, &o->cover[o->ncover++], fault);
	case OPT_LIBEXEC:
		return options_path("libexecdir", value, &o->libexecdir, fault);
	case OPT_POLICY:
		return options_path("policy", value, &o->policy, fault);
	case OPT_PERSONA:
		return options_path("persona", value, &o->persona, fault);
	case OPT_PROFILE:
		return options_path("profile", value, &o->profile, fault);
	case OPT_TRIAL:
		return options_path("trial", value, &o->trial, fault);
	case OPT_POLICY_WORK:
		o->policy_work = true;
		return options_choice("policy-work", value, "servers", "alone",
		    &o->policy_servers, fault);
	case OPT_VIEWER:
		return options_path("viewer", value, &o->viewer, fault);
	case OPT_TASK:
		return options_path("task", value, &o->task, fault);
	case OPT_RUNTIME:
		o->runtime = options_runtime_find(value);
		if (o->runtime == RUNTIME_COUNT)
			return fault_set(fault,
			    "--runtime must be bwrap, docker, podman or none, "
			    "not \"%s\"",
			    value);
		return 0;
	case OPT_TRANSPORT: {
		bool tcp = false;

		if (options_choice(
			"transport", value, "tcp", "unix", &tcp, fault) == -1)
			return -1;
		o->transport = tcp ? TRANSPORT_TCP : TRANSPORT_UNIX;
		return 0;
	}
	case OPT_IMAGE:
		return options_path("image", value, &o->image, fault);
	case OPT_ESCALATIONS:
		return options_choice(
		    "escalations", value, "ask", "deny", &o->ask, fault);
	case OPT_OPEN_HOSTS: {
		bool asks = false;

		if (options_choice(
			"open-hosts", value, "ask", "off", &asks, fault) == -1)
			return -1;
		o->open_hosts = asks;
		return 0;
	}
	case OPT_HOME:
		return options_choice("home", value, "project", "session",
		    &o->project_home, fault);
	case OPT_WORKSPACE_PATH:
		return options_choice("workspace-path", value, "same", "short",
		    &o->same_path, fault);
	case OPT_UNSANDBOXED:
		if (o->nunsandboxed == PROTO_MAX_SERVERS)
			return fault_set(fault,
			    "--allow-unsandboxed: at most "
			    "%u times",
			    PROTO_MAX_SERVERS);
		o->unsandboxed[o->nunsandboxed++] = value;
		return 0;
	case OPT_APPROVED:
		if (o->napproved < PROTO_MAX_SERVERS)
			o->approved[o->napproved++] = value;
		return 0;
	case OPT_KEEP_GRANT:
		if (o->nkept < OPTIONS_KEPT)
			o->kept[o->nkept++] = value;
		return 0;
	case OPT_RESUME:
		o->resume = true;
		return 0;
	case OPT_AFTER_CRASH:
		o->after_crash = true;
		return 0;
	case OPT_KEEP_GRANTS:
		o->keep_grants = true;
		return 0;
	case OPT_PUBLISH:
		return publish_option(o->publish, &o->npublish, value, fault);
	case OPT_REQUIRE:
		return require_parse(&o->require, "--require", value, fault);
	case OPT_SOCKETS:
		o->sockets = true;
		return 0;
	case OPT_CHECK:
		o->check = true;
		return 0;
	case OPT_SWEEP:
		o->check = true;
		o->sweep = value;
		return 0;
	case OPT_IMAGES:
		o->check = true;
		o->images = value;
		return 0;
	case OPT_PERSON:
		o->person = true;
		return 0;
	case OPT_COUNTED:
		o->counted = true;
		return 0;
	case OPT_TALK:
		o->conversation = true;
		return 0;
	case OPT_ONE_TURN:
		o->conversation = o->one_turn = true;
		return 0;
	case OPT_QUIET:
		o->quiet = true;
		return 0;
	case OPT_VERBOSE:
		o->verbose = true;
		return 0;
	case OPT_TRANSCRIPT:
		o->transcript = true;
		return 0;
	case OPT_ACP:
		o->acp = true;
		return 0;
	case OPT_ATTACK:
		o->attack_only = true;
		return 0;
	default:
		o->print_ready = true;
		return 0;
	}
}

static enum options_result
options_check(const struct options *o, struct fault *fault)
{
	if (o->unit != NULL)
		return OPTIONS_RUN;
	if (o->session_dir == NULL)
		fault_set(fault, "--session-dir DIR is missing");
	else if (o->clone != NULL && o->workspace != NULL)
		fault_set(fault, "--clone and --workspace cannot be used "
				 "together: a clone has its own directory");
	else if (o->clone == NULL && (o->changes || o->nwith != 0))
		fault_set(fault, "--with and --with-changes are for --clone");
	else if (o->task != NULL && o->command != NULL && !o->conversation)
		fault_set(fault, "--task and a command after -- cannot be used "
				 "together");
	else if (o->transcript && ((o->conversation && !o->resume) || o->acp))
		fault_set(fault, "--transcript is for an agent's terminal: a "
				 "conversation is kept anyway (icctl history)");
	else if (o->runtime == RUNTIME_NONE && o->npublish != 0)
		fault_set(fault, "--runtime none starts no agent: no "
				 "--publish");
	else if ((o->runtime == RUNTIME_NONE || o->command != NULL) &&
		 o->model != NULL)
		fault_set(fault, "--model is for an agent, and %s starts none",
		    o->runtime == RUNTIME_NONE ? "--runtime none"
					       : "a command after --");
	else if (o->runtime == RUNTIME_NONE && o->conversation)
		fault_set(fault, "--runtime none starts no agent: no %s",
		    o->one_turn ? "icctl start --json" : "--conversation");
	else if (o->runtime == RUNTIME_NONE &&
		 (o->task != NULL || o->command != NULL))
		fault_set(fault, "--runtime none starts no agent: no --task "
				 "and no command");
	else if (o->acp && (o->runtime == RUNTIME_NONE || o->conversation ||
			       o->task != NULL))
		fault_set(fault, "--acp: an editor gives the agent its tasks, "
				 "so that --runtime none, --task and messages "
				 "cannot be used with it");
	else if (o->acp && o->clone != NULL)
		fault_set(fault, "--acp and --clone cannot be used together: "
				 "the editor would show the original");
	else
		return OPTIONS_RUN;
	return OPTIONS_BAD;
}

static void
options_unknown(const char *arg, struct fault *fault)
{
	const char *names[nitems(options_long)];
	char hint[NEAR_HINT];
	size_t n = 0;

	if (founding_option(arg) != NULL) {
		fault_set(fault, "%s: this is no option here. Instead: %s", arg,
		    founding_option(arg));
		return;
	}
	/* For a known long option, `optopt` is its number. */
	if (optopt >= OPT_VIEWER) {
		fault_set(fault, "%s: this option takes no value", arg);
		return;
	}
	/* People do not type the options of icctl. */
	for (const struct option *o = options_long; o->name != NULL; o++)
		if (o->val < OPT_VIEWER || o->val > OPT_ONE_TURN)
			names[n++] = o->name;
	names[n] = NULL;
	fault_set(fault, "unknown option %s%s", arg,
	    near_hint(arg + strspn(arg, "-"), names, hint));
}

enum options_result
options_parse(struct options *o, int argc, char **argv, struct fault *fault)
{
	int opt;

	memset(o, 0, sizeof(*o));
	o->ask = true;
	o->open_hosts = -1;
	o->runtime = RUNTIME_COUNT;
	o->transport = TRANSPORT_COUNT;
	opterr = 0;
	/* A unit parses its own options, then those of its session. */
	optind = 0;
	while (
	    (opt = getopt_long(argc, argv, "+:h", options_long, NULL)) != -1) {
		if (opt == OPT_HELP || opt == 'h') {
			fputs(options_help, stdout);
			return OPTIONS_DONE;
		}
		if (opt == OPT_VERSION) {
			puts("icsupervisor " IC_VERSION);
			return OPTIONS_DONE;
		}
		if (opt == ':') {
			fault_set(fault, "%s needs a value", argv[optind - 1]);
			return OPTIONS_BAD;
		}
		if (opt == '?') {
			options_unknown(argv[optind - 1], fault);
			return OPTIONS_BAD;
		}
		if (options_one(o, opt, optarg, fault) == -1)
			return OPTIONS_BAD;
	}
	if (optind < argc) {
		if (strcmp(argv[optind - 1], "--") != 0) {
			fault_set(fault,
			    "unexpected argument \"%s\": a "
			    "command stands after --, a task after --task",
			    argv[optind]);
			return OPTIONS_BAD;
		}
		o->command = argv + optind;
	}
	/* --unit=NAME, or --unit NAME */
	if (o->unit != NULL && argc != 2 &&
	    (argc != 3 || strcmp(argv[1], "--unit") != 0)) {
		fault_set(fault, "--unit takes no other option with it: they "
				 "come from the start.json of the session");
		return OPTIONS_BAD;
	}
	return options_check(o, fault);
}
