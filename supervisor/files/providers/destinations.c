/* SPDX-License-Identifier: ISC */
/*
 * Turns the destinations of the configuration into slots for providers. The
 * provider file that mitmd and keyd read is composed here from checked values
 * only.
 */
#include "files/providers/destinations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_put.h"
#include "files/servers.h"

const struct destination_kind destination_forge = {
    .name = "forge", .credential = true, .max_hosts = 1};

const struct destination_kind destination_git = {
    .name = "git", .credential = true, .max_hosts = 1};

/* The login of a service: services_login.c makes it, "destinations" has none. */
const struct destination_kind destination_postgres = {
    .name = PROVIDER_POSTGRES, .max_hosts = 1};

const struct destination_kind destination_registry = {
    .name = "registry", .max_hosts = PROTO_MAX_HOSTS};

const struct destination_kind destination_web = {
    .name = "web", .split = true, .max_hosts = DESTINATIONS_MAX_HOSTS};

static const struct destination_kind *const destination_kinds[] = {
    &destination_forge, &destination_git, &destination_registry,
    &destination_web, &destination_postgres};

/* Those that "destinations" may have. */
#define KINDS (nitems(destination_kinds) - 1)

const struct destination_kind *
destination_kind(const char *name)
{
	for (size_t i = 0; i <= KINDS; i++)
		if (strcmp(destination_kinds[i]->name, name) == 0)
			return destination_kinds[i];
	return NULL;
}

const char *
destination_kinds_text(char *dst, size_t cap)
{
	size_t len = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < KINDS && len < cap; i++)
		len += (size_t)snprintf(dst + len, cap - len, "%s\"%s\"",
		    i == 0           ? ""
		    : i + 1 == KINDS ? " or "
				     : ", ",
		    destination_kinds[i]->name);
	return dst;
}

/* Returns the name of the provider that has this host already, or NULL. */
static const char *
destination_taken(const struct providers *ps, const char *host)
{
	for (unsigned i = 0; i < ps->n; i++)
		for (unsigned k = 0; k < ps->list[i].nhosts; k++)
			if (strcmp(ps->list[i].hosts[k], host) == 0)
				return ps->list[i].name;
	return NULL;
}

/*
 * Compose the provider file: name, kind and hosts, then the kind's own members.
 */
static struct json_object *
destination_file(
    const struct provider *p, const char *kind, struct json_object *members)
{
	struct json_object *o = json_object_new_object(),
			   *hosts = json_object_new_array();

	put_str(o, "name", p->name);
	put_str(o, "kind", kind);
	for (unsigned i = 0; i < p->nhosts; i++)
		json_object_array_add(
		    hosts, json_object_new_string(p->hosts[i]));
	json_object_object_add(o, "hosts", hosts);
	if (members != NULL) {
		json_object_object_foreach(members, key, val)
		{
			json_object_object_add(o, key, json_object_get(val));
		}
	}
	return o;
}

/*
 * Take the variable and the placeholder key from the file's "credential".
 * Returns 0 (also if it has none), or -1.
 */
static int
destination_key(struct provider *p, struct json_object *file)
{
	struct json_object *cred, *v;

	if (!json_object_object_get_ex(file, "credential", &cred))
		return 0;
	p->env = json_object_object_get_ex(cred, "env", &v)
		     ? strdup(json_object_get_string(v))
		     : NULL;
	if (p->env == NULL)
		return -1;
	if (!json_object_object_get_ex(cred, "sentinel", &v))
		return 0;
	p->key = provider_sentinel(json_object_get_string(v));
	return p->key != NULL ? 0 : -1;
}

/* Fill an empty slot for `n` of the destination's hosts. */
static int
destination_slot(struct provider *p, const struct config_provider *as,
    const char *name, const char *kind, char *const *hosts, unsigned n,
    struct json_object *members, struct fault *fault)
{
	struct json_object *file;
	int rv = -1;

