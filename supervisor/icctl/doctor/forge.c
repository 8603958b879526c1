/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor --check-api` about forges: what each token can do
 * beyond what its destination lists. The forge is asked for the repositories of
 * the token, in a session as those of api_try.c, whose home is a directory of
 * its own that has this one host and the same credential.
 */
#include "icctl/doctor/api.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/tree.h"
#include "common/forge/grant.h"

#define FORGE_NAMED 5U /* repositories that a line names */
#define FORGE_TEXT 1400U

/* The lists of repositories that a token can write. */
static const struct {
	const char *path, *query[3][2];
} forge_lists[FORGE_KINDS] = {
    [FORGE_GITHUB] = {"/user/repos", {{"per_page", "100"}}},
    [FORGE_GITLAB] = {"/api/v4/projects",
	{{"membership", "true"}, {"min_access_level", "30"},
	    {"per_page", "100"}}},
    [FORGE_GITEA] = {"/api/v1/user/repos", {{"limit", "50"}}},
};

struct forge_trial {
	const struct icctl *ctl;
	doctor_check *check;
	const char *name;
	json_object *own;  /* the destination in config.json */
	json_object *root; /* config.json */
	enum forge_kind kind;
	char home[32];
};

static void
forge_say(const struct forge_trial *t, enum grade g, const char *text,
    const char *remedy)
{
	char all[FORGE_TEXT + 80];

	snprintf(all, sizeof(all), "%.64s: %s", t->name, text);
	t->check(g, "forge", all, remedy);
}

/* Write a file of the trial's home. Returns 0, or -1. Frees `o`. */
static int
forge_write(const struct forge_trial *t, const char *name, json_object *o)
{
	char path[128];
	int rv;

	snprintf(path, sizeof(path), "%s/%s", t->home, name);
	rv = jsonfile_replace(
	    path, span_str(json_object_to_json_string_ext(o, ICCTL_JSON)));
	json_object_put(o);
	return rv;
}

static void
forge_copy(json_object *to, const char *name, json_object *from, const char *as)
{
	json_object *v;

	if (json_object_object_get_ex(from, as, &v))
		json_object_object_add(to, name, json_object_get(v));
}

/* Compose the settings: the credential, and where the host is. */
static json_object *
forge_settings(const struct forge_trial *t)
{
	json_object *o = json_object_new_object(), *at;
	char path[ICCTL_PATH];

	/* Relative paths stay relative to the person's file. */
	snprintf(path, sizeof(path), "%.4000s/config.json", t->ctl->home);
	put_str(o, "settingsOf", get_str(t->root, "settingsOf", path));
	forge_copy(o, "proxy", t->root, "proxy");
	forge_copy(put_child(o, "credentials"), "forge", t->own, "credential");
	at = put_child(put_child(o, "providers"), "forge");
	forge_copy(at, "upstream", t->own, "upstream");
	forge_copy(at, "ca", t->own, "ca");
	return o;
}

static json_object *
forge_texts(const char *const *list)
{
	json_object *a = json_object_new_array();

	for (; *list != NULL; list++)
		json_object_array_add(a, json_object_new_string(*list));
	return a;
}

/* Compose the provider's file: the host with this one route. */
static json_object *
forge_file(const struct forge_trial *t, const char *host)
{
	static const char *const in[] = {"accept", "user-agent", NULL},
				 *const back[] = {
				     "content-type", "x-oauth-scopes", NULL};
	const bool gitlab = t->kind == FORGE_GITLAB;
	json_object *o = json_object_new_object(),
		    *routes = json_object_new_array(),
		    *headers = json_object_new_array(),
		    *h = json_object_new_object(),
		    *route = json_object_new_object(), *query, *check;

	put_str(o, "name", "forge");
	put_str(o, "host", host);
	put_str(h, "name", gitlab ? "private-token" : "authorization");
	if (!gitlab)
		put_str(h, "prefix", "token ");
	json_object_array_add(headers, h);
	h = put_child(o, "credential");
	put_str(h, "env", "IC_FORGE_TOKEN");
	put_str(h, "sentinel", "ic-forge-token-");
	json_object_object_add(h, "headers", headers);
	json_object_object_add(o, "requestHeaders", forge_texts(in));
	json_object_object_add(o, "responseHeaders", forge_texts(back));
	check = put_child(o, "check");
	put_str(check, "method", "GET");
	put_str(check, "path", forge_lists[t->kind].path);
	query = put_child(check, "query");
	for (size_t i = 0; i < nitems(forge_lists[0].query); i++)
		if (forge_lists[t->kind].query[i][0] != NULL)
			put_str(query, forge_lists[t->kind].query[i][0],
			    forge_lists[t->kind].query[i][1]);
	put_str(route, "method", "GET");
	put_str(route, "path", forge_lists[t->kind].path);
	json_object_array_add(routes, route);
	json_object_object_add(o, "routes", routes);
	return o;
}

/* Returns true if the destination lists the repository. */
static bool
forge_lists_it(const struct forge_trial *t, const char *name)
{
	json_object *list = get_typed(t->own, "repositories", json_type_array);
	const char *s;

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		s = json_object_get_string(json_object_array_get_idx(list, i));
		if (s != NULL && strcasecmp(s, name) == 0)
			return true;
	}
	return false;
}

/* A classic token is good for whatever its account may do. */
static void
forge_classic(const struct forge_trial *t, const char *scopes)
{
	char text[FORGE_TEXT];

	snprintf(text, sizeof(text),
	    "its token is a classic one, for every repository of its account: "
	    "%s",
	    scopes);
	forge_say(t, get_true(t->own, "classic") ? NOTE : FAILED, text,
	    "make a fine-grained token for these repositories: icctl setup "
	    "--forge");
}

/* Say what the answer's lines mean, one of which may name the scopes. */
static void
forge_judge(const struct forge_trial *t, const char *lines)
{
	char text[FORGE_TEXT] = "", name[256], right[16], line[1024];
	char scopes[FORGE_TEXT - 100] = "";
	struct span rest = span_str(lines), l;
	unsigned beyond = 0, all = 0;
	size_t len = 0;

	while (span_line(&rest, &l)) {
		if (span_copy(l, line, sizeof(line)) == -1)
			continue;
		if (strncmp(line, "scopes ", 7) == 0)
			snprintf(scopes, sizeof(scopes), "%s", line + 7);
		if (sscanf(line, "repository %255s %15s", name, right) != 2)
			continue;
		all++;
		if (strcmp(right, "write") != 0 || forge_lists_it(t, name) ||
		    beyond++ >= FORGE_NAMED)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
		    len == 0 ? "its token can write, beyond the list: " : ", ",
		    name);
	}
	if (scopes[0] != '\0')
		forge_classic(t, scopes);
	if (beyond == 0) {
		snprintf(text, sizeof(text),
		    "its token can write no repository beyond the list%s",
		    all == 0 ? " (the forge names none)" : "");
		forge_say(t, GOOD, text, NULL);
		return;
	}
	if (beyond > FORGE_NAMED)
		snprintf(text + len, sizeof(text) - len, " and %u more",
		    beyond - FORGE_NAMED);
	forge_say(t, NOTE, text,
	    "a session reaches none of them; a token that is for the listed "
	    "ones alone is safer: icctl setup --forge");
}

/* Ask the forge. The home is there. */
static void
forge_ask(const struct forge_trial *t, const char *host, struct api_answer *a)
{
	struct paths paths = {.home = (char *)(uintptr_t)t->home};
	struct fault fault = {""};
	struct config cfg;
	struct provider p;
	char *user = getenv("HOME"), dir[64];

	snprintf(dir, sizeof(dir), "%s/providers", t->home);
	paths.user_home = user != NULL ? user : paths.home;
	paths.datadir = paths.home;
	if (mkdir(dir, 0700) == -1 ||
	    forge_write(t, "providers/forge.json", forge_file(t, host)) == -1 ||
	    forge_write(t, "config.json", forge_settings(t)) == -1 ||
	    config_load(&cfg, NULL, t->home, paths.user_home, NULL, &fault) ==
		-1) {
		snprintf(a->why, sizeof(a->why), "%.500s", fault.text);
		return;
	}
	if (provider_load(&p, &paths, &cfg, "forge", &fault) == 0) {
		if (setenv("IRONCURTAIN_HOME", t->home, 1) == 0)
			doctor_api_try(&p, a);
		(void)setenv("IRONCURTAIN_HOME", t->ctl->home, 1);
		provider_clear(&p);
	} else {
		snprintf(a->why, sizeof(a->why), "%.500s", fault.text);
	}
	config_free(&cfg);
}

static void
forge_try(struct forge_trial *t)
{
	static struct api_answer a;
	json_object *hosts = get_typed(t->own, "hosts", json_type_array);
	const char *host = json_object_get_string(
	    hosts == NULL ? NULL : json_object_array_get_idx(hosts, 0));
	char text[900];

	memset(&a, 0, sizeof(a));
	a.list = true;
	snprintf(t->home, sizeof(t->home), "/tmp/ic-forge-XXXXXX");
	if (host == NULL || mkdtemp(t->home) == NULL) {
		forge_say(t, NOTE, "not tried", NULL);
		return;
	}
	forge_ask(t, host, &a);
	(void)tree_remove(t->home);
	if (a.status == 200) {
		forge_judge(t, a.more);
	} else if (a.status == 401) {
		forge_say(t, FAILED,
		    "refused (401): the forge does not accept "
		    "its token",
		    "make another one: icctl setup --forge");
	} else if (a.status == 403 || a.status == 404) {
		forge_say(t, GOOD,
		    "its token may not list the repositories of its account",
		    NULL);
	} else {
		snprintf(text, sizeof(text), "not known: %s",
		    a.why[0] != '\0' ? a.why : "there was no answer");
		forge_say(t, NOTE, text, "check the network, then try again");
	}
}

unsigned
doctor_api_forges(const struct icctl *ctl, doctor_check *check)
{
	struct forge_trial t = {.ctl = ctl, .check = check};
	json_object *all;
	struct fault fault;
	char path[ICCTL_PATH];
	struct stat st;
	unsigned n = 0;
	size_t len;
	char *text;

	snprintf(path, sizeof(path), "%.4000s/config.json", ctl->home);
	if ((text = jsonfile_text(path, &len, &st, &fault)) == NULL)
		return 0;
	t.root = jsonfile_parse(path, span_of(text, len), &fault);
	freezero(text, len);
	all = t.root == NULL
		  ? NULL
		  : get_typed(t.root, "destinations", json_type_object);
	if (all != NULL) {
		json_object_object_foreach(all, name, one)
		{
			if (strcmp(get_str(one, "kind", ""), "forge") != 0 ||
			    forge_kind_find(span_str(get_str(one, "forge", "")),
				&t.kind) == -1)
				continue;
			t.name = name;
			t.own = one;
			forge_try(&t);
			n++;
		}
	}
	json_object_put(t.root);
	return n;
}
