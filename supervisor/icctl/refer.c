/* SPDX-License-Identifier: ISC */
#include "icctl/refer.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/adapter/adapter.h"
#include "files/config.h"
#include "files/persona.h"
#include "files/policydir.h"
#include "icctl/policy/policy.h"

#define REFER_KNOWN 512U

static int
refer_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void
refer_personas(struct names *ns, const struct icctl *ctl)
{
	char dir[4200];
	struct dirent *e;
	DIR *d;

	memset(ns, 0, sizeof(*ns));
	snprintf(dir, sizeof(dir), "%.4000s/personas", ctl->home);
	if ((d = opendir(dir)) == NULL) {
		if (errno != ENOENT)
			warn("%s", dir);
		return;
	}
	while (ns->n < NAMES_MAX && (e = readdir(d)) != NULL)
		if (persona_name_ok(e->d_name) &&
		    (ns->list[ns->n] = strdup(e->d_name)) != NULL)
			ns->n++;
	closedir(d);
	qsort(ns->list, ns->n, sizeof(ns->list[0]), refer_by_name);
}

bool
refer_persona(const struct icctl *ctl, const char *name)
{
	char known[REFER_KNOWN];
	struct names ns;
	bool is;

	refer_personas(&ns, ctl);
	is = names_have(&ns, name);
	if (!is && !persona_name_ok(name))
		warnx("--persona %.64s: a persona's name has letters, digits, "
		      "- and _, at most 64 (icctl persona ls)",
		    name);
	else if (!is)
		warnx("there is no persona %s (%s). Make it: icctl persona new "
		      "%s",
		    name,
		    ns.n == 0 ? "there are none yet"
			      : names_known(&ns, name, known, sizeof(known)),
		    name);
	names_free(&ns);
	return is;
}

static bool
refer_agent(const struct paths *paths, const char *name)
{
	char known[REFER_KNOWN];
	struct names ns;
	bool is;

	adapter_list(&ns, paths);
	/* This one runs a command line, for which there is no place here. */
	for (size_t i = ns.n; i-- > 0;)
		if (strcmp(ns.list[i], "command") == 0)
			names_drop(&ns, i);
	is = names_have(&ns, name);
	if (!is)
		warnx("--agent %.64s: no agent has this name (%s). What each "
		      "of them needs: icctl agents",
		    name, names_known(&ns, name, known, sizeof(known)));
	names_free(&ns);
	return is;
}

static bool
refer_profile(const struct paths *paths, const char *name)
{
	struct config cfg;
	struct fault fault;

	if (config_load(&cfg, NULL, paths->home, paths->user_home, name,
		&fault) == -1) {
		warnx("%s", fault.text);
		return false;
	}
	config_free(&cfg);
	return true;
}

/* Find a policy by its name, or by its path, which is written to `real`. */
static const char *
refer_policy(const struct paths *paths, const char *value, char real[PATH_MAX])
{
	char shipped[PATH_MAX + 16], *dir;
	struct fault fault;

	if (strchr(value, '/') != NULL || !policydir_is_name(value)) {
		if (realpath(value, real) != NULL)
			return real;
		warn("--policy %s", value);
		return NULL;
	}
	snprintf(shipped, sizeof(shipped), "%s/policies", paths->datadir);
	if ((dir = policydir_find(paths->home, shipped, value, &fault)) ==
	    NULL) {
		warnx("%s", fault.text);
		return NULL;
	}
	free(dir);
	return value;
}

const char *
refer_check(const struct icctl *ctl, const char *key, const char *value,
    char real[PATH_MAX])
{
	struct paths paths = {.home = (char *)(uintptr_t)ctl->home,
	    .user_home = getenv("HOME")};
	char datadir[PATH_MAX];
	bool good = true;

	if (policy_own_path(
		"share/ironcurtain", datadir, sizeof(datadir)) == -1) {
		warnx("the installation is incomplete");
		return NULL;
	}
	paths.datadir = datadir;
	if (paths.user_home == NULL)
		paths.user_home = paths.home;
	if (strcmp(key, "policy") == 0)
		return refer_policy(&paths, value, real);
	if (strcmp(key, "agent") == 0)
		good = refer_agent(&paths, value);
	else if (strcmp(key, "persona") == 0)
		good = refer_persona(ctl, value);
	else if (strcmp(key, "profile") == 0)
		good = refer_profile(&paths, value);
	return good ? value : NULL;
}
