/* SPDX-License-Identifier: ISC */
/*
 * `icctl setup`: asks what a first session needs, and writes it to config.json.
 * Each question has a default; nothing is saved before a yes, and nothing that
 * is set already changes by Enter.
 */
#include "icctl/settings/setup.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "base/spawn.h"
#include "icctl/agent_find.h"
#include "icctl/login.h"
#include "icctl/policy/policy.h"
#include "icctl/words.h"

#define OWN_CLAUDE                                                             \
	"CLAUDE.md, rules, skills, agents and commands of ~/.claude",          \
	    "settings.json, hooks, plugins and MCP servers"
#define OWN_CODEX                                                              \
	"AGENTS.md, prompts and skills of ~/.codex",                           \
	    "config.toml, notify programs, rules and MCP servers"
#define OWN_GEMINI                                                             \
	"GEMINI.md, commands and skills of ~/.gemini",                         \
	    "settings.json, hooks, extensions and MCP servers"
#define OWN_OPENCODE                                                           \
	"AGENTS.md, agents, commands and skills of ~/.config/opencode",        \
	    "opencode.json, plugins, tools and MCP servers"

/* A subscription is the same provider's login, and not its key. */
static const struct setup_choice setup_providers[] = {
    {"anthropic", "a key of Anthropic, for Claude Code", "anthropic",
	"ANTHROPIC_API_KEY", NULL, "claude", NULL, OWN_CLAUDE},
    {"openai", "a key of OpenAI, for Codex", "openai", "OPENAI_API_KEY", NULL,
	"codex", NULL, OWN_CODEX},
    {"google", "a key of Google, for Gemini CLI", "google", "GEMINI_API_KEY",
	NULL, "gemini", NULL, OWN_GEMINI},
    {"openrouter", "a key of OpenRouter, for OpenCode", "openrouter",
	"OPENROUTER_API_KEY", NULL, "opencode", NULL, OWN_OPENCODE},
    {"claude", "a subscription: Claude Pro, Max or Team, for Claude Code",
	"anthropic", NULL, "claude-code", "claude", "with /login", OWN_CLAUDE},
    {"chatgpt", "a subscription: ChatGPT Plus, Pro or Business, for Codex",
	"chatgpt", NULL, "codex", "codex",
	"which is: icctl start -- codex login --device-auth", OWN_CODEX},
    {.name = NULL},
};

static const struct setup_choice setup_policies[] = {
    {.name = "default", .text = "ask about everything outside the workspace"},
    {.name = "coding",
	.text = "allow what programming needs, ask about the rest"},
    {.name = "read-only", .text = "read the workspace, and change nothing"},
    {.name = NULL},
};

static const struct setup_choice setup_runtimes[] = {
    {.name = "bwrap", .text = "a sandbox of bubblewrap: nothing to install"},
    {.name = "docker", .text = "containers of Docker, from an image of yours"},
    {.name = "podman", .text = "containers of Podman, from an image of yours"},
    {.name = NULL},
};

/* Ask for one of the choices. Returns it, or NULL at the end of input. */
static const struct setup_choice *
setup_choose(
    const char *what, const struct setup_choice *list, const char *dflt)
{
	char answer[64], first[16] = "1", number[16];
	unsigned n;

	printf("\n%s\n", what);
	for (n = 0; list[n].name != NULL; n++) {
		printf("  %u  %-11s %s\n", n + 1, list[n].name, list[n].text);
		if (strcmp(list[n].name, dflt) == 0)
			snprintf(first, sizeof(first), "%u", n + 1);
	}
	for (;;) {
		if (!setup_ask("Which?", first, answer, sizeof(answer)))
			return NULL;
		for (unsigned i = 0; i < n; i++) {
			snprintf(number, sizeof(number), "%u", i + 1);
			if (strcmp(answer, number) == 0 ||
			    strcmp(answer, list[i].name) == 0)
				return &list[i];
		}
		printf("Answer with a number from 1 to %u, or with the name.\n",
		    n);
	}
}

/* Returns the text at the key, or `dflt`. */
static const char *
setup_now(struct setup *s, const char *key, const char *dflt)
{
	struct fault fault = {""};
	struct settings_key k;
	json_object *v = NULL;
	bool has;

	has = key_parse(&k, key, &fault) == 0 && key_get(s->file.root, &k, &v);
	key_free(&k);
	return has && json_object_is_type(v, json_type_string)
		   ? json_object_get_string(v)
		   : dflt;
}

/*
 * Returns the choice that config.json has made, or whose key or login is at
 * hand, or the first.
 */
static const char *
setup_likely(struct setup *s)
{
	const struct setup_choice *c;
	json_object *all = NULL, *o;
	char path[4096];
	bool login;

	(void)json_object_object_get_ex(s->file.root, "credentials", &all);
	for (c = setup_providers; all != NULL && c->name != NULL; c++) {
		if (!json_object_object_get_ex(all, c->provider, &o))
			continue;
		login = icctl_text(o, "login")[0] != '\0' ||
			icctl_text(o, "capture")[0] != '\0';
		if (login == (c->login != NULL))
			return c->name;
	}
	for (c = setup_providers; c->name != NULL; c++)
		if (c->env != NULL && getenv(c->env) != NULL)
			return c->name;
	for (c = setup_providers; c->name != NULL; c++)
		if (c->login != NULL &&
		    login_path(c->login, path, sizeof(path)) == NULL)
			return c->name;
	return setup_providers[0].name;
}

