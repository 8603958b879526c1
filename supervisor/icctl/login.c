/* SPDX-License-Identifier: ISC */
/*
 * `icctl login`: explains how sessions find a provider's credential, and what
 * is there already. It gives instructions; it accepts and stores no key: a
 * credential stays where its owner put it.
 */
#include "icctl/login.h"

#include <sys/stat.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/names.h"
#include "common/log.h"
#include "icctl/icctl.h"
#include "icctl/policy/policy.h"
#include "icctl/words.h"

static const struct login {
	const char *name; /* its name under "credentials" */
	const char *provider;
	const char *whose;
	const char *how;
	/* As in the provider files: the first variable that is set decides. */
	struct {
		const char *dir, *file;
	} places[3];
	bool outside; /* it never begins in a sandbox */
} logins[] = {
    {"claude-code", "anthropic", "Claude Code", "run `claude`, then /login",
	{{"CLAUDE_CONFIG_DIR", ".credentials.json"},
	    {"HOME", ".claude/.credentials.json"}}},
    {"anthropic-cli", "anthropic", "the Anthropic CLI", "run `ant auth login`",
	{{"ANTHROPIC_CONFIG_DIR", "credentials/default.json"},
	    {"XDG_CONFIG_HOME", "anthropic/credentials/default.json"},
	    {"HOME", ".config/anthropic/credentials/default.json"}}},
    {"codex", "chatgpt", "Codex, with a ChatGPT account", "run `codex login`",
	{{"CODEX_HOME", "auth.json"}, {"HOME", ".codex/auth.json"}}},
    {"gcloud", "vertex", "gcloud, for applications",
	"run `gcloud auth application-default login`",
	{{"CLOUDSDK_CONFIG", "application_default_credentials.json"},
	    {"HOME", ".config/gcloud/application_default_credentials.json"}},
	true},
};

static const struct {
	const char *provider, *env;
} keys[] = {
    {"anthropic", "ANTHROPIC_API_KEY"},
    {"openai", "OPENAI_API_KEY"},
    {"google", "GEMINI_API_KEY"},
    {"openrouter", "OPENROUTER_API_KEY"},
    {"gateway", "GATEWAY_API_KEY"},
    {"bedrock", "AWS_BEARER_TOKEN_BEDROCK"},
    {"bedrock", "AWS_ACCESS_KEY_ID"},
    {"vertex", "CLOUDSDK_AUTH_ACCESS_TOKEN"},
};

/* Agents whose key or login is of one provider; others take any. */
static const struct {
	const char *agent, *provider;
} agents[] = {
    {"claude", "anthropic"},
    {"gemini", "google"},
    {"gemini-cli", "google"},
    {"opencode-gateway", "gateway"},
    {"builtin", NULL},
    {"goose", NULL},
    {"opencode", NULL},
};

#define NLOGINS nitems(logins)
#define NKEYS nitems(keys)

/* Returns NULL if the login file is good, or else its fault. */
static const char *
login_state(const struct login *l, char *path, size_t cap)
{
	const char *dir = NULL, *file = "";
	struct stat st;

	for (size_t i = 0; i < 3 && l->places[i].dir != NULL; i++) {
		dir = getenv(l->places[i].dir);
		file = l->places[i].file;
		if (dir != NULL && dir[0] == '/')
			break;
	}
	snprintf(path, cap, "%s/%s", dir == NULL ? "" : dir, file);
	if (stat(path, &st) == -1)
		return "not there";
	if (!S_ISREG(st.st_mode) || st.st_size == 0)
		return "no login in it";
	if (st.st_uid != geteuid())
		return "belongs to another user";
	if ((st.st_mode & 077) != 0)
		return "others may read it: chmod 600";
	return NULL;
}

const char *
login_path(const char *name, char *path, size_t cap)
{
	path[0] = '\0';
	for (size_t i = 0; i < NLOGINS; i++)
		if (strcmp(logins[i].name, name) == 0)
			return login_state(&logins[i], path, cap);
	return "unknown";
}

static bool
key_set(const char *env)
{
	const char *v = getenv(env);

	return v != NULL && *v != '\0';
}

/* Returns true if a login that began in a sandbox is kept. */
static bool
login_kept(
    const struct icctl *ctl, const struct login *l, char *path, size_t cap)
{
	struct stat st;

	snprintf(
	    path, cap, "%s/logins/%s-%s.json", ctl->home, l->provider, l->name);
	return lstat(path, &st) == 0;
}

