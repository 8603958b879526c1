/* SPDX-License-Identifier: ISC */
/*
 * Reads a provider file as mitmd and keyd do, whose numbers of routes are those
 * in the records of requests. icsupervisor uses no route itself.
 */
#include "resume/routes.h"

#include "provider/provider.h"

struct value *
routes_of_steps(struct value_pool *pool, struct span text, bool *messages)
{
	struct provider *p;
	struct value *list;
	char err[256];

	if ((p = provider_parse(text, err, sizeof(err))) == NULL)
		return value_new(pool, VALUE_NULL);
	list = value_new(pool, VALUE_ARRAY);
	for (unsigned i = 0; list != NULL && i < p->nroutes; i++)
		if (p->routes[i].turn) {
			(void)value_append(list, value_new_number(pool, i));
			*messages = *messages || p->routes[i].websocket;
		}
	provider_free(p);
	return list;
}
