/* SPDX-License-Identifier: ISC */
/*
 * Checks provider files with the parser of mitmd and keyd, so that a mistake is
 * reported to a person. They parse the file again, and trust only that.
 */
#include "files/providers/providers.h"

#include <stdio.h>
#include <string.h>

#include "files/providers/facts.h"

/*
 * Report the fault. A slot that was composed has no file: name the part of
 * config.json that it came from.
 */
static int
provider_refuse(const struct provider *p, const char *what, struct fault *fault)
{
	if (p->file != NULL)
		return fault_set(fault, "%s: %s", p->file, what);
	return fault_set(fault, "%s.%s: %s",
	    p->server != 0 ? "mcp-servers" : "destinations", p->name, what);
}

int
provider_usable(const struct provider *p, unsigned *routes, struct fault *fault)
{
	struct facts f;
	char err[1024];

	if (facts_read(&f, span_of(p->json, p->json_len), span_of("", 0), err,
		sizeof(err)) == -1)
		return provider_refuse(p, err, fault);
	*routes = f.routes;
	facts_free(&f);
	return 0;
}

int
providers_find(const struct providers *ps, const char *name)
{
	for (unsigned i = 0; i < ps->n; i++)
		if (strcmp(ps->list[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int
provider_alone(
    const struct providers *ps, const struct provider *p, struct fault *fault)
{
	const struct provider *q;
	char what[512];

	for (q = ps->list; q != p; q++)
		for (unsigned i = 0; i < p->nhosts; i++)
			for (unsigned k = 0; k < q->nhosts; k++) {
				if (strcmp(p->hosts[i], q->hosts[k]) != 0)
					continue;
				snprintf(what, sizeof(what),
				    "%s is a host of %s already; a session can "
				    "have only one of the two",
				    p->hosts[i],
				    q->file != NULL ? q->file : q->name);
				return provider_refuse(p, what, fault);
			}
	return 0;
}

int
providers_usable(const struct providers *ps, struct fault *fault)
{
	unsigned routes;

	for (unsigned i = 0; i < ps->n; i++)
		if ((!provider_is(&ps->list[i], PROVIDER_POSTGRES) &&
			provider_usable(&ps->list[i], &routes, fault) == -1) ||
		    provider_alone(ps, &ps->list[i], fault) == -1)
			return -1;
	return 0;
}
