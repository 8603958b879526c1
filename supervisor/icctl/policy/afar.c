/* SPDX-License-Identifier: ISC */
/*
 * Takes from the user's own files what decides in a session, too: their remote
 * servers, of which only a rule that names one allows a call, and what the
 * settings take from the policy.
 */
#include "icctl/policy/priv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "files/config.h"
#include "files/servers.h"

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

void
policyd_afar(struct policyd *p, const struct icctl *ctl, bool narrowed)
{
	struct paths paths = {.home = (char *)(uintptr_t)ctl->home,
	    .user_home = getenv("HOME")};
	struct servers_how how = {.checking = true};
	struct fault ignored;
	struct config cfg;
	struct servers s;

	/* A session reports mistakes in these files. */
	if (paths.user_home == NULL ||
	    config_load(&cfg, NULL, ctl->home, paths.user_home, NULL,
		&ignored) == -1)
		return;
	if (narrowed)
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
