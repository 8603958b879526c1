/* SPDX-License-Identifier: ISC */
/*
 * Reads config.json. Holds the user's settings; the only secrets in it can be
 * environment variables for MCP servers. Credentials of model providers are
 * named here, but never held.
 */
#include "files/config.h"

#include <sys/stat.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "common/ipc/proto.h"
#include "common/sha256.h"
#include "files/answer_key.h"
#include "files/founding.h"
#include "files/parse.h"

/* Keys of the TypeScript IronCurtain that the user would expect to work. */
static const struct {
	const char *key;
	const char *what;
} config_refused[] = {
    {"anthropicApiKey",
	"keys do not belong into this file. Put the key into "
	"a file of its own (chmod 600) and write "
	"{\"credentials\":{\"anthropic\":{\"file\":\"~/keys/anthropic\"}}}"},
    {"openaiApiKey",
	"keys do not belong into this file. Put the key into a "
	"file of its own (chmod 600) and write "
	"{\"credentials\":{\"openai\":{\"file\":\"~/keys/openai\"}}}"},
    {"googleApiKey",
	"keys do not belong into this file. Put the key into a "
	"file of its own (chmod 600) and name it under \"credentials\""},
    {"anthropicBaseUrl", "write {\"providers\":{\"anthropic\":"
			 "{\"upstream\":\"https://...\"}}} instead"},
    {"openaiBaseUrl", "write {\"providers\":{\"openai\":"
		      "{\"upstream\":\"https://...\"}}} instead"},
    {"googleBaseUrl", "write {\"providers\":{\"google\":"
		      "{\"upstream\":\"https://...\"}}} instead"},
};

/* MiB of a file of the audit log: verified in well under a second. */
#define AUDIT_ROTATE_MIB 64

static const char *const config_keys[] = {"agent", "agentView", "answerKey",
    "approvers", "audit", "auditRedaction", "autoApprove", "confinement",
    "containerRuntime", "credentials", "destinations", "dockerResources", "env",
    "escalationExpiry", "escalationTimeoutSeconds", "image", "limits",
    "maxConcurrentSessions", "mcpServers", "modelBodies", "notify", "notifyOn",
    "notifyQuiet", "openHosts", "packageCaches", "packageInstall", "pins",
    "policy", "policyBudget", "profiles", "projectInstructions", "providers",
    "proxy", "proxyTools", "resourceBudget", "runtime", "sandboxPolicy",
    "serverCredentials", "services", "settingsOf", "toolDefinitions",
    "transport", "undo", NULL};

/* Name ignored keys and their successors, and fail on refused and unknown ones.
 */
static int
config_sort_keys(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	struct json_object *rest;
	size_t len;
	int rv;

	if ((rest = json_object_new_object()) == NULL)
		return fault_set(j->fault, "%s: out of memory", j->file);
	json_object_object_foreach(root, key, val)
	{
		for (size_t i = 0; i < nitems(config_refused); i++) {
			if (strcmp(key, config_refused[i].key) != 0)
				continue;
			json_object_put(rest);
			return jsonfile_bad(
			    j, "", key, "%s", config_refused[i].what);
		}
		if (founding_key(key) != NULL) {
			json_object_put(rest);
			return jsonfile_bad(j, "", key,
			    "is a key of the TypeScript IronCurtain: %s",
			    founding_key(key));
		}
		if (founding_unused_key(key) == NULL) {
			json_object_object_add(rest, key, json_object_get(val));
			continue;
		}
		len = strlen(cfg->ignored);
		snprintf(cfg->ignored + len, sizeof(cfg->ignored) - len,
		    "%s%s (instead: %s)", len != 0 ? ", " : "", key,
		    founding_unused_key(key));
	}
	rv = jsonfile_known(j, rest, "", config_keys);
	json_object_put(rest);
	return rv;
}

/* Parse "confinement": {"require": "all" or [NAME, ...]}. */
static int
config_confinement(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const keys[] = {"require", NULL};
	struct json_object *o = NULL, *v = NULL;
	char where[4400], **names = NULL;
	const char *s = NULL;
	int rv = 0;

	if (jsonfile_object(j, root, "", "confinement", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "confinement", keys) == -1)
		return -1;
	snprintf(where, sizeof(where), "%s: confinement.require", j->file);
	if (json_object_object_get_ex(o, "require", &v) &&
	    json_object_is_type(v, json_type_string)) {
		if (jsonfile_str(j, o, "confinement", "require", &s) == -1)
			return -1;
		return require_parse(&cfg->require, where, s, j->fault);
	}
	if (jsonfile_strings(j, o, "confinement", "require", 16, &names) == -1)
		return -1;
	for (size_t i = 0; names != NULL && names[i] != NULL && rv == 0; i++)
		rv = require_parse(&cfg->require, where, names[i], j->fault);
	jsonfile_strings_free(names);
	return rv;
}