static void
show_kept(const struct icctl *ctl, const struct login *l)
{
	char path[4096 + 256], shown[ICCTL_PATH];

	if (l->outside)
		return;
	if (login_kept(ctl, l, path, sizeof(path)))
		printf("  kept   %s: made in a session; to remove it: icctl "
		       "keys forget %s\n",
		    icctl_path(path, shown), l->provider);
	printf("  or     {\"credentials\":{\"%s\":{\"capture\":\"%s\"}}} lets "
	       "the agent log in from inside the session\n",
	    l->provider, l->name);
}

/* Mention environment variables that take precedence over the login. */
static void
show_first(const struct login *l)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (strcmp(keys[i].provider, l->provider) == 0 &&
		    key_set(keys[i].env))
			printf("  note   %s is set and takes precedence, "
			       "unless config.json says otherwise:\n",
			    keys[i].env);
}

static void
show_login(const struct icctl *ctl, const struct login *l)
{
	char path[4096], shown[ICCTL_PATH];
	const char *bad = login_state(l, path, sizeof(path));

	printf("%s: login of %s\n", l->provider, l->whose);
	printf("  file   %s: %s\n", icctl_path(path, shown),
	    bad == NULL ? "there" : bad);
	if (bad != NULL)
		printf("  to do  on this machine, outside of any session, %s\n",
		    l->how);
	show_first(l);
	printf("  config in config.json: "
	       "{\"credentials\":{\"%s\":{\"login\":\"%s\"}}}\n",
	    l->provider, l->name);
	show_kept(ctl, l);
	printf("  then   a running session notices a new login by itself; or: "
	       "icctl keys reload %s\n",
	    l->provider);
}

/* Describe a provider of the user's own, which needs a file. */
static void
show_own(const struct icctl *ctl, const char *provider)
{
	char path[4096 + 300], shown[ICCTL_PATH];

	snprintf(
	    path, sizeof(path), "%s/providers/%.64s.json", ctl->home, provider);
	if (access(path, F_OK) == 0)
		printf("  routes %s: `icctl doctor` checks it\n",
		    icctl_path(path, shown));
	else
		printf("  routes are in no file yet: %s; "
		       "ironcurtain-config(5), PROVIDERS\n",
		    icctl_path(path, shown));
}

static void
show_key(const struct icctl *ctl, const char *provider)
{
	const char *first = NULL;

	printf("%s: key\n", provider);
	for (size_t i = 0; i < NKEYS; i++) {
		if (strcmp(keys[i].provider, provider) != 0)
			continue;
		printf("  %-6s %s is %sset here\n",
		    first != NULL ? "or" : "now", keys[i].env,
		    key_set(keys[i].env) ? "" : "not ");
		if (first == NULL)
			first = keys[i].env;
	}
	if (first == NULL)
		show_own(ctl, provider);
	else
		printf("  shell  export %s=..., and start the session there\n",
		    first);
	printf("  file   (umask 077; mkdir -p ~/keys; cat > ~/keys/%s), paste "
	       "the key, Enter, Ctrl-D;\n"
	       "         then in config.json "
	       "{\"credentials\":{\"%s\":{\"file\":\"~/keys/%s\"}}}\n",
	    provider, provider, provider);
	printf("  or     instead of {\"file\":...} there "
	       "{\"command\":[\"pass\",\"show\",\"%s\"]},\n"
	       "         {\"secret-service\":{\"service\":\"%s\"}} or "
	       "{\"systemd\":\"NAME\"}\n",
	    provider, provider);
	printf(
	    "  then   in a running session: icctl keys reload %s\n", provider);
}

/* Returns the provider's variable, one that is set if there is one; or NULL. */
static const char *
key_of(const char *provider)
{
	const char *env = NULL;

	for (size_t i = 0; i < NKEYS; i++) {
		if (strcmp(keys[i].provider, provider) != 0)
			continue;
		if (key_set(keys[i].env))
			return keys[i].env;
		if (env == NULL)
			env = keys[i].env;
	}
	return env;
}

/* Returns the provider's login, one that is there if there is one; or NULL. */
static const struct login *
login_of(const struct icctl *ctl, const char *provider, bool *there)
{
	const struct login *l = NULL;
	char path[4096 + 256];

	*there = false;
	for (size_t i = 0; i < NLOGINS && !*there; i++) {
		if (strcmp(logins[i].provider, provider) != 0)
			continue;
		l = &logins[i];
		*there = login_state(l, path, 4096) == NULL ||
			 login_kept(ctl, l, path, sizeof(path));
	}
	return l;
}