	memset(p, 0, sizeof(*p));
	p->login = -1;
	p->config = as;
	p->name = strdup(name);
	for (; p->nhosts < n; p->nhosts++)
		if ((p->hosts[p->nhosts] = strdup(hosts[p->nhosts])) == NULL)
			break;
	p->kind = kind;
	file = destination_file(p, kind, members);
	if (p->name != NULL && p->nhosts == n && destination_key(p, file) == 0)
		rv = provider_rewrite(p, file);
	json_object_put(file);
	if (rv == -1) {
		provider_clear(p);
		fault_errno(fault, "destinations.%s", name);
	}
	return rv;
}

/*
 * Write the slot's name to `dst`: the destination's, with a number if it has
 * several slots.
 */
static int
destination_slot_name(const struct providers *ps,
    const struct config_destination *d, unsigned n, char *dst, size_t cap,
    struct fault *fault)
{
	if (d->kind->split && d->hosts[1] != NULL)
		snprintf(dst, cap, "%s-%u", d->as.name, n + 1);
	else
		snprintf(dst, cap, "%s", d->as.name);
	for (unsigned i = 0; i < ps->n; i++)
		if (strcmp(ps->list[i].name, dst) == 0)
			return fault_set(fault,
			    "destinations.%s: another provider or destination "
			    "of this session is called %s; choose another "
			    "name",
			    d->as.name, dst);
	return 0;
}

static int
destination_load(struct providers *ps, const struct config_destination *d,
    struct fault *fault)
{
	unsigned all = 0, step;
	const char *whose;
	char name[80];

	for (; d->hosts[all] != NULL; all++)
		if ((whose = destination_taken(ps, d->hosts[all])) != NULL)
			return fault_set(fault,
			    "destinations.%s.hosts: %s is a host of %s "
			    "already",
			    d->as.name, d->hosts[all], whose);
	step = d->kind->split ? 1 : all;
	for (unsigned i = 0; i < all; i += step) {
		if (ps->n == PROTO_FIRST_ADDED)
			return fault_set(fault,
			    "destinations.%s: hosts and model providers "
			    "together may be at most %u",
			    d->as.name, PROTO_FIRST_ADDED);
		if (destination_slot_name(
			ps, d, i, name, sizeof(name), fault) == -1 ||
		    destination_slot(&ps->list[ps->n], &d->as, name,
			d->kind->name, d->hosts + i, step, d->file,
			fault) == -1)
			return -1;
		ps->n++;
	}
	return 0;
}

/*
 * Describe the hosts to the agent, as many as fit: the list is not a secret,
 * and no rule depends on it.
 */
static void
destinations_tell(struct providers *ps, const struct config *cfg)
{
	char *dst = ps->hosts;
	size_t cap = sizeof(ps->hosts) - 300, len = 0;
	const struct provider *p;

	for (unsigned i = 0; i < ps->n; i++) {
		p = &ps->list[i];
		for (unsigned k = 0; p->kind != NULL && k < p->nhosts &&
				     !provider_is(p, PROVIDER_POSTGRES);
		     k++) {
			if (len + strlen(p->hosts[k]) + strlen(p->kind) + 8 >
			    cap)
				break;
			len += (size_t)snprintf(dst + len, cap - len,
			    "%s%s (%s)",
			    len == 0 ? " Through HTTPS_PROXY there are also "
				     : ", ",
			    p->hosts[k], p->kind);
		}
	}
	if (len != 0)
		dst[len++] = '.';
	dst[len] = '\0';
	if (cfg->asks_hosts)
		snprintf(dst + len, sizeof(ps->hosts) - len,
		    " A request to another host over HTTPS asks the user to "
		    "open it, and waits a few seconds; if it then fails with "
		    "503, try again in a minute. An opened host can be read "
		    "(GET, HEAD; of a git server, fetched from).");
	else if (cfg->proxy_tools)
		snprintf(dst + len, sizeof(ps->hosts) - len,
		    " If you need to read from another host, ask for it with "
		    "the tool proxy__add_proxy_domain: a person decides, and "
		    "it can then be read over HTTPS (GET, HEAD), through "
		    "HTTPS_PROXY.");
}

