/* SPDX-License-Identifier: ISC */
/*
 * Root certificates for keyds: the file that "ca" names, or else the system's
 * roots and the corporate proxy's; and, if there is such a proxy, for servers
 * with network access. Files are read when they are sent.
 */
#include "core/sup.h"

#include <sys/stat.h>

#include <stdlib.h>

#include "base/jsonfile.h"
#include "files/roots.h"

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

/* Send a provider its roots; `system` are those of the system, or NULL. */
static void
setup_roots_send(unsigned i, struct span system)
{
	const struct config_provider *cfg = sup.providers.list[i].config;
	struct fault fault;
	struct stat st;
	size_t len = 0;
	char *own = NULL;

	/* Do not fall back to other roots than the user named. */
	if (cfg == NULL || cfg->ca == NULL) {
		setup_roots_tell(i, system);
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
		if (system.p != NULL)
			setup_roots_tell(i, system);
	}
	free(own);
}

void
setup_roots_of(unsigned i)
{
	size_t n = 0;
	char *system = roots_system(sup.proxy.ca, sup.proxy.ca_len, &n);

	setup_roots_send(i, span_of(system, n));
	free(system);
}

void
setup_roots(void)
{
	size_t n = 0;
	char *system = sup.providers.n != 0
			   ? roots_system(sup.proxy.ca, sup.proxy.ca_len, &n)
			   : NULL;
	const struct msg_ROOTS m = {.pem = span_of(system, n)};

	for (unsigned i = 0; i < sup.providers.n; i++)
		setup_roots_send(i, m.pem);
	/*
	 * A forge's own certificate says nothing about other hosts. Without
	 * any of the system's, each host is refused at once.
	 */
	if (child_find(ROLE_FOLLOW, 0) != NULL)
		child_send(ROLE_FOLLOW, 0, MSG_ROOTS, &m, -1);
	free(system);
}