static int
config_answer_key(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	const char *s = NULL;

	if (jsonfile_str(j, root, "", "answerKey", &s) == -1)
		return -1;
	if (s != NULL && (cfg->answer_key = answer_key_parse(s)) == 0)
		return jsonfile_bad(j, "", "answerKey",
		    "must be Ctrl- and a letter or one of \\ ] ^ _, such as "
		    "\"Ctrl-]\" or \"Ctrl-G\", but not Ctrl-C, Ctrl-H, Ctrl-I, "
		    "Ctrl-J or Ctrl-M");
	return 0;
}

static int
config_scalars(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const audit_keys[] = {
	    "anchor", "durability", "rotate", "strict", NULL};
	static const char *const redact_keys[] = {"enabled", NULL};
	struct json_object *o = NULL;
	const char *s = NULL;
	int64_t seconds = 300, sessions = CONFIG_SESSIONS,
		size = AUDIT_ROTATE_MIB;

	if (jsonfile_int(j, root, "", "escalationTimeoutSeconds", 30,
		PROTO_HOLD_MS / 1000, &seconds) == -1 ||
	    jsonfile_str(j, root, "", "escalationExpiry", &s) == -1)
		return -1;
	if (s != NULL && strcmp(s, "deny") != 0 && strcmp(s, "end") != 0)
		return jsonfile_bad(j, "", "escalationExpiry",
		    "must be \"deny\" or \"end\", is \"%s\"", s);
	cfg->expiry_ends = s != NULL && strcmp(s, "end") == 0;
	s = NULL;
	cfg->hold_ms = (uint32_t)seconds * 1000;
	if (config_answer_key(cfg, j, root) == -1)
		return -1;
	/* null: no limit */
	if (json_object_object_get_ex(root, "maxConcurrentSessions", &o) &&
	    o == NULL)
		sessions = 0;
	else if (jsonfile_int(j, root, "", "maxConcurrentSessions", 1, 1000,
		     &sessions) == -1)
		return -1;
	cfg->max_sessions = (unsigned)sessions;
	o = NULL;
	if (jsonfile_object(j, root, "", "audit", &o) == -1)
		return -1;
	if (o != NULL) {
		if (jsonfile_known(j, o, "audit", audit_keys) == -1 ||
		    jsonfile_str(j, o, "audit", "durability", &s) == -1)
			return -1;
		if (s != NULL && strcmp(s, "kernel") != 0 &&
		    strcmp(s, "disk") != 0)
			return jsonfile_bad(j, "audit", "durability",
			    "must be \"kernel\" or \"disk\", is \"%s\"", s);
		cfg->sync = s != NULL && strcmp(s, "disk") == 0;
		if (jsonfile_bool(j, o, "audit", "strict", &cfg->log_strict) ==
		    -1)
			return -1;
		if (jsonfile_int(j, o, "audit", "rotate", 0, 1 << 20, &size) ==
		    -1)
			return -1;
		s = NULL;
		if (jsonfile_str(j, o, "audit", "anchor", &s) == -1)
			return -1;
		if (s != NULL && strcmp(s, "journal") != 0 && s[0] != '/')
			return jsonfile_bad(j, "audit", "anchor",
			    "must be \"journal\" or an absolute path, is "
			    "\"%s\"",
			    s);
		if (s != NULL && (cfg->anchor = strdup(s)) == NULL)
			return fault_errno(j->fault, "%s", j->file);
	}
	o = NULL;
	cfg->log_size = (uint64_t)size << 20;
	if (jsonfile_object(j, root, "", "auditRedaction", &o) == -1)
		return -1;
	if (o != NULL &&
	    (jsonfile_known(j, o, "auditRedaction", redact_keys) == -1 ||
		jsonfile_bool(
		    j, o, "auditRedaction", "enabled", &cfg->redact) == -1))
		return -1;
	s = NULL;
	if (jsonfile_str(j, root, "", "sandboxPolicy", &s) == -1)
		return -1;
	if (s != NULL && strcmp(s, "enforce") != 0)
		return jsonfile_bad(j, "", "sandboxPolicy",
		    "\"%s\" is refused: each server without a sandbox must be "
		    "named with --allow-unsandboxed SERVER. Remove this key",
		    s);
	return config_notify(cfg, j, root) == -1 ||
		       config_notify_when(cfg, j, root) == -1
		   ? -1
		   : 0;
}

