/* SPDX-License-Identifier: ISC */
/*
 * The numbers of routes are those of mitmd and keyd, and stand in the records
 * of requests. icsupervisor uses no route itself.
 */
#include "resume/routes.h"

#include "files/providers/facts.h"

struct value *
routes_of_steps(struct value_pool *pool, struct span text, bool *messages)
{
	struct value *list;
	struct facts f;
	char err[256];

	if (facts_read(&f, text, span_of("", 0), err, sizeof(err)) == -1)
		return value_new(pool, VALUE_NULL);
	list = value_new(pool, VALUE_ARRAY);
	for (unsigned i = 0; list != NULL && i < f.nsteps; i++)
		(void)value_append(list, value_new_number(pool, f.steps[i]));
	*messages = *messages || f.messages;
	facts_free(&f);
	return list;
}
