/* SPDX-License-Identifier: ISC */
/*
 * `icctl keys`: a session's credentials by name, kind, age and use. No reply
 * contains their values, and they never appear here.
 */
#include "icctl/icctl.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "credential/credential_env.h"
#include "common/plural.h"
#include "base/json_get.h"
#include "base/json_put.h"
#include "icctl/words.h"

static bool
has(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) && v != NULL;
}

static void
put_key(json_object *k)
{
	json_object *failure = NULL;
	char text[32], path[ICCTL_PATH];
	int64_t left;

	printf("%-12s ", icctl_text(k, "provider"));
	if (has(k, "login"))
		printf("login of %s, ", icctl_text(k, "login"));
	else
		printf("%s ", icctl_text(k, "kind"));
	icctl_put_str(icctl_path(icctl_text(k, "source"), path));
	printf("\n             %s", icctl_text(k, "state"));
	if (has(k, "age_ms"))
		printf(" for %s",
		    icctl_span(icctl_number(k, "age_ms"), text, sizeof(text)));
	if (has(k, "used_ms"))
		printf(", last used %s ago, in %lld request%s",
		    icctl_span(icctl_number(k, "used_ms"), text, sizeof(text)),
		    (long long)icctl_number(k, "requests"),
		    plural((uint64_t)icctl_number(k, "requests")));
	else
		printf(", not used yet");
	if (has(k, "expires")) {
		left = icctl_number(k, "expires") - (int64_t)time(NULL);
		printf(", %s %s%s", left < 0 ? "expired" : "expires in",
		    icctl_span(
			(left < 0 ? -left : left) * 1000, text, sizeof(text)),
		    left < 0 ? " ago" : "");
	}
	if (json_object_object_get_ex(k, "failure", &failure)) {
		printf("\n             last failure %s ago: ",
		    icctl_span(
			icctl_number(failure, "ago_ms"), text, sizeof(text)));
		icctl_put_str(icctl_text(failure, "text"));
	}
	if (icctl_number(k, "renewals") != 0)
		printf(", renewed %lld time%s",
		    (long long)icctl_number(k, "renewals"),
		    plural((uint64_t)icctl_number(k, "renewals")));
	putchar('\n');
}

static int
keys_list(struct icctl *ctl)
{
	json_object *req = json_object_new_object(), *reply, *list = NULL;
	int rv = ICCTL_OK;

	put_str(req, "op", "keys");
	reply = icctl_ask(ctl, req);
	json_object_put(req);
	if (reply == NULL)
		return ICCTL_NO_SESSION;
	if (!get_true(reply, "ok")) {
		rv = icctl_refused(ctl, reply);
	} else if (ctl->json) {
		icctl_put_json(reply);
	} else if (json_object_object_get_ex(reply, "keys", &list)) {
		if (json_object_array_length(list) == 0)
			puts("This session has no credentials.");
		for (size_t i = 0; i < json_object_array_length(list); i++)
			put_key(json_object_array_get_idx(list, i));
	}
	json_object_put(reply);
	return rv;
}

/*
 * Returns the variable that the session read this key from, which the caller
 * frees, or NULL.
 */
static char *
keys_variable(struct icctl *ctl, const char *name)
{
	json_object *req = icctl_request("keys", NULL), *reply, *list, *k;
	char *found = NULL;

	reply = icctl_ask(ctl, req);
	json_object_put(req);
	if (reply == NULL)
		return NULL;
	if (json_object_object_get_ex(reply, "keys", &list)) {
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			k = json_object_array_get_idx(list, i);
			if (found == NULL &&
			    strcmp(icctl_text(k, "provider"), name) == 0 &&
			    strcmp(icctl_text(k, "kind"), "environment") == 0)
				found = strdup(icctl_text(k, "source"));
		}
	}
	json_object_put(reply);
	return found;
}

/*
 * The session cannot see our variables: move the value into a pipe. `*fd` is -1
 * if there is nothing to send.
 */
