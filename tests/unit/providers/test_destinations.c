/* SPDX-License-Identifier: ISC */
/*
 * Tests "destinations" and the slots that become keyds: names, the files that
 * the checks read, the texts for the agent, and combinations that are refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/files/adapter/adapter.h"
#include "supervisor/files/config.h"
#include "supervisor/files/providers/destinations.h"
#include "tap.h"

static struct config cfg;
static struct providers ps;
static struct fault fault;

static int
load(const char *text)
{
	if (config_parse(&cfg, "/h/config.json", "/home/u", NULL,
		span_str(text), &fault) == -1) {
		printf("# %s\n", fault.text);
		return -1;
	}
	memset(&ps, 0, sizeof(ps));
	return destinations_load(&ps, &cfg, &fault);
}

static void
forget(void)
{
	providers_free(&ps);
	config_free(&cfg);
}

static void
test_slots(void)
{
	static const struct {
		const char *name, *host, *json;
	} want[] = {
	    {"docs", "docs.example.com",
		"{\"name\":\"docs\",\"kind\":\"web\",\"hosts\":"
		"[\"docs.example.com\"],\"maxBytes\":1048576}"},
	    {"pair-1", "a.example.com",
		"{\"name\":\"pair-1\",\"kind\":\"web\",\"hosts\":"
		"[\"a.example.com\"]}"},
	    {"pair-2", "wiki.internal",
		"{\"name\":\"pair-2\",\"kind\":\"web\",\"hosts\":"
		"[\"wiki.internal\"]}"},
	};
	const struct config_upstream *up;
	char *told;

	ok(load("{\"destinations\":{\"docs\":{\"kind\":\"web\",\"hosts\":"
		"[\"Docs.Example.COM\"],\"maxBytes\":1048576},"
		"\"pair\":{\"kind\":\"web\",\"hosts\":[\"a.example.com\","
		"\"wiki.internal\"],\"upstream\":{\"wiki.internal\":"
		"\"http://127.0.0.1:81/w\"}}}}") == 0,
	    "two destinations");
	is_int(ps.n, 3, "a slot for each host");
	for (unsigned i = 0; i < 3 && i < ps.n; i++) {
		is_str(ps.list[i].name, want[i].name, "its name");
		is_str(ps.list[i].hosts[0], want[i].host, "its host");
		is_str(ps.list[i].json, want[i].json, "its file");
		ok(ps.list[i].nhosts == 1 && ps.list[i].env == NULL &&
			ps.list[i].key == NULL && ps.list[i].login == -1 &&
			ps.list[i].json_len == strlen(ps.list[i].json),
		    "one host, no credential");
	}
	ok(config_upstream_of(ps.list[1].config, 0, "a.example.com") == NULL,
	    "one is where its name leads");
	up = config_upstream_of(ps.list[2].config, 0, "wiki.internal");
	ok(up != NULL && up->port == 81 && !up->tls &&
		strcmp(up->prefix, "/w") == 0,
	    "the other elsewhere");
	is_str(ps.hosts,
	    " Through HTTPS_PROXY there are also docs.example.com (web), "
	    "a.example.com (web), wiki.internal (web).",
	    "what the agent is told");
	told = adapter_fill(&ps, NULL, "Work.{hosts}");
	ok(told != NULL && strncmp(told, "Work. Through", 13) == 0,
	    "... where its adapter says {hosts}");
	free(told);
	forget();
}

static int
added(struct provider *p, const char *host, unsigned n)
{
	struct known_host k;

	known_host(host, &k);
	return destination_added_slot(p, &cfg, &k, n, &fault);
}

/* Hosts that a person opens because a CONNECT asked for them. */
static void
test_opened(void)
{
	struct provider p;

	ok(load("{\"packageInstall\":{\"quarantineDays\":5,"
		"\"deniedPackages\":[\"evil-*\"]}}") == 0,
	    "the user's rules for packages");
	ok(added(&p, "static.crates.example", 1) == 0, "a registry");
	is_str(p.json,
	    "{\"name\":\"added-1\",\"kind\":\"registry\",\"hosts\":["
	    "\"index.crates.example\",\"static.crates.example\"],"
	    "\"registry\":\"crates\",\"quarantineDays\":5,"
	    "\"deny\":[\"evil-*\"]}",
	    "under these rules, with both of its hosts");
	provider_clear(&p);
	ok(added(&p, "git.example.com", 2) == 0, "a git server");
	is_str(p.json,
	    "{\"name\":\"added-2\",\"kind\":\"git\",\"hosts\":["
	    "\"git.example.com\"],\"repositories\":[\"*\",\"*\\/*\","
	    "\"*\\/*\\/*\",\"*\\/*\\/*\\/*\",\"*\\/*\\/*\\/*\\/*\","
	    "\"*\\/*\\/*\\/*\\/*\\/*\"],\"push\":\"deny\"}",
	    "to fetch from, and never to push to");
	provider_clear(&p);
	forget();
	ok(load("{\"packageInstall\":{\"enabled\":false}}") == 0 &&
		added(&p, "npm.example.com", 1) == -1 &&
		strstr(fault.text, "packageInstall.enabled") != NULL,
	    "no registry where they are off");
	forget();
}

