/* SPDX-License-Identifier: ISC */
/*
 * Checks the definition of a tool, which comes from an MCP server: all servers'
 * tools are one list for the agent, and clients and model providers refuse the
 * whole list for one definition that does not fit.  So each fits MCP's own
 * type, its schemas are JSON Schema 2020-12, and nobody's eye misses a
 * character in it.  What has one meaning is mended; a tool with anything else
 * is left out.
 */
#ifndef DEFINE_H
#define DEFINE_H

#include "common/json/value.h"

#define DEFINE_WHY 240U      /* a reason, with its NUL */
#define DEFINE_NAME_MAX 128U /* bytes of a name, as MCP has it */

struct definition {
	/* Shown to the agent; objects of ours, or NULL. */
	const struct value *annotations, *schema, *output;
	struct span description, title; /* p == NULL: none */
	unsigned mended;
	char first[DEFINE_WHY]; /* the first thing that was mended, or "" */
};

/*
 * Check a definition.  The result lives in the pool and in the definition's own
 * texts.  Returns 0, or -1 with the reason in `why`: the tool does not fit.
 */
int define_tool(struct value_pool *, const struct value *def,
    struct definition *, char why[DEFINE_WHY]);
/* Returns NULL if MCP allows the name of a tool, else why it does not. */
const char *define_name(const struct value *name);

#endif