/* Parse "policy.unknownTools". */
static int
config_unknown(struct config *cfg, const struct jsonfile *j, const char *s)
{
	if (s == NULL || strcmp(s, "hold") == 0)
		cfg->unknown = PROTO_UNKNOWN_HOLD;
	else if (strcmp(s, "hide") == 0)
		cfg->unknown = PROTO_UNKNOWN_HIDE;
	else if (strcmp(s, "deny") == 0)
		cfg->unknown = PROTO_UNKNOWN_DENY;
	else
		return jsonfile_bad(j, "policy", "unknownTools",
		    "must be \"hold\", \"hide\" or \"deny\", is \"%s\"", s);
	return 0;
}

/* Parse "policy", the policy to use without --policy. */
static int
config_policy(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	static const char *const policy_keys[] = {"ask", "deny", "name",
	    "strict", "trustedServers", "unknownTools", NULL};
	struct json_object *o = NULL;
	const char *s = NULL, *unknown = NULL;

	if (jsonfile_object(j, root, "", "policy", &o) == -1)
		return -1;
	if (o == NULL)
		return 0;
	if (jsonfile_known(j, o, "policy", policy_keys) == -1 ||
	    jsonfile_bool(j, o, "policy", "strict", &cfg->strict) == -1 ||
	    jsonfile_strings(j, o, "policy", "trustedServers",
		PROTO_MAX_SERVERS, &cfg->trusted) == -1 ||
	    config_narrow(cfg, j, o,
		json_object_object_get_ex(root, "settingsOf", NULL)) == -1 ||
	    jsonfile_str(j, o, "policy", "unknownTools", &unknown) == -1 ||
	    config_unknown(cfg, j, unknown) == -1 ||
	    jsonfile_str(j, o, "policy", "name", &s) == -1)
		return -1;
	if (s == NULL)
		return 0;
	cfg->policy = strchr(s, '/') == NULL
			  ? strdup(s)
			  : config_path(j->file, user_home, s);
	return cfg->policy != NULL ? 0 : fault_errno(j->fault, "%s", j->file);
}

/* Parse "pins": what happens when a server's code is another one. */
static int
config_pins(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	static const char *const pins_keys[] = {"packages", NULL};
	struct json_object *o = NULL;
	const char *s = NULL;

	if (jsonfile_object(j, root, "", "pins", &o) == -1 ||
	    (o != NULL &&
		(jsonfile_known(j, o, "pins", pins_keys) == -1 ||
		    jsonfile_str(j, o, "pins", "packages", &s) == -1)))
		return -1;
	cfg->hold_packages = s != NULL && strcmp(s, "hold") == 0;
	return s == NULL || cfg->hold_packages || strcmp(s, "tell") == 0
		   ? 0
		   : jsonfile_bad(
			 j, "pins", "packages", "must be \"tell\" or \"hold\"");
}

static int
config_servers(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	struct json_object *v;
	const char *s;

	if (json_object_object_get_ex(root, "mcpServers", &v)) {
		if (json_object_is_type(v, json_type_object)) {
			cfg->servers = json_object_get(v);
		} else if (json_object_is_type(v, json_type_string)) {
			if (jsonfile_text_of(j, v, "", "mcpServers", &s) == -1)
				return -1;
			cfg->servers_file = config_path(j->file, user_home, s);
			if (cfg->servers_file == NULL)
				return fault_errno(j->fault, "%s", j->file);
		} else {
			return jsonfile_bad(j, "", "mcpServers",
			    "must be a path or an object of servers, is %s",
			    jsonfile_kind(v));
		}
	}
	v = NULL;
	if (jsonfile_object(j, root, "", "serverCredentials", &v) == -1)
		return -1;
	cfg->server_env = v != NULL ? json_object_get(v) : NULL;
	return 0;
}

static int
config_agents(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	static const char *const keys[] = {
	    "homeFiles", "image", "model", "path", NULL};
	struct json_object *agents = NULL, *o;
	struct config_agent *a;
	const char *path, *model;
	bool files;
	char where[96];

	if (jsonfile_object(j, root, "", "agent", &agents) == -1)
		return -1;
	if (agents == NULL)
		return 0;
	json_object_object_foreach(agents, name, val)
	{
		(void)val;
		path = model = NULL;
		files = true;
		if (cfg->nagents == CONFIG_MAX_AGENTS)
			return jsonfile_bad(j, "agent", name,
			    "at most %u agents are allowed", CONFIG_MAX_AGENTS);
		snprintf(where, sizeof(where), "agent.%.64s", name);
		if (jsonfile_object(j, agents, "agent", name, &o) == -1 ||
		    jsonfile_known(j, o, where, keys) == -1 ||
		    jsonfile_str(j, o, where, "path", &path) == -1 ||
		    jsonfile_str(j, o, where, "model", &model) == -1 ||
		    jsonfile_bool(j, o, where, "homeFiles", &files) == -1)
			return -1;
		if (model != NULL && !config_is_model(model))
			return jsonfile_bad(j, where, "model",
			    "must be a model's name: letters, digits and "
			    "._:/@+-");
		a = &cfg->agents[cfg->nagents++];
		a->name = strdup(name);
		a->no_home_files = !files;
		if (config_image(j, o, where, &a->image) == -1)
			return -1;
		a->path =
		    path == NULL ? NULL : config_path(j->file, user_home, path);
		a->model = model == NULL ? NULL : strdup(model);
		if (a->name == NULL || (path != NULL && a->path == NULL) ||
		    (model != NULL && a->model == NULL))
			return fault_errno(j->fault, "%s", j->file);
	}
	return 0;
}