static void
test_added(void)
{
	struct provider p;

	ok(load("{\"proxyTools\":{\"hosts\":{\"M.example.com\":{\"upstream\":"
		"\"https://[::1]:8443\"}}}}") == 0 &&
		cfg.proxy_tools,
	    "the tools are on");
	ok(strstr(ps.hosts, "proxy__add_proxy_domain") != NULL,
	    "the agent is told how to ask");
	ok(added(&p, "x.example.com", 3) == 0,
	    "one more host");
	is_str(p.json,
	    "{\"name\":\"added-3\",\"kind\":\"web\",\"hosts\":"
	    "[\"x.example.com\"]}",
	    "its file");
	ok(p.config == NULL, "where its name leads");
	provider_clear(&p);
	ok(added(&p, "m.example.com", 4) == 0 &&
		config_upstream_of(p.config, 0, "m.example.com") != NULL,
	    "another one, elsewhere");
	provider_clear(&p);
	forget();
	ok(load("{\"proxyTools\":{\"enabled\":false}}") == 0 &&
		!cfg.proxy_tools && ps.hosts[0] == '\0',
	    "off, and nothing is said");
	forget();
}

static void
test_refused(void)
{
	char text[4096];
	size_t len;

	ok(load("{\"destinations\":{\"a\":{\"kind\":\"web\",\"hosts\":"
		"[\"x.example.com\"]},\"b\":{\"kind\":\"web\",\"hosts\":"
		"[\"y.example.com\",\"X.example.com\"]}}}") == -1,
	    "a host of two");
	is_str(fault.text,
	    "destinations.b.hosts: x.example.com is a host of a already",
	    "and said");
	forget();
	ok(load("{\"destinations\":{\"a\":{\"kind\":\"web\",\"hosts\":"
		"[\"x.example.com\",\"y.example.com\"]},\"a-2\":{\"kind\":"
		"\"web\",\"hosts\":[\"z.example.com\"]}}}") == -1,
	    "a name of two");
	is_str(fault.text,
	    "destinations.a-2: another provider or destination of this "
	    "session is called a-2; choose another name",
	    "and said");
	forget();
	len = (size_t)snprintf(text, sizeof(text), "{\"destinations\":{");
	for (unsigned d = 0; d < 3; d++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s\"d%u\":{\"kind\":\"web\",\"hosts\":[",
		    d == 0 ? "" : ",", d);
		for (unsigned h = 0; h < 11; h++)
			len += (size_t)snprintf(text + len,
			    sizeof(text) - len, "%s\"h%u.d%u.example\"",
			    h == 0 ? "" : ",", h, d);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "]}");
	}
	snprintf(text + len, sizeof(text) - len, "}}");
	ok(load(text) == -1, "more than there are places for");
	is_str(fault.text,
	    "destinations.d2: hosts and model providers together may be at "
	    "most 32",
	    "and said");
	forget();
}

int
main(void)
{
	test_slots();
	test_added();
	test_opened();
	test_refused();
	return tap_done();
}