static int
keys_pipe(char *variable, struct fault *fault)
{
	char *names[3] = {variable, NULL, NULL};

	for (size_t i = 1; i < 3; i++) {
		names[i] = strchr(names[i - 1], ',');
		if (names[i] == NULL)
			return credential_env_pipe(variable, fault);
		*names[i]++ = '\0';
	}
	return credential_env_parts(names, fault);
}

static int
keys_hand(struct icctl *ctl, const char *name, int *fd)
{
	char *variable = keys_variable(ctl, name);
	struct fault fault = {""};
	int rv = 0;

	*fd = -1;
	if (variable != NULL && (*fd = keys_pipe(variable, &fault)) == -1) {
		warnx("the key of %s comes from a variable: %s. Set %s to the "
		      "new key and run this again, or give it as a file: "
		      "icctl keys reload %s --file PATH",
		    name, fault.text, variable, name);
		rv = -1;
	}
	free(variable);
	return rv;
}

static int
keys_reload(struct icctl *ctl, const char *name, const char *path)
{
	json_object *req = json_object_new_object(), *reply;
	char *whole = NULL;
	int rv = ICCTL_OK, given = -1;

	if (path != NULL && (whole = realpath(path, NULL)) == NULL) {
		warn("%s", path);
		json_object_put(req);
		return ICCTL_FAILED;
	}
	if (path == NULL && keys_hand(ctl, name, &given) == -1) {
		json_object_put(req);
		return ICCTL_FAILED;
	}
	put_str(req, "op", "keys-reload");
	put_str(req, "id", name);
	if (whole != NULL)
		put_str(req, "path", whole);
	free(whole);
	reply = icctl_ask_with(ctl, req, given);
	json_object_put(req);
	if (reply == NULL)
		return ICCTL_NO_SESSION;
	if (!get_true(reply, "ok"))
		rv = icctl_refused(ctl, reply);
	else if (ctl->json)
		icctl_put_json(reply);
	else
		printf("%s: the new credential is in use\n", name);
	json_object_put(reply);
	return rv;
}

/* Remove logins that began in a sandbox; no session is involved. */
static int
keys_forget(struct icctl *ctl, const char *name)
{
	char path[4096 + 300], prefix[80], shown[ICCTL_PATH];
	struct dirent *e;
	unsigned n = 0;
	DIR *dir;

	if (strlen(name) > 64 || strchr(name, '/') != NULL) {
		warnx("%s: there is no provider of this name. To list them: "
		      "icctl login", name);
		return ICCTL_USAGE;
	}
	snprintf(prefix, sizeof(prefix), "%s-", name);
	snprintf(path, sizeof(path), "%s/logins", ctl->home);
	if ((dir = opendir(path)) == NULL && errno != ENOENT) {
		warn("%s", path);
		return ICCTL_FAILED;
	}
	while (dir != NULL && (e = readdir(dir)) != NULL) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		if (unlinkat(dirfd(dir), e->d_name, 0) == -1) {
			warn("%s/%s", path, e->d_name);
			continue;
		}
		if (!ctl->json)
			printf("%s/%s: removed\n", icctl_path(path, shown),
			    e->d_name);
		n++;
	}
	if (dir != NULL)
		closedir(dir);
	if (n == 0) {
		warnx("no login of %s is kept in %s", name,
		    icctl_path(path, shown));
		return ICCTL_FAILED;
	}
	if (ctl->json)
		printf("{\"ok\":true,\"removed\":%u}\n", n);
	return ICCTL_OK;
}

int
icctl_keys(struct icctl *ctl, int argc, char **argv)
{
	const char *file = words_option("--file");
	bool reload = argc == 3 && strcmp(argv[1], "reload") == 0;
	int rv;

	if (argc == 3 && file == NULL && strcmp(argv[1], "forget") == 0)
		return keys_forget(ctl, argv[2]);
	if (!reload && (argc != 1 || file != NULL))
		return words_usage();
	if ((rv = icctl_find(ctl)) != 0)
		return rv;
	return reload ? keys_reload(ctl, argv[2], file)
		      : keys_list(ctl);
}
