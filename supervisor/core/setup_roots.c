/* SPDX-License-Identifier: ISC */
/*
 * Root certificates for keyds: the file that "ca" names, or else the system's
 * roots and the corporate proxy's; and, if there is such a proxy, for servers
 * with network access. Files are read when they are sent.
 */
#include "core/sup.h"

#include <sys/stat.h>

#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"

char *
setup_roots_system(size_t *len)
{
	static const char *const places[] = {
	    "/etc/ssl/certs/ca-certificates.crt",
	    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	    "/etc/ssl/cert.pem"};
	const struct proxy *p = &sup.proxy;
	struct fault fault;
	struct stat st;
	char *text = NULL, *both;

	*len = 0;
	for (size_t i = 0; text == NULL && i < nitems(places); i++)
		text = jsonfile_text(places[i], len, &st, &fault);
	if (p->ca == NULL)
		return text;
	/* Add the corporate CA to the system's. */
	if ((both = malloc(*len + p->ca_len + 2)) == NULL) {
		free(text);
		return NULL;
	}
	if (text != NULL)
		memcpy(both, text, *len);
	both[(*len)++] = '\n';
	memcpy(both + *len, p->ca, p->ca_len + 1);
	*len += p->ca_len;
	free(text);
	return both;
}

static void
setup_roots_tell(unsigned i, struct span pem)
{
	const struct msg_ROOTS m = {.pem = pem};

	if (pem.p == NULL)
		sup_warn("no root certificates found: apt install "
			 "ca-certificates");
	else if (pem.len > PROVIDERS_MAX_CA)
		sup_warn("root certificates: over 4 MiB");
	else
		child_send(ROLE_KEY, i, MSG_ROOTS, &m, -1);
}

void
setup_roots_of(unsigned i)
{
	const struct config_provider *cfg = sup.providers.list[i].config;
	struct fault fault;
	struct stat st;
	size_t n, len = 0;
	char *system = setup_roots_system(&n), *own = NULL;

	/* Do not fall back to other roots than the user named. */
	if (cfg == NULL || cfg->ca == NULL) {
		setup_roots_tell(i, span_of(system, n));
	} else if ((own = jsonfile_text(cfg->ca, &len, &st, &fault)) == NULL) {
		sup_warn("%s.%s.ca: %s",
		    sup.providers.list[i].kind == NULL ? "providers"
						       : "destinations",
		    cfg->name, fault.text);
	} else if (len > PROVIDERS_MAX_CA) {
		sup_warn("%s: over 4 MiB of certificates", cfg->ca);
	} else {
		setup_roots_tell(i, span_of(own, len));
		/* They are not those of the server that one logs in at. */
		if (system != NULL)
			setup_roots_tell(i, span_of(system, n));
	}
	free(own);
	free(system);
}

void
setup_roots(void)
{
	struct msg_ROOTS m = {.pem = {NULL, 0}};
	char *system;
	size_t n;

	for (unsigned i = 0; i < sup.providers.n; i++)
		setup_roots_of(i);
	if (child_find(ROLE_FOLLOW, 0) == NULL)
		return;
	/*
	 * A forge's own certificate says nothing about other hosts. Without
	 * any of the system's, each host is refused at once.
	 */
	if ((system = setup_roots_system(&n)) != NULL)
		m.pem = span_of(system, n);
	child_send(ROLE_FOLLOW, 0, MSG_ROOTS, &m, -1);
	free(system);
}