static void
config_init(struct config *cfg)
{
	config_clear(cfg);
	cfg->hold_ms = 300000;
	cfg->max_sessions = CONFIG_SESSIONS;
	cfg->answer_key = ANSWER_KEY_DEFAULT;
	cfg->runtime = "bwrap";
	cfg->unknown = PROTO_UNKNOWN_HOLD;
	cfg->redact = true;
	cfg->tool_kib = PROTO_TOOL_BYTES >> 10;
	cfg->server_kib = PROTO_SERVER_BYTES >> 10;
	cfg->list_kib = PROTO_LIST_BYTES >> 10;
	cfg->budget = budget_dflt;
	limits_default(&cfg->limits);
	config_undo_default(&cfg->undo);
	cfg->notify_on = CONFIG_NOTIFY_WAITING;
	cfg->held_mb = CONFIG_HELD_MB;
}

int
config_parse(struct config *cfg, const char *file, const char *user_home,
    const char *profile, struct span text, struct fault *fault)
{
	struct jsonfile j = {file, fault};
	struct json_object *root, *chosen = NULL;
	int rv = -1;

	config_init(cfg);
	if ((root = jsonfile_parse(file, text, fault)) == NULL)
		return -1;
	/* A copy of that file, with what a project added to it. */
	if (jsonfile_str(&j, root, "", "settingsOf", &j.file) == -1)
		goto out;
	if ((cfg->file = strdup(j.file)) == NULL) {
		fault_errno(fault, "%s", file);
		goto out;
	}
	sha256_span(text, cfg->hash);
	if (config_profile(&j, root, profile, &chosen) == -1 ||
	    config_sort_keys(cfg, &j, root) == -1 ||
	    config_scalars(cfg, &j, root) == -1 ||
	    config_confinement(cfg, &j, root) == -1 ||
	    config_budget(cfg, &j, root) == -1 ||
	    limits_read(&cfg->limits, &j, root) == -1 ||
	    config_undo(cfg, &j, root) == -1 ||
	    config_told(cfg, &j, root) == -1 ||
	    config_runtime(cfg, &j, root) == -1 ||
	    config_transport(cfg, &j, root) == -1 ||
	    config_definitions(cfg, &j, root) == -1 ||
	    config_caches(cfg, &j, root, user_home) == -1 ||
	    config_agent_view(cfg, &j, root, user_home) == -1 ||
	    config_services(cfg, &j, root, user_home) == -1 ||
	    config_env(cfg, &j, root) == -1 ||
	    config_policy(cfg, &j, root, user_home) == -1 ||
	    config_pins(cfg, &j, root) == -1 ||
	    config_approve(cfg, &j, root) == -1 ||
	    config_approvers(cfg, &j, root) == -1 ||
	    config_servers(cfg, &j, root, user_home) == -1 ||
	    config_agents(cfg, &j, root, user_home) == -1 ||
	    config_credentials(cfg, &j, root, user_home) == -1 ||
	    config_providers(cfg, &j, root, user_home) == -1 ||
	    config_destinations(cfg, &j, root, user_home) == -1 ||
	    config_proxy(cfg, &j, root, user_home) == -1)
		goto out;
	/* A profile also decides which providers there are. */
	for (size_t i = 0; chosen != NULL && i < cfg->nproviders; i++)
		if (!json_object_object_get_ex(
			chosen, cfg->providers[i].name, NULL))
			cfg->providers[i].listed = false;
	rv = 0;
out:
	json_object_put(root);
	if (rv == -1)
		config_free(cfg);
	return rv;
}

int
config_load(struct config *cfg, const char *file, const char *home,
    const char *user_home, const char *profile, struct fault *fault)
{
	return config_file(
	    cfg, config_parse, file, home, user_home, profile, fault);
}
