/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` about files that a person wrote: config.json,
 * mcp-servers.json, providers, agents. They are read by the code that reads
 * them when a session starts and reports the same mistakes. Nothing is started,
 * and credentials are only checked for existence.
 */
#include "icctl/doctor/doctor.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/adapter/adapter.h"
#include "common/plural.h"
#include "files/prices.h"
#include "files/servers.h"
#include "icctl/policy/policy.h"
#include "icctl/project/project.h"
#include "files/providers/destinations.h"
#include "files/providers/providers.h"

#define FILES_MAX 256U

static struct {
	doctor_check *check;
	struct paths paths;
	char datadir[4096];
	struct config config;
	struct providers providers; /* made from the destinations */
	struct prices prices;
} files_env;

static void
files_wrong(const char *what, const struct fault *fault, const char *remedy)
{
	files_env.check(WRONG, what, fault->text, remedy);
}

/* Check every profile: config.json with that profile applied. */
static int
files_profiles(const char *path)
{
	json_object *root, *all = NULL;
	struct config cfg;
	struct fault fault = {""};
	char remedy[160] = "";
	int rv = 0;

	if ((root = json_object_from_file(path)) == NULL)
		return 0;
	if (json_object_object_get_ex(root, "profiles", &all)) {
		json_object_object_foreach(all, name, val)
		{
			(void)val;
			if (rv == -1)
				break;
			rv = config_load(&cfg, NULL, files_env.paths.home,
			    files_env.paths.user_home, name, &fault);
			if (rv == 0)
				config_free(&cfg);
			snprintf(remedy, sizeof(remedy),
			    "in profile %.64s: sessions with it do not start "
			    "until that is corrected",
			    name);
		}
	}
	json_object_put(root);
	if (rv == -1)
		files_wrong("configuration", &fault, remedy);
	return rv;
}

/*
 * Returns -1 if config.json is unusable, so that the other files cannot be
 * checked.
 */
static int
files_config(void)
{
	static const char what[] = "configuration";
	static const char remedy[] =
	    "no session starts until it is corrected; ironcurtain-config(5)";
	const char *home = files_env.paths.home;
	struct fault fault = {""};
	char text[4200], path[ICCTL_PATH];

	if (home[0] != '/')
		fault_set(&fault,
		    "IRONCURTAIN_HOME must be an absolute path, is \"%s\"",
		    home);
	else if (access(home, F_OK) == 0)
		(void)paths_check_home(home, &fault);
	if (fault.text[0] != '\0') {
		files_wrong(what, &fault, remedy);
		return -1;
	}
	if (config_load(&files_env.config, NULL, home,
		files_env.paths.user_home, NULL, &fault) == -1) {
		files_wrong(what, &fault, remedy);
		return -1;
	}
	if (files_env.config.file == NULL) {
		snprintf(text, sizeof(text),
		    "no %.4000s/config.json: everything is as shipped",
		    icctl_path(home, path));
		files_env.check(GOOD, what, text, "");
		return 0;
	}
	if (files_profiles(files_env.config.file) == -1)
		return 0;
	files_env.check(
	    GOOD, what, icctl_path(files_env.config.file, path), "");
	if (files_env.config.ignored[0] != '\0')
		files_env.check(NOTE, what, files_env.config.ignored,
		    "these keys of the original system have no effect here: "
		    "remove them from config.json, or keep them for it");
	return 0;
}

static void
files_servers(void)
{
	struct servers_how how = {.checking = true};
	struct fault fault = {""};
	unsigned own = 0;
	struct servers s;
	char text[4200], path[ICCTL_PATH];

	if (servers_find(&s, &how, servers_text, &files_env.config,
		&files_env.paths, &fault) == -1) {
		files_wrong("MCP servers", &fault,
		    "no session starts until it is corrected; "
		    "ironcurtain-config(5), MCP-SERVERS.JSON");
		return;
	}
	for (unsigned i = 0; i < s.n; i++)
		own += s.defs[i].entry != NULL;
	if (s.file == NULL)
		snprintf(text, sizeof(text),
		    "none of your own: the built-in file server");
	else
		snprintf(text, sizeof(text),
		    "%.4000s: %u server%s of your own%s",
		    icctl_path(s.file, path), own, plural(own),
		    own < s.n    ? ", and the built-in file server"
		    : s.no_files ? "; the built-in file server is off"
				 : "");
	files_env.check(GOOD, "MCP servers", text, "");
	servers_free(&s);
}

static void
files_provider(const char *name)
{
	static const char what[] = "provider";
	struct fault fault = {""};
	struct provider p;
	unsigned routes;
	char text[4600], path[ICCTL_PATH];

	if (provider_load(
		&p, &files_env.paths, &files_env.config, name, &fault) == -1)
		goto bad;
	/* Its hosts and paths cannot be checked without the missing value. */
	if (p.lacks[0] != '\0') {
		files_env.check(NOTE, what, icctl_path(p.file, path), p.lacks);
	} else if (provider_usable(&p, &routes, &fault) == -1) {
		provider_clear(&p);
		goto bad;
	} else {
		snprintf(text, sizeof(text), "%.4200s: %u route%s to %.253s%s",
		    icctl_path(p.file, path), routes, plural(routes),
		    p.hosts[0], p.nhosts > 1 ? " and others" : "");
		files_env.check(GOOD, what, text, "");
	}
	provider_clear(&p);
	return;
bad:
	files_wrong(what, &fault,
	    "sessions that use it do not start until it is corrected; "
	    "ironcurtain-config(5), PROVIDERS");
}

static void
files_agent(const char *name)
{
	struct fault fault = {""};
	char path[ICCTL_PATH];
	struct adapter a;

	if (adapter_load(&a, &files_env.paths, name, &fault) == -1) {
		files_wrong("agent", &fault,
		    "sessions with it do not start until it is corrected; "
		    "ironcurtain-config(5), AGENTS");
		return;
	}
	files_env.check(GOOD, "agent", icctl_path(a.file, path), "");
	adapter_free(&a);
}

static int
files_json(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return e->d_name[0] != '.' && n > 5 &&
	       strcmp(e->d_name + n - 5, ".json") == 0;
}

/* Call `fn` for every NAME.json in the directory, with NAME. */
static void
files_of(const char *sub, void (*fn)(const char *))
{
	struct dirent **list;
	char path[4200];
	int n;

	snprintf(path, sizeof(path), "%.4000s/%s", files_env.paths.home, sub);
	if ((n = scandir(path, &list, files_json, alphasort)) == -1)
		return;
	for (int i = 0; i < n; i++) {
		list[i]->d_name[strlen(list[i]->d_name) - 5] = '\0';
		if ((unsigned)i < FILES_MAX)
			fn(list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

/*
 * Check the providers that config.json names, unless they are the user's own.
 */
static void
files_named(void)
{
	const struct config *cfg = &files_env.config;
	char path[4400];

	for (size_t i = 0; i < cfg->nproviders; i++) {
		snprintf(path, sizeof(path), "%.4000s/providers/%.64s.json",
		    files_env.paths.home, cfg->providers[i].name);
		if (access(path, F_OK) == -1)
			files_provider(cfg->providers[i].name);
	}
}

/* Check where config.json says a credential is. */
static void
files_credential(const struct config_provider *p)
{
	static const char what[] = "credential";
	struct fault fault = {""};
	const char *value;
	struct stat st;
	char text[4500], path[ICCTL_PATH];
	int fd;

	snprintf(text, sizeof(text), "of %s: %s", p->name,
	    p->value != NULL ? icctl_path(p->value, path)
			     : "as config.json says");
	switch (p->kind) {
	case CREDENTIAL_ENV:
		value = getenv(p->value);
		if (value == NULL || *value == '\0')
			files_env.check(NOTE, what, text,
			    "this variable is not set here; a session that "
			    "needs it does not start without it");
		else
			files_env.check(GOOD, what, text, "");
		break;
	case CREDENTIAL_FILE:
		fd = open(p->value, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd == -1 || fstat(fd, &st) == -1)
			files_env.check(WRONG, what, text,
			    "this file does not exist, or you cannot read it");
		else if (paths_credential(fd, &st, p->value, &fault) == -1)
			files_env.check(WRONG, what, text, fault.text);
		else
			files_env.check(GOOD, what, text, "");
		if (fd != -1)
			close(fd);
		break;
	case CREDENTIAL_DEFAULT:
	case CREDENTIAL_COMMAND:
	case CREDENTIAL_SYSTEMD:
	case CREDENTIAL_SERVICE:
	case CREDENTIAL_LOGIN:
	case CREDENTIAL_CAPTURE:
		files_env.check(GOOD, what, text, "");
		break;
	}
}

/* Check all credentials. Returns their number. */
static unsigned
files_credentials(void)
{
	const struct config *cfg = &files_env.config;
	unsigned n = 0;

	for (size_t i = 0; i < cfg->nproviders; i++)
		if (cfg->providers[i].listed) {
			files_credential(&cfg->providers[i]);
			n++;
		}
	return n;
}

static void
files_destinations(void)
{
	const struct config *cfg = &files_env.config;
	struct providers *ps = &files_env.providers;
	struct fault fault = {""};
	char text[64];

	if (cfg->ndestinations == 0 && cfg->nmirrors == 0)
		return;
	if (destinations_load(ps, cfg, &fault) == -1 ||
	    providers_usable(ps, &fault) == -1) {
		files_wrong("destinations", &fault,
		    "no session starts until it is corrected; "
		    "ironcurtain-config(5), CONFIG.JSON");
	} else {
		snprintf(text, sizeof(text), "%zu of config.json",
		    cfg->ndestinations);
		files_env.check(GOOD, "destinations", text, "");
	}
	providers_free(ps);
}

/* The user's own price file is optional, because one is shipped. */
static void
files_prices(void)
{
	struct fault fault = {""};
	char path[4200], shown[ICCTL_PATH];

	snprintf(
	    path, sizeof(path), "%.4000s/prices.json", files_env.paths.home);
	if (access(path, F_OK) == -1)
		return;
	if (prices_load(&files_env.prices, &files_env.paths, &fault) == -1)
		files_wrong("prices", &fault,
		    "no session starts until it is corrected; "
		    "ironcurtain-config(5), PRICES.JSON");
	else
		files_env.check(GOOD, "prices", icctl_path(path, shown), "");
}

static void
files_approver(void)
{
	const struct config_approve *a = &files_env.config.approve;
	char text[300];

	if (!a->on)
		return;
	snprintf(text, sizeof(text),
	    "ON: %.120s of %.64s may approve what your own message asks for",
	    a->model, a->provider);
	files_env.check(NOTE, "autoApprove", text,
	    "turn it off: icctl config set autoApprove.enabled false");
}
/* A project's file in this directory sets something, too. */
static void
files_project(void *arg, const char *text, bool bad)
{
	(void)arg;
	files_env.check(bad ? BAD : NOTE, "project", text,
	    bad ? "icctl project check says whether it is right" : "");
}


unsigned
doctor_files(struct icctl *ctl, doctor_check *check)
{
	char *home = getenv("HOME");
	unsigned n;

	files_env.check = check;
	if (policy_own_path("share/ironcurtain", files_env.datadir,
		sizeof(files_env.datadir)) == -1)
		return 0;
	files_env.paths = (struct paths){.home = ctl->home,
	    .datadir = files_env.datadir,
	    .user_home = home != NULL ? home : ctl->home};
	if (files_config() == -1)
		return 0;
	files_approver();
	files_servers();
	files_of("providers", files_provider);
	files_named();
	files_destinations();
	files_of("agents", files_agent);
	files_prices();
	(void)doctor_agents(&files_env.paths, &files_env.config, check);
	doctor_toolchains(&files_env.paths, &files_env.config, check);
	doctor_constitutions(&files_env.paths, &files_env.config, check);
	doctor_services(&files_env.config, check);
	(void)project_sources(ctl, files_project, NULL);
	n = files_credentials();
	doctor_commands(&files_env.config, files_env.paths.user_home, check);
	config_free(&files_env.config);
	return n;
}
