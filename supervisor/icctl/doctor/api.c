/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor --check-api`: asks each provider that has a credential whether
 * it accepts it, with the request that its file names under "check", and says
 * what the answer means.
 */
#include "icctl/doctor/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/names.h"
#include "icctl/doctor/doctor.h"
#include "icctl/policy/policy.h"

enum api_result {
	API_WORKS,
	API_REFUSED,     /* the provider does not accept the credential */
	API_UNREACHABLE, /* no answer of the provider's */
	API_UNCLEAR,     /* the answer says nothing about the credential */
	API_UNTRIED,
	API_UNUSABLE, /* no session with it starts */
};

static struct {
	doctor_check *check;
	struct paths paths;
	struct config config;
	json_object *list;
	bool json;
} api_env;

static void
api_report(const struct provider *p, enum api_result r, unsigned status,
    const char *found, const char *remedy)
{
	static const char *const words[] = {"works", "refused", "unreachable",
	    "unclear", "untried", "unusable"};
	static const enum grade grades[] = {
	    GOOD, FAILED, FAILED, NOTE, NOTE, FAILED};
	json_object *o = json_object_new_object();
	char text[1024];

	put_str(o, "provider", p->name);
	put_str(o, "result", words[r]);
	json_object_object_add(
	    o, "status", status == 0 ? NULL : json_object_new_int((int)status));
	put_str(o, "why", found);
	json_object_array_add(api_env.list, o);
	snprintf(text, sizeof(text), "%s: %s", p->name, found);
	api_env.check(grades[r], "provider", text, remedy);
}

/* Returns true if "accepted" or "refused" of the file lists the status. */
static bool
api_listed(const struct provider *p, const char *name, unsigned status)
{
	json_object *list;

	if (!json_object_object_get_ex(p->trial, name, &list))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++)
		if (json_object_get_int(json_object_array_get_idx(list, i)) ==
		    (int)status)
			return true;
	return false;
}

static enum api_result
api_judge(const struct provider *p, const struct api_answer *a)
{
	if (!a->started)
		return API_UNUSABLE;
	if (!a->sent || a->status == 0)
		return API_UNREACHABLE;
	if (api_listed(p, "accepted", a->status))
		return API_WORKS;
	if (api_listed(p, "refused", a->status))
		return API_REFUSED;
	/* The words of keyd accompany answers that are its own. */
	if (a->why[0] != '\0' && a->status >= 500)
		return API_UNREACHABLE;
	if (a->status >= 200 && a->status < 300)
		return API_WORKS;
	return a->status == 401 || a->status == 403 ? API_REFUSED : API_UNCLEAR;
}

/* Returns the host that was asked, which config.json may have changed. */
static const char *
api_where(const struct provider *p, char *dst, size_t cap)
{
	const char *host = icctl_text(p->trial, "host");
	const struct config_upstream *up;
	unsigned n = 0;

	while (host[0] != '\0' && n + 1 < p->nhosts &&
	       strcmp(p->hosts[n], host) != 0)
		n++;
	up = config_upstream_of(p->config, n, p->hosts[n]);
	if (up == NULL)
		return p->hosts[n];
	snprintf(dst, cap, "%s:%u", up->host, up->port);
	return dst;
}

/* Returns why there was no answer, without what the message says anyway. */
static const char *
api_reason(const struct api_answer *a)
{
	static const char prefix[] = "the provider cannot be reached: ";

	if (strncmp(a->why, prefix, sizeof(prefix) - 1) == 0)
		return a->why + sizeof(prefix) - 1;
	return a->why[0] != '\0' ? a->why : "there was no answer";
}

static void
api_say(const struct provider *p, const struct api_answer *a)
{
	const char *key = a->source[0] != '\0' ? a->source : "its credential";
	enum api_result r = api_judge(p, a);
	char found[900], remedy[256], where[300];

	snprintf(remedy, sizeof(remedy), "run: icctl login %.64s", p->name);
	switch (r) {
	case API_WORKS:
		snprintf(found, sizeof(found), "works, with %s", key);
		break;
	case API_REFUSED:
		snprintf(found, sizeof(found),
		    "refused (%u): the provider %s %s", a->status,
		    a->status == 403 ? "does not permit this with"
				     : "does not accept",
		    key);
		break;
	case API_UNREACHABLE:
		snprintf(found, sizeof(found), "%s could not be reached: %s",
		    api_where(p, where, sizeof(where)), api_reason(a));
		snprintf(remedy, sizeof(remedy),
		    "check the network and \"providers\".\"%.64s\" in "
		    "config.json, then try again",
		    p->name);
		break;
	case API_UNUSABLE:
		snprintf(found, sizeof(found), "no session with it starts: %s",
		    a->why);
		break;
	case API_UNCLEAR:
	case API_UNTRIED:
		snprintf(found, sizeof(found),
		    "answered with status %u, which does not say whether it "
		    "accepts %s",
		    a->status, key);
		snprintf(remedy, sizeof(remedy), "%s",
		    a->status == 429 ? "it limits the rate; try again later"
				     : "a session may work all the same");
		break;
	}
	api_report(p, r, r == API_UNREACHABLE ? 0 : a->status, found, remedy);
}

static void
api_provider(const struct provider *p)
{
	struct api_answer a = {.status = 0};
	bool progress = !api_env.json && isatty(STDOUT_FILENO) == 1;

	if (p->lacks[0] != '\0') {
		api_report(p, API_UNTRIED, 0, "not tried", p->lacks);
		return;
	}
	if (p->waits) {
		api_report(p, API_UNTRIED, 0, "not tried: nobody is logged in",
		    "log in with the agent's own login, in a session");
		return;
	}
	if (p->trial == NULL) {
		api_report(p, API_UNTRIED, 0, "not tried",
		    "its file names no request for this: \"check\" in "
		    "ironcurtain-config(5), PROVIDERS");
		return;
	}
	if (progress) {
		printf("%-8s %-18s %s: asking %s ...", "", "provider", p->name,
		    p->hosts[0]);
		fflush(stdout);
	}
	doctor_api_try(p, &a);
	if (progress)
		fputs("\r\033[K", stdout);
	api_say(p, &a);
	fflush(stdout);
}

/* Returns true if a session would find a credential for the provider. */
static bool
api_is_set(const struct provider *p)
{
	const char *value = getenv(p->env);

	return (p->config != NULL && p->config->listed) || p->login != -1 ||
	       p->in_parts || (value != NULL && value[0] != '\0');
}

/* Try the provider of that name if it has a credential. */
static unsigned
api_named(const char *name)
{
	struct fault fault = {""};
	struct provider p;
	bool set;

	/* The other checks have reported a file that cannot be read. */
	if (provider_load(&p, &api_env.paths, &api_env.config, name, &fault) ==
	    -1)
		return 0;
	if ((set = api_is_set(&p)))
		api_provider(&p);
	provider_clear(&p);
	return set;
}

/* Read what a session would read. Returns 0, or -1. */
static int
api_open(const struct icctl *ctl, doctor_check *check, json_object *list)
{
	static char datadir[4096];
	char *home = getenv("HOME");
	struct fault fault = {""};

	if (policy_own_path("share/ironcurtain", datadir, sizeof(datadir)) ==
	    -1)
		return -1;
	api_env.check = check;
	api_env.list = list;
	api_env.json = ctl->json;
	api_env.paths = (struct paths){.home = (char *)(uintptr_t)ctl->home,
	    .datadir = datadir,
	    .user_home = home != NULL ? home : (char *)(uintptr_t)ctl->home};
	return config_load(&api_env.config, NULL, ctl->home,
	    api_env.paths.user_home, NULL, &fault);
}

enum icctl_api
doctor_api_one(
    const struct icctl *ctl, doctor_check *check, const char *provider)
{
	json_object *list = json_object_new_array();
	enum icctl_api rv = ICCTL_API_UNCLEAR;
	const char *result;

	if (api_open(ctl, check, list) == 0) {
		(void)api_named(provider);
		config_free(&api_env.config);
	}
	if (json_object_array_length(list) != 0) {
		result = icctl_text(
		    json_object_array_get_idx(list, 0), "result");
		if (strcmp(result, "works") == 0)
			rv = ICCTL_API_WORKS;
		else if (strcmp(result, "refused") == 0)
			rv = ICCTL_API_REFUSED;
	}
	json_object_put(list);
	return rv;
}

int
doctor_api(const struct icctl *ctl, doctor_check *check, json_object *list)
{
	struct names names;
	unsigned n = 0;

	if (api_open(ctl, check, list) == -1)
		return -1;
	names_find(&names, &api_env.paths, "providers");
	for (size_t i = 0; i < names.n; i++)
		n += api_named(names.list[i]);
	names_free(&names);
	n += doctor_api_forges(ctl, check);
	config_free(&api_env.config);
	if (n == 0)
		check(NOTE, "provider", "none has a credential to try",
		    "icctl login");
	return 0;
}
