/* SPDX-License-Identifier: ISC */
/*
 * The state of logins: from mcp-NAME.server.json, which has no secret, from
 * config.json, and from sessions that run, whose keyds know when their token
 * expires and why it was not renewed. `icctl mcp status` prints it.
 */
#include "icctl/mcp/login/state.h"

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "common/log.h"
#include "icctl/mcp/login/login.h"
#include "icctl/mcp/mcp.h"
#include "icctl/words.h"

/* Returns the credential of that name in the session, or NULL. */
static struct json_object *
key_of(struct json_object *reply, const char *provider)
{
	struct json_object *list = get_typed(reply, "keys", json_type_array), *k;
	size_t n = list != NULL ? json_object_array_length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		k = json_object_array_get_idx(list, i);
		if (strcmp(icctl_text(k, "provider"), provider) == 0)
			return k;
	}
	return NULL;
}

/* Take what a session that runs knows better. */
static void
state_live(struct json_object *o, const char *home, const char *provider)
{
	struct json_object *reply, *k, *failure;
	char run[4300], path[4600];
	struct dirent *e;
	DIR *d;

	snprintf(run, sizeof(run), "%.4000s/run", home);
	if ((d = opendir(run)) == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%.255s", run, e->d_name);
		if ((reply = icctl_ask_dir(path, "keys")) == NULL)
			continue;
		k = key_of(reply, provider);
		if (icctl_number(k, "expires") > icctl_number(o, "expires"))
			put_int(o, "expires", icctl_number(k, "expires"));
		failure = get_member(k, "failure");
		if (failure != NULL) {
			put_str(o, "failure", icctl_text(failure, "text"));
			put_int(o, "ago_ms", icctl_number(failure, "ago_ms"));
		}
		if (strcmp(icctl_text(k, "state"), "refused") == 0)
			put_bool(o, "refused", true);
		json_object_put(reply);
	}
	closedir(d);
}

struct json_object *
login_state_of(
    const struct own *own, const char *name, struct json_object *entry)
{
	struct json_object *o, *said;
	const char *url = get_str(entry, "url", NULL), *state = "none";
	struct login_files files;
	char provider[80];
	int64_t expires;

	if (url == NULL)
		return NULL;
	o = json_object_new_object();
	files_provider(name, provider);
	files_name(&files, own->paths.home, provider);
	said = files_said(&files);
	if (get_member(own_secrets(own, name), "bearer") != NULL ||
	    get_member(own_secrets(own, name), "headers") != NULL)
		state = "key";
	else if (said != NULL)
		state = strcmp(get_str(said, "server", ""), url) == 0
			    ? "login"
			    : "elsewhere";
	if (strcmp(state, "login") == 0) {
		put_str(o, "issuer", get_str(said, "issuer", ""));
		put_bool(o, "renews", get_true(said, "renews"));
		put_int(o, "expires", icctl_number(said, "expires"));
		json_object_object_add(o, "scopes",
		    json_object_get(get_member(said, "granted")));
		state_live(o, own->paths.home, provider);
		expires = icctl_number(o, "expires");
		if (get_true(o, "refused") ||
		    (expires != 0 && expires <= (int64_t)time(NULL) &&
			!get_true(o, "renews")))
			state = "expired";
	}
	put_str(o, "state", state);
	json_object_put(said);
	return o;
}

const char *
login_state_text(
    struct json_object *o, const char *name, char *dst, size_t cap)
{
	const char *state = icctl_text(o, "state");
	int64_t left = icctl_number(o, "expires") - (int64_t)time(NULL);
	char span[32], ago[32], vis[300], vis2[400] = "";

	if (strcmp(state, "key") == 0) {
		snprintf(dst, cap, "with a key of serverCredentials");
	} else if (strcmp(state, "none") == 0) {
		snprintf(dst, cap,
		    "no login; if it wants one: icctl mcp login %s", name);
	} else if (strcmp(state, "elsewhere") == 0) {
		snprintf(dst, cap,
		    "its login is for another address: icctl mcp login %s",
		    name);
	} else if (strcmp(state, "expired") == 0) {
		snprintf(dst, cap,
		    "its login has ended: icctl mcp login %s", name);
	} else {
		(void)log_vis(
		    span_str(icctl_text(o, "issuer")), vis, sizeof(vis));
		if (*icctl_text(o, "failure") != '\0')
			snprintf(vis2, sizeof(vis2), "; failed %s ago: %.300s",
			    icctl_span(icctl_number(o, "ago_ms"), ago,
				sizeof(ago)),
			    icctl_text(o, "failure"));
		if (icctl_number(o, "expires") == 0)
			snprintf(dst, cap, "logged in at %s%s", vis, vis2);
		else if (left > 0)
			snprintf(dst, cap, "logged in at %s; token for %s%s%s",
			    vis, icctl_span(left * 1000, span, sizeof(span)),
			    get_true(o, "renews") ? ", renewed by itself" : "",
			    vis2);
		else
			snprintf(dst, cap,
			    "logged in at %s; token expired, renewed at its "
			    "next use%s",
			    vis, vis2);
	}
	return dst;
}

static void
status_put(const char *name, struct json_object *o)
{
	struct json_object *list = get_typed(o, "scopes", json_type_array);
	char text[1100];
	size_t n = list != NULL ? json_object_array_length(list) : 0;

	printf("%-20s  ", name);
	icctl_put_str(login_state_text(o, name, text, sizeof(text)));
	putchar('\n');
	if (n != 0)
		printf("%22sscopes:", "");
	for (size_t i = 0; i < n; i++) {
		putchar(' ');
		icctl_put_str(
		    json_object_get_string(json_object_array_get_idx(list, i)));
	}
	if (n != 0)
		putchar('\n');
}

static int
status(struct icctl *ctl, const struct own *own, const char *only)
{
	struct json_object *all = json_object_new_object(),
			   *rows = json_object_new_array(), *o;
	struct fault fault;
	int r = ICCTL_OK;

	if (only != NULL && own_find(own, only, &fault) == NULL) {
		warnx("%s", fault.text);
		r = ICCTL_FAILED;
	}
	json_object_object_foreach(own->servers, name, entry)
	{
		if ((only != NULL && strcmp(only, name) != 0) ||
		    (o = login_state_of(own, name, entry)) == NULL)
			continue;
		put_str(o, "name", name);
		if (!ctl->json)
			status_put(name, o);
		json_object_array_add(rows, o);
	}
	if (!ctl->json && r == ICCTL_OK && json_object_array_length(rows) == 0)
		puts(only != NULL
			 ? "It is a program on this machine: it has no login."
			 : "No remote servers. To add one: icctl mcp add NAME "
			   "URL");
	json_object_object_add(all, "servers", rows);
	if (ctl->json && r == ICCTL_OK)
		icctl_put_json(all);
	json_object_put(all);
	return r;
}

int
mcp_status(struct icctl *ctl, int argc, char **argv)
{
	struct fault fault;
	struct own own;
	int r = ICCTL_FAILED;

	if (words_help()) {
		puts("usage: icctl mcp status [NAME]\n\nShows the logins of "
		     "your remote MCP servers: where, for how long, with "
		     "which\nscopes, and why one was not renewed. --json "
		     "prints the same as JSON.");
		return ICCTL_OK;
	}
	if (argc > 2)
		return words_usage();
	if (own_open(&own, &fault) == -1)
		warnx("%s", fault.text);
	else
		r = status(ctl, &own, argc == 2 ? argv[1] : NULL);
	own_close(&own);
	return r;
}
