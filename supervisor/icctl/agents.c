/* SPDX-License-Identifier: ISC */
/*
 * `icctl agents`: the agents that a session can run, and what each still needs
 * on this machine: its program, or a credential.
 */
#include "icctl/icctl.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/names.h"
#include "icctl/agent_find.h"
#include "icctl/policy/policy.h"

#define AGENTS_TEXT 600U

struct agents_row {
	const char *title;
	char program[PATH_MAX], version[AGENT_VERSION];
	char providers[AGENTS_TEXT]; /* that it would use, "a, b" */
	char needs[AGENTS_TEXT];     /* a list of what it lacks, or "" */
};

static void
agents_needs(struct agents_row *r, const char *what)
{
	if (r->needs[0] != '\0')
		(void)strlcat(r->needs, "; ", sizeof(r->needs));
	(void)strlcat(r->needs, what, sizeof(r->needs));
}

/* Returns true if there is a credential for the provider, or it needs none. */
static bool
agents_has(const struct provider *p)
{
	const char *value = p->env == NULL ? NULL : getenv(p->env);

	return p->env == NULL || p->waits || p->in_parts || p->login != -1 ||
	       (p->config != NULL && p->config->kind != CREDENTIAL_DEFAULT) ||
	       (value != NULL && value[0] != '\0');
}

static void
agents_provider(struct agents_row *r, const struct adapter *a,
    const struct paths *paths, const struct config *cfg, const char *name)
{
	struct provider p;
	struct fault fault;
	char text[256];

	if (r->providers[0] != '\0')
		(void)strlcat(r->providers, ", ", sizeof(r->providers));
	(void)strlcat(r->providers, name, sizeof(r->providers));
	if (provider_load(&p, paths, cfg, name, &fault) == -1) {
		agents_needs(r, fault.text);
		return;
	}
	if (!agents_has(&p) && !adapter_has_login(a, &p)) {
		snprintf(text, sizeof(text),
		    "a credential: %.64s, or icctl login %.64s", p.env,
		    name);
		agents_needs(r, text);
	}
	provider_clear(&p);
}

static void
agents_read(struct agents_row *r, struct adapter *a, const struct paths *paths,
    const struct config *cfg)
{
	struct fault fault;
	char text[256];

	r->title = a->title;
	if (a->program != NULL &&
	    !agent_find(a, cfg, r->program, r->version)) {
		r->program[0] = '\0';
		snprintf(text, sizeof(text),
		    "its program, %.64s, or an image: %s",
		    a->program[0],
		    a->image != NULL ? "icctl image build, and --runtime docker"
				     : "--image NAME, with --runtime docker");
		agents_needs(r, text);
	}
	if (adapter_take_any(a, paths, cfg, &fault) == -1 ||
	    adapter_choose(a, paths, cfg, &fault) == -1) {
		agents_needs(r, fault.text);
		return;
	}
	for (size_t i = 0; a->providers != NULL && a->providers[i] != NULL; i++)
		agents_provider(r, a, paths, cfg, a->providers[i]);
}

static void
agents_put(const struct icctl *ctl, json_object *list, const char *name,
    const struct agents_row *r)
{
	json_object *o;
	char path[ICCTL_PATH];

	if (ctl->json) {
		o = json_object_new_object();
		put_str(o, "name", name);
		put_str(o, "title", r->title);
		put_str(o, "program", r->program);
		put_str(o, "version", r->version);
		put_str(o, "providers", r->providers);
		put_bool(o, "ready", r->needs[0] == '\0');
		put_str(o, "needs", r->needs);
		json_object_array_add(list, o);
		return;
	}
	icctl_put_str(name);
	fputs("  ", stdout);
	icctl_put_str(r->title);
	if (r->version[0] != '\0') {
		putchar(' ');
		icctl_put_str(r->version);
	}
	putchar('\n');
	if (r->program[0] != '\0') {
		fputs("    program    ", stdout);
		icctl_put_str(icctl_path(r->program, path));
		putchar('\n');
	}
	if (r->providers[0] != '\0') {
		fputs("    providers  ", stdout);
		icctl_put_str(r->providers);
		putchar('\n');
	}
	fputs(r->needs[0] == '\0' ? "    ready" : "    needs      ", stdout);
	icctl_put_str(r->needs);
	putchar('\n');
}

static void
agents_one(const struct icctl *ctl, json_object *list, const char *name,
    const struct paths *paths, const struct config *cfg)
{
	struct agents_row r = {.title = name};
	struct fault fault;
	struct adapter a;

	if (adapter_load(&a, paths, name, &fault) == -1) {
		agents_needs(&r, fault.text);
		agents_put(ctl, list, name, &r);
		return;
	}
	if (!a.internal) {
		agents_read(&r, &a, paths, cfg);
		agents_put(ctl, list, name, &r);
	}
	adapter_free(&a);
}

int
icctl_agents(struct icctl *ctl, int argc, char **argv)
{
	char *home = getenv("HOME");
	char datadir[PATH_MAX];
	json_object *list, *o;
	struct config cfg;
	struct fault fault;
	struct names names;
	struct paths paths;
	int r;

	if ((r = icctl_no_arguments(argc)) != 0)
		return r;
	if (policy_own_path(
		"share/ironcurtain", datadir, sizeof(datadir)) == -1)
		errx(ICCTL_FAILED, "the installation is incomplete");
	paths = (struct paths){.home = ctl->home,
	    .datadir = datadir,
	    .user_home = home != NULL ? home : ctl->home};
	if (config_load(&cfg, NULL, ctl->home, paths.user_home, NULL, &fault) ==
	    -1)
		errx(ICCTL_FAILED, "%s", fault.text);
	list = json_object_new_array();
	names_find(&names, &paths, "agents");
	for (size_t i = 0; i < names.n; i++)
		agents_one(ctl, list, names.list[i], &paths, &cfg);
	names_free(&names);
	config_free(&cfg);
	if (ctl->json) {
		o = json_object_new_object();
		put_bool(o, "ok", true);
		json_object_object_add(o, "agents", list);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		json_object_put(list);
	}
	return ICCTL_OK;
}
