/* SPDX-License-Identifier: ISC */
/* Finds servers and their tools. */
#include "icctl/policy/compile/compile.h"

struct compile_server *
compile_server(struct compile *c, struct span name)
{
	for (unsigned i = 0; i < c->nservers; i++)
		if (span_eq(c->servers[i].name, name))
			return &c->servers[i];
	return NULL;
}

const struct value *
compile_tool(const struct compile_server *s, struct span name)
{
	const struct value *v = s->tools == NULL ? NULL : s->tools->child;

	while (v != NULL && !span_eq(value_str(v, "toolName"), name))
		v = v->next;
	return v;
}
