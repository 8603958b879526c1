/* SPDX-License-Identifier: ISC */
/*
 * Takes from the user's own files what decides in a session, too: their remote
 * servers, of which only a rule that names one allows a call, and what the
 * settings and the file of a project take from the policy.
 */
#include "icctl/policy/priv.h"

#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/config.h"
#include "files/servers.h"
#include "icctl/project/project.h"

/* Add the server, unless it is there; `reach` is its own then. */
static void
afar_add(struct policyd *p, const char *name, uint8_t reach)
{
	for (unsigned i = 0; i < p->nservers; i++) {
		if (strcmp(p->names[i], name) != 0)
			continue;
		p->reach[i] = reach;
		return;
	}
	if (p->nservers == PROTO_MAX_SERVERS ||
	    (p->names[p->nservers] = strdup(name)) == NULL)
		return;
	p->reach[p->nservers++] = reach;
}

static void
send_narrow(struct policyd *p, const struct config *cfg)
{
	struct msg_NARROW m;

	for (char **s = cfg->narrow; s != NULL && *s != NULL; s++) {
		m.text = span_str(*s);
		policyd_send(p, MSG_NARROW, &m, -1);
	}
}

/*
 * Load the settings of a session in the workspace, or in the current directory.
 * What a project's file denies holds without a yes. Returns 0, or -1 with the
 * fault set.
 */
static int
afar_narrowed(const struct icctl *ctl, const struct policy_opts *o,
    const char *user_home, struct config *cfg, struct fault *fault)
{
	struct project p;
	char *text;
	int rv = -1;

	if (project_read(&p, o->sandbox == NULL ? "." : o->sandbox, fault) ==
	    -1)
		goto out;
	if (p.root == NULL) {
		rv = config_load(cfg, NULL, ctl->home, user_home, NULL, fault);
	} else if ((text = project_merge(
			ctl, &p, NULL, NULL, false, fault)) != NULL) {
		rv = config_parse(
		    cfg, p.path, user_home, NULL, span_str(text), fault);
		freezero(text, strlen(text));
	}
out:
	project_free(&p);
	return rv;
}

/* Load what decides here. A session reports mistakes in config.json. */
static int
afar_settings(const struct icctl *ctl, const struct policy_opts *o,
    const char *user_home, struct config *cfg)
{
	struct fault fault;

	if (o->narrowed) {
		if (afar_narrowed(ctl, o, user_home, cfg, &fault) == 0)
			return 0;
		warnx("%s; what it takes from the policy is left out here",
		    fault.text);
	}
	return config_load(cfg, NULL, ctl->home, user_home, NULL, &fault);
}

void
policyd_afar(
    struct policyd *p, const struct icctl *ctl, const struct policy_opts *o)
{
	struct paths paths = {.home = (char *)(uintptr_t)ctl->home,
	    .user_home = getenv("HOME")};
	struct servers_how how = {.checking = true};
	struct fault ignored;
	struct config cfg;
	struct servers s;

	if (paths.user_home == NULL ||
	    afar_settings(ctl, o, paths.user_home, &cfg) == -1)
		return;
	if (o->narrowed)
		send_narrow(p, &cfg);
	if (servers_find(&s, &how, servers_text, &cfg, &paths, &ignored) == 0) {
		for (unsigned i = 0; i < s.n; i++)
			if (s.defs[i].remote != NULL)
				afar_add(p, s.defs[i].name,
				    PROTO_REACH_AFAR | PROTO_REACH_NETWORK);
		servers_free(&s);
	}
	config_free(&cfg);
}