int
destinations_load(
    struct providers *ps, const struct config *cfg, struct fault *fault)
{
	for (size_t i = 0; i < cfg->ndestinations; i++)
		if (provider_ca(&cfg->destinations[i].as, "destinations",
			fault) == -1 ||
		    destination_load(ps, &cfg->destinations[i], fault) == -1)
			return -1;
	for (size_t i = 0; i < cfg->nmirrors; i++)
		if (provider_ca(&cfg->mirrors[i], "proxyTools.hosts", fault) ==
		    -1)
			return -1;
	destinations_tell(ps, cfg);
	return 0;
}

/* Returns what the file of such a destination says beyond its hosts, or NULL.
 */
static struct json_object *
destination_added_file(enum proto_open kind, const struct config *cfg)
{
	/* Any depth: dest_git.c takes up to six names. */
	static const char *const all[] = {
	    "*", "*/*", "*/*/*", "*/*/*/*", "*/*/*/*/*", "*/*/*/*/*/*"};
	struct json_object *o = json_object_new_object(), *list;

	if (kind == PROTO_OPEN_GIT) {
		list = json_object_new_array();
		for (size_t i = 0; i < nitems(all); i++)
			json_object_array_add(
			    list, json_object_new_string(all[i]));
		json_object_object_add(o, "repositories", list);
		put_str(o, "push", "deny");
	} else if (known_host_registry(kind) != NULL) {
		put_str(o, "registry", known_host_registry(kind));
		if (cfg->package_days != -1)
			put_int(o, "quarantineDays", cfg->package_days);
		if (cfg->package_allow != NULL)
			json_object_object_add(
			    o, "allow", json_object_get(cfg->package_allow));
		if (cfg->package_deny != NULL)
			json_object_object_add(
			    o, "deny", json_object_get(cfg->package_deny));
	}
	return o;
}

int
destination_added_slot(struct provider *p, const struct config *cfg,
    const struct known_host *k, unsigned n, struct fault *fault)
{
	const struct destination_kind *kind = &destination_web;
	const struct config_provider *as = NULL;
	struct json_object *file;
	char *hosts[KNOWN_HOSTS], name[32];
	int rv;

	if (k->kind == PROTO_OPEN_GIT)
		kind = &destination_git;
	else if (known_host_registry(k->kind) != NULL)
		kind = &destination_registry;
	if (kind == &destination_registry && cfg->package_off)
		return fault_set(fault, "packageInstall.enabled is false");
	for (unsigned i = 0; i < k->n; i++)
		hosts[i] = (char *)(uintptr_t)k->hosts[i];
	for (size_t i = 0; i < cfg->nmirrors; i++)
		if (strcmp(cfg->mirrors[i].name, k->hosts[0]) == 0)
			as = &cfg->mirrors[i];
	/* No destination in a configuration can have such a name. */
	snprintf(name, sizeof(name), DESTINATIONS_ADDED "%u", n);
	file = destination_added_file(k->kind, cfg);
	rv =
	    destination_slot(p, as, name, kind->name, hosts, k->n, file, fault);
	json_object_put(file);
	return rv;
}

int
destinations_remote(struct providers *ps, unsigned server,
    const struct server_remote *r, const char *home, const char *url,
    struct fault *fault)
{
	const struct config_provider *as = &r->as;
	struct provider *p = &ps->list[ps->n];
	char host[80], *hosts[] = {host};
	unsigned routes;

	for (unsigned i = 0; i < ps->n; i++)
		if (strcmp(ps->list[i].name, as->name) == 0)
			return fault_set(fault,
			    "the remote server %s has a name that a provider "
			    "or another server has: choose another",
			    as->name + strlen("mcp-"));
	if (ps->n == PROTO_FIRST_ADDED)
		return fault_set(fault,
		    "remote servers, hosts and model providers together may "
		    "be at most %u", PROTO_FIRST_ADDED);
	/* No agent can name it; the upstream is the real one. */
	snprintf(host, sizeof(host), "%.63s.invalid", as->name);
	if (provider_ca(as, "mcp-servers", fault) == -1 ||
	    destination_slot(p, as, as->name, "mcp", hosts, 1, r->file,
		fault) == -1)
		return -1;
	p->server = server + 1;
	ps->n++;
	if (r->login && destination_login(p, home, url, fault) == -1)
		return -1;
	return provider_usable(p, &routes, fault);
}
