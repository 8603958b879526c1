/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor --check-api` about forges: what each token can do
 * beyond what its destination lists. The forge is asked for the repositories of
 * the token, page after page, and GitLab also for the token's scopes, in
 * sessions as those of api_try.c, whose home is a directory of its own that has
 * this one host and the same credential.
 */
#include "icctl/doctor/forge.h"

#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/tree.h"
#include "common/forge/grant.h"
#include "icctl/doctor/api.h"
#include "workers/asker/list.h"

#define FORGE_MORE (LIST_MAX_PAGES * LIST_MAX_NAMES * 256)

/*
 * The requests, and the largest page that each forge has. "number" is a word of
 * provider files; ic-asker's requests have the pages' numbers there.
 */
static const struct {
	const char *token, *list, *query[4][2];
	unsigned limit;
} forge_asked[FORGE_KINDS] = {
    [FORGE_GITHUB] = {NULL, "/user/repos",
	{{"per_page", "100"}, {"page", "number"}}, 100},
    [FORGE_GITLAB] = {"/api/v4/personal_access_tokens/self",
	"/api/v4/projects",
	{{"membership", "true"}, {"min_access_level", "30"},
	    {"per_page", "100"}, {"page", "number"}},
	100},
    [FORGE_GITEA] = {NULL, "/api/v1/user/repos",
	{{"limit", "50"}, {"page", "number"}}, 50},
};

struct forge_trial {
	struct forge_dest dest;
	const struct icctl *ctl;
	json_object *root; /* config.json */
	const char *host;
	char home[32];
};

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
	forge_copy(put_child(o, "credentials"), "forge", t->dest.own, "credential");
	at = put_child(put_child(o, "providers"), "forge");
	forge_copy(at, "upstream", t->dest.own, "upstream");
	forge_copy(at, "ca", t->dest.own, "ca");
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

/* Write where the API of the host has this path. */
static const char *
forge_path(const struct forge_trial *t, bool token, char *dst, size_t cap)
{
	snprintf(dst, cap, "%s%s",
	    t->dest.kind == FORGE_GITHUB &&
		    strcasecmp(t->host, "api.github.com") != 0
		? "/api/v3"
		: "",
	    token ? forge_asked[t->dest.kind].token
		  : forge_asked[t->dest.kind].list);
	return dst;
}

/* Compose the provider's file: the host with one route. */
static json_object *
forge_file(const struct forge_trial *t, bool token)
{
	static const char *const in[] = {"accept", "user-agent", NULL},
				 *const back[] = {
				     "content-type", "x-next-page",
				     "x-oauth-scopes", "x-total-count", NULL};
	const bool gitlab = t->dest.kind == FORGE_GITLAB;
	json_object *o = json_object_new_object(),
		    *routes = json_object_new_array(),
		    *headers = json_object_new_array(),
		    *h = json_object_new_object(),
		    *route = json_object_new_object(), *query, *check;
	char path[128];

	put_str(o, "name", "forge");
	put_str(o, "host", t->host);
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
	put_str(check, "path", forge_path(t, token, path, sizeof(path)));
	query = put_child(check, "query");
	for (size_t i = 0; !token && i < nitems(forge_asked[0].query); i++)
		if (forge_asked[t->dest.kind].query[i][0] != NULL)
			put_str(query, forge_asked[t->dest.kind].query[i][0],
			    forge_asked[t->dest.kind].query[i][1]);
	put_str(route, "method", "GET");
	put_str(route, "path", path);
	json_object_array_add(routes, route);
	json_object_object_add(o, "routes", routes);
	return o;
}

/* Try the request, in a home that is there. */
static void
forge_request(const struct forge_trial *t, bool token, struct api_answer *a)
{
	struct paths paths = {.home = (char *)(uintptr_t)t->home};
	struct fault fault = {""};
	struct config cfg;
	struct provider p;
	char *user = getenv("HOME");

	paths.user_home = user != NULL ? user : paths.home;
	paths.datadir = paths.home;
	if (forge_write(t, "providers/forge.json", forge_file(t, token)) ==
		-1 ||
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

/* Say that a forge has not named the repositories of its token, and why. */
static void
forge_unknown(const struct forge_dest *d, const struct api_answer *a)
{
	char text[600];

	if (a->status != 0 && !a->sent) {
		snprintf(text, sizeof(text), "not known: %s", a->why);
		forge_report(d, NOTE, text, NULL);
	} else if (a->status == 401) {
		forge_report(d, FAILED,
		    "refused (401): the forge does not accept its token",
		    "make another one: icctl setup --forge");
	} else if (a->status == 403 || a->status == 404) {
		snprintf(text, sizeof(text),
		    "not known: the forge does not tell its token which "
		    "repositories it has (%u)",
		    a->status);
		forge_report(d, NOTE, text,
		    "what a token can do is shown where it was made");
	} else if (a->status != 0 && a->why[0] == '\0') {
		snprintf(text, sizeof(text),
		    "not known: the forge answers with status %u", a->status);
		forge_report(d, NOTE, text, "try again later");
	} else {
		snprintf(text, sizeof(text), "not known: %s",
		    a->why[0] != '\0' ? a->why : "there was no answer");
		forge_report(d, NOTE, text, "check the network, then try again");
	}
}

/* Ask the forge. The home is there. */
static void
forge_ask(const struct forge_trial *t)
{
	struct api_answer list = {.pages = LIST_MAX_PAGES},
			  token = {.pages = 1};

	list.limit = token.limit = forge_asked[t->dest.kind].limit;
	buf_init(&list.more, FORGE_MORE);
	buf_init(&token.more, FORGE_MORE);
	forge_request(t, false, &list);
	if (list.status == 200 && forge_asked[t->dest.kind].token != NULL)
		forge_request(t, true, &token);
	if (list.status == 200)
		forge_judge(&t->dest, buf_span(&token.more),
		    buf_span(&list.more));
	else
		forge_unknown(&t->dest, &list);
	buf_free(&list.more);
	buf_free(&token.more);
}

static void
forge_try(struct forge_trial *t)
{
	json_object *hosts = get_typed(t->dest.own, "hosts", json_type_array);
	char dir[64];

	t->host = hosts == NULL ? NULL
				: json_object_get_string(
				      json_object_array_get_idx(hosts, 0));
	snprintf(t->home, sizeof(t->home), "/tmp/ic-forge-XXXXXX");
	if (t->host == NULL || mkdtemp(t->home) == NULL) {
		forge_report(&t->dest, NOTE, "not tried", NULL);
		return;
	}
	snprintf(dir, sizeof(dir), "%s/providers", t->home);
	if (mkdir(dir, 0700) == 0 &&
	    forge_write(t, "config.json", forge_settings(t)) == 0)
		forge_ask(t);
	else
		forge_report(&t->dest, NOTE, "not tried: /tmp is not writable",
		    NULL);
	(void)tree_remove(t->home);
}

unsigned
doctor_api_forges(const struct icctl *ctl, doctor_check *check)
{
	struct forge_trial t = {.ctl = ctl, .dest = {.check = check}};
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
				&t.dest.kind) == -1)
				continue;
			t.dest.name = name;
			t.dest.own = one;
			forge_try(&t);
			n++;
		}
	}
	json_object_put(t.root);
	return n;
}