/* Set the text at the key, unless it is the default and nothing is set. */
static int
setup_text(
    struct setup *s, const char *key, const char *value, const char *dflt)
{
	if (strcmp(value, setup_now(s, key, dflt)) == 0)
		return 0;
	return setup_put(s, key, json_object_new_string(value));
}

/* Ask everything. Returns 0, or -1 if the person left. */
static int
setup_questions(struct setup *s)
{
	const struct setup_choice *c;
	char answer[16];

	if ((c = setup_choose("Which models shall the agent use, and how do "
			      "you pay for them?",
		 setup_providers, setup_likely(s))) == NULL)
		return -1;
	s->provider = c;
	if ((c->login != NULL ? setup_login(s) : setup_key(s)) == -1)
		return -1;
	setup_leaves(s);
	c = setup_choose("How much may an agent do unasked?", setup_policies,
	    setup_now(s, "policy.name", "default"));
	if (c == NULL || setup_text(s, "policy.name", c->name, "default") == -1)
		return -1;
	c = setup_choose("Where shall it run?", setup_runtimes,
	    setup_now(s, "runtime", "bwrap"));
	if (c == NULL || setup_text(s, "runtime", c->name, "bwrap") == -1)
		return -1;
	if (strcmp(c->name, "bwrap") == 0 && setup_tools(s) == -1)
		return -1;
	if (setup_clone(s) == -1)
		return -1;
	putchar('\n');
	if (!setup_ask("Shall the desktop tell you when a call waits for you?",
		"y", answer, sizeof(answer)))
		return -1;
	if (answer[0] == 'n' || answer[0] == 'N')
		return setup_put(s, "notify", json_object_new_array());
	return 0;
}

/* Run `icctl doctor`. */
static void
setup_doctor(void)
{
	const char *const argv[] = {"icctl", "doctor", NULL};
	const struct spawn s = {.path = "/proc/self/exe",
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO},
	    .nfds = 3};

	puts("\nicctl doctor now checks this machine:\n");
	fflush(stdout);
	(void)spawn_run(&s);
}

static int
setup_save(struct setup *s)
{
	struct fault fault = {""};
	char answer[16], path[ICCTL_PATH];

	if (!s->changed) {
		puts("\nNothing is changed: everything was set like that.");
		return 0;
	}
	printf("\n%s will be:\n%s\n", icctl_path(s->file.path, path),
	    settings_text(s->file.root));
	if (!setup_ask("Save it?", "y", answer, sizeof(answer)) ||
	    (answer[0] != 'y' && answer[0] != 'Y'))
		return -1;
	if (setup_key_save(s) == -1)
		return -1;
	if (settings_write(&s->file, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	return 0;
}

/* Returns true if the provider's usual agent is installed. */
static bool
setup_has_agent(const struct setup *s)
{
	char *home = getenv("HOME"), datadir[PATH_MAX];
	char program[PATH_MAX], version[AGENT_VERSION];
	struct paths paths = {.home = s->ctl->home,
	    .datadir = datadir,
	    .user_home = home != NULL ? home : s->ctl->home};
	struct config cfg;
	struct adapter a;
	struct fault ignored;
	bool found = false;

	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) ==
		-1 ||
	    config_load(&cfg, NULL, s->ctl->home, paths.user_home, NULL,
		&ignored) == -1)
		return true;
	if (adapter_load(&a, &paths, names_agent(&paths, s->provider->agent),
		&ignored) == 0) {
		found = agent_find(&a, &cfg, program, version);
		adapter_free(&a);
	}
	config_free(&cfg);
	return found;
}

/*
 * Name the next commands. A subscription is for its own agent; a key is for
 * the built-in one, too.
 */
static void
setup_next(const struct setup *s)
{
	const char *agent = s->provider->agent;
	bool own = setup_has_agent(s), only = s->provider->login != NULL;

	if (!own && only)
		printf("\n%s is not installed here, and the subscription is "
		       "for it alone: install it.\n",
		    agent);
	printf("\nNext, in a project of yours:\n\n  icctl start %s \"what the "
	       "agent shall do\"\n\n",
	    own || only ? agent : "builtin");
	if (!own && !only)
		setup_say("%s is not installed here; builtin is IronCurtain's "
			  "own agent, which needs nothing but the key.",
		    agent);
	puts("To say in English what agents may do, and to make that the "
	     "policy:\n\n  icctl policy customize\n  icctl policy compile\n\n"
	     "icctl setup can be run again, and icctl config changes single "
	     "keys.");
}

int
icctl_setup(struct icctl *ctl, int argc, char **argv)
{
	struct setup *s;
	struct fault fault = {""};
	int rv;

	if ((rv = icctl_no_arguments(argc)) != 0)
		return rv;
	if (words_given("--forge"))
		return setup_forge();
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		warnx("setup asks questions and needs a terminal; icctl config "
		      "set sets single keys");
		return ICCTL_USAGE;
	}
	if ((s = calloc(1, sizeof(*s))) == NULL)
		err(ICCTL_FAILED, "setup");
	s->ctl = ctl;
	rv = settings_open(ctl, &s->file, true, &fault);
	if (rv == -1) {
		warnx("%s", fault.text);
	} else {
		puts("A few questions; Enter takes what is in brackets, Ctrl-C "
		     "leaves all as it is.");
		rv = setup_questions(s);
		if (rv == 0)
			rv = setup_save(s);
		if (rv == -1)
			puts("Nothing is changed.");
	}
	if (rv == 0) {
		setup_test(s);
		setup_doctor();
		setup_next(s);
	}
	settings_close(&s->file);
	explicit_bzero(s->secret, sizeof(s->secret));
	free(s);
	return rv == 0 ? ICCTL_OK : ICCTL_FAILED;
}