/* Print a line for each provider: its key and login, or how to get one. */
static void
show_table(const struct icctl *ctl, const struct names *providers)
{
	const struct login *l;
	const char *env;
	bool any = false, there, set;

	for (size_t i = 0; i < providers->n; i++) {
		env = key_of(providers->list[i]);
		set = env != NULL && key_set(env);
		l = login_of(ctl, providers->list[i], &there);
		printf("  %-12s", providers->list[i]);
		if (set)
			printf("%s is set", env);
		if (there)
			printf("%slogin of %s", set ? "; " : "", l->whose);
		if (!set && !there && env != NULL)
			printf("-    to set: %s", env);
		else if (!set && !there)
			printf("-    %s", l != NULL ? l->how : "of your own");
		putchar('\n');
		any |= set || there;
	}
	if (!any)
		puts("\nNo key found. Quickest: export ANTHROPIC_API_KEY=...");
	else
		puts("\n`icctl doctor --check-api` asks the providers whether "
		     "they accept these.");
	puts("\n`icctl login PROVIDER` shows all ways of one of them: a "
	     "variable, a file, a\ncommand, or the login of an agent that is "
	     "installed. You are not asked for\nanything, and nothing is "
	     "stored.");
}

static json_object *
login_json(const struct icctl *ctl)
{
	json_object *all = json_object_new_object(),
		    *list = json_object_new_array(), *o;
	char path[4096], kept[4096 + 256];
	const char *bad;

	for (size_t i = 0; i < NLOGINS; i++) {
		bad = login_state(&logins[i], path, sizeof(path));
		o = json_object_new_object();
		put_str(o, "login", logins[i].name);
		put_str(o, "provider", logins[i].provider);
		put_str(o, "file", path);
		json_object_object_add(o, "kept",
		    login_kept(ctl, &logins[i], kept, sizeof(kept))
			? json_object_new_string(kept)
			: NULL);
		put_bool(o, "there", bad == NULL);
		put_str(o, "note", bad == NULL ? "" : bad);
		json_object_array_add(list, o);
	}
	put_bool(all, "ok", 1);
	json_object_object_add(all, "logins", list);
	return all;
}

static int
show_named(
    const struct icctl *ctl, const struct names *providers, const char *name)
{
	bool any = false;
	char known[512], shown[256], home[ICCTL_PATH];

	for (size_t i = 0; i < NLOGINS; i++) {
		if (strcmp(name, logins[i].name) != 0 &&
		    strcmp(name, logins[i].provider) != 0)
			continue;
		show_login(ctl, &logins[i]);
		any = true;
	}
	for (size_t i = 0; i < NKEYS; i++) {
		if (strcmp(name, keys[i].provider) != 0)
			continue;
		any = true;
		if (i == 0 ||
		    strcmp(keys[i].provider, keys[i - 1].provider) != 0)
			show_key(ctl, keys[i].provider);
	}
	if (!any && names_have(providers, name)) {
		show_key(ctl, name);
		any = true;
	}
	for (size_t i = 0; i < nitems(agents) && !any; i++) {
		if (strcmp(name, agents[i].agent) != 0)
			continue;
		if (agents[i].provider != NULL)
			return show_named(ctl, providers, agents[i].provider);
		printf(
		    "%s works with a key of any of these providers:\n", name);
		show_table(ctl, providers);
		any = true;
	}
	if (any)
		return ICCTL_OK;
	warnx("login: no provider or login is called %s (%s). One of your own "
	      "is a file %s/providers/NAME.json",
	    log_vis(span_str(name), shown, sizeof(shown)),
	    names_known(providers, name, known, sizeof(known)),
	    icctl_path(ctl->home, home));
	return ICCTL_FAILED;
}

int
icctl_login(struct icctl *ctl, int argc, char **argv)
{
	struct paths paths = {.home = ctl->home};
	char datadir[4096];
	struct names providers;
	json_object *o;
	int r = ICCTL_OK;

	if (argc > 2)
		return words_usage();
	if (ctl->json) {
		o = login_json(ctl);
		icctl_put_json(o);
		json_object_put(o);
		return ICCTL_OK;
	}
	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) == 0)
		paths.datadir = datadir;
	names_find(&providers, &paths, "providers");
	if (argc == 2)
		r = show_named(ctl, &providers, argv[1]);
	else
		show_table(ctl, &providers);
	names_free(&providers);
	return r;
}
