/* SPDX-License-Identifier: ISC */
/*
 * Parses the hosts of config.json that are not model providers: "destinations",
 * and "proxyTools" and "openHosts", by which the agent can have more.
 */
#include "files/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/hostname.h"
#include "files/providers/destinations.h"

#define MEMBERS 32U

/* The members of each kind, in addition to those of every kind. */
static const char *const forge_members[] = {"forge", "repositories", "read",
    "write", "run", "merge", "release", "classic", NULL};
static const char *const git_members[] = {
    "repositories", "fetch", "push", "maxPush", "user", NULL};
static const char *const registry_members[] = {
    "registry", "quarantineDays", "allow", "deny", NULL};
static const char *const web_members[] = {"maxBytes", NULL};

static const struct reader {
	const struct destination_kind *kind;
	const char *const *members;
	destination_read_fn *read;
} readers[] = {
    {&destination_forge, forge_members, destination_forge_read},
    {&destination_git, git_members, destination_git_read},
    {&destination_registry, registry_members, destination_registry_read},
    {&destination_web, web_members, destination_web_read},
};

static const struct reader *
destination_reader(const struct destination_kind *kind)
{
	for (size_t i = 0; i < nitems(readers); i++)
		if (readers[i].kind == kind)
			return &readers[i];
	return NULL;
}

/* The rules for a provider's name in mitmd/provider/class.h. */
static bool
destination_name_ok(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= 60 && s[0] != '-' &&
	       strncmp(s, DESTINATIONS_ADDED, strlen(DESTINATIONS_ADDED)) !=
		   0 &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* Set the destination's kind; refuse members that this kind does not have. */
static int
destination_members(struct config_destination *d, const struct jsonfile *j,
    struct json_object *o, const char *where)
{
	static const char *const all[] = {
	    "kind", "hosts", "upstream", "ca", "reuse"};
	const char *known[MEMBERS], *kind = NULL;
	const struct reader *r;
	char kinds[128];
	size_t n = 0;

	if (jsonfile_str(j, o, where, "kind", &kind) == -1)
		return -1;
	if (kind == NULL || (d->kind = destination_kind(kind)) == NULL ||
	    d->kind == &destination_postgres)
		return jsonfile_bad(j, where, "kind", "must be %s%s%s%s",
		    destination_kinds_text(kinds, sizeof(kinds)),
		    kind != NULL ? ", is \"" : "", kind != NULL ? kind : "",
		    kind != NULL ? "\"" : "");
	for (size_t i = 0; i < nitems(all); i++)
		known[n++] = all[i];
	if (d->kind->credential)
		known[n++] = "credential";
	r = destination_reader(d->kind);
	for (size_t i = 0;
	     r != NULL && r->members[i] != NULL && n < MEMBERS - 1; i++)
		known[n++] = r->members[i];
	known[n] = NULL;
	return jsonfile_known(j, o, where, known);
}

/* Returns true if "upstream" replaces the host. */
static bool
destination_moved(const struct config_destination *d, unsigned n)
{
	return config_upstream_of(&d->as, n, d->hosts[n]) != NULL;
}

/* Check a host and write its name in canonical form. */
static int
destination_host(struct config_destination *d, const struct jsonfile *j,
    const char *where, unsigned n)
{
	char host[HOSTNAME_MAX + 1];
	const char *why;

	if (hostname_read(span_str(d->hosts[n]), host, &why) == -1)
		return jsonfile_bad(
		    j, where, "hosts", "\"%s\" %s", d->hosts[n], why);
	memcpy(d->hosts[n], host, strlen(host) + 1);
	for (unsigned i = 0; i < n; i++)
		if (strcmp(d->hosts[i], host) == 0)
			return jsonfile_bad(
			    j, where, "hosts", "\"%s\" is listed twice", host);
	if (!destination_moved(d, n) && hostname_public(host, &why) == -1)
		return jsonfile_bad(j, where, "hosts",
		    "\"%s\" %s. Say under \"upstream\" where it really is",
		    host, why);
	return 0;
}

static int
destination_hosts(struct config_destination *d, const struct jsonfile *j,
    struct json_object *o, const char *where)
{
	unsigned n = 0;
	bool used;

	if (jsonfile_strings(
		j, o, where, "hosts", d->kind->max_hosts, &d->hosts) == -1)
		return -1;
	if (d->hosts == NULL || d->hosts[0] == NULL)
		return jsonfile_bad(j, where, "hosts",
		    "must name 1 to %u hosts: [\"docs.example.com\"]",
		    d->kind->max_hosts);
	for (; d->hosts[n] != NULL; n++)
		if (destination_host(d, j, where, n) == -1)
			return -1;
	for (unsigned i = 0; i < d->as.nupstreams; i++) {
		if (d->as.upstreams[i].host == NULL && n > 1)
			return jsonfile_bad(j, where, "upstream",
			    "must be an object of hosts and URLs, because "
			    "there are several hosts");
		used = d->as.upstreams[i].host == NULL;
		for (unsigned k = 0; k < n && !used; k++)
			used =
			    strcmp(d->hosts[k], d->as.upstreams[i].host) == 0;
		if (!used)
			return jsonfile_bad(j, where, "upstream",
			    "\"%s\" is not one of its hosts",
			    d->as.upstreams[i].host);
	}
	return 0;
}

static int
destination_read(struct config *cfg, struct config_destination *d,
    const struct jsonfile *j, struct json_object *o, const char *user_home)
{
	struct json_object *cred = NULL;
	const struct reader *r;
	char where[96], at[128];

	snprintf(where, sizeof(where), "destinations.%s", d->as.name);
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object, is %s",
		    jsonfile_kind(o));
	if (destination_members(d, j, o, where) == -1 ||
	    config_reach(&d->as, j, o, where, user_home) == -1 ||
	    destination_hosts(d, j, o, where) == -1)
		return -1;
	snprintf(at, sizeof(at), "%s.credential", where);
	if (d->kind->credential &&
	    json_object_object_get_ex(o, "credential", &cred) &&
	    config_credential_of(&d->as, j, cred, at, user_home, false) == -1)
		return -1;
	if ((d->file = json_object_new_object()) == NULL)
		return fault_set(j->fault, "%s: out of memory", j->file);
	if ((r = destination_reader(d->kind)) != NULL)
		return r->read(j, where, o, cfg, d->file);
	return fault_set(j->fault, "%s: a kind that nothing reads", where);
}

