/* SPDX-License-Identifier: ISC */
/*
 * The login of a remote MCP server, which `icctl mcp login` made: the file with
 * the tokens, which keyd reads, and the one beside it that says for which
 * address they are and who renews them, which has no secret.
 */
#include "files/providers/destinations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"

int
destination_login_token(const struct provider *p, const char *url,
    struct config_upstream *up, struct fault *fault)
{
	const char *kept = p->logins[0].kept;
	char path[4400], text[2100];
	uint64_t port;

	snprintf(path, sizeof(path), "%.*s.server.json",
	    (int)(strlen(kept) - strlen(".json")), kept);
	jsonfile_peek(path, "server", text, sizeof(text));
	if (strcmp(text, url) != 0)
		return fault_set(fault,
		    "there is no login for the address %s", url);
	*up = (struct config_upstream){.set = true, .tls = true};
	jsonfile_peek(path, "tokenHost", up->host, sizeof(up->host));
	jsonfile_peek(path, "tokenPath", up->prefix, sizeof(up->prefix));
	jsonfile_peek(path, "tokenPort", text, sizeof(text));
	if (up->host[0] == '\0' || up->prefix[0] != '/' ||
	    span_u64(span_str(text), UINT16_MAX, &port) == -1)
		return fault_set(fault, "%s: names no token endpoint", path);
	up->port = (uint16_t)port;
	return 0;
}

int
destination_login(struct provider *p, const char *home, const char *url,
    struct fault *fault)
{
	struct provider_login *l = &p->logins[0];
	struct fault none;

	p->nlogins = 1;
	p->login = 0;
	p->kept = true;
	if (asprintf(&l->kept, "%s/logins/%s.json", home, p->name) == -1) {
		l->kept = NULL;
		return fault_errno(fault, "%s", p->name);
	}
	if ((l->name = strdup("oauth")) == NULL ||
	    (l->file = strdup(l->kept)) == NULL)
		return fault_errno(fault, "%s", p->name);
	p->waits = access(l->kept, F_OK) == -1 ||
		   destination_login_token(p, url, &l->token, &none) == -1;
	return 0;
}
