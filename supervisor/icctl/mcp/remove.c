/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp rm`: takes a server out of mcp-servers.json, and says what else
 * refers to it. Nothing but the entry is removed: credentials, policies and
 * data may serve another one.
 */
#include "icctl/mcp/mcp.h"

#include <sys/stat.h>

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_get.h"
#include "files/policydir.h"
#include "icctl/icctl.h"
#include "icctl/mcp/own.h"
#include "icctl/mcp/store.h"
#include "icctl/words.h"

#define REMOVE_LISTED 20U

struct removal {
	struct own own;
	const char *name;
	unsigned said;
};

static void __attribute__((format(printf, 2, 3)))
say(struct removal *r, const char *fmt, ...)
{
	va_list ap;

	if (r->said++ == 0)
		puts("This still refers to it:");
	if (r->said > REMOVE_LISTED)
		return;
	fputs("  ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static bool
is_in(struct json_object *list, const char *name)
{
	size_t n;

	if (!json_object_is_type(list, json_type_array))
		return false;
	n = json_object_array_length(list);
	for (size_t i = 0; i < n; i++) {
		const char *s =
		    json_object_get_string(json_object_array_get_idx(list, i));

		if (s != NULL && strcmp(s, name) == 0)
			return true;
	}
	return false;
}

/* Count the rules that name the server. */
static unsigned
rules_of(struct json_object *policy, const char *name)
{
	struct json_object *rules = get_typed(policy, "rules", json_type_array);
	size_t n = rules != NULL ? json_object_array_length(rules) : 0;
	unsigned found = 0;

	for (size_t i = 0; i < n; i++)
		found += is_in(
		    get_member(
			get_member(json_object_array_get_idx(rules, i), "if"),
			"server"),
		    name);
	return found;
}

/* Look into the policy in `dir`, which people call `path`. */
static void
refers_policy(struct removal *r, const char *dir)
{
	struct json_object *rules, *annotations, *servers;
	char path[ICCTL_PATH];
	struct fault ignored;
	unsigned n;

	(void)icctl_path(dir, path);
	rules = store_read(dir, policydir_names[PROTO_RULES_POLICY], &ignored);
	annotations =
	    store_read(dir, policydir_names[PROTO_RULES_ANNOTATIONS], &ignored);
	if (rules != NULL && (n = rules_of(rules, r->name)) != 0)
		say(r, "%s/%s: %u rule%s", path,
		    policydir_names[PROTO_RULES_POLICY], n, n == 1 ? "" : "s");
	servers = get_typed(annotations, "servers", json_type_object);
	if (get_member(servers, r->name) != NULL)
		say(r, "%s/%s: what its tools' arguments mean", path,
		    policydir_names[PROTO_RULES_ANNOTATIONS]);
	json_object_put(rules);
	json_object_put(annotations);
}

/* Look into each policy in home/policies. */
static void
refers_policies(struct removal *r)
{
	char dir[4300], sub[4600];
	struct dirent *d;
	DIR *all;

	snprintf(dir, sizeof(dir), "%.4000s/policy", r->own.paths.home);
	refers_policy(r, dir);
	snprintf(dir, sizeof(dir), "%.4000s/policies", r->own.paths.home);
	if ((all = opendir(dir)) == NULL)
		return;
	while ((d = readdir(all)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof(sub), "%s/%.255s", dir, d->d_name);
		refers_policy(r, sub);
	}
	closedir(all);
}

/* Name directories that the server had for itself. */
static void
refers_data(struct removal *r)
{
	static const char *const after[] = {"", ".program"};
	const char *data = getenv("XDG_DATA_HOME");
	char path[4600], shown[ICCTL_PATH];
	struct stat st;

	for (size_t i = 0; i < nitems(after); i++) {
		if (data != NULL && data[0] == '/')
			snprintf(path, sizeof(path),
			    "%.4000s/ironcurtain/data/%s%s", data, r->name,
			    after[i]);
		else
			snprintf(path, sizeof(path),
			    "%.4000s/.local/share/ironcurtain/data/%s%s",
			    r->own.paths.user_home, r->name, after[i]);
		if (stat(path, &st) == 0)
			say(r, "%s: its files", icctl_path(path, shown));
	}
}

static void
refers(struct removal *r)
{
	struct json_object *policy, *pins;
	char home[ICCTL_PATH], key[4200];
	struct fault ignored;

	(void)icctl_path(r->own.paths.home, home);
	if (own_secrets(&r->own, r->name) != NULL)
		say(r,
		    "its secrets in config.json; to remove them: icctl config "
		    "unset serverCredentials.%s",
		    r->name);
	snprintf(key, sizeof(key), "%.4000s/mcp-secrets/%.64s",
	    r->own.paths.home, r->name);
	if (access(key, F_OK) == 0)
		say(r, "its key, in %s/mcp-secrets/%s: remove that file", home,
		    r->name);
	policy = get_typed(r->own.config, "policy", json_type_object);
	if (is_in(get_member(policy, "trustedServers"), r->name))
		say(r, "config.json: policy.trustedServers, so that the next "
		       "server of this name is trusted; to change it: icctl "
		       "config edit");
	refers_policies(r);
	pins = store_read(r->own.paths.home, "pins.json", &ignored);
	if (get_member(get_member(pins, "servers"), r->name) != NULL)
		say(r,
		    "%s/pins.json: its tools as you approved them; another "
		    "server of this name is compared with them",
		    home);
	json_object_put(pins);
	refers_data(r);
	if (r->said > REMOVE_LISTED)
		printf("  and %u more\n", r->said - REMOVE_LISTED);
}

static int
remove_entry(struct removal *r, bool yes, struct fault *fault)
{
	char question[128], home[ICCTL_PATH];

	if (own_find(&r->own, r->name, fault) == NULL)
		return -1;
	snprintf(question, sizeof(question), "Remove %.64s from %s?", r->name,
	    r->own.name);
	if (!yes && !icctl_confirm(question)) {
		puts("Nothing was removed.");
		return 1;
	}
	json_object_object_del(r->own.servers, r->name);
	if (store_write(r->own.paths.home, r->own.name, r->own.file, fault) ==
	    -1)
		return -1;
	printf("%s is removed from %s/%s. Sessions that run keep it.\n",
	    r->name, icctl_path(r->own.paths.home, home), r->own.name);
	refers(r);
	return 0;
}

int
mcp_rm(struct icctl *ctl, int argc, char **argv)
{
	struct removal r = {.name = argc > 1 ? argv[1] : ""};
	struct fault fault;
	int rv = -1;

	if (words_help()) {
		puts("usage: icctl mcp rm [--yes] NAME\n\nRemoves the MCP "
		     "server from your configuration, and lists what else "
		     "refers to it:\nsecrets, rules, annotations, approved "
		     "definitions and files, which stay.\n\n  --yes  do not "
		     "ask");
		return ICCTL_OK;
	}
	if (argc != 2)
		return words_usage();
	if (own_open(&r.own, &fault) == 0)
		rv = remove_entry(&r, words_given("--yes"), &fault);
	if (rv == -1)
		warnx("%s", fault.text);
	own_close(&r.own);
	return rv == 0 ? ICCTL_OK : ICCTL_FAILED;
}