/* Parse {"HOST":{"upstream":URL,"ca":FILE}}. */
static int
proxy_tools_hosts(struct config *cfg, const struct jsonfile *j,
    struct json_object *all, const char *user_home)
{
	static const char *const keys[] = {"upstream", "ca", "reuse", NULL};
	char host[HOSTNAME_MAX + 1], where[HOSTNAME_MAX + 32];
	struct config_provider *p;
	const char *why;

	json_object_object_foreach(all, name, val)
	{
		snprintf(where, sizeof(where), "proxyTools.hosts.%s", name);
		if (hostname_read(span_str(name), host, &why) == -1)
			return jsonfile_bad(j, "proxyTools.hosts", NULL,
			    "\"%s\" %s", name, why);
		if (!json_object_is_type(val, json_type_object))
			return jsonfile_bad(j, where, NULL,
			    "must be an object, is %s", jsonfile_kind(val));
		if (cfg->nmirrors == CONFIG_MAX_DESTINATIONS)
			return jsonfile_bad(j, "proxyTools.hosts", NULL,
			    "at most %u are taken", CONFIG_MAX_DESTINATIONS);
		p = &cfg->mirrors[cfg->nmirrors++];
		memset(p, 0, sizeof(*p));
		if ((p->name = strdup(host)) == NULL)
			return fault_errno(j->fault, "%s", j->file);
		if (jsonfile_known(j, val, where, keys) == -1 ||
		    config_reach(p, j, val, where, user_home) == -1)
			return -1;
	}
	return 0;
}

/* Parse "proxyTools": true, false, or an object, which means true. */
static int
config_proxy_tools(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	static const char *const keys[] = {"enabled", "hosts", NULL};
	struct json_object *o, *hosts = NULL;

	if (!json_object_object_get_ex(root, "proxyTools", &o))
		return 0;
	if (!json_object_is_type(o, json_type_object))
		return jsonfile_bool(
			   j, root, "", "proxyTools", &cfg->proxy_tools) == -1
			   ? -1
			   : 0;
	cfg->proxy_tools = true;
	if (jsonfile_known(j, o, "proxyTools", keys) == -1 ||
	    jsonfile_bool(j, o, "proxyTools", "enabled", &cfg->proxy_tools) ==
		-1 ||
	    jsonfile_object(j, o, "proxyTools", "hosts", &hosts) == -1)
		return -1;
	return hosts == NULL ? 0 : proxy_tools_hosts(cfg, j, hosts, user_home);
}

/* Parse "openHosts", whether a CONNECT to a host on no list asks for it. */
static int
config_open_hosts(
    struct config *cfg, const struct jsonfile *j, struct json_object *root)
{
	const char *s = NULL;

	if (jsonfile_str(j, root, "", "openHosts", &s) == -1)
		return -1;
	if (s != NULL && strcmp(s, "ask") != 0 && strcmp(s, "off") != 0)
		return jsonfile_bad(j, "", "openHosts",
		    "must be \"ask\" or \"off\", is \"%s\"", s);
	cfg->hosts_off = s != NULL && strcmp(s, "off") == 0;
	return 0;
}

int
config_destinations(struct config *cfg, const struct jsonfile *j,
    struct json_object *root, const char *user_home)
{
	struct json_object *all = NULL;
	struct config_destination *d;

	if (config_package_install(cfg, j, root) == -1 ||
	    config_proxy_tools(cfg, j, root, user_home) == -1 ||
	    config_open_hosts(cfg, j, root) == -1 ||
	    jsonfile_object(j, root, "", "destinations", &all) == -1)
		return -1;
	if (all == NULL)
		return 0;
	json_object_object_foreach(all, name, val)
	{
		if (!destination_name_ok(name))
			return jsonfile_bad(j, "destinations", name,
			    "is not a valid name for a destination: at most 60 "
			    "lower-case letters, digits and -, not beginning "
			    "with - or \"" DESTINATIONS_ADDED "\"");
		if (cfg->ndestinations == CONFIG_MAX_DESTINATIONS)
			return jsonfile_bad(j, "destinations", name,
			    "at most %u are taken", CONFIG_MAX_DESTINATIONS);
		d = &cfg->destinations[cfg->ndestinations++];
		memset(d, 0, sizeof(*d));
		d->as.reuse = true;
		if ((d->as.name = strdup(name)) == NULL)
			return fault_errno(j->fault, "%s", j->file);
		if (destination_read(cfg, d, j, val, user_home) == -1)
			return -1;
	}
	return 0;
}
